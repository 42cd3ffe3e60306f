"""Scores that the reference implementation wrote: its details (``..._scores.json``) and its summary, read as a run.

The files name tasks by id alone and hold no rubric, so a run of the same tasks lends both: roots are then recomputed
from the leaves of the details. The file's own score of a task counts without it, from a summary, and where the two
differ: then the file was made with another rubric, or other weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_gta.benchmark.results import (
    CheckpointResult,
    LeafStatus,
    RunResult,
    TaskResult,
    TaskStatus,
    Verdict,
)
from pytest_gta.benchmark.scoring import FULL_SCORE, RootScore, score_tree
from pytest_gta.benchmark.task import Checkpoint

FOREIGN = "read_from"
"""The key under ``run`` that only a run has which was read from such a file; its value says of what kind."""
OTHER_RUBRIC = "other_rubric"
"""The key under ``run`` of how many tasks were scored by another rubric than the one known here."""

_KINDS = {"task_results": "score file of the reference", "per_task": "score summary of the reference"}
_OPEN = ("pending", "unknown")
_SAME_POINTS = 0.05
_MADE_WITH_ANOTHER = "so it was made with another"


def is_reference_file(value: Any) -> bool:
    """Whether a parsed JSON file is one of these."""
    return isinstance(value, Mapping) and "generated_from" in value and any(key in value for key in _KINDS)


def read_reference(value: Mapping[str, Any], file: Path, known: Sequence[TaskResult], threshold: float) -> RunResult:
    """Return the file's scores as a run.

    Args:
        value: The file, parsed.
        file: Where it was read from.
        known: Tasks of another run, for names, categories and rubrics.
        threshold: Points from which a task succeeds.

    Raises:
        ValueError: When it is not what it looks like; one line.
    """
    key = next(key for key in _KINDS if key in value)
    rubrics = {task.task_id: task for task in known}
    made = value["generated_from"] if isinstance(value["generated_from"], Mapping) else {}
    tasks = tuple(_task(number, entry, rubrics.get(number), threshold) for number, entry in _entries(value[key], key))
    pack = made.get("pack")
    return RunResult(
        run={
            FOREIGN: _KINDS[key],
            "agent": {"label": Path(pack).stem if isinstance(pack, str) and pack else file.stem, "model": None},
            "judge": {"model": made.get("model"), "prompt_version": "the reference's"},
            "threshold": threshold,
            OTHER_RUBRIC: sum(note.endswith(_MADE_WITH_ANOTHER) for task in tasks for note in task.notes),
        },
        summary={},
        tasks=tasks,
    )


def _entries(listed: Any, key: str) -> list[tuple[str, Mapping[str, Any]]]:
    if key == "task_results" and isinstance(listed, Mapping):
        pairs = [(str(number), entry) for number, entry in listed.items()]
    elif key == "per_task" and isinstance(listed, list):
        pairs = [(str(entry.get("task_id", "")), entry) for entry in listed if isinstance(entry, Mapping)]
    else:
        raise ValueError(f"`{key}` is not of the expected form")
    entries = [(number, entry) for number, entry in pairs if isinstance(entry, Mapping)]
    if not entries:
        raise ValueError(f"`{key}` holds no task")
    if len({number for number, _ in entries}) < len(entries):
        raise ValueError(f"`{key}` holds a task twice")
    return entries


def _task(number: str, entry: Mapping[str, Any], known: TaskResult | None, threshold: float) -> TaskResult:
    status = entry.get("status")
    score = _points(entry.get("score"))
    detail = entry.get("detail")
    nodes = detail.get("nodes") if isinstance(detail, Mapping) else None
    shared: dict[str, Any] = {
        "task_id": number,
        "run_key": known.slug if known else f"task_{number}",
        "nodeid": "",
        "category": known.category if known else "unknown",
        "kinds": known.kinds if known else (),
    }
    if status != "ok":
        error = entry.get("error")
        said = error if isinstance(error, str) and error else f"the file says {status!r}"
        state = TaskStatus.NOT_RUN if status in _OPEN else TaskStatus.UNSCORED
        return TaskResult(status=state, error=said[:300], **shared)
    root = _recomputed(nodes, known)
    if root is not None and (root.score is None or score is None or abs(root.score - score) <= _SAME_POINTS):
        guessed = sum(_fell_back(node) for node in nodes or ())
        remark = f"{guessed} of its leaves were scored from an answer that the reference's judge could not read"
        missing = "" if root.score is not None else "the file has no score for some of the task's leaves"
        return TaskResult(
            status=TaskStatus.GRADED if root.score is not None else TaskStatus.UNSCORED,
            root_score=root.score,
            root_bounds=root.bounds,
            success=None if root.score is None else root.score >= threshold,
            checkpoints=root.checkpoints,
            error=missing or None,
            notes=(remark,) if guessed else (),
            **shared,
        )
    if score is None:
        return TaskResult(status=TaskStatus.UNSCORED, error="the file has no score for it", **shared)
    why = "its leaves are not known here"
    if root is not None:
        why = f"by the rubric known here its leaves make {root.score:.2f}, {_MADE_WITH_ANOTHER}"
    return TaskResult(
        status=TaskStatus.GRADED,
        root_score=score,
        root_bounds=(score, score),
        success=score >= threshold,
        notes=(f"the file's own score; {why}",),
        **shared,
    )


def _recomputed(nodes: Any, known: TaskResult | None) -> RootScore | None:
    """Return the root that a file's leaves make; None when it has none, or there is no rubric to add them up by."""
    if not isinstance(nodes, list) or known is None or not known.checkpoints:
        return None
    return score_tree([_node(top) for top in known.checkpoints], _verdicts(nodes))


def _verdicts(nodes: Sequence[Any]) -> dict[str, Verdict]:
    found = {}
    for node in nodes:
        score = _points(node.get("score")) if isinstance(node, Mapping) else None
        if score is not None and isinstance(node.get("id"), str):
            analysis = node.get("analysis")
            found[node["id"]] = Verdict(
                leaf_id=node["id"],
                status=LeafStatus.SCORED,
                score=score,
                analysis=analysis if isinstance(analysis, str) else "",
            )
    return found


def _fell_back(node: Any) -> bool:
    return isinstance(node, Mapping) and node.get("analysis") == "regex fallback"


def _node(result: CheckpointResult) -> Checkpoint:
    return Checkpoint(result.id, result.requirements, result.weight, tuple(_node(c) for c in result.checkpoints))


def _points(value: Any) -> float | None:
    """Return a score, None for what is none: a wrong type, not finite, out of range."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value) if 0 <= value <= FULL_SCORE else None
