"""How far a long transfer is: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from pytest_gta.datasets.fetching import Told

EVERY_S = 30.0
"""Seconds between two lines in a log."""


class TransferDisplay:
    """Shows stages, each with its bytes.

    Args:
        out: Where to; the standard error stream by default, so that results can be piped on.
    """

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._on_terminal = self._out.isatty()
        self._stage = ""
        self._bar: Any = None
        self._said_at = 0.0

    def told(self) -> Told:
        """Return what a fetch is to be given."""
        from pytest_gta.datasets.fetching import Told

        return Told(self.stage, self.progress, self.line)

    def stage(self, name: str) -> None:
        """Begin another stage."""
        self.close()
        self._stage = name
        self._said_at = time.monotonic()

    def progress(self, done: int, total: int | None) -> None:
        """Show how far the stage is."""
        if self._on_terminal:
            self._draw(done, total)
        elif time.monotonic() - self._said_at >= EVERY_S:
            self._said_at = time.monotonic()
            self._print(f"{self._stage}: {_share(done, total)}")

    def line(self, text: str) -> None:
        """Write a line above the bar."""
        if self._bar is not None:
            self._bar.clear()
        self._print(text)

    def close(self) -> None:
        """End the stage; its bar stays."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _draw(self, done: int, total: int | None) -> None:
        from tqdm import tqdm

        if self._bar is None or self._bar.total != total:
            self.close()
            self._bar = tqdm(
                total=total, initial=done, desc=self._stage, unit="B", unit_scale=True, file=self._out,
                dynamic_ncols=True,
            )  # fmt: skip
        if done < self._bar.n:  # from the beginning again
            self._bar.reset(total)
        self._bar.update(done - self._bar.n)

    def _print(self, text: str) -> None:
        print(text, file=self._out, flush=True)


def size(number: int) -> str:
    """Return a size as people read it: ``6.1 GB``, ``14 kB``."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= factor:
            return f"{number / factor:.1f} {unit}" if number < 100 * factor else f"{number / factor:.0f} {unit}"
    return f"{number} bytes"


def _share(done: int, total: int | None) -> str:
    return size(done) if not total else f"{size(done)} of {size(total)} ({100 * done / total:.0f} %)"
