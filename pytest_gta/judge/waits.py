"""What a judge's client says while it waits to try again, told in the thread that waits for the verdicts."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable

EVERY_S = 10.0
"""Seconds between two remarks at least: a judge that is down has many calls waiting at once."""


class Waits:
    """Takes remarks from any thread and tells the newest from time to time.

    Args:
        every_s: Seconds between two that are told; the first is told at once.

    Attributes:
        told: Who is told; nobody until it is set.
    """

    def __init__(self, every_s: float = EVERY_S) -> None:
        self.told: Callable[[str], None] | None = None
        self._every_s = every_s
        self._next = 0.0
        self._remarks: queue.SimpleQueue[str] = queue.SimpleQueue()

    def put(self, remark: str) -> None:
        """Take a remark such as ``retrying in 4 s: 503 overloaded``; from any thread."""
        self._remarks.put(remark)

    def tell(self) -> None:
        """Tell the newest remark, if there is one and it is time; in the caller's thread."""
        newest = None
        while not self._remarks.empty():
            newest = self._remarks.get()
        if newest is not None and self.told is not None and time.monotonic() >= self._next:
            self._next = time.monotonic() + self._every_s
            self.told(newest)
