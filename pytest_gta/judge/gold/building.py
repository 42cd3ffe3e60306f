"""Writes the gold set to a folder, made anew from the reference deliverables of `mini`.

<folder>/dataset/                a dataset of one task a case: end.json and resources/
<folder>/outputs/<case>/         final.txt and files/, as `--gta-agent=outputs:DIR` scores them
<folder>/labels.json             what is expected of each leaf, as `pytest-gta calibrate` reads it
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_gta.benchmark.release import Release
from pytest_gta.benchmark.results import LeafStatus, Verdict
from pytest_gta.benchmark.run_directory import write_atomic
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.benchmark.task import Task
from pytest_gta.judge.gold.cases import CASES, MET, Case, Expected

FINAL_ANSWER = "The files are ready."
"""What the agent says over spoiled files: nothing that a judge could score instead."""


class FolderInUse(Exception):
    """The folder holds something that is not a gold set."""


@dataclass(frozen=True, slots=True)
class GoldSet:
    """A gold set on disk.

    Attributes:
        folder: Where it is.
        cases: The ids of its cases.
        leaves: How many leaves have an expected verdict.
        left_out: Case to reason, for those whose deliverables need a library that is not installed.
    """

    folder: Path
    cases: tuple[str, ...]
    leaves: int
    left_out: dict[str, str]


def build_gold(folder: Path, cases: Sequence[Case] = CASES) -> GoldSet:
    """Write the gold set to `folder`, in the place of an earlier one.

    Raises:
        FolderInUse: When the folder holds anything else.
        EditFault: When a reference deliverable is not what a case was made for.
    """
    _clear(folder)
    mini = Path(import_module("benchmark_tasks.mini").__file__ or "").parent
    index = json.loads((mini / "end.json").read_text("utf-8"))
    tasks = {task.id: task for task in Release(mini).tasks() if isinstance(task, Task)}
    dataset: dict[str, Any] = {}
    labels: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for case in cases:
        try:
            _write_outputs(folder / "outputs" / case.id, case)
        except ModuleNotFoundError as missing:
            shutil.rmtree(folder / "outputs" / case.id, ignore_errors=True)
            left_out[case.id] = f"{missing}; install it to make these deliverables"
            continue
        dataset[case.id] = index[case.task_id]
        labels[case.id] = expected_marks(tasks[case.task_id], case.leaves)
        for resource in tasks[case.task_id].resources:
            target = folder / "dataset" / resource.path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(mini / resource.path, target)
    write_atomic(folder / "dataset" / "end.json", json.dumps(dataset, indent=1, ensure_ascii=False) + "\n")
    write_atomic(folder / "labels.json", json.dumps({"tasks": labels}, indent=1) + "\n")
    return GoldSet(folder, tuple(dataset), sum(len(label["leaves"]) for label in labels.values()), left_out)


def expected_marks(task: Task, touched: Mapping[str, Expected]) -> dict[str, Any]:
    """Return the labels of one case: every leaf that is certain, and the root when all leaves have points.

    Raises:
        KeyError: When a touched leaf is not one of the task's.
    """
    ids = [leaf.id for leaf in task.leaves]
    for unknown in set(touched) - set(ids):
        raise KeyError(f"task {task.id} has no leaf {unknown}")
    expected = {leaf_id: touched.get(leaf_id, MET) for leaf_id in ids}
    labels: dict[str, Any] = {"leaves": {leaf_id: mark for leaf_id, mark in expected.items() if mark is not None}}
    points = {leaf_id: mark for leaf_id, mark in expected.items() if isinstance(mark, int)}
    if len(points) == len(ids):
        verdicts = {
            leaf_id: Verdict(leaf_id=leaf_id, status=LeafStatus.SCORED, score=mark) for leaf_id, mark in points.items()
        }
        labels["root_score"] = score_tree(task.checkpoints, verdicts).score
    return labels


def _write_outputs(target: Path, case: Case) -> None:
    files = target / "files"
    files.mkdir(parents=True)
    answer: str = import_module(f"benchmark_tasks.mini.references.{case.reference}").make(files)
    for edit in case.edits:
        edit(files)
    (target / "final.txt").write_text(FINAL_ANSWER if case.edits else answer, encoding="utf-8")


def _clear(folder: Path) -> None:
    present = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if present - set(_parts()):
        raise FolderInUse(f"{folder} holds {sorted(present - set(_parts()))[0]}: name an empty or a new folder")
    for name in ("dataset", "outputs"):
        shutil.rmtree(folder / name, ignore_errors=True)


def _parts() -> Iterator[str]:
    yield from ("dataset", "outputs", "labels.json")
