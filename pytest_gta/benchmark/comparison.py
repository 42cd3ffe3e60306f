"""Two runs over the same tasks: is the second worse, or is the difference noise? Pure functions; docs/gates.md.

Runs are compared task by task, over the tasks that both have a score for. With repeats a task's values are its means.

- Success: the exact sign-flip test of the differences, which is the exact McNemar test when each task was run once
  (Q. McNemar, Psychometrika 12, 1947).
- Root Score: the paired bootstrap of the mean difference over tasks. As its percentile interval is too short over few
  tasks, a drop counts only when the sign-flip test finds it as well.

Each is two-sided at 2.5 %, so that both together take noise for a drop in at most 2.5 % of all cases (Bonferroni).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from fractions import Fraction
from math import ceil, comb, lcm
from operator import mul
from statistics import fmean, stdev
from typing import Any

from pytest_gta.benchmark.repeats import scores_by_task
from pytest_gta.benchmark.results import TaskResult
from pytest_gta.benchmark.scoring import FULL_SCORE

SIGNIFICANCE = 0.025
MARGIN = 0.1
"""A drop of this part of the scale (10 points of Root SR, 1 point of Root Score) is one that a gate has to see."""

_RESAMPLES, _FLIPS, _EXACT_UP_TO = 2000, 2000, 12
_FINEST = 60
_Z_TO_SHOW, _Z_TO_EXCLUDE = 3.08, 2.80
"""Normal quantiles of the test (2.5 %) and of the interval (95 %), each with that of a power of 80 % added."""


class ChangeVerdict(StrEnum):
    """What a comparison means for a gate."""

    PASS = "pass"  # noqa: S105 - no secret
    """No drop is seen, or the one that is seen is small for certain."""
    FAIL = "fail"
    """A significant drop."""
    INCONCLUSIVE = "inconclusive"
    """A drop is seen that may be noise, and too few tasks to exclude one that matters."""


@dataclass(frozen=True, slots=True)
class Change:
    """How one number changed, over the common tasks.

    Attributes:
        before: Its mean in the baseline.
        after: Its mean in the run.
        difference: After minus before.
        interval: 95 % interval of the difference, by paired bootstrap over tasks; None over fewer than two tasks.
        p: Two-sided p-value of no change; None when nothing changed.
        verdict: What it means for a gate.
        tasks_to_decide: About how many tasks like these would decide; None unless inconclusive.
    """

    before: float
    after: float
    difference: float
    interval: tuple[float, float] | None
    p: float | None
    verdict: ChangeVerdict
    tasks_to_decide: int | None = None


@dataclass(frozen=True, slots=True)
class TaskChange:
    """The root score of one task before and after; with repeats, the means."""

    task: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run against a baseline.

    Attributes:
        tasks: Slugs of the tasks that both have a score for.
        root_sr: Change of the success rate, in percentage points.
        root_score: Change of the Root Score, in points of 10.
        won: Tasks that succeed now (with repeats: more often than before).
        lost: Tasks that do not any more (or less often).
        only_before: Tasks that have a score in the baseline only.
        only_after: Tasks that have a score in this run only.
        certain: For a failure: whether it stays one were the scores that are missing here the best possible.
        by_task: The change of every common task.
    """

    tasks: tuple[str, ...]
    root_sr: Change
    root_score: Change
    won: tuple[str, ...]
    lost: tuple[str, ...]
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    certain: bool = False
    by_task: tuple[TaskChange, ...] = ()

    @property
    def verdict(self) -> ChangeVerdict:
        """Fail when either number dropped significantly, inconclusive when either may have."""
        verdicts = {self.root_sr.verdict, self.root_score.verdict}
        order = (ChangeVerdict.FAIL, ChangeVerdict.INCONCLUSIVE, ChangeVerdict.PASS)
        return next(verdict for verdict in order if verdict in verdicts)

    @property
    def is_better(self) -> bool:
        """Whether either number rose significantly, by the same tests as for a drop, and neither may have dropped."""
        risen = (
            change.difference > 0
            and change.p is not None
            and change.p <= SIGNIFICANCE
            and change.interval is not None
            and change.interval[0] > 0
            for change in (self.root_sr, self.root_score)
        )
        return self.verdict is ChangeVerdict.PASS and any(risen)

    def as_json(self) -> dict[str, Any]:
        """Return it in the form `results.json` has it under ``gate.baseline``."""
        return {"verdict": self.verdict.value, **asdict(self), "tasks": len(self.tasks)}


class NothingInCommon(ValueError):
    """Two runs without a task that both have a score for."""


def compare(before: Sequence[TaskResult], after: Sequence[TaskResult], threshold: float) -> Comparison:
    """Compare a run with a baseline.

    Args:
        before: The baseline's tasks.
        after: The run's tasks.
        threshold: Points from which a task succeeds, in both.

    Raises:
        NothingInCommon: When no task has a score in both.
    """
    compared = _compare(scores_by_task(before), scores_by_task(after), threshold)
    if compared.verdict is not ChangeVerdict.FAIL:
        return compared
    missing = [task for task in after if task.root_score is None]
    best = scores_by_task([*after, *(task.model_copy(update={"root_score": task.root_bounds[1]}) for task in missing)])
    certain = not missing or _compare(scores_by_task(before), best, threshold).verdict is ChangeVerdict.FAIL
    return replace(compared, certain=certain)


def unlike(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """Return why two runs cannot be compared, a clause for each reason; nothing when they can.

    Args:
        before: What `results.json` has under ``run``, of one run.
        after: Of the other.
    """
    facts = (
        ("dataset", _fact(before, "dataset", "sha256"), _fact(after, "dataset", "sha256")),
        ("judge model", _fact(before, "judge", "model"), _fact(after, "judge", "model")),
        ("judge panel", _fact(before, "judge", "panel"), _fact(after, "judge", "panel")),
        ("judge prompt version", _fact(before, "judge", "prompt_version"), _fact(after, "judge", "prompt_version")),
    )
    return tuple(f"another {what} ({old[:12]}, now {new[:12]})" for what, old, new in facts if old != new)


def _fact(run: Mapping[str, Any], group: str, name: str) -> str:
    value = run.get(group)
    found = value.get(name) if isinstance(value, Mapping) else "unknown"
    return (
        ", ".join(map(str, found)) if isinstance(found, Sequence) and not isinstance(found, str) else str(found or "")
    )


def _compare(before: Mapping[str, list[float]], after: Mapping[str, list[float]], threshold: float) -> Comparison:
    common = tuple(slug for slug in after if slug in before)
    if not common:
        raise NothingInCommon("no task has a score in both runs")
    rates = [(_success(before[slug], threshold), _success(after[slug], threshold)) for slug in common]
    means = [(fmean(before[slug]), fmean(after[slug])) for slug in common]
    flips = [new - old for old, new in rates]
    p = exact_sign_flip(flips)
    root_sr = _change([(100 * float(old), 100 * float(new)) for old, new in rates], p, 100 * MARGIN)
    return Comparison(
        tasks=common,
        root_sr=root_sr,
        root_score=_change(means, None, FULL_SCORE * MARGIN),
        won=tuple(slug for slug, flip in zip(common, flips, strict=True) if flip > 0),
        lost=tuple(slug for slug, flip in zip(common, flips, strict=True) if flip < 0),
        only_before=tuple(slug for slug in before if slug not in after),
        only_after=tuple(slug for slug in after if slug not in before),
        by_task=tuple(TaskChange(slug, *pair) for slug, pair in zip(common, means, strict=True)),
    )


def _success(scores: Sequence[float], threshold: float) -> Fraction:
    return Fraction(sum(score >= threshold for score in scores), len(scores))


def _change(pairs: Sequence[tuple[float, float]], p: float | None, margin: float) -> Change:
    """Return the change of a number and what it means.

    Args:
        pairs: Its value before and after, for each task.
        p: The p-value when it is known; else the sign-flip test is made.
        margin: The drop that a gate has to see.
    """
    differences = [new - old for old, new in pairs]
    difference, interval = fmean(differences), paired_bootstrap(differences)
    if p is None and any(differences):
        p = sign_flip(differences)
    verdict, needed = ChangeVerdict.PASS, None
    if difference < 0:
        below_zero = interval is not None and interval[1] < 0
        if p is not None and p <= SIGNIFICANCE and below_zero:
            verdict = ChangeVerdict.FAIL
        elif interval is None or interval[0] <= -margin:
            verdict, needed = ChangeVerdict.INCONCLUSIVE, tasks_to_decide(differences, margin)
    before, after = (fmean(values) for values in zip(*pairs, strict=True))
    return Change(before, after, difference, interval, p, verdict, needed)


def paired_bootstrap(differences: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of a mean difference; seeded. None for fewer than two values."""
    if len(differences) < 2:
        return None
    draw, count = random.Random(1947).choices, len(differences)  # noqa: S311 - resampling, not secrets
    means = sorted(sum(draw(differences, k=count)) / count for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES) - 1]


def exact_mcnemar(lost: int, won: int) -> float:
    """Return the two-sided p-value of so many tasks lost and won, were both equally likely."""
    whole = lost + won
    tail = sum(comb(whole, k) for k in range(min(lost, won) + 1))
    return min(1.0, float(Fraction(2 * tail, 2**whole)))


def exact_sign_flip(differences: Sequence[Fraction]) -> float | None:
    """Return the two-sided p-value of differences whose signs are as likely one way as the other, exactly.

    With differences of -1, 0 and 1 this is `exact_mcnemar`. Denominators beyond 60 in common are rounded to that.
    """
    changed = [difference for difference in differences if difference]
    if not changed:
        return None
    if all(abs(difference) == 1 for difference in changed):
        lost = sum(difference < 0 for difference in changed)
        return exact_mcnemar(lost, len(changed) - lost)
    unit = min(_FINEST, lcm(*(difference.denominator for difference in changed)))
    steps = [round(difference * unit) for difference in changed]
    ways = {0: 1}
    for step in steps:
        further: dict[int, int] = defaultdict(int)
        for reached, number in ways.items():
            further[reached + step] += number
            further[reached - step] += number
        ways = further
    observed = abs(sum(steps))
    return float(Fraction(sum(n for reached, n in ways.items() if abs(reached) >= observed), 2 ** len(steps)))


def sign_flip(differences: Sequence[float]) -> float:
    """Return the same for any numbers: exact up to 12 of them, else from 2000 seeded draws."""
    observed = abs(sum(differences)) * (1 - 1e-9)
    count = len(differences)
    if count <= _EXACT_UP_TO:
        sums: list[float] = [0.0]
        for difference in differences:
            sums = [total + sign for total in sums for sign in (difference, -difference)]
        return sum(abs(total) >= observed for total in sums) / len(sums)
    draw = random.Random(1947).choices  # noqa: S311 - resampling, not secrets
    reached: list[float] = [abs(sum(map(mul, differences, draw((-1, 1), k=count)))) for _ in range(_FLIPS)]
    return (1 + sum(total >= observed for total in reached)) / (1 + _FLIPS)


def tasks_to_decide(differences: Sequence[float], margin: float) -> int | None:
    """Return about how many tasks like these would show the drop, or exclude one of `margin`, 4 times in 5.

    Args:
        differences: The change of each task.
        margin: The drop that has to be seen.
    """
    if len(differences) < 2:
        return None
    drop, spread = -fmean(differences), stdev(differences)
    if spread == 0 or drop <= 0:
        return None
    to_show = (_Z_TO_SHOW * spread / drop) ** 2
    to_exclude = (_Z_TO_EXCLUDE * spread / (margin - drop)) ** 2 if drop < margin else to_show
    return max(ceil(min(to_show, to_exclude)), len(differences) + 1)
