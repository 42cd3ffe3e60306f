"""A user's own tasks: a folder with one YAML file a task, at any depth, or one such file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import IO

from pytest_gta.benchmark.dataset import TASK_SUFFIXES, Dataset, DatasetError, numeric_first
from pytest_gta.benchmark.release import INDEX
from pytest_gta.benchmark.task import Resource, Task, TaskFault
from pytest_gta.benchmark.task_file import TASK_FILE, TaskFile, id_by_name, read_task_file

RECORD = "authoring.json"
"""The record of how a task came about, beside its file; it holds the rubric as well."""


class TaskPack(Dataset):
    """Tasks that are YAML files.

    Every ``.yaml`` and ``.yml`` file below the folder is a task, but for those that a task lists as its input; what
    begins with a dot is not looked at. Input files are looked for beside the task's file. A link that leads out of the
    folder is not followed: its task cannot be used, nor can one whose id is in two files.

    Args:
        path: The folder, or one task's file.

    Raises:
        DatasetError: When there is no task, or a dataset in the release's shape lies below.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = _name(path)
        self._folder = path if path.is_dir() else path.parent
        self._files = {file.task_id: file for file in self._read_all()}
        self.paths = self._secret_paths()

    def _secret_paths(self) -> tuple[Path, ...]:
        """Return what an agent must not read: the folder, or single files where the folder is the project itself."""
        if self.path.is_dir() and self.path.resolve() not in (Path.cwd(), *Path.cwd().parents):
            return (self.path,)
        files = [path for file in self._files.values() for path in (file.path, file.path.parent / RECORD, *file.inputs)]
        return tuple(dict.fromkeys(files))

    @property
    def location(self) -> str:
        """The path it was opened by."""
        return str(self.path)

    def _read_all(self) -> Iterator[TaskFile]:
        read = [self._read(file) for file in _task_files(self.path)]
        inputs = {os.path.realpath(path) for file in read for path in file.inputs}
        tasks = [file for file in read if os.path.realpath(file.path) not in inputs]
        if not tasks:
            raise DatasetError(
                f"{self.path}: neither {INDEX} nor a task as a YAML file in this folder; docs/write-a-task.md shows one"
            )
        for task_id in dict.fromkeys(file.task_id for file in tasks):
            same = [file for file in tasks if file.task_id == task_id]
            yield same[0] if len(same) == 1 else self._unusable(same)

    def _read(self, path: Path) -> TaskFile:
        """Read a task's file, unless a link leads out of the pack; inputs behind such a link are its faults."""
        if path != self.path and self._leads_out(path):
            return TaskFile(path, id_by_name(path), (self._link_fault(id_by_name(path), path),))
        file = read_task_file(path, str(path.relative_to(self._folder)))
        outside = [place for place in file.inputs if self._leads_out(place)]
        if not outside:
            return file
        faults = () if isinstance(file.read, Task) else file.read
        links = tuple(self._link_fault(file.task_id, place) for place in outside)
        return replace(file, read=(*faults, *links), inputs=tuple(set(file.inputs) - set(outside)))

    def _leads_out(self, path: Path) -> bool:
        return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self._folder))

    def _link_fault(self, task_id: str, path: Path) -> TaskFault:
        place = path.relative_to(self._folder)
        return TaskFault(
            task_id, None, f"{place} is a link that leads out of {self._folder}; put the file itself there"
        )

    def _unusable(self, same: Sequence[TaskFile]) -> TaskFile:
        """Return files with one id as one task that cannot be used, with all that is wrong with them."""
        names = " and ".join(str(file.path.relative_to(self._folder)) for file in same)
        twice = TaskFault(same[0].task_id, None, f"{names} have the same id; give one another `id`")
        faults = [fault for file in same if not isinstance(file.read, Task) for fault in file.read]
        others = (path for file in same for path in (file.path, *file.inputs))
        return replace(same[0], read=(twice, *faults), inputs=tuple(others))

    @property
    def task_ids(self) -> tuple[str, ...]:
        """Every task id, numbers in numeric order, then other ids in alphabetical order."""
        return tuple(sorted(self._files, key=numeric_first))

    @cached_property
    def sha256(self) -> str:
        """Digest of every task's file and every input file, with their places in the folder."""
        files = {path for file in self._files.values() for path in (file.path, *file.inputs)}
        digest = hashlib.sha256()
        for path in sorted(files):
            place = path.relative_to(self._folder).as_posix()
            digest.update(f"{place}\0{_digest(path)}\n".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def read(self, task_id: str) -> Task | tuple[TaskFault, ...]:
        """Return one task, or all that is wrong with it."""
        return self._files[task_id].read

    def has_resource(self, task: Task, resource: Resource) -> bool:
        """Whether an input file lies beside the task's file."""
        return self._place(task, resource).is_file()

    @contextmanager
    def open_resource(self, task: Task, resource: Resource) -> Iterator[IO[bytes]]:
        """Open an input file of a task for reading.

        Raises:
            FileNotFoundError: When it is not there.
        """
        with self._place(task, resource).open("rb") as source:
            yield source

    def _place(self, task: Task, resource: Resource) -> Path:
        return self._files[task.id].path.parent / resource.path


def _name(path: Path) -> str:
    name = path.resolve().name
    return path.parent.resolve().name if name == TASK_FILE else name.removesuffix(".yaml").removesuffix(".yml")


def _task_files(path: Path) -> Iterator[Path]:
    """Yield the YAML files of a pack, in order.

    Raises:
        DatasetError: When a folder below is a dataset in the release's shape, which would be passed over in silence.
    """
    if not path.is_dir():
        yield path
        return
    for found in _below(path):
        if found.name == INDEX:
            raise DatasetError(
                f"{path}: {found.relative_to(path)} is a dataset of its own; name its folder in a further "
                "--gta-dataset and keep the YAML files elsewhere"
            )
        yield found


def _below(path: Path) -> list[Path]:
    """Return the YAML files and indices below a folder, in order; hidden ones are left out, links to folders too.

    Raises:
        DatasetError: When it cannot be told whether one is a file: a task must not be passed over in silence.
    """
    found = []
    for folder, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        seen = [Path(folder, name) for name in files if not name.startswith(".")]
        found += [file for file in seen if file.name == INDEX or file.suffix.lower() in TASK_SUFFIXES]
    try:
        return sorted(file for file in found if file.is_file())
    except OSError as error:
        raise DatasetError(
            f"{path}: {error.filename} cannot be read: {error.strerror}; name the folder that holds only your tasks"
        ) from None


def _digest(path: Path) -> str:
    try:
        if not path.is_file():
            return "missing"
        with path.open("rb") as source:
            return hashlib.file_digest(source, "sha256").hexdigest()
    except OSError:
        return "missing"
