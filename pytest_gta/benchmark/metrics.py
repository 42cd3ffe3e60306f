"""The benchmark's metrics over task results. Pure functions; definitions in docs/metrics.md.

Root SR, Leaf SR, Tool SR and the category breakdown are those of GTA-2 (arXiv 2604.15715, tables VI and VII).
Rates are percentages 0-100, scores points 0-10. A rate over nothing is None.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from statistics import fmean
from typing import Any

from pytest_gta.benchmark.capability import CAPABILITIES, CapabilityBasis
from pytest_gta.benchmark.feedback_gain import feedback_summary
from pytest_gta.benchmark.repeats import clustered_bootstrap, independent_runs, repeat_summary, scores_by_task
from pytest_gta.benchmark.results import Bounds, TaskResult, TaskStatus
from pytest_gta.benchmark.usage import Usage

ROOT_SR_THRESHOLDS = (5, 6, 7, 8, 9)
_Z95 = 1.959963984540054
_RESAMPLES = 2000


def percent(part: int, whole: int) -> float | None:
    """Return `part` of `whole` as a percentage, None when there is no whole."""
    return 100.0 * part / whole if whole else None


def wilson_interval(successes: int, trials: int) -> tuple[float, float] | None:
    """Return the 95 % Wilson score interval of a rate, in percent (E. B. Wilson, JASA 22, 1927)."""
    return _wilson(successes / trials, trials) if trials else None


def _wilson(rate: float, trials: float) -> tuple[float, float]:
    z2 = _Z95**2
    centre = (rate + z2 / (2 * trials)) / (1 + z2 / trials)
    half = _Z95 * sqrt(rate * (1 - rate) / trials + z2 / (4 * trials**2)) / (1 + z2 / trials)
    return max(0.0, 100 * (centre - half)), min(100.0, 100 * (centre + half))


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % percentile bootstrap interval of a mean: seeded, so always the same for the same values."""
    if len(values) < 2:
        return None
    draw = random.Random(2604).choices  # noqa: S311 - resampling, not secrets
    means = sorted(fmean(draw(values, k=len(values))) for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES) - 1]


def summarize(tasks: Sequence[TaskResult], threshold: float) -> dict[str, Any]:
    """Return the summary of a run, in the form `results.json` has it.

    Args:
        tasks: Every selected task.
        threshold: Points from which a root or a leaf succeeds.
    """
    graded = [task for task in tasks if task.status is TaskStatus.GRADED]
    scores = [task.root_score for task in graded if task.root_score is not None]
    successes = sum(score >= threshold for score in scores)
    missing = [task.root_bounds for task in tasks if task.status is not TaskStatus.GRADED]
    must_succeed = successes + sum(low >= threshold for low, _ in missing)
    could_succeed = successes + sum(high >= threshold for _, high in missing)
    agent = sum((task.agent.usage for task in tasks if task.agent), Usage())
    judge = sum((task.judge.usage for task in tasks), Usage())
    root_score = fmean(scores) if scores else None
    repeats = repeat_summary(tasks, threshold)
    root_sr_ci, root_score_ci = wilson_interval(successes, len(graded)), bootstrap_interval(scores)
    if repeats and graded:
        runs = scores_by_task(graded).values()
        root_score_ci = clustered_bootstrap(list(runs))
        clusters = [(sum(score >= threshold for score in of_task), len(of_task)) for of_task in runs]
        root_sr_ci = _wilson(successes / len(graded), independent_runs(clusters))
    return {
        "tasks": len(tasks),
        "graded": len(graded),
        "unscored": sum(task.status is TaskStatus.UNSCORED for task in tasks),
        "errors": sum(task.status is TaskStatus.ERROR for task in tasks),
        "not_run": sum(task.status is TaskStatus.NOT_RUN for task in tasks),
        "succeeded": successes,
        "root_score": root_score,
        "root_score_ci": root_score_ci,
        "root_score_bounds": _score_bounds(scores, missing),
        "root_sr": percent(successes, len(graded)),
        "root_sr_ci": root_sr_ci,
        "root_sr_bounds": ([percent(must_succeed, len(tasks)), percent(could_succeed, len(tasks))] if tasks else None),
        "root_sr_at": {str(k): percent(sum(s >= k for s in scores), len(scores)) for k in ROOT_SR_THRESHOLDS},
        **_leaf_rates(tasks, threshold),
        **_tool_rates(tasks),
        "repeats": repeats,
        "feedback": feedback_summary(tasks, threshold),
        "by_category": _grouped(tasks, lambda task: (task.category,), threshold),
        "by_capability": _by_capability(tasks, threshold),
        "by_deliverable": _grouped(tasks, lambda task: task.kinds, threshold),
        "cost_usd": {"agent": agent.cost_usd, "judge": judge.cost_usd},
        "tokens": {"agent": agent.tokens.model_dump(), "judge": judge.tokens.model_dump()},
        "agent_s": sum(task.agent.wall_s for task in tasks if task.agent),
        "score_per_usd": root_score / agent.cost_usd if root_score is not None and agent.cost_usd else None,
    }


def _score_bounds(scores: Sequence[float], missing: Sequence[Bounds]) -> list[float] | None:
    """Return the mean root score over all tasks, were every missing leaf 0, and were every one 10."""
    if not scores and not missing:
        return None
    return [fmean([*scores, *(bounds[end] for bounds in missing)]) for end in (0, 1)]


def _leaf_rates(tasks: Iterable[TaskResult], threshold: float) -> dict[str, Any]:
    leaves = [leaf for task in tasks for leaf in task.leaves()]
    scored = [leaf.score for leaf in leaves if leaf.score is not None]
    return {
        "leaves": len(leaves),
        "scored_leaves": len(scored),
        "leaf_sr": percent(sum(score >= threshold for score in scored), len(scored)),
    }


def _tool_rates(tasks: Iterable[TaskResult]) -> dict[str, Any]:
    agents = [task.agent for task in tasks if task.agent]
    calls, errors = sum(a.tool_calls for a in agents), sum(a.tool_errors for a in agents)
    return {"tool_calls": calls, "tool_errors": errors, "tool_sr": percent(calls - errors, calls)}


def _grouped(
    tasks: Sequence[TaskResult], groups_of: Callable[[TaskResult], Iterable[str]], threshold: float
) -> dict[str, dict[str, Any]]:
    """Return the metrics of each group; a task may be in several."""
    groups: dict[str, list[TaskResult]] = defaultdict(list)
    for task in tasks:
        for name in groups_of(task):
            groups[name].append(task)
    table = {}
    for name, members in sorted(groups.items()):
        scores = [t.root_score for t in members if t.status is TaskStatus.GRADED and t.root_score is not None]
        table[name] = {
            "tasks": len(members),
            "graded": len(scores),
            "root_score": fmean(scores) if scores else None,
            "root_sr": percent(sum(score >= threshold for score in scores), len(scores)),
            "leaf_sr": _leaf_rates(members, threshold)["leaf_sr"],
        }
    return table


def _by_capability(tasks: Sequence[TaskResult], threshold: float) -> dict[str, dict[str, Any]]:
    """Return the metrics of each capability, with the number of its tasks that do not say so themselves."""
    table = _grouped(tasks, lambda task: task.capabilities, threshold)
    for name, row in table.items():
        row["inferred"] = sum(
            name in task.capabilities and task.capability_basis is CapabilityBasis.INFERRED for task in tasks
        )
    return {name: table[name] for name in CAPABILITIES if name in table}
