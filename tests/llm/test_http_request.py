"""Plain requests: any status is an answer; time and size are bounded; nothing is sent on to where a redirect points."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from pytest_gta.llm.http_request import fetch
from tests.openai_server import Answer, OpenAIServer, drips, hangs, hangs_up

Start = Callable[..., OpenAIServer]


def url(server: OpenAIServer, path: str = "/page") -> str:
    return server.base_url.replace("/v1", path)


@pytest.mark.parametrize("status", [200, 404, 500])
def test_any_status_is_an_answer(openai_server: Start, status: int) -> None:
    server = openai_server(routes={"/page": lambda _r: Answer(status=status, body=b"\xffx", headers={"X-A": "b"})})
    answer = fetch(url(server), timeout_s=30, most_bytes=100)
    assert (answer.status, answer.body, answer.headers["x-a"]) == (status, b"\xffx", "b")


def test_data_is_posted_with_its_headers(openai_server: Start) -> None:
    server = openai_server(routes={"/page": lambda _r: Answer(body="ok")})
    fetch(url(server), data=b"{}", headers={"X-API-KEY": "k"}, timeout_s=30, most_bytes=100)
    assert (server.requests[0].method, server.requests[0].headers["x-api-key"]) == ("POST", "k")


def test_redirects_are_followed_only_when_told_to(openai_server: Start) -> None:
    server = openai_server(
        routes={
            "/page": lambda _r: Answer(status=302, body="", headers={"Location": "/next"}),
            "/next": lambda _r: Answer(body="there"),
        }
    )
    assert fetch(url(server), timeout_s=30, most_bytes=100).status == 302
    assert fetch(url(server), timeout_s=30, most_bytes=100, redirects=True).body == b"there"


def test_what_is_too_large_is_refused(openai_server: Start) -> None:
    server = openai_server(routes={"/page": lambda _r: Answer(body=b"x" * 101)})
    with pytest.raises(ValueError, match="larger than 100 bytes"):
        fetch(url(server), timeout_s=30, most_bytes=100)


@pytest.mark.parametrize("answer", [hangs(), drips("y" * 1_000, 0.2)])
def test_time_is_bounded(openai_server: Start, answer: Answer) -> None:
    server = openai_server(routes={"/page": lambda _r: answer})
    started = time.monotonic()
    with pytest.raises(OSError):
        fetch(url(server), timeout_s=0.4, most_bytes=10_000)
    assert time.monotonic() - started < 60


def test_no_connection_and_no_address_are_errors(openai_server: Start) -> None:
    server = openai_server(routes={"/page": lambda _r: hangs_up()})
    with pytest.raises(OSError):
        fetch(url(server), timeout_s=30, most_bytes=100)
    for bad in ("file:///etc/passwd", "ftp://x/y", "nothing"):
        with pytest.raises(ValueError, match="not an http"):
            fetch(bad, timeout_s=1, most_bytes=100)
