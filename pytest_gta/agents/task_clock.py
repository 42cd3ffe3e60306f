"""How much time an agent has left: its own time, and time on the wall."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from pytest_gta.agents.limits import Limits


class TaskClock:
    """Starts when it is made.

    Args:
        limits: The budgets.
        waited_s: Seconds spent so far waiting for an overloaded endpoint; they are not the agent's.
        stopped: Set when the agent is to end at once.
    """

    def __init__(self, limits: Limits, waited_s: Callable[[], float], stopped: threading.Event) -> None:
        self._limits, self._waited_s, self._stopped = limits, waited_s, stopped
        self._began = time.monotonic()

    @property
    def wall_left_s(self) -> float:
        """Seconds until the wall cap."""
        return self._limits.wall_s - (time.monotonic() - self._began)

    @property
    def own_left_s(self) -> float:
        """Seconds of the agent's own time that are left."""
        return self._limits.task_timeout_s - (time.monotonic() - self._began - self._waited_s())

    @property
    def waited_out(self) -> bool:
        """Whether the wall cap was reached while the agent had time of its own left: the endpoint's doing."""
        return self.wall_left_s <= 0 and self.own_left_s > 0

    @property
    def over(self) -> str:
        """Why the time is up, or "" while it is not."""
        return self.over_by(0.0)

    def over_by(self, slack_s: float) -> str:
        """Why the time is up, the agent's own by more than `slack_s`, or "" while it is not."""
        if self._stopped.is_set():
            return "it was told to stop"
        if self.wall_left_s <= 0:
            waited = self._waited_s()
            return f"the limit of {self._limits.wall_s:g} s on the wall was reached ({waited:.0f} s of it were waiting)"
        if self.own_left_s <= -slack_s:
            return f"the task's limit of {self._limits.task_timeout_s:g} s was reached"
        return ""
