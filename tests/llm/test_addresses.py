"""What is a web address, and which are on this machine."""

from __future__ import annotations

import pytest

from pytest_gta.llm.addresses import is_http, is_loopback


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("http://localhost:8000/v1", True),
        ("https://files.example.org", True),
        ("HTTPS://EXAMPLE.ORG/a?b=c", True),
        ("http://[::1]:8000", True),
        ("ftp://example.org", False),
        ("example.org/v1", False),
        ("http://", False),
        ("http://example.org:0", False),
        ("http://example.org:99999", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_what_is_an_http_address(address: str, is_one: bool) -> None:
    assert is_http(address) is is_one


@pytest.mark.parametrize(
    ("address", "is_here"),
    [
        ("http://localhost:8000/v1", True),
        ("http://127.0.0.1", True),
        ("http://[::1]:8000", True),
        ("http://LOCALHOST", True),
        ("http://localhost.example.org", False),
        ("https://example.org/localhost", False),
    ],
)
def test_what_is_on_this_machine(address: str, is_here: bool) -> None:
    assert is_loopback(address) is is_here
