"""Addresses as people paste them, and secrets that stay out of sight."""

from __future__ import annotations

import pytest

from pytest_gta.llm.endpoint import Endpoint, key_of
from pytest_gta.llm.redaction import one_line, redact


@pytest.mark.parametrize(
    ("pasted", "root"),
    [
        (None, None),
        ("  ", None),
        ("https://x.org/v1/chat/completions", "https://x.org/v1"),
        ("https://x.org/v1/responses/", "https://x.org/v1"),
        (" https://x.org/v1/ \n", "https://x.org/v1"),
        (
            "https://x.org/openai/deployments/d/chat/completions?api-version=3",
            "https://x.org/openai/deployments/d?api-version=3",
        ),
        ("localhost:8000/v1", "http://localhost:8000/v1"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("api.x.org/v1", "https://api.x.org/v1"),
    ],
)
def test_one_form_for_every_address(pasted, root):
    assert Endpoint("m", pasted, "k").base_url == root


@pytest.mark.parametrize("pasted", ["ftp://x/v1", "http://", "https://x:notaport/v1", "http://[::1"])
def test_what_is_no_address_is_said(pasted):
    with pytest.raises(ValueError, match="is not the address of an API; it looks like https://host/v1"):
        Endpoint("m", pasted, "k")


def test_keys_are_trimmed_and_checked():
    assert Endpoint("m", None, " sk-abc\n").api_key == "sk-abc"
    with pytest.raises(ValueError, match="characters that no key has") as caught:
        Endpoint("m", None, "sk-gehe\u200bim")
    assert "gehe" not in str(caught.value)


def test_nothing_secret_is_shown():
    endpoint = Endpoint("m", "https://me:swordfish@x.org:8443/v1?api_key=abc123&v=2", "sk-12345678")
    for shown in (repr(endpoint), str(endpoint), endpoint.shown, endpoint.shown_url):
        assert not any(secret in shown for secret in ("swordfish", "abc123", "sk-1234", "me:"))
    assert endpoint.shown_url == "https://x.org:8443/v1?api_key=[secret]&v=2"
    assert endpoint.host == "x.org:8443"
    assert set(endpoint.secrets) == {"sk-12345678", "me", "swordfish", "abc123"}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Authorization: Bearer abc.def ok", "Authorization: [secret] ok"),
        ("{'authorization': 'Basic dXNlcg=='}", "{'authorization': '[secret]'}"),
        ('{"api_key": "abcd", "n": 1}', '{"api_key": "[secret]", "n": 1}'),
        ("http://x/?a=1&key=abcd&b=2", "http://x/?a=1&key=[secret]&b=2"),
        ("Incorrect API key provided: sk-proj-****abcd.", "Incorrect API key provided: [secret]."),
        ("x-api-key: foo, host: y", "x-api-key: [secret], host: y"),
        ("https://u:p@h/v1", "https://[secret]@h/v1"),
        (
            "the key=value store and task-based disk-usage-report",
            "the key=value store and task-based disk-usage-report",
        ),
    ],
)
def test_redaction(text, clean):
    assert redact(text) == clean
    assert redact(redact(text)) == clean


def test_redaction_of_known_values(monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "plain+word/1")
    monkeypatch.setenv("SHORT_KEY", "a")
    assert redact("a plain+word/1 and plain%2Bword%2F1, other", ("other",)) == "a [secret] and [secret], [secret]"


def test_one_line():
    assert one_line("a\n\tb\x00\x1b[31m  c") == "a b [31m c"
    assert one_line("x" * 30, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("base_url", "environment", "key"),
    [
        (None, {"A": " ", "B": " sk-b \n"}, "sk-b"),
        ("http://localhost:8000/v1", {"A": "sk-a", "B": "sk-b"}, "sk-a"),
        ("http://localhost:8000/v1", {}, "not-needed"),
        (None, {}, None),
        ("", {}, None),
        ("https://api.openai.com/v1/", {"C": "sk-c"}, None),
    ],
)
def test_only_a_server_of_the_users_own_may_need_no_key(
    base_url: str | None, environment: dict[str, str], key: str | None
) -> None:
    assert key_of(base_url, ("A", "B"), environment) == key
