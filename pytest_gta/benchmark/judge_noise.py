"""How much of a run's numbers is the judge's noise: the same outputs judged twice. Pure functions; docs/gates.md.

Judged twice, a leaf *flips* when it passes once and fails once; so does a task. What flips without any change of the
agent is what a gate takes for one. Rates are percentages 0-100, scores and differences points 0-10.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import exp, lgamma, log, log1p, sqrt
from statistics import fmean
from typing import Any

from pytest_gta.benchmark.comparison import SIGNIFICANCE, exact_mcnemar
from pytest_gta.benchmark.metrics import percent, wilson_interval
from pytest_gta.benchmark.repeats import clustered_bootstrap

POWER = 0.8
"""A change counts as one that is seen when 4 of 5 runs would show it."""

_Z95 = 1.959963984540054
_RARE = 1e-9


@dataclass(frozen=True, slots=True)
class ScorePair:
    """Two scores of one thing.

    Attributes:
        task: The run key of its task.
        name: The leaf's id; "" for the task's root.
        first: Points 0-10.
        second: Points 0-10.
    """

    task: str
    name: str
    first: float
    second: float

    def flips(self, threshold: float) -> bool:
        """Whether it passes in one judging only."""
        return (self.first >= threshold) != (self.second >= threshold)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two judgings of the same things agree.

    Attributes:
        pairs: Things with two scores.
        flipped: Those that pass in one judging only.
        flip_rate: Their share; None of nothing.
        flip_rate_ci: Its 95 % Wilson interval.
        mean_difference: Mean absolute difference of the scores.
        mean_difference_ci: Its 95 % bootstrap interval, whole tasks drawn; None below two tasks.
        drift: Mean of second minus first: near 0 when the difference is noise.
        drift_ci: Its interval, likewise.
        identical: Pairs of the very same score.
    """

    pairs: int
    flipped: int
    flip_rate: float | None
    flip_rate_ci: tuple[float, float] | None
    mean_difference: float | None
    mean_difference_ci: tuple[float, float] | None
    drift: float | None
    drift_ci: tuple[float, float] | None
    identical: int


@dataclass(frozen=True, slots=True)
class GateNoise:
    """What the judge's noise means for a gate over as many tasks, in percentage points of Root SR.

    Attributes:
        tasks: How many tasks that are.
        root_sr: Root SR of the first and of the second judging.
        spread: How far Root SR of one judging lies from its mean in 95 of 100 judgings: the margin that
            ``--gta-fail-under`` should keep.
        change: How far two judgings of the same outputs lie apart in 95 of 100 cases.
        seen: The smallest drop that ``--gta-baseline`` would call a failure 4 times in 5; None when not even all tasks
            would do.
        seen_at_worst: The same with the highest flip rate that its interval leaves possible.
        seen_without_noise: The same with a judge that never flips.
    """

    tasks: int
    root_sr: tuple[float, float]
    spread: float
    change: float
    seen: float | None
    seen_at_worst: float | None
    seen_without_noise: float | None


@dataclass(frozen=True, slots=True)
class JudgeNoise:
    """The noise of a judge on the outputs of a run.

    Attributes:
        threshold: Points from which a leaf or a task passes.
        leaves: Over the leaves that a judge scored twice.
        tasks: Over the tasks whose root has two scores.
        gate: What it means; None without a task.
        flipped_tasks: Run keys of the tasks that flip.
    """

    threshold: float
    leaves: Agreement
    tasks: Agreement
    gate: GateNoise | None
    flipped_tasks: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def judge_noise(leaves: Sequence[ScorePair], roots: Sequence[ScorePair], threshold: float) -> JudgeNoise:
    """Return what two judgings of the same outputs say of the judge.

    Args:
        leaves: The scores of leaves that were sent to the judge twice.
        roots: The root scores of tasks.
        threshold: Points from which a leaf or a task passes.
    """
    flipped = tuple(pair.task for pair in roots if pair.flips(threshold))
    tasks = _agreement(roots, threshold)
    return JudgeNoise(threshold, _agreement(leaves, threshold), tasks, _gate(roots, tasks, threshold), flipped)


def _agreement(pairs: Sequence[ScorePair], threshold: float) -> Agreement:
    by_task: dict[str, list[float]] = defaultdict(list)
    for pair in pairs:
        by_task[pair.task].append(pair.second - pair.first)
    signed = list(by_task.values())
    absolute = [[abs(value) for value in values] for values in signed]
    flipped = sum(pair.flips(threshold) for pair in pairs)
    return Agreement(
        pairs=len(pairs),
        flipped=flipped,
        flip_rate=percent(flipped, len(pairs)),
        flip_rate_ci=wilson_interval(flipped, len(pairs)),
        mean_difference=fmean(value for values in absolute for value in values) if pairs else None,
        mean_difference_ci=clustered_bootstrap(absolute),
        drift=fmean(value for values in signed for value in values) if pairs else None,
        drift_ci=clustered_bootstrap(signed),
        identical=sum(pair.first == pair.second for pair in pairs),
    )


def _gate(roots: Sequence[ScorePair], tasks: Agreement, threshold: float) -> GateNoise | None:
    if not roots or tasks.flip_rate is None or tasks.flip_rate_ci is None:
        return None
    count, rate = len(roots), tasks.flip_rate / 100
    before = sum(pair.first >= threshold for pair in roots)
    after = sum(pair.second >= threshold for pair in roots)
    return GateNoise(
        tasks=count,
        root_sr=(100 * before / count, 100 * after / count),
        spread=100 * _Z95 * sqrt(rate / (2 * count)),
        change=100 * _Z95 * sqrt(rate / count),
        seen=smallest_seen(count, rate),
        seen_at_worst=smallest_seen(count, tasks.flip_rate_ci[1] / 100),
        seen_without_noise=smallest_seen(count, 0.0),
    )


def smallest_seen(tasks: int, flip_rate: float) -> float | None:
    """Return the smallest drop of Root SR, in percentage points, that a baseline shows 4 times in 5.

    A drop of d tasks is d tasks lost for good, while each other task flips by noise at `flip_rate`, as often one way as
    the other. The test is that of `pytest_gta.benchmark.comparison`.

    Args:
        tasks: How many are compared.
        flip_rate: The share of tasks, 0 to 1, that the judge's noise flips.

    Returns:
        None when losing every task would not show.
    """
    needed = _LossesNeeded()
    if _power(tasks, tasks, flip_rate, needed) < POWER:
        return None
    low, high = 0, tasks
    while high - low > 1:
        middle = (low + high) // 2
        if _power(middle, tasks, flip_rate, needed) >= POWER:
            high = middle
        else:
            low = middle
    return 100 * high / tasks


class _LossesNeeded:
    """How many tasks have to be lost, for each number that are won, for the test to call it a drop."""

    def __init__(self) -> None:
        self._known: list[int] = []

    def against(self, won: int) -> int:
        while len(self._known) <= won:
            next_won = len(self._known)
            lost = max(self._known[-1] if self._known else 1, next_won + 1)
            while exact_mcnemar(lost, next_won) > SIGNIFICANCE:
                lost += 1
            self._known.append(lost)
        return self._known[won]


def _power(lost: int, tasks: int, flip_rate: float, needed: _LossesNeeded) -> float:
    """Return how likely `lost` tasks that are lost for good are called a drop."""
    others = tasks - lost
    chance = 0.0
    for flips in range(others + 1):
        likely = _binomial(flips, others, flip_rate)
        if likely < _RARE:
            continue
        # The more of the flips are won, the more losses are needed, and the fewer there are.
        ways, shown, won = 1, 0, 0
        while won <= flips and lost + flips - won >= needed.against(won):
            shown += ways
            ways = ways * (flips - won) // (won + 1)
            won += 1
        chance += likely * (shown / 2**flips)
    return chance


def _binomial(k: int, n: int, p: float) -> float:
    if p <= 0 or p >= 1:
        return float(k == (0 if p <= 0 else n))
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p))
