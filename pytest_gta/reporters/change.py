"""A run against its baseline, in words: for the gate's reasons and for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from pytest_gta.benchmark.comparison import MARGIN, Change, ChangeVerdict, Comparison
from pytest_gta.reporters.wording import count

NAMED = 8
"""Tasks that are named in a list; the others are counted."""


def reasons(comparison: Comparison) -> tuple[str, ...]:
    """Return why the comparison has the verdict it has, a clause for each number that decides."""
    decisive = [
        _reason(name, unit, digits, change, comparison)
        for name, unit, digits, change in (
            ("Root SR", " %", 1, comparison.root_sr),
            ("Root Score", "", 2, comparison.root_score),
        )
        if change.verdict is comparison.verdict
    ]
    if comparison.verdict is ChangeVerdict.PASS:
        changes = f"Root SR {comparison.root_sr.difference:+.1f} %, Root Score {comparison.root_score.difference:+.2f}"
        return (f"no drop shown against the baseline over {_common(comparison)}: {changes}",)
    return tuple(decisive)


def _reason(name: str, unit: str, digits: int, change: Change, comparison: Comparison) -> str:
    values = f"{change.before:.{digits}f} to {change.after:.{digits}f}{unit}"
    p = "" if change.p is None else f", p = {_p(change.p)}"
    beginning = f"{name} fell from {values} over {_common(comparison)}"
    if change.verdict is ChangeVerdict.FAIL:
        return f"{beginning}{p}"
    margin = f"{100 * MARGIN:.0f} %" if unit else f"{10 * MARGIN:.0f} point"
    return f"{beginning}{p}: may be noise, may be a drop of {margin}{_remedy(change, len(comparison.tasks))}"


def _remedy(change: Change, tasks: int) -> str:
    if change.tasks_to_decide is None:
        return "; more tasks would decide"
    repeats = ceil(change.tasks_to_decide / tasks)
    return f"; about {change.tasks_to_decide} tasks, or {repeats} times the repeats in both runs, would decide"


def _common(comparison: Comparison) -> str:
    return count(len(comparison.tasks), "common task")


def _p(value: float) -> str:
    return f"{value:.2f}" if value >= 0.095 else f"{value:.2g}" if value >= 0.0001 else "0.0001 or less"


def change_lines(baseline: Mapping[str, Any], *, width: int = 80) -> Iterator[str]:
    """Yield the change against the baseline, in the form `results.json` has it, as lines for the terminal."""
    yield f"Against the baseline, over {count(baseline['tasks'], 'common task')}"
    for name, key, digits in (("Root SR", "root_sr", 1), ("Root Score", "root_score", 2)):
        change = baseline[key]
        low_high = change["interval"]
        interval = "" if low_high is None else f"  [{low_high[0]:+.{digits}f}, {low_high[1]:+.{digits}f}]"
        p = "" if change["p"] is None else f"  p = {_p(change['p'])}"
        yield (
            f"  {name:<11}{change['before']:>6.{digits}f} -> {change['after']:.{digits}f}  "
            f"{change['difference']:+.{digits}f}{interval}{p}"
        )
    for label, key in (
        ("won", "won"),
        ("lost", "lost"),
        ("only there", "only_before"),
        ("only here", "only_after"),
    ):
        if baseline[key]:
            yield from _names(f"  {label:<11}", baseline[key], width)
    yield ""


def _names(label: str, names: Sequence[str], width: int) -> list[str]:
    more = len(names) - NAMED
    text = ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
    return textwrap.wrap(f"{len(names)}: {text}", width - 1, initial_indent=label, subsequent_indent=" " * len(label))
