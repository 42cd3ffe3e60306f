"""What to look at first: tasks without a score, then the lowest, and for each the checkpoint that lost most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_gta.benchmark.results import CheckpointResult, TaskResult, TaskStatus
from pytest_gta.benchmark.usage import total
from pytest_gta.reporters.wording import count


@dataclass(frozen=True, slots=True)
class Node:
    """A checkpoint and what it means for the root.

    Attributes:
        checkpoint: The checkpoint.
        depth: 0 for a top node.
        share: The part of the root score that hangs on it, 0 to 1.
        lost: Points of the root score that it lost, None when it has no score.
    """

    checkpoint: CheckpointResult
    depth: int
    share: float
    lost: float | None


def nodes(checkpoints: Sequence[CheckpointResult], depth: int = 0, share: float = 1.0) -> Iterator[Node]:
    """Yield every checkpoint of a rubric, in its order, with its share of the root."""
    whole = sum(checkpoint.weight for checkpoint in checkpoints)
    for checkpoint in checkpoints:
        part = share * checkpoint.weight / whole if whole else 0.0
        lost = None if checkpoint.score is None else part * (10 - checkpoint.score)
        yield Node(checkpoint, depth, part, lost)
        yield from nodes(checkpoint.checkpoints, depth + 1, part)


def heaviest_loss(task: TaskResult) -> Node | None:
    """Return the leaf that took most from the root score, None when no leaf lost anything."""
    leaves = [node for node in nodes(task.checkpoints) if not node.checkpoint.checkpoints and node.lost]
    return max(leaves, key=lambda node: node.lost or 0.0, default=None)


def by_need(tasks: Sequence[TaskResult]) -> list[TaskResult]:
    """Return tasks without a score first, then the lowest score first; those that never ran come last."""

    def order(task: TaskResult) -> tuple[int, float]:
        if task.root_score is not None:
            return 1, task.root_score
        return (2 if task.status is TaskStatus.NOT_RUN else 0), 0.0

    return sorted(tasks, key=order)


def needy(tasks: Sequence[TaskResult]) -> list[TaskResult]:
    """Return all tasks that are without a score or below the threshold, the neediest first; not those never run."""
    return [task for task in by_need(tasks) if not task.success and task.status is not TaskStatus.NOT_RUN]


def look_at_first(tasks: Sequence[TaskResult], most: int) -> list[TaskResult]:
    """Return at most so many tasks that are without a score or below the threshold, the neediest first.

    Those without a score take the first places, but not more than half of them while there are others.
    """
    found = needy(tasks)
    missing = [task for task in found if task.root_score is None]
    low = found[len(missing) :]
    places = max(most // 2, most - len(low))
    return [*missing[:places], *low][:most]


def why(task: TaskResult) -> str:
    """Return what to know first of a task: why it has no score, or the leaf that lost most and what was said of it."""
    if task.root_score is None:
        return task.error or task.status.value.replace("_", " ")
    node = heaviest_loss(task)
    if node is None:
        return ""
    return f"{node.checkpoint.id}: {node.checkpoint.analysis or node.checkpoint.requirements}"


def spent(task: TaskResult) -> float | None:
    """Return what agent and judge cost, USD; None when a price, or what was used at all, is not known."""
    if task.agent is None and task.status is TaskStatus.ERROR:
        return None
    return total((task.agent.usage.cost_usd if task.agent else 0.0, task.judge.usage.cost_usd))


def without_score(summary: Mapping[str, Any]) -> str:
    """Return how many tasks have no score and why: ``1 task unscored, 2 tasks in error``; "" when all have one."""
    kinds = (("unscored", "unscored"), ("errors", "in error"), ("not_run", "not run"))
    return ", ".join(f"{count(summary[key], 'task')} {words}" for key, words in kinds if summary[key])


def measured(summary: Mapping[str, Any]) -> str:
    """Return what a rate is over: ``127 graded tasks``, ``380 graded runs of 127 tasks``."""
    repeats = summary.get("repeats")
    if repeats is None:
        return count(summary["graded"], "graded task")
    return f"{count(summary['graded'], 'graded run')} of {count(repeats['tasks'], 'task')}"


def least_steady(repeats: Mapping[str, Any], most: int) -> list[dict[str, Any]]:
    """Return at most so many tasks whose score differs most from one repeat to the next, of ``summary.repeats``."""
    return sorted((row for row in repeats["by_task"] if row["spread"]), key=lambda row: -row["spread"])[:most]
