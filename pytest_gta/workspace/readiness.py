"""Waiting for files that can be read or written. Unlike `select.select`, for any number: also from 1024 on."""

from __future__ import annotations

import select
from collections.abc import Iterable
from math import ceil
from typing import Protocol


class HasFile(Protocol):
    """A socket, a pipe or another open file."""

    def fileno(self) -> int:
        """Its number."""


def readable(files: Iterable[int | HasFile], seconds: float | None) -> set[int]:
    """Return the numbers of the files that can be read, or whose other end is gone, without blocking.

    Args:
        files: Open files, or their numbers.
        seconds: How long to wait for the first; None for as long as it takes.
    """
    return _ready(files, select.POLLIN, seconds)


def writable(files: Iterable[int | HasFile], seconds: float | None) -> set[int]:
    """Return the numbers of the files that can be written, or whose other end is gone. See `readable`."""
    return _ready(files, select.POLLOUT, seconds)


def _ready(files: Iterable[int | HasFile], event: int, seconds: float | None) -> set[int]:
    poll = select.poll()
    for file in files:
        poll.register(file, event)
    return {number for number, _ in poll.poll(None if seconds is None else ceil(max(0.0, seconds) * 1_000))}
