"""What a run has spent so far: one file that every process of the run appends to and reads.

A line a call, written at once: what a process paid for is counted however it dies, and a torn line is skipped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pytest_gta.benchmark.run_directory import append_line
from pytest_gta.benchmark.usage import Usage

LEDGER = "spending.jsonl"


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent.

    Attributes:
        cost_usd: Money, of the calls whose price is known.
        tokens: Tokens in and out, cached ones included.
        unpriced: Entries whose price is not known: `cost_usd` is without them.
    """

    cost_usd: float = 0.0
    tokens: int = 0
    unpriced: int = 0


class Ledger:
    """The run's spending.

    Args:
        folder: The run's control folder, the same for all processes.

    Attributes:
        noted: How often this object noted something.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LEDGER
        self.noted = 0
        self._read_to = 0
        self._spent = Spent()

    def add(self, usage: Usage) -> None:
        """Note what a call (or an agent's whole run) took; it is on disk when this returns."""
        used = usage.tokens.input + usage.tokens.output
        if used or usage.cost_usd or usage.cost_usd is None:
            self.noted += 1
            append_line(self._path, json.dumps({"usd": usage.cost_usd, "tokens": used}))

    def spent(self) -> Spent:
        """Return what all processes have noted so far; only what is new is read."""
        try:
            with self._path.open("rb") as lines:
                lines.seek(self._read_to)
                new = lines.read()
        except OSError:
            return self._spent
        whole = new[: new.rfind(b"\n") + 1]
        self._read_to += len(whole)
        for line in whole.splitlines():
            self._count(line)
        return self._spent

    def _count(self, line: bytes) -> None:
        try:
            entry = json.loads(line)
            usd, tokens = entry["usd"], int(entry["tokens"])
            cost = None if usd is None else float(usd)
        except (ValueError, KeyError, TypeError):
            return  # torn by a killed process
        before = self._spent
        self._spent = Spent(
            before.cost_usd + (cost or 0.0), before.tokens + tokens, before.unpriced + (1 if cost is None else 0)
        )


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may spend.

    Attributes:
        cost_usd: Money, None for no limit.
        tokens: Tokens in and out, None for no limit.
    """

    cost_usd: float | None = None
    tokens: int | None = None

    def reached(self, spent: Spent) -> str | None:
        """Return in words that the budget is used up, None while it is not."""
        if self.cost_usd is not None and spent.cost_usd >= self.cost_usd:
            return f"budget reached: ${spent.cost_usd:.4g} of ${self.cost_usd:g} spent"
        if self.tokens is not None and spent.tokens >= self.tokens:
            return f"budget reached: {spent.tokens:,} of {self.tokens:,} tokens used"
        return None
