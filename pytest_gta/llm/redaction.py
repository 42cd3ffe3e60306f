"""Taking secrets out of text before it reaches a terminal, a log or a report."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from urllib.parse import quote

MASK = "[secret]"

_SECRET_NAMES = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD)(?:$|_)", re.IGNORECASE)
_SHORTEST_FROM_ENVIRONMENT = 8
_SHORTEST_GIVEN = 4

# Names of fields whose value is a secret, in headers, queries, JSON and Python reprs.
_FIELD = r"(?:api[-_]?key|x-api-key|access[-_]?token|auth[-_]?token|client[-_]?secret|subscription-key|password)"
_PATTERNS = (
    # Authorization: Bearer xyz / 'authorization': 'Basic xyz'
    (re.compile(r"(\bauthorization\b[\"']?\s*[:=]\s*[\"']?)(?:(?:bearer|basic|token)\s+)?[^\s\"',;}]+", re.I), r"\1"),
    (re.compile(r"(\bbearer\s+)(?!\[secret\])[\w.~+/=*-]{6,}", re.I), r"\1"),
    (re.compile(rf"(\b{_FIELD}\b[\"']?\s*[:=]\s*[\"']?)(?!\[secret\])[^\s\"',;&}}]+", re.I), r"\1"),
    # ?key=... and &token=... in addresses only: "key=" alone is too common a word
    (re.compile(r"([?&](?:key|token|sig|signature|auth)=)(?!\[secret\])[^\s\"'&#]+", re.I), r"\1"),
    (re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^\s/@\"']+@", re.I), r"\1"),
    (re.compile(r"()\b(?:sk|pk|rk|gsk|xai|hf|ghp|r8)[-_][A-Za-z0-9*_-]{8,}"), r"\1"),
    (re.compile(r"()\bAIza[0-9A-Za-z_-]{20,}"), r"\1"),
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return `text` with every secret replaced by ``[secret]``.

    Args:
        text: Anything that may quote a request, a header or an address.
        secrets: Values known to be secret, besides those that environment variables named ``*_KEY``, ``*_TOKEN``,
            ``*_SECRET`` or ``*_PASSWORD`` hold now.
    """
    known = {value for value in secrets if len(value) >= _SHORTEST_GIVEN}
    known |= {
        value
        for name, value in os.environ.items()
        if len(value) >= _SHORTEST_FROM_ENVIRONMENT and _SECRET_NAMES.search(name)
    }
    for value in sorted(known | {quote(v, safe="") for v in known}, key=len, reverse=True):
        text = text.replace(value, MASK)
    for pattern, kept in _PATTERNS:
        text = pattern.sub(rf"{kept}{MASK}" + ("@" if "://" in pattern.pattern else ""), text)
    return text


def one_line(text: str, limit: int = 500) -> str:
    """Return `text` on one line: white space as single spaces, no control characters, at most `limit` characters."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    clean = " ".join(clean.split())
    return clean if len(clean) <= limit else clean[: limit - 1].rstrip() + "…"
