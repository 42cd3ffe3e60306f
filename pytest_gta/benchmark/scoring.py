"""From verdicts on leaves to the root score: weighted means, bottom up. Pure functions.

An inner node scores ``sum(weight * score) / sum(weight)`` over its children, the root the same over the top nodes
(GTA-2, arXiv 2604.15715, Algorithm 1). A leaf without a score makes every node above it invalid; such a node has no
score but bounds: the mean with the missing leaves as 0 and as 10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from pytest_gta.benchmark.results import Bounds, CheckpointResult, LeafStatus, Verdict
from pytest_gta.benchmark.task import Checkpoint

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
    nodes = tuple(_score_node(node, verdicts) for node in checkpoints)
    score, bounds = _weighted(nodes)
    return RootScore(score, bounds, nodes)


def _score_node(node: Checkpoint, verdicts: Mapping[str, Verdict]) -> CheckpointResult:
    if not node.is_leaf:
        children = tuple(_score_node(child, verdicts) for child in node.children)
        score, bounds = _weighted(children)
        return CheckpointResult(
            id=node.id,
            requirements=node.requirements,
            weight=node.weight,
            score=score,
            status="invalid" if score is None else "scored",
            valid=score is not None,
            bounds=bounds,
            checkpoints=children,
        )
    verdict = verdicts.get(node.id) or Verdict(leaf_id=node.id, status=LeafStatus.NOT_RUN)
    score = verdict.score
    return CheckpointResult(
        id=node.id,
        requirements=node.requirements,
        weight=node.weight,
        score=score,
        status=verdict.status.value,
        analysis=verdict.analysis,
        valid=score is not None,
        bounds=(0.0, FULL_SCORE) if score is None else (score, score),
        evidence_note=verdict.evidence_note,
        cached=verdict.cached,
    )


def _weighted(nodes: Sequence[CheckpointResult]) -> tuple[float | None, Bounds]:
    weight = fsum(node.weight for node in nodes)
    low, high = (fsum(node.weight * node.bounds[end] for node in nodes) / weight for end in (0, 1))
    score = low if all(node.valid for node in nodes) else None
    return score, (low, high)
