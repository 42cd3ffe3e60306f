"""A user's own tasks: a folder with one YAML file a task, at any depth, or one such file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO

from pytest_gta.benchmark.dataset import TASK_SUFFIXES, Dataset, DatasetError, numeric_first
from pytest_gta.benchmark.release import INDEX
from pytest_gta.benchmark.task import Resource, Task, TaskFault
from pytest_gta.benchmark.task_file import TASK_FILE, TaskFile, read_task_file

RECORD = "authoring.json"
"""The record of how a task came about, beside its file; it holds the rubric as well."""


class TaskPack(Dataset):
    """Tasks that are YAML files.

    Every ``.yaml`` and ``.yml`` file below the folder is a task, but for those that a task lists as its input; what
    begins with a dot is not looked at. Input files are looked for beside the task's file.

    Args:
        path: The folder, or one task's file.

    Raises:
        DatasetError: When there is no task, an id is there twice, or a dataset in the release's shape lies below.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = _name(path)
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
        folder = self.path if self.path.is_dir() else self.path.parent
        read = [read_task_file(file, str(file.relative_to(folder))) for file in _task_files(self.path)]
        inputs = {path.resolve() for file in read for path in file.inputs}
        tasks = [file for file in read if file.path.resolve() not in inputs]
        if not tasks:
            raise DatasetError(
                f"{self.path}: neither {INDEX} nor a task as a YAML file in this folder; docs/write-a-task.md shows one"
            )
        seen: dict[str, Path] = {}
        for file in tasks:
            if seen.setdefault(file.task_id, file.path) != file.path:
                first, second = (path.relative_to(folder) for path in (seen[file.task_id], file.path))
                raise DatasetError(
                    f"{self.path}: {first} and {second} have the same id {file.task_id!r}; give one another `id`"
                )
            yield file

    @property
    def task_ids(self) -> tuple[str, ...]:
        """Every task id, numbers in numeric order, then other ids in alphabetical order."""
        return tuple(sorted(self._files, key=numeric_first))

    @cached_property
    def sha256(self) -> str:
        """Digest of every task's file and every input file, with their places in the folder."""
        folder = self.path if self.path.is_dir() else self.path.parent
        files = {path for file in self._files.values() for path in (file.path, *file.inputs)}
        digest = hashlib.sha256()
        for path in sorted(files):
            place = path.relative_to(folder).as_posix()
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
        with path.open("rb") as source:
            return hashlib.file_digest(source, "sha256").hexdigest()
    except OSError:
        return "missing"
