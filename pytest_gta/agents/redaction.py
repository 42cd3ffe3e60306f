"""Secrets never leave: what looks like a key, or is one that this process holds, is replaced before it is written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

MARK = "[secret]"

_SECRET_NAME = re.compile(r"(?:_API_KEY|_TOKEN|_SECRET|_SECRET_KEY|_PASSWORD|_ACCESS_KEY)$", re.IGNORECASE)

_PATTERNS = (
    re.compile(r"\b(?:sk|pk|rk|gsk|xai|ghp|gho|hf|AIza)[-_]?[A-Za-z0-9][A-Za-z0-9_-]{18,}"),
    re.compile(r"(?<=://)[^\s/@:]+:[^\s/@]+(?=@)"),
    re.compile(r"(?i)(?<=\bbearer )[A-Za-z0-9._~+/=-]{8,}"),
    re.compile(r"(?i)(?<=[?&]key=)[^\s&\"'<>]{8,}"),
    re.compile(r"(?i)(?:(?<=api_key=)|(?<=api-key=)|(?<=apikey=)|(?<=api-key: )|(?<=api_key: ))[^\s&\"'<>,]{8,}"),
)


def held_secrets() -> tuple[str, ...]:
    """Return the values of this process's environment variables that are named like keys, longest first."""
    found = {value for name, value in os.environ.items() if _SECRET_NAME.search(name) and len(value) >= 8}
    return tuple(sorted(found, key=len, reverse=True))


def redact(text: str, secrets: Iterable[str] = (), *, by_pattern: bool = True) -> str:
    """Return `text` without secrets.

    Args:
        text: Anything that goes to disk or to a reader.
        secrets: Values to replace besides `held_secrets`; those shorter than 8 characters are left alone, since they
            would hit innocent text.
        by_pattern: Whether to replace what merely looks like a key, too.
    """
    for secret in (*secrets, *held_secrets()):
        if len(secret) >= 8:
            text = text.replace(secret, MARK)
    if by_pattern:
        for pattern in _PATTERNS:
            text = pattern.sub(MARK, text)
    return text


def one_line(error: BaseException | str, secrets: Iterable[str] = (), limit: int = 300) -> str:
    """Return an error as one clean line: ``Type: message``, without secrets, line breaks or control characters."""
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}".rstrip(": ")
    line = " ".join("".join(c if c.isprintable() else " " for c in redact(text, secrets)).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
