"""What several judges, or one asked several times, said of a leaf - and how far apart they are over the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from pytest_gta.benchmark.results import CheckpointResult, Opinion, TaskResult
from pytest_gta.reporters.html.room import Cut, fit
from pytest_gta.reporters.visible_text import visible
from pytest_gta.reporters.wording import count

MOST_SHOWN = 5
MOST_BYTES = 600
"""What one judge's reason may take."""


@dataclass(frozen=True, slots=True)
class OpinionView:
    """What one judge of a panel said.

    Attributes:
        judge: Its name.
        score: Its score, or why it gave none, in words.
        reason: Its reason.
    """

    judge: str
    score: str
    reason: Cut


@dataclass(frozen=True, slots=True)
class Opinions:
    """What the score of a leaf was made of.

    Attributes:
        summary: The scores, their median and their spread in a line.
        judges: What each judge of a panel said; empty when one was asked several times.
    """

    summary: str
    judges: tuple[OpinionView, ...]

    @property
    def texts(self) -> tuple[Cut, ...]:
        """All texts of it, for their size."""
        return tuple(judge.reason for judge in self.judges)


def opinions(leaf: CheckpointResult) -> Opinions | None:
    """Return what the score of a leaf was made of; None when it was one answer of one judge."""
    if leaf.panel:
        scores = [opinion.score for opinion in leaf.panel if opinion.score is not None]
        missing = len(leaf.panel) - len(scores)
        silent = f", {missing} without a score" if missing else ""
        return Opinions(f"{count(len(leaf.panel), 'judge')}{silent}{_told(scores)}", tuple(map(_view, leaf.panel)))
    if len(leaf.samples) > 1:
        return Opinions(f"{count(len(leaf.samples), 'answer')}{_told(leaf.samples)}", ())
    return None


def _told(scores: Sequence[float]) -> str:
    if not scores:
        return ""
    listed = ", ".join(f"{score:g}" for score in scores)
    spread = f"; median {median(scores):g}, spread {max(scores) - min(scores):g}" if len(scores) > 1 else ""
    return f": {listed}{spread}"


def _view(opinion: Opinion) -> OpinionView:
    score = opinion.status.value.replace("_", " ") if opinion.score is None else f"{opinion.score:g}"
    if len(opinion.samples) > 1:
        score += f" (answers {', '.join(f'{sample:g}' for sample in opinion.samples)})"
    return OpinionView(visible(opinion.judge), score, fit(opinion.analysis, MOST_BYTES))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """How far apart the scores of leaves are that were judged more than once.

    Attributes:
        leaves: Leaves with more than one score.
        mean: Their mean spread, points.
        split: Those of which some scores reach the threshold and others do not.
        widest: Task, its place in the page, leaf and spread, where they are furthest apart.
    """

    leaves: int
    mean: float
    split: int
    widest: tuple[tuple[str, str, str, float], ...]


def disagreement(tasks: Iterable[TaskResult], threshold: float, places: Mapping[str, str]) -> Disagreement | None:
    """Return how far apart the scores are over a run; None when no leaf has more than one."""
    found = [(task, leaf, leaf.spread) for task in tasks for leaf in task.leaves() if leaf.spread is not None]
    if not found:
        return None
    scores = [[o.score for o in leaf.panel if o.score is not None] or list(leaf.samples) for _, leaf, _ in found]
    widest = sorted((one for one in found if one[2]), key=lambda one: -one[2])[:MOST_SHOWN]
    return Disagreement(
        leaves=len(found),
        mean=fmean(spread for _, _, spread in found),
        split=sum(min(of_leaf) < threshold <= max(of_leaf) for of_leaf in scores),
        widest=tuple((visible(t.run_key), places[t.run_key], visible(leaf.id), spread) for t, leaf, spread in widest),
    )


def widest_spread(task: TaskResult) -> float | None:
    """Return the largest spread of a task's leaves; None when none has more than one score."""
    return max((leaf.spread for leaf in task.leaves() if leaf.spread is not None), default=None)
