"""A model call that gave no reply, and why."""

from __future__ import annotations

from enum import StrEnum

from pytest_gta.benchmark.usage import Usage


class ModelErrorKind(StrEnum):
    """Why there is no reply."""

    TIMEOUT = "timeout"
    """No whole answer before the deadline."""
    RATE_LIMITED = "rate_limited"
    """Still told to slow down when the deadline was near."""
    UNAVAILABLE = "unavailable"
    """Server errors or no connection, also after retries."""
    AUTH = "auth"
    """The key is missing, wrong or not allowed to use the model. The run is halted."""
    NO_CREDIT = "no_credit"
    """The account has no money left. The run is halted."""
    CONTEXT_EXCEEDED = "context_exceeded"
    """The conversation is longer than the model can read."""
    BAD_REQUEST = "bad_request"
    """The endpoint cannot do what was asked: unknown model, no pictures, invalid request."""
    BAD_REPLY = "bad_reply"
    """An answer that is none: not JSON, cut off, nothing but hidden reasoning."""
    HALTED = "halted"
    """The run was halted before or while waiting."""

    @property
    def halts_the_run(self) -> bool:
        """Whether no later call can do better."""
        return self in (ModelErrorKind.AUTH, ModelErrorKind.NO_CREDIT)

    @property
    def is_of_the_endpoint(self) -> bool:
        """Whether it did not serve, which says nothing about what was asked, nor about who asked."""
        return self not in (ModelErrorKind.TIMEOUT, ModelErrorKind.CONTEXT_EXCEEDED, ModelErrorKind.BAD_REQUEST)


class ModelError(Exception):
    """A model call failed for good. Its text is one line without secrets.

    Attributes:
        kind: Why.
        usage: What all attempts used.
        waited_s: Seconds of the call spent waiting to retry.
    """

    def __init__(
        self, kind: ModelErrorKind, message: str, *, usage: Usage | None = None, waited_s: float = 0.0
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.usage = usage or Usage()
        self.waited_s = waited_s
