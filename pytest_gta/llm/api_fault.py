"""Reading an endpoint's error answer: what kind of failure it is, and whether trying again can help.

Servers disagree on everything but the HTTP status: code, type, wording and even the place of the error differ. So the
status decides first, then the error's code, then known wordings of OpenAI, Azure, vLLM, llama.cpp, Ollama, OpenRouter,
Gemini, Anthropic and DeepSeek.
"""

from __future__ import annotations

import email.utils
import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_gta.llm.model_error import ModelErrorKind

# Statuses that a later, equal request may not meet.
_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})

_CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
_CONTEXT_TEXT = re.compile(
    r"maximum context length|context (?:length|size|window)|exceeds? the (?:available )?context"
    r"|prompt (?:is|was) too long|input (?:is|was|tokens?) .{0,40}too long|too many (?:input )?tokens"
    r"|max_model_len|maximum (?:number of )?(?:input|prompt) tokens|request too large"
    r"|input token count .{0,40}exceeds|reduce the length of the (?:messages|prompt|input)",
    re.IGNORECASE,
)
_OUTPUT = re.compile(r"in the completion|max_(?:completion_|new_)?tokens|output tokens", re.IGNORECASE)
_NO_CREDIT_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "exceeded_current_quota_error"}
)
_NO_CREDIT_TEXT = re.compile(
    r"insufficient[ _](?:balance|credits?|funds|quota)|credit balance is too low|arrearage|out of credits?"
    r"|requires more credits",
    re.IGNORECASE,
)
_REFUSAL_CODES = frozenset(
    {"content_filter", "content_policy_violation", "invalid_prompt", "ResponsibleAIPolicyViolation"}
)
_MOST_READ = 10_000
"""Characters of an error's words that are looked at: a gateway may send a whole page, or the request itself."""
_NO_PICTURES = re.compile(
    r"(?:image|vision|multimodal|picture)s?\b.{0,60}(?:not supported|unsupported|not enabled|is not allowed)"
    r"|(?:not|n't|no endpoints found that) support.{0,40}(?:image|vision|multimodal)"
    r"|(?:not a multimodal model|image_url.{0,80}(?:only|expected|invalid|unknown|variant))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ApiFault:
    """One answer that was an error, or a connection that gave none.

    Attributes:
        status: HTTP status; 0 when there was no answer.
        kind: What it means when it stays.
        retryable: Whether an equal request may succeed later.
        message: The endpoint's own words, not yet redacted.
        code: The error's code or type, "" when it has none.
        param: The request field the endpoint blames, "" when it names none.
        retry_after_s: Seconds the endpoint asks to wait; None when it does not say.
        refusal: Whether the endpoint's content rules turned the request down.
    """

    status: int
    kind: ModelErrorKind
    retryable: bool
    message: str
    code: str = ""
    param: str = ""
    retry_after_s: float | None = None
    refusal: bool = False

    @property
    def blames_output(self) -> bool:
        """Whether the room asked for the reply is part of what is too long."""
        return bool(_OUTPUT.search(self.message))

    @property
    def no_pictures(self) -> bool:
        """Whether the endpoint says that it takes no pictures (llama.cpp says so with status 500)."""
        return bool(_NO_PICTURES.search(self.message))


def read_fault(status: int, body: bytes | str, headers: Mapping[str, str]) -> ApiFault:
    """Make sense of an error answer.

    Args:
        status: HTTP status, or the code inside an error object that came with status 200.
        body: As received.
        headers: Case-insensitive, or with lower-case names.
    """
    message, code, param = _error_of(body)
    message = message[:_MOST_READ]
    kind, retryable = _judge(status, message, code)
    return ApiFault(
        status=status,
        kind=kind,
        retryable=retryable,
        message=message or f"HTTP {status} without a text",
        code=code,
        param=param,
        retry_after_s=retry_after(headers),
        refusal=code in _REFUSAL_CODES and status < 500,
    )


def no_answer(error: BaseException) -> ApiFault:
    """Describe a connection that was refused, cut or never made."""
    cause = error.__cause__ or error
    text = str(cause) or type(cause).__name__
    return ApiFault(0, ModelErrorKind.UNAVAILABLE, True, f"no connection: {text}")


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the seconds that ``Retry-After`` (or ``retry-after-ms``) asks for; None when absent or senseless."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) / unit
        except ValueError:
            try:
                when = email.utils.parsedate_to_datetime(value).timestamp()
            except (ValueError, TypeError):
                continue
            seconds = max(0.0, when - (time.time() if now is None else now))
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    return None


def _judge(status: int, message: str, code: str) -> tuple[ModelErrorKind, bool]:
    if status == 402 or code in _NO_CREDIT_CODES or (status in (400, 403, 429) and _NO_CREDIT_TEXT.search(message)):
        return ModelErrorKind.NO_CREDIT, False
    if status in (401, 403):
        return ModelErrorKind.AUTH, False
    if status == 413 or code in _CONTEXT_CODES:
        return ModelErrorKind.CONTEXT_EXCEEDED, False
    if status in (400, 422, 429, 500) and _CONTEXT_TEXT.search(message):
        return ModelErrorKind.CONTEXT_EXCEEDED, False
    if status == 500 and _NO_PICTURES.search(message):
        return ModelErrorKind.BAD_REQUEST, False
    if status == 429:
        return ModelErrorKind.RATE_LIMITED, True
    if status in _TRANSIENT:
        return ModelErrorKind.UNAVAILABLE, True
    return (ModelErrorKind.UNAVAILABLE if status >= 500 else ModelErrorKind.BAD_REQUEST), False


def _error_of(body: bytes | str) -> tuple[str, str, str]:
    """Return message, code and param of an error body in any of the shapes that are around."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    try:
        parsed: Any = json.loads(text)
    except ValueError:
        return _plain(text), "", ""
    if isinstance(parsed, list) and parsed:  # Gemini wraps its errors in a list
        parsed = parsed[0]
    if not isinstance(parsed, dict):
        return _plain(text), "", ""
    error = parsed.get("error", parsed)
    if isinstance(error, str):
        return error, "", ""
    if not isinstance(error, dict):
        return _plain(text), "", ""
    message = error.get("message") or error.get("detail") or error.get("error") or parsed.get("detail") or ""
    if not isinstance(message, str):
        message = json.dumps(message)
    inner = error.get("innererror")
    named = [error.get("code"), inner.get("code") if isinstance(inner, dict) else None, error.get("type")]
    codes = [c for c in named if isinstance(c, str) and c]
    known = next((c for c in codes if c in _CONTEXT_CODES | _NO_CREDIT_CODES | _REFUSAL_CODES), "")
    metadata = error.get("metadata")  # OpenRouter keeps what the provider behind it said here
    if isinstance(metadata, dict) and isinstance(metadata.get("raw"), str):
        message = f"{message}: {metadata['raw']}"
    param = error.get("param")
    return message or _plain(text), known or (codes[0] if codes else ""), param if isinstance(param, str) else ""


def _plain(text: str) -> str:
    """Return an HTML error page or other text as words."""
    text = text[:_MOST_READ]
    title = re.search(r"<title[^<>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    return title.group(1).strip() if title else re.sub(r"<[^<>]+>", " ", text).strip()
