"""What a run's gate says of it."""

from __future__ import annotations

from typing import Any

from pytest_gta.benchmark.value import Value


class Gate(Value):
    """The verdict on the run: ``pass``, ``fail``, ``inconclusive`` or ``none`` (no gate asked for), and why.

    `baseline` is the comparison with a baseline, as `pytest_gta.benchmark.comparison.Comparison.as_json` returns it;
    None when there was none, or nothing to compare.
    """

    verdict: str = "none"
    reasons: tuple[str, ...] = ()
    baseline: dict[str, Any] | None = None
