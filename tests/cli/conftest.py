from __future__ import annotations

from tests.plugin.conftest import make_project

__all__ = ["make_project"]
