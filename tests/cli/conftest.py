from __future__ import annotations

# Runs of pytester inside this process would load these and forget them, and errors would be of another class then.
import openai
import openai.types.chat  # noqa: F401

from tests.plugin.conftest import make_project

__all__ = ["make_project"]
