"""Web addresses: what is one, and which are on this machine."""

from __future__ import annotations

from urllib.parse import urlsplit

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""The names that a machine has for itself."""


def is_http(address: str) -> bool:
    """Whether it is an http or https address, with a host and no impossible port."""
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_loopback(address: str) -> bool:
    """Whether an address is on this machine."""
    return urlsplit(address).hostname in LOOPBACK


def place(base_url: str | None) -> str:
    """Return where a model is, for keys and names: no credentials, and no port on this machine, where ports change."""
    parts = urlsplit(base_url or "")
    port = f":{parts.port}" if parts.port and parts.hostname not in LOOPBACK else ""
    return f"{parts.hostname or ''}{port}{parts.path.rstrip('/')}"
