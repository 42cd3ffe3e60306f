"""A finished task put into a pack: checked first, moved into place whole."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_gta.authoring.raw_request import InputFile
from pytest_gta.authoring.review import Reviewed
from pytest_gta.authoring.session import State
from pytest_gta.benchmark.dataset import DatasetError
from pytest_gta.benchmark.finding import Finding
from pytest_gta.benchmark.release import INDEX
from pytest_gta.benchmark.task_file import TASK_FILE
from pytest_gta.benchmark.task_file_text import task_file_text
from pytest_gta.benchmark.task_pack import RECORD, TaskPack
from pytest_gta.benchmark.validation import Validation, validate


class NotLanded(Exception):
    """A task that is not put into the pack.

    Attributes:
        findings: What is wrong with the task itself; empty when it is something else.
    """

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


@dataclass(frozen=True, slots=True)
class Landed:
    """A task in its pack.

    Attributes:
        folder: Its folder.
        validation: What was found in it; no errors.
    """

    folder: Path
    validation: Validation


def check_place(pack: Path, task_id: str) -> None:
    """Find out that a task cannot be put there, before anything is paid for.

    Raises:
        NotLanded: When it cannot.
    """
    if pack.exists() and not pack.is_dir():
        raise NotLanded(f"{pack} is not a folder")
    if (pack / INDEX).exists():
        raise NotLanded(f"{pack} is a dataset in the release's shape; name a folder for YAML tasks")
    taken = (pack / task_id).exists()
    if not taken and pack.is_dir():
        try:
            taken = task_id in TaskPack(pack).task_ids
        except DatasetError:
            taken = False
    if taken:
        raise NotLanded(f"{pack} already has a task {task_id}; give this one another name by --id")


def land(
    pack: Path, task_id: str, category: str, reviewed: Reviewed, files: Sequence[InputFile], record: State
) -> Landed:
    """Write a task's folder into a pack.

    Args:
        pack: The folder of tasks; made when it is not there.
        task_id: The task's id, which its folder is called.
        category: Its category.
        reviewed: Request and tree.
        files: Its input files.
        record: How it came about.

    Raises:
        NotLanded: When the place is taken or the task has errors; nothing is left behind then.
        OSError: When it cannot be written.
    """
    check_place(pack, task_id)
    if not reviewed.checkpoints:
        raise NotLanded("nothing of the rubric is left; accept or edit at least one leaf")
    pack.mkdir(parents=True, exist_ok=True)
    # Hidden, so that a pack that is read meanwhile has no half a task.
    with tempfile.TemporaryDirectory(prefix=".author-", dir=pack, ignore_cleanup_errors=True) as aside:
        folder = Path(aside) / task_id
        folder.mkdir()
        names = [file.name for file in files]
        text = task_file_text(task_id, category, reviewed.request, names, reviewed.checkpoints)
        (folder / TASK_FILE).write_text(text, "utf-8")
        for file in files:
            shutil.copyfile(file.path, folder / file.name)
        kept = {**record.model_dump(mode="json"), "landed": task_id}
        (folder / RECORD).write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
        validation = validate(TaskPack(folder / TASK_FILE))
        if not validation.ok:
            raise NotLanded(f"the task {task_id} has errors and was not put into {pack}", validation.findings)
        target = pack / task_id
        folder.rename(target)
    return Landed(target, validation)
