"""Scores of roots and leaves by one rater: a person, a judge, or a known truth."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TypeVar

from pytest_gta.benchmark.results import LeafStatus, RunResult, TaskResult

Key = TypeVar("Key")
Leaf = tuple[str, str]
"""A leaf: the task's id and its own."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a rater says of one root or leaf: points, or only whether it succeeds.

    Attributes:
        score: Points 0-10; None when the rater only says pass or fail.
        success: Pass or fail; None when it follows from the score.

    Raises:
        ValueError: When there is neither, or the score is no number from 0 to 10.
    """

    score: float | None = None
    success: bool | None = None

    def __post_init__(self) -> None:
        if self.score is None and self.success is None:
            raise ValueError("is neither a score nor pass or fail")
        if self.score is not None and not (math.isfinite(self.score) and 0 <= self.score <= 10):
            raise ValueError("is not a number of points from 0 to 10")

    def succeeds(self, threshold: float) -> bool:
        """Say whether it succeeds from so many points."""
        return self.success if self.success is not None else (self.score or 0.0) >= threshold


@dataclass(frozen=True, slots=True)
class Ratings:
    """All that one rater says.

    Attributes:
        rater: Its name.
        roots: By task id.
        leaves: By task id and leaf id.
        missing: How many leaves it was to rate and did not, by reason.
    """

    rater: str
    roots: dict[str, Mark] = field(default_factory=dict)
    leaves: dict[Leaf, Mark] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)


def ratings_of_run(result: RunResult, name: str = "") -> Ratings:
    """Return what a run's judge says. Of independent runs of a task the scores are averaged.

    Leaves without a score are no ratings: they are counted in `Ratings.missing` by their status.
    """
    judge = result.run.get("judge") or {}
    by_task: dict[str, list[TaskResult]] = defaultdict(list)
    missing: dict[str, int] = {}
    for task in result.tasks:
        by_task[task.task_id].append(task)
    roots: dict[str, Mark] = {}
    leaves: dict[Leaf, Mark] = {}
    for task_id, repeats in by_task.items():
        scores = [task.root_score for task in repeats if task.root_score is not None]
        if scores:
            roots[task_id] = Mark(fmean(scores))
        given: dict[str, list[float]] = defaultdict(list)
        for leaf in (leaf for task in repeats for leaf in task.leaves()):
            if leaf.score is not None and LeafStatus(leaf.status).is_score:
                given[leaf.id].append(leaf.score)
            else:
                missing[leaf.status] = missing.get(leaf.status, 0) + 1
        leaves.update({(task_id, leaf_id): Mark(fmean(points)) for leaf_id, points in given.items()})
    return Ratings(name or str(judge.get("model") or "judge"), roots, leaves, missing)


def consensus(raters: Sequence[Ratings], name: str = "people") -> Ratings:
    """Return the mean of several raters; where they only say pass or fail, what they agree on."""
    return Ratings(
        name,
        _merged([rater.roots for rater in raters]),
        _merged([rater.leaves for rater in raters]),
    )


def _merged(marks: Sequence[dict[Key, Mark]]) -> dict[Key, Mark]:
    keys = dict.fromkeys(key for each in marks for key in each)
    merged = {key: _mean([each[key] for each in marks if key in each]) for key in keys}
    return {key: mark for key, mark in merged.items() if mark is not None}


def _mean(marks: Iterable[Mark]) -> Mark | None:
    given = list(marks)
    scores = [mark.score for mark in given if mark.score is not None]
    if len(scores) == len(given):
        return Mark(fmean(scores))
    said = {mark.success for mark in given if mark.success is not None}
    return Mark(success=said.pop()) if len(said) == 1 else None
