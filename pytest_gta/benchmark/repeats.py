"""Tasks that were run several times: spread, pass@k, pass^k, and intervals that know what belongs together.

Repeats of one task are alike, so a run of 10 tasks with 5 repeats says less than one of 50 tasks. Intervals are
therefore clustered by task: the bootstrap draws whole tasks, and the Wilson interval counts as many independent runs
as have the variance that the tasks show (L. Kish, Survey Sampling, 1965: the design effect).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import comb
from statistics import fmean, stdev
from typing import Any

from pytest_gta.benchmark.results import TaskResult

_RESAMPLES = 2000


def scores_by_task(tasks: Iterable[TaskResult]) -> dict[str, list[float]]:
    """Return the root scores of each task by its slug, one for each repeat that has one."""
    scores: dict[str, list[float]] = defaultdict(list)
    for task in tasks:
        if task.root_score is not None:
            scores[task.slug].append(task.root_score)
    return dict(scores)


def pass_at(runs: int, successes: int, k: int) -> float:
    """Return the chance that at least one of `k` runs succeeds, estimated without bias (M. Chen et al., 2021).

    Raises:
        ValueError: When there are fewer than `k` runs.
    """
    _check(runs, successes, k)
    return 1 - comb(runs - successes, k) / comb(runs, k)


def pass_all(runs: int, successes: int, k: int) -> float:
    """Return the chance that all of `k` runs succeed (pass^k), estimated without bias.

    Raises:
        ValueError: When there are fewer than `k` runs.
    """
    _check(runs, successes, k)
    return comb(successes, k) / comb(runs, k)


def _check(runs: int, successes: int, k: int) -> None:
    if not 1 <= k <= runs or not 0 <= successes <= runs:
        raise ValueError(f"{successes} successes in {runs} runs say nothing of {k} runs")


def repeat_summary(tasks: Sequence[TaskResult], threshold: float) -> dict[str, Any] | None:
    """Return what repeats show, in the form `results.json` has it under ``summary.repeats``; None without repeats.

    Args:
        tasks: All runs of all tasks.
        threshold: Points from which a run succeeds.
    """
    if not any(task.repeat for task in tasks):
        return None
    members: dict[str, list[TaskResult]] = defaultdict(list)
    for task in tasks:
        members[task.slug].append(task)
    rows = [_row(slug, runs, threshold) for slug, runs in members.items()]
    most = max((row["graded"] for row in rows), default=0)
    return {
        "tasks": len(rows),
        "runs": max(len(runs) for runs in members.values()),
        "at_k": {str(k): _at(k, rows) for k in range(1, most + 1)},
        "by_task": rows,
    }


def _row(slug: str, runs: Sequence[TaskResult], threshold: float) -> dict[str, Any]:
    scores = [run.root_score for run in runs if run.root_score is not None]
    return {
        "task": slug,
        "runs": len(runs),
        "graded": len(scores),
        "succeeded": sum(score >= threshold for score in scores),
        "root_score": fmean(scores) if scores else None,
        "spread": stdev(scores) if len(scores) > 1 else None,
        "lowest": min(scores, default=None),
        "highest": max(scores, default=None),
    }


def _at(k: int, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return pass@k and pass^k in percent, over the tasks with at least `k` graded runs."""
    counts = [(row["graded"], row["succeeded"]) for row in rows if row["graded"] >= k]
    return {
        "tasks": len(counts),
        "pass_at": 100 * fmean(pass_at(runs, successes, k) for runs, successes in counts),
        "pass_all": 100 * fmean(pass_all(runs, successes, k) for runs, successes in counts),
    }


def clustered_bootstrap(clusters: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean of all values, drawing whole clusters; seeded. None below two."""
    if len(clusters) < 2:
        return None
    sums = [(sum(values), len(values)) for values in clusters]
    draw, count = random.Random(2604).choices, len(sums)  # noqa: S311 - resampling, not secrets
    means = []
    for _ in range(_RESAMPLES):
        drawn = draw(sums, k=count)
        means.append(sum(total for total, _ in drawn) / sum(number for _, number in drawn))
    means.sort()
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES) - 1]


def independent_runs(clusters: Sequence[tuple[int, int]]) -> float:
    """Return how many independent runs say as much of the success rate as these.

    Args:
        clusters: Successes and runs of each task.

    Returns:
        Between the number of tasks (all repeats of a task end alike) and the number of runs (as if they were tasks).
    """
    runs, tasks = sum(number for _, number in clusters), len(clusters)
    rate = sum(successes for successes, _ in clusters) / runs
    if tasks < 2 or rate in (0, 1):
        return float(tasks)
    spread = sum((successes - rate * number) ** 2 for successes, number in clusters) * tasks / (tasks - 1) / runs**2
    return max(float(tasks), min(float(runs), rate * (1 - rate) / spread)) if spread else float(runs)
