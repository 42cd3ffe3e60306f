"""How long and how often to try again."""

from __future__ import annotations

import random
from dataclasses import dataclass

from pytest_gta.llm.api_fault import ApiFault
from pytest_gta.llm.model_error import ModelErrorKind


@dataclass(frozen=True)
class RetryPolicy:
    """Bounded retries with jittered, doubling waits; the call's deadline bounds them all the same.

    Attributes:
        attempts: Requests at most that met a server error or no connection.
        rate_limited_attempts: Requests at most that were told to slow down; more, as the endpoint is well.
        bad_replies: Answers at most that were none.
        base_s: Seconds of the first wait.
        cap_s: Seconds of the longest wait that an endpoint did not ask for.
        more_room: Further requests at most after a reply that its output limit cut off.
        attempt_s: Seconds in which the first request must be answered whole, else it is given up and asked again; each
            that follows one without an answer has twice as long, for an endpoint that is slow rather than gone. None
            leaves each request the whole of the call's deadline.
    """

    attempts: int = 8
    rate_limited_attempts: int = 60
    bad_replies: int = 3
    base_s: float = 1.0
    cap_s: float = 30.0
    more_room: int = 2
    attempt_s: float | None = None

    def allows(self, fault: ApiFault, failures: int) -> bool:
        """Whether another request may follow the `failures`-th failure."""
        limits = {
            ModelErrorKind.RATE_LIMITED: self.rate_limited_attempts,
            ModelErrorKind.BAD_REPLY: self.bad_replies,
        }
        return fault.retryable and failures < limits.get(fault.kind, self.attempts)

    def attempt_limit_s(self, unanswered: int) -> float | None:
        """Return the seconds a request has after so many of the same call without an answer; None for no limit."""
        return None if self.attempt_s is None else self.attempt_s * 2.0 ** min(unanswered, 20)

    def wait_s(self, fault: ApiFault, failures: int) -> float:
        """Return the seconds to wait after the `failures`-th failure: never less than the endpoint asks for."""
        own = min(self.cap_s, self.base_s * 2.0 ** min(failures - 1, 20)) * random.uniform(0.5, 1.0)  # noqa: S311
        if fault.retry_after_s is None:
            return own
        # A little more than asked, and not the same for all: else everyone comes back at the same moment.
        return fault.retry_after_s + random.uniform(0.0, 0.25) * max(own, fault.retry_after_s)  # noqa: S311
