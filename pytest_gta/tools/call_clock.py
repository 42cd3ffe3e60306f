"""The time that a call in the confined process has, for work that can stop early with what it has got."""

from __future__ import annotations

import resource
import time

_USUAL_S = 100.0
_GRACE_S = 2.0
"""What a confined process adds to the limit on computing."""


class CallClock:
    """Tells when most of a call's time is over; made at the start of the call.

    Attributes:
        seconds: How long the work may take.
    """

    def __init__(self, share: float = 0.8) -> None:
        """Allow the work this share of the call's time."""
        limit, _ = resource.getrlimit(resource.RLIMIT_CPU)
        # The limit on computing is the call's own time; where there is none, a usual one is taken.
        whole = _USUAL_S if limit == resource.RLIM_INFINITY else max(1.0, limit - _GRACE_S - time.process_time())
        self.seconds = share * whole
        self._started, self._computed = time.monotonic(), time.process_time()

    @property
    def used(self) -> float:
        """Seconds since the start, of waiting or of computing, whichever is more."""
        return max(time.monotonic() - self._started, time.process_time() - self._computed)

    def expired(self) -> bool:
        """Whether the time for the work is over."""
        return self.used >= self.seconds
