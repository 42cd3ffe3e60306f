"""From verdicts on leaves to the root score: weighted means, bottom up. Pure functions.

An inner node scores ``sum(weight * score) / sum(weight)`` over its children, the root the same over the top nodes
(GTA-2, arXiv 2604.15715, Algorithm 1). A leaf without a score makes every node above it invalid; such a node has no
score but bounds: the mean with the missing leaves as 0 and as 10.

Means are taken of exact fractions and rounded once, at the end: the order of the leaves does not matter, and a mean
that is 7 is not 6.999999999999999 and below a threshold of 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pytest_gta.benchmark.results import Bounds, CheckpointResult, LeafStatus, TaskResult, TaskStatus, Verdict
from pytest_gta.benchmark.task import Checkpoint, Task, TaskFault

FULL_SCORE = 10.0


@dataclass(frozen=True, slots=True)
class RootScore:
    """The score of a task.

    Attributes:
        score: Points 0-10; None when a leaf has no score.
        bounds: The score with missing leaves as 0 and as 10; both equal `score` when it is known.
        checkpoints: The rubric with the score of every node.
    """

    score: float | None
    bounds: Bounds
    checkpoints: tuple[CheckpointResult, ...]


def score_tree(checkpoints: Sequence[Checkpoint], verdicts: Mapping[str, Verdict]) -> RootScore:
    """Aggregate verdicts over a rubric. A leaf without a verdict counts as not run."""
    scored = [_score_node(node, verdicts) for node in checkpoints]
    mean = _mean(checkpoints, scored)
    return RootScore(mean.score, mean.bounds, tuple(node.result for node in scored))


def unmeasured(
    task: Task | TaskFault, nodeid: str, status: TaskStatus, reason: str, known: Mapping[str, Verdict]
) -> TaskResult:
    """Return the result of a task that has none: an error or not run, with the leaves that were judged before.

    Args:
        task: The task, or why it is not one.
        nodeid: Its pytest node.
        status: ``error`` or ``not_run``.
        reason: Why, in one or two lines.
        known: Verdicts that were given all the same.
    """
    if isinstance(task, TaskFault):
        return TaskResult(
            task_id=task.task_id, run_key=task.slug, nodeid=nodeid, category="invalid", status=status, error=reason
        )
    root = score_tree(task.checkpoints, known)
    return TaskResult(
        task_id=task.id,
        run_key=task.slug,
        nodeid=nodeid,
        category=task.category,
        kinds=task.kinds,
        capabilities=task.capabilities.names,
        capability_basis=task.capabilities.basis,
        status=status,
        root_bounds=root.bounds,
        checkpoints=root.checkpoints,
        notes=task.notes,
        error=reason,
        repeat=task.repeat,
    )


@dataclass(frozen=True, slots=True)
class _Mean:
    """An exact score: its lowest and highest value, and whether nothing is missing."""

    low: Fraction
    high: Fraction
    valid: bool

    @property
    def score(self) -> float | None:
        return float(self.low) if self.valid else None

    @property
    def bounds(self) -> Bounds:
        return float(self.low), float(self.high)


@dataclass(frozen=True, slots=True)
class _Scored:
    """A node's result, and its exact score for the mean of the node above."""

    mean: _Mean
    result: CheckpointResult


def _score_node(node: Checkpoint, verdicts: Mapping[str, Verdict]) -> _Scored:
    if node.is_leaf:
        return _score_leaf(node, verdicts.get(node.id) or Verdict(leaf_id=node.id, status=LeafStatus.NOT_RUN))
    children = [_score_node(child, verdicts) for child in node.children]
    mean = _mean(node.children, children)
    result = CheckpointResult(
        id=node.id,
        requirements=node.requirements,
        weight=node.weight,
        score=mean.score,
        status="scored" if mean.valid else "invalid",
        valid=mean.valid,
        bounds=mean.bounds,
        checkpoints=tuple(child.result for child in children),
    )
    return _Scored(mean, result)


def _score_leaf(node: Checkpoint, verdict: Verdict) -> _Scored:
    known = verdict.score is not None
    exact = Fraction(verdict.score if verdict.score is not None else 0)
    mean = _Mean(exact, exact if known else Fraction(FULL_SCORE), known)
    result = CheckpointResult(
        id=node.id,
        requirements=node.requirements,
        weight=node.weight,
        score=verdict.score,
        status=verdict.status.value,
        analysis=verdict.analysis,
        valid=known,
        bounds=mean.bounds,
        evidence_note=verdict.evidence_note,
        cached=verdict.cached,
        samples=verdict.samples,
        panel=verdict.panel,
        spread=verdict.spread,
        coverage=verdict.coverage,
    )
    return _Scored(mean, result)


def _mean(nodes: Sequence[Checkpoint], scored: Sequence[_Scored]) -> _Mean:
    weights = [Fraction(node.weight) for node in nodes]
    low = sum(w * child.mean.low for w, child in zip(weights, scored, strict=True)) / sum(weights)
    high = sum(w * child.mean.high for w, child in zip(weights, scored, strict=True)) / sum(weights)
    return _Mean(Fraction(low), Fraction(high), all(child.mean.valid for child in scored))
