"""Failures of an agent: one clean line to show, and whose fault it was, the agent's or its model endpoint's."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator

from pytest_gta.agents.protocol import AgentUnavailable
from pytest_gta.benchmark.usage import Usage
from pytest_gta.llm.api_fault import read_fault
from pytest_gta.llm.model_error import ModelError, ModelErrorKind
from pytest_gta.llm.redaction import MASK, one_line, redact
from pytest_gta.workspace.memory_killer import MemoryWatch

_MODEL_CLIENTS = frozenset(
    ("openai", "anthropic", "litellm", "mistralai", "cohere", "groq", "together", "ollama", "google", "botocore")
)
"""Packages whose errors are about a model endpoint; another library's HTTP error may be about any web page."""

_KEY_NAME = re.compile(r"(?:^|_)(?:API_?KEY|TOKEN|SECRET|ACCESS_KEY)$", re.IGNORECASE)

_ENDPOINT_STATUSES = frozenset((401, 402, 403, 404, 407, 429, 500, 502, 503, 504, 529))

_ENDPOINT_NAMES = re.compile(
    r"Connection|ServiceUnavailable|RateLimit|Authentication|PermissionDenied|InternalServer|Overloaded|"
    r"InsufficientQuota|ResourceExhausted|APITimeout"
)

_OUTAGE = re.compile(
    r"\b(?:50[0234]|529)\b[^\n]{0,40}(?:server error|service unavailable|bad gateway|gateway time-?out|overloaded)"
    r"|\b429\b[^\n]{0,40}(?:too many requests|rate.?limit)"
    r"|insufficient_quota|exceeded your current quota|quota exceeded|resource_exhausted|invalid_api_key"
    r"|incorrect api key|credit balance is too low|\b(?:out of|insufficient) (?:credits?|balance|funds)\b"
    r"|\bbilling (?:error|details|hard limit)\b|overloaded_error|model is overloaded|\bstatus: UNAVAILABLE\b"
    r"|\b(?:service unavailable|rate.?limit)[^\n]{0,20}\berror\b"
    r"|(?:APIConnection|ServiceUnavailable|RateLimit|Authentication|InternalServer)Error\b"
    r"|Max retries exceeded with url|Connection (?:refused|reset by peer)",
    re.IGNORECASE,
)


def failure_line(error: BaseException, secrets: Iterable[str] = ()) -> str:
    """Return an error as one line of at most 300 characters, ``Type: message``, without secrets."""
    return one_line(redact(f"{type(error).__name__}: {error}".removesuffix(": "), secrets), 300)


def without_held_keys(text: str) -> str:
    """Return `text` without the values of environment variables that are named like keys.

    For what is judged: nothing that merely looks like a key is touched.
    """
    held = {value for name, value in os.environ.items() if _KEY_NAME.search(name) and len(value) >= 12}
    for value in sorted(held, key=len, reverse=True):
        text = text.replace(value, MASK)
    return text


def endpoint_fault(error: BaseException) -> bool:
    """Whether an exception (or what caused it) is a model client's report that its endpoint does not serve.

    Down, overloaded, out of credit, wrong key, no such model or path: yes. A request that the endpoint found wrong: no,
    the agent wrote it.
    """
    return any(_is_endpoint_fault(link) for link in _chain(error))


def request_rejected(error: BaseException) -> bool:
    """Whether an exception (or what caused it) is an endpoint's refusal of what it was asked, for whatever reason.

    Of the first request of a task that is no fault of the agent: no other would fare better.
    """
    return any(
        link.kind is ModelErrorKind.BAD_REQUEST
        if isinstance(link, ModelError)
        else _of_a_model_client(link) and 400 <= (_status(link) or 0) < 500
        for link in _chain(error)
    )


def context_exceeded(error: BaseException) -> bool:
    """Whether an exception (or what caused it) is an endpoint's report that the conversation is too long for it."""
    return any(_is_too_long(link) for link in _chain(error))


def disk_is_full(error: BaseException) -> bool:
    """Whether an exception (or what caused it) says that nothing more can be written on this machine."""
    return any(isinstance(link, OSError) and link.errno in (errno.ENOSPC, errno.EDQUOT) for link in _chain(error))


def remark_on_kill(how: str, memory: MemoryWatch) -> str:
    """Return `how` an agent's process was killed, with what is known of the machine's memory.

    Args:
        how: What happened, as far as it is known.
        memory: Made before the process was.

    Raises:
        AgentUnavailable: When the machine ran out of memory meanwhile: a kill that is not the agent's to answer for.
    """
    killed = memory.has_killed()
    if killed:
        raise AgentUnavailable(
            f"the machine ran out of memory ({how}); run fewer tasks at once (-n), or give it more",
            usage=Usage(cost_usd=None),
        )
    return how if killed is False else f"{how}; whether the machine ran out of memory, it does not say"


def _is_endpoint_fault(error: BaseException) -> bool:
    if isinstance(error, ModelError):
        return error.kind.is_of_the_endpoint
    if not _of_a_model_client(error):
        return False
    status = _status(error)
    if status is not None:
        return status in _ENDPOINT_STATUSES
    return bool(_ENDPOINT_NAMES.search(type(error).__name__))


def _of_a_model_client(error: BaseException) -> bool:
    return any(base.__module__.partition(".")[0] in _MODEL_CLIENTS for base in type(error).__mro__)


def _is_too_long(error: BaseException) -> bool:
    if isinstance(error, ModelError):
        return error.kind is ModelErrorKind.CONTEXT_EXCEEDED
    status = _status(error)
    return status is not None and read_fault(status, str(error), {}).kind is ModelErrorKind.CONTEXT_EXCEEDED


def _status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        link = pending.pop()
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        pending += [link.__cause__, None if link.__suppress_context__ else link.__context__]
        if isinstance(link, BaseExceptionGroup):
            pending += link.exceptions


def reads_like_an_outage(answer: str) -> bool:
    """Whether a short final answer looks like an error message of a model endpoint rather than an answer.

    Only its beginning counts: a report on outages may well mention a 503 further down.
    """
    return bool(_OUTAGE.search(answer[:300]))
