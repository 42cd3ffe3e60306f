"""A run as an eval pack of the reference implementation, so that its scripts can score it or others can check it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_gta import __version__
from pytest_gta.benchmark.dataset import DatasetError
from pytest_gta.benchmark.eval_pack import PackedTask, pack_text, tree_of
from pytest_gta.benchmark.run_directory import MANIFEST, RunDirectory, write_atomic
from pytest_gta.benchmark.task import Task
from pytest_gta.option_values import datasets
from pytest_gta.run.finished_run import refuse_several
from pytest_gta.run.selection import open_dataset
from pytest_gta.settings import SettingsError


@dataclass(frozen=True, slots=True)
class PackedRun:
    """A pack that was written.

    Attributes:
        file: Where.
        tasks: How many tasks are in it.
        left_out: Run keys of tasks without a finished agent, and of other repeats, each with the reason.
    """

    file: Path
    tasks: int
    left_out: tuple[tuple[str, str], ...]


def pack_run(folder: Path, file: Path, *, relative: bool = False, repeat: int = 1) -> PackedRun:
    """Write a run's answers and deliverables as an eval pack; the files stay where they are, in the run directory.

    Args:
        folder: The run directory.
        file: The pack to write.
        relative: Name files relative to the pack's folder rather than absolutely. Packs are moved with their run then.
        repeat: Which of several runs of a task goes into the pack, counted from 1.

    Raises:
        SettingsError: When this is no run directory, its dataset is gone, or no agent has finished a task.
    """
    refuse_several(folder)
    run = RunDirectory(folder.absolute())
    try:
        manifest = run.manifest()
    except (OSError, ValueError):
        raise SettingsError(f"{folder} is not a run directory (it has no readable {MANIFEST})") from None
    tasks = _tasks(manifest)
    packed: list[PackedTask] = []
    left_out: list[tuple[str, str]] = []
    for key in run.run_keys():
        slug, _, number = key.rpartition("_r")
        task = tasks.get(key)
        if task is None and slug in tasks and number.isdecimal():
            task = tasks[slug]
            if int(number) != repeat:
                left_out.append((key, f"another repeat than {repeat}"))
                continue
        if task is None:
            left_out.append((key, "the dataset has no such task"))
            continue
        entry = _packed(run, key, task, manifest, file if relative else None)
        if entry is None:
            left_out.append((key, "its agent has not finished"))
        else:
            packed.append(entry)
    if not packed:
        raise SettingsError(f"{folder}: no agent has finished a task, there is nothing to pack")
    packed.sort(key=lambda task: (not task.task_id.isdecimal(), task.task_id.zfill(12)))
    write_atomic(file, pack_text(packed, _origin(folder, manifest, packed)))
    return PackedRun(file, len(packed), tuple(left_out))


def _tasks(manifest: Mapping[str, Any]) -> dict[str, Task]:
    facts = manifest.get("dataset") or {}
    where = str(facts.get("path") or "")
    try:
        release = open_dataset(datasets(where), Path())
    except (DatasetError, ValueError) as error:
        raise SettingsError(f"a pack holds the requests and rubrics, and the run's dataset is gone: {error}") from None
    if release.sha256 != facts.get("sha256"):
        raise SettingsError(f"a pack holds the requests and rubrics, and the dataset {where} has changed since the run")
    return {task.slug: task for task in release.tasks() if isinstance(task, Task)}


def _packed(
    run: RunDirectory, key: str, task: Task, manifest: Mapping[str, Any], beside: Path | None
) -> PackedTask | None:
    from pytest_gta.workspace.workspace import Workspace

    directory = run.task(key)
    record = directory.agent()
    if record is None or not directory.workspace.is_dir():
        return None
    workspace = Workspace.open(directory.workspace, task.brief.inputs, request=task.request)
    names = tuple(file.path for file in workspace.deliverables().files)
    paths = [workspace.root / name for name in names]
    files = [os.path.relpath(path, beside.absolute().parent) if beside else str(path) for path in paths]
    result = directory.result()
    return PackedTask(
        task_id=task.id,
        prompt=task.turns,
        final_answer=record.final_answer,
        files=tuple(Path(path).as_posix() for path in files),
        names=names,
        tree=tree_of(task.checkpoints),
        meta={
            "backend": "pytest-gta",
            "agent": record.label,
            "model": (manifest.get("agent") or {}).get("model"),
            "status": record.stop_reason.value,
            "elapsed_sec": round(record.wall_s, 3),
            "usage": record.usage.model_dump(mode="json"),
            "root_score": result.root_score if result else None,
        },
    )


def _origin(folder: Path, manifest: Mapping[str, Any], packed: list[PackedTask]) -> dict[str, Any]:
    facts = manifest.get("dataset") or {}
    where = str(facts.get("path"))
    index = Path(where) / "end.json"
    return {
        "backend": "pytest-gta",
        "script": f"pytest-gta {__version__}",
        "dataset_end_json": str(index) if index.is_file() else where,
        "dataset_sha256": facts.get("sha256"),
        "task_ids": [task.task_id for task in packed],
        "result_dir": str(folder.absolute()),
        "created_utc": datetime.now(UTC).isoformat(timespec="seconds"),
        "num_tasks": len(packed),
    }
