"""Where a model is: its name, address and key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from pytest_gta.llm.addresses import LOOPBACK, is_http, is_loopback
from pytest_gta.llm.redaction import redact

OPENAI_URL = "https://api.openai.com/v1"
NO_KEY = "not-needed"
"""Sent as the key to a server of the user's own that no key is known of: clients do not start without one."""

_OPERATIONS = ("/chat/completions", "/completions", "/responses", "/embeddings", "/models")
_SECRET_NAMES = re.compile(r"key|token|secret|sig|auth|pass", re.IGNORECASE)


@dataclass(frozen=True, repr=False)
class Endpoint:
    """A model behind an OpenAI-compatible API.

    The address is brought into one form: a pasted ``https://host/v1/chat/completions`` becomes ``https://host/v1``,
    ``host:8000/v1`` gets a scheme. Keys inside an address are used but never shown.

    Args:
        model: The name to ask for.
        base_url: The API's root; None is OpenAI itself.
        api_key: "" for a server that wants none.
        native_tools: Whether to send `tools`; when False, tool calls go through a JSON schema.

    Raises:
        ValueError: When the address is not one, or the key holds characters that no header may carry.
    """

    model: str
    base_url: str | None
    api_key: str
    native_tools: bool = True

    def __post_init__(self) -> None:
        key = self.api_key.strip()
        if not key.isascii() or not key.isprintable():
            raise ValueError("the API key holds characters that no key has; was something else copied with it?")
        object.__setattr__(self, "api_key", key)
        object.__setattr__(self, "base_url", normalize_base_url(self.base_url))

    def __repr__(self) -> str:
        return f"Endpoint({self.shown})"

    @property
    def url(self) -> str:
        """The address requests go to, without its query; may hold a user and password: never print it."""
        parts = urlsplit(self.base_url or OPENAI_URL)
        return urlunsplit(parts._replace(query="", fragment=""))

    @property
    def query(self) -> dict[str, str]:
        """The address's query, sent with every request (``api-version=...``)."""
        return dict(parse_qsl(urlsplit(self.base_url or "").query))

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that no output may show."""
        parts = urlsplit(self.base_url or "")
        named = [value for name, value in self.query.items() if _SECRET_NAMES.search(name)]
        return tuple(value for value in (self.api_key, parts.username, parts.password, *named) if value)

    @property
    def host(self) -> str:
        """Host and port, for messages and for telling endpoints apart."""
        return _host(urlsplit(self.base_url or OPENAI_URL))

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine."""
        return is_loopback(self.base_url or OPENAI_URL)

    @property
    def shown_url(self) -> str:
        """The address as it may be printed: no user, no password, no secret in its query."""
        parts = urlsplit(self.base_url or OPENAI_URL)
        return redact(urlunsplit(parts._replace(netloc=_host(parts))), self.secrets)

    @property
    def shown(self) -> str:
        """``model at address``, for messages."""
        return f"{self.model} at {self.shown_url}"


def key_of(base_url: str | None, variables: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Return the key of an endpoint; None when OpenAI's own has none, while a server of the user's own may need none.

    Args:
        base_url: The server; None and "" are OpenAI's.
        variables: Where a key is looked for, in this order.
        environment: The environment variables.
    """
    for variable in variables:
        if key := environment.get(variable, "").strip():
            return key
    return NO_KEY if base_url and urlsplit(base_url).hostname != urlsplit(OPENAI_URL).hostname else None


def normalize_base_url(url: str | None) -> str | None:
    """Return an API root from what people paste; None and "" stay None (OpenAI itself).

    Raises:
        ValueError: When it is not an http address.
    """
    text = (url or "").strip()
    if not text:
        return None
    if "://" not in text:
        near = text.split("/", 1)[0].rpartition("@")[2].split(":")[0] in LOOPBACK
        text = f"{'http' if near else 'https'}://{text}"
    if not is_http(text):
        raise ValueError(f"{redact(text)!r} is not the address of an API; it looks like https://host/v1")
    parts = urlsplit(text)
    path = parts.path.rstrip("/")
    for operation in _OPERATIONS:
        if path.endswith(operation):
            path = path[: -len(operation)].rstrip("/")
            break
    return urlunsplit(parts._replace(path=path, fragment=""))


def _host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{parts.port}" if parts.port else host
