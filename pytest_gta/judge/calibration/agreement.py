"""How far two raters agree, in the statistics of the GTA-2 paper (arXiv 2604.15715).

Correlations and resampling are NumPy's and SciPy's. Two measures are worked out here, as no light library has them:

* ICC(2,1), two-way random effects, absolute agreement, single rater (Shrout & Fleiss, Psychological Bulletin 86, 1979);
* Cohen's kappa of two raters over pass and fail (Cohen, Educational and Psychological Measurement 20, 1960).

Intervals are 95 % percentile bootstraps over tasks, not over leaves: the leaves of a task are not independent.
A statistic that is not defined (one rater says the same of everything) is None.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_gta.judge.calibration.ratings import Ratings

if TYPE_CHECKING:
    import numpy as np

    Scores = np.ndarray[Any, np.dtype[np.float64]]

RESAMPLES = 1000
SEED = 2604
INSTALL = "pip install 'pytest-gta[calibrate]'"


class StatisticsUnavailable(Exception):
    """SciPy is not installed."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic and its 95 % interval; None where it is not defined."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class RootAgreement:
    """Agreement on root scores. `mae` is in points of 10.

    Attributes:
        tasks: Tasks that both scored.
    """

    tasks: int
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    icc: Estimate
    mae: Estimate


@dataclass(frozen=True, slots=True)
class LeafAgreement:
    """Agreement on leaves. `mae` is in points of 10, `accuracy` in percent.

    Attributes:
        scored: Leaves that both gave points to: what `pearson` and `mae` are of.
        judged: Leaves that both let pass or fail: what `accuracy` and `kappa` are of.
        tasks: Tasks those are of.
        both_pass, both_fail, only_first, only_second: How the judged ones fall out.
    """

    scored: int
    judged: int
    tasks: int
    pearson: Estimate
    mae: Estimate
    accuracy: Estimate
    kappa: Estimate
    both_pass: int
    both_fail: int
    only_first: int
    only_second: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two raters agree, and on what.

    Attributes:
        first, second: Their names.
        threshold: Points from which a leaf passes.
        roots, leaves: The statistics.
        root_scores: The pairs of root scores, by task id, for plotting.
        unmatched: Leaves that only the first has marked.
    """

    first: str
    second: str
    threshold: float
    roots: RootAgreement
    leaves: LeafAgreement
    root_scores: dict[str, tuple[float, float]]
    unmatched: int


def agreement(first: Ratings, second: Ratings, *, threshold: float = 7.0, resamples: int = RESAMPLES) -> Agreement:
    """Compare two raters on what both have marked.

    Args:
        first: People, or another reference.
        second: The judge.
        threshold: Points from which a leaf passes.
        resamples: Of each interval; 0 for none.

    Raises:
        StatisticsUnavailable: When SciPy is not installed.
    """
    _stats()
    roots = {
        task: (mark.score, other.score)
        for task, mark in first.roots.items()
        if (other := second.roots.get(task)) is not None and mark.score is not None and other.score is not None
    }
    scored: dict[str, list[tuple[float, float]]] = {}
    passed: dict[str, list[tuple[float, float]]] = {}
    unmatched = 0
    for leaf, mark in first.leaves.items():
        other = second.leaves.get(leaf)
        if other is None:
            unmatched += 1
            continue
        passed.setdefault(leaf[0], []).append((float(mark.succeeds(threshold)), float(other.succeeds(threshold))))
        if mark.score is not None and other.score is not None:
            scored.setdefault(leaf[0], []).append((mark.score, other.score))
    outcomes = [pair for pairs in passed.values() for pair in pairs]
    count = outcomes.count
    return Agreement(
        first=first.rater,
        second=second.rater,
        threshold=threshold,
        roots=_roots([[pair] for pair in roots.values()], resamples),
        leaves=LeafAgreement(
            scored=sum(len(pairs) for pairs in scored.values()),
            judged=len(outcomes),
            tasks=len(passed),
            pearson=_estimate(pearson, list(scored.values()), resamples),
            mae=_estimate(mean_absolute_error, list(scored.values()), resamples),
            accuracy=_estimate(accuracy, list(passed.values()), resamples),
            kappa=_estimate(cohen_kappa, list(passed.values()), resamples),
            both_pass=count((1.0, 1.0)),
            both_fail=count((0.0, 0.0)),
            only_first=count((1.0, 0.0)),
            only_second=count((0.0, 1.0)),
        ),
        root_scores=roots,
        unmatched=unmatched,
    )


def _roots(tasks: Sequence[list[tuple[float, float]]], resamples: int) -> RootAgreement:
    return RootAgreement(
        tasks=len(tasks),
        pearson=_estimate(pearson, tasks, resamples),
        spearman=_estimate(spearman, tasks, resamples),
        kendall=_estimate(kendall, tasks, resamples),
        icc=_estimate(icc_2_1, tasks, resamples),
        mae=_estimate(mean_absolute_error, tasks, resamples),
    )


# -- statistics of two equally long rows of numbers; nan where not defined --------------------------------------------


def pearson(a: Scores, b: Scores) -> float:
    """Return Pearson's product-moment correlation."""
    import numpy as np

    return float(np.corrcoef(a, b)[0, 1]) if len(a) > 1 else math.nan


def spearman(a: Scores, b: Scores) -> float:
    """Return Spearman's rank correlation."""
    # scipy.stats.spearmanr does the same with a twentyfold of checks, which counts in a thousand resamples.
    ranks = _stats().rankdata
    return pearson(ranks(a), ranks(b)) if len(a) > 1 else math.nan


def kendall(a: Scores, b: Scores) -> float:
    """Return Kendall's tau-b."""
    return float(_stats().kendalltau(a, b).statistic) if len(a) > 1 else math.nan


def mean_absolute_error(a: Scores, b: Scores) -> float:
    """Return the mean distance in points."""
    return float(abs(a - b).mean()) if len(a) else math.nan


def icc_2_1(*raters: Scores) -> float:
    """Return ICC(2,1) of two or more raters, from the mean squares of a two-way analysis of variance."""
    import numpy as np

    table = np.column_stack(raters)
    n, k = table.shape
    if n < 2:
        return math.nan
    mean = table.mean()
    of_rows = k * ((table.mean(axis=1) - mean) ** 2).sum()
    of_columns = n * ((table.mean(axis=0) - mean) ** 2).sum()
    rest = ((table - mean) ** 2).sum() - of_rows - of_columns
    msr, msc, mse = of_rows / (n - 1), of_columns / (k - 1), rest / ((n - 1) * (k - 1))
    below = msr + (k - 1) * mse + k * (msc - mse) / n
    return float((msr - mse) / below) if below > 0 else math.nan


def accuracy(a: Scores, b: Scores) -> float:
    """Return how many of the leaves both let pass or both let fail, in percent."""
    return float(100 * (a == b).mean()) if len(a) else math.nan


def cohen_kappa(a: Scores, b: Scores) -> float:
    """Return Cohen's kappa of two rows of 0 and 1."""
    if not len(a):
        return math.nan
    observed = float((a == b).mean())
    p, q = float(a.mean()), float(b.mean())
    by_chance = p * q + (1 - p) * (1 - q)
    return (observed - by_chance) / (1 - by_chance) if by_chance < 1 else math.nan


def kendall_w(raters: Sequence[Sequence[float]]) -> float | None:
    """Return Kendall's W, the concordance of three or more rankings, corrected for ties; None when undefined.

    It is Friedman's chi-square over its greatest possible value.

    Args:
        raters: Of each rater the scores of the same tasks in the same order.
    """
    m, n = len(raters), len(raters[0])
    if m < 3 or n < 3:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = float(_stats().friedmanchisquare(*zip(*raters, strict=True)).statistic) / (m * (n - 1))
    return found if math.isfinite(found) else None


# -- intervals --------------------------------------------------------------------------------------------------------


def _estimate(
    statistic: Callable[[Scores, Scores], float], tasks: Sequence[list[tuple[float, float]]], resamples: int
) -> Estimate:
    """Return a statistic over the pairs of all tasks, with its interval when tasks are drawn anew."""
    import numpy as np

    of_task = [np.array(pairs, dtype=np.float64).reshape(-1, 2) for pairs in tasks]

    def of(drawn: Any) -> float:
        pairs = np.concatenate([of_task[int(task)] for task in drawn])
        return statistic(pairs[:, 0], pairs[:, 1])

    if not of_task:
        return Estimate(None)
    everything = np.arange(len(of_task))
    with warnings.catch_warnings():
        # Constant resamples have no correlation: they are left out of the interval below.
        warnings.simplefilter("ignore")
        value = of(everything)
        if not math.isfinite(value):
            return Estimate(None)
        if len(of_task) < 3 or not resamples:
            return Estimate(value)
        drawn = (
            _stats()
            .bootstrap((everything,), of, n_resamples=resamples, vectorized=False, method="percentile", rng=SEED)
            .bootstrap_distribution
        )
        low, high = np.nanpercentile(drawn, (2.5, 97.5))
    return Estimate(value, float(low), float(high))


def _stats() -> Any:
    """Return SciPy's statistics; a library of an extra, without types."""
    try:
        return import_module("scipy.stats")
    except ImportError:
        raise StatisticsUnavailable(f"SciPy is not installed: {INSTALL}") from None
