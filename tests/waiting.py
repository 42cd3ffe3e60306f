"""Waiting for what must happen, rather than for a time: a busy machine may take long over anything."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

LIMIT_S = 60.0
"""Seconds that anything may take before a test takes it for not happening."""


def eventually(condition: Callable[[], object], limit_s: float = LIMIT_S) -> bool:
    """Whether a condition holds, now or within the limit."""
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def runs(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent's notice does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class JumpingClock:
    """Stands in for the module `time`: an hour passes once a condition holds.

    With it a test's time limit is over exactly when what it waits for has happened, however busy the machine is.

    Args:
        condition: When the hour has passed.
    """

    def __init__(self, condition: Callable[[], object]) -> None:
        self._condition = condition
        self._passed_s = 0.0

    def monotonic(self) -> float:
        """Return the seconds of the clock."""
        if not self._passed_s and self._condition():
            self._passed_s = 3_600.0
        return time.monotonic() + self._passed_s

    def stand_in(self, monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
        """Have modules, given by their dotted names, go by this clock."""
        for module in modules:
            monkeypatch.setattr(f"{module}.time", self)
