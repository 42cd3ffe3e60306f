"""Open connections to endpoints: one pool for each endpoint, key and event loop."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pytest_gta.llm.endpoint import Endpoint

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

CONNECT_S = 15.0
"""Seconds to wait for a connection; how long an answer may take is the caller's deadline."""


def connection(endpoint: Endpoint) -> AsyncOpenAI:
    """Return the running loop's connection pool to an endpoint; it never retries by itself."""
    pools = _pools().setdefault(asyncio.get_running_loop(), {})
    key = (endpoint.base_url, endpoint.api_key)
    if key not in pools:
        pools[key] = _open(endpoint)
    return pools[key]


@cache
def _pools() -> WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str | None, str], AsyncOpenAI]]:
    return WeakKeyDictionary()


def blocking_connection(endpoint: Endpoint, timeout_s: float) -> OpenAI:
    """Return a connection of one's own, to be closed, for a few requests of at most so many seconds each."""
    from openai import DefaultHttpxClient, OpenAI

    client = DefaultHttpxClient(trust_env=False, timeout=timeout_s) if endpoint.is_loopback else None
    return OpenAI(**_settings(endpoint), timeout=timeout_s, http_client=client)


def _open(endpoint: Endpoint) -> AsyncOpenAI:
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

    timeout = Timeout(None, connect=CONNECT_S)
    # A proxy for the outside world has nothing to say about a server on this machine.
    client = DefaultAsyncHttpxClient(trust_env=False, timeout=timeout) if endpoint.is_loopback else None
    return AsyncOpenAI(**_settings(endpoint), timeout=timeout, http_client=client)


def _settings(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "api_key": endpoint.api_key or "none",
        # Given even for OpenAI itself: the library would read OPENAI_BASE_URL, which settings have already weighed.
        "base_url": endpoint.url,
        "default_query": endpoint.query or None,
        "max_retries": 0,
    }
