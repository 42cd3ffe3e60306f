"""Plain HTTP requests to services that are no model: bounded in time and size, however slowly the other side sends."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import IO, Any
from urllib.parse import urlsplit

from pytest_gta.llm.addresses import is_loopback


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What came back.

    Attributes:
        status: HTTP status.
        body: As received.
        headers: Names in lower case.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def fetch(
    url: str,
    *,
    data: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float,
    most_bytes: int,
    redirects: bool = False,
    method: str | None = None,
) -> HttpAnswer:
    """Send one request and return its answer, whatever its status.

    Args:
        url: An http or https address.
        data: What to POST; a GET without it.
        headers: Further headers.
        timeout_s: Seconds until the whole answer must be there.
        most_bytes: Size of the answer at most.
        redirects: Whether to follow them; headers with a key would go along.
        method: The verb, when it is another than these.

    Raises:
        OSError: No connection, `TimeoutError` included.
        ValueError: The address is none, or the answer is too large.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError("it is not an http or https address")
    request = urllib.request.Request(url, data=data, headers=dict(headers or {}), method=method)  # noqa: S310 - checked above
    outcome: list[HttpAnswer | Exception] = []

    def run() -> None:
        try:
            outcome.append(_answer(request, timeout_s, most_bytes, redirects))
        except Exception as error:
            outcome.append(error)

    # The library's timeout is for each read: a thread of its own bounds the whole. It holds up no end of the program.
    thread = threading.Thread(target=run, name="gta-http", daemon=True)
    thread.start()
    thread.join(timeout_s)
    result = outcome[0] if outcome else TimeoutError()
    if isinstance(result, urllib.error.URLError):
        result = result.reason if isinstance(result.reason, OSError) else OSError(str(result.reason))
    if isinstance(result, TimeoutError):  # whichever of the two noticed it first
        raise TimeoutError(f"no whole answer within {timeout_s:.3g} s")
    if isinstance(result, Exception):
        raise result if isinstance(result, OSError | ValueError) else OSError(f"{type(result).__name__}: {result}")
    return result


def _answer(request: urllib.request.Request, timeout_s: float, most_bytes: int, redirects: bool) -> HttpAnswer:
    handlers: list[Any] = [] if redirects else [_NoRedirects()]
    if is_loopback(request.full_url):
        handlers.append(urllib.request.ProxyHandler({}))
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=timeout_s) as answer:
            return _read(answer.status, answer, answer.headers, most_bytes)
    except urllib.error.HTTPError as error:
        with error:
            return _read(error.code, error, error.headers, most_bytes)


def _read(status: int, stream: IO[bytes], headers: Message, most_bytes: int) -> HttpAnswer:
    body = stream.read(most_bytes + 1)
    if len(body) > most_bytes:
        raise ValueError(f"the answer is larger than {most_bytes:,} bytes")
    return HttpAnswer(status, body, {name.lower(): value for name, value in headers.items()})


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Take the redirect itself for the answer."""
