"""Fixtures of the project's own tests."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import hypothesis
import pytest

from tests.file_server import FileServer
from tests.openai_server import OpenAIServer

# How long an example takes says more about the machine than about the code.
hypothesis.settings.register_profile("patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("patient")


@pytest.fixture
def openai_server() -> Iterator[Callable[..., OpenAIServer]]:
    """Start servers that speak the OpenAI API: ``server = openai_server(respond)``; closed when the test ends."""
    # Loaded now: its import takes longer than some of the time limits tested.
    importlib.import_module("openai").AsyncOpenAI  # noqa: B018 - it loads its parts when they are first touched
    with ExitStack() as servers:

        def start(*args: Any, **settings: Any) -> OpenAIServer:
            return servers.enter_context(OpenAIServer(*args, **settings))

        yield start


@pytest.fixture
def file_server() -> Iterator[FileServer]:
    """Serve one file, with what troubles a test plans; closed when the test ends."""
    with FileServer().serving() as server:
        yield server
