"""A dataset in the release's shape, as a folder or a zip: ``end.json``, ``toolmeta.json`` and ``resources/``.

Nothing is unpacked and no input file is read when tasks are listed: a release is about 6 GB.
The shape is the one of GTA-Workflow v0.2.0 (``gta_workflow_dataset.zip``).
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Any

from pytest_gta.benchmark.damage import DAMAGE
from pytest_gta.benchmark.dataset import Dataset, DatasetError, numeric_first
from pytest_gta.benchmark.task import Resource, Task, TaskFault
from pytest_gta.benchmark.task_record import read_task, safe_relative

INDEX = "end.json"
TOOL_METADATA = "toolmeta.json"


_HALF = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")


class Release(Dataset):
    """A dataset folder or zip, read lazily.

    Args:
        path: The folder or zip file.
        name: What reports call it; the last part of the path unless given.

    Raises:
        DatasetError: When there is no readable ``end.json`` in it.
    """

    index = INDEX
    """The file that lists the tasks."""

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.path = path
        self.paths = (path,)
        self.name = name or path.stem
        self._root = self._find_root()
        self._index_bytes, self._records = self._read_object(self.index, "tasks keyed by id")
        self._tasks: dict[str, Task | tuple[TaskFault, ...]] = {}

    @property
    def task_ids(self) -> tuple[str, ...]:
        """Every task id, numbers in numeric order, then other ids in alphabetical order."""
        return tuple(sorted(self._records, key=numeric_first))

    @cached_property
    def sha256(self) -> str:
        """Digest of ``end.json`` and ``toolmeta.json``: what identifies the questions and the tools offered."""
        digest = hashlib.sha256(self._index_bytes)
        if self._exists(TOOL_METADATA):
            digest.update(self._read(TOOL_METADATA))
        return digest.hexdigest()

    def read(self, task_id: str) -> Task | tuple[TaskFault, ...]:
        """Return one task, or all that is wrong with it."""
        if task_id not in self._tasks:
            read = read_task(task_id, self._records[task_id], self._exists)
            if task_id in self._repeated_ids:
                twice = TaskFault(
                    task_id, None, f"{self.index} has this id more than once; only the last record is read"
                )
                read = (twice,) if isinstance(read, Task) else (twice, *read)
            self._tasks[task_id] = read
        return self._tasks[task_id]

    @cached_property
    def _repeated_ids(self) -> frozenset[str]:
        pairs = json.loads(self._index_bytes, object_pairs_hook=list)
        return frozenset(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)

    @cached_property
    def tool_metadata(self) -> dict[str, dict[str, Any]]:
        """``toolmeta.json``: tool name to its description and parameters; empty when the dataset has none.

        Raises:
            DatasetError: When the file is there and is not an object of objects.
        """
        if not self._exists(TOOL_METADATA):
            return {}
        _, metadata = self._read_object(TOOL_METADATA, "tools keyed by name")
        for name, entry in metadata.items():
            if not isinstance(entry, dict):
                raise DatasetError(f"{self.path}: {TOOL_METADATA}: {name} is a {type(entry).__name__}, not an object")
        return metadata

    def has_resource(self, task: Task, resource: Resource) -> bool:
        """Whether an input file is really in the dataset."""
        return safe_relative(resource.path) is not None and self._exists(resource.path)

    @contextmanager
    def open_resource(self, task: Task, resource: Resource) -> Iterator[IO[bytes]]:
        """Open one input file for reading, also inside a zip, which is not unpacked.

        Raises:
            FileNotFoundError: When the dataset does not hold it.
        """
        if not self.has_resource(task, resource):
            raise FileNotFoundError(f"{resource.path} is not in {self.path}")
        if isinstance(self._root, Path):
            with (self._root / resource.path).open("rb") as source:
                yield source
        else:
            with zipfile.ZipFile(self.path) as archive, archive.open(self._root + resource.path) as member:
                yield member

    # -- a folder and a zip, read alike ------------------------------------------------------------------------------

    def _find_root(self) -> Path | str:
        """Where ``end.json`` lies: the path itself or a folder below, as the release zip has it."""
        if self.path.is_dir():
            if (self.path / self.index).is_file():
                return self.path
            below = [folder for folder in self.path.iterdir() if (folder / self.index).is_file()]
            return self.path / self._only([folder.name for folder in below], "folder")
        if not self.path.exists():
            raise DatasetError(f"{self.path}: no such file or folder")
        if not self.path.is_file():
            raise DatasetError(f"{self.path}: it is a device or a pipe, neither a folder nor a zip")
        try:
            with zipfile.ZipFile(self.path) as archive:
                names = set(archive.namelist())
        except (zipfile.BadZipFile, OSError) as error:
            raise DatasetError(f"{self.path}: not a folder and not a readable zip ({error})") from error
        self._names = names
        roots = [name[: -len(self.index)] for name in names if PurePosixPath(name).name == self.index]
        depth = min((root.count("/") for root in roots), default=0)
        return self._only([root for root in roots if root.count("/") == depth], "zip")

    def _only(self, roots: list[str], kind: str) -> str:
        if not roots:
            raise DatasetError(f"{self.path}: no {self.index} in this {kind}; give the folder or zip that holds it")
        if len(roots) > 1:
            shown = ", ".join(repr(root) for root in sorted(roots)[:3])
            raise DatasetError(
                f"{self.path}: {self.index} is in {len(roots)} folders of this {kind} ({shown}); give one"
            )
        return roots[0]

    def _exists(self, name: str) -> bool:
        if isinstance(self._root, Path):
            return (self._root / name).is_file()
        return self._root + name in self._names

    def _read_object(self, name: str, meaning: str) -> tuple[bytes, dict[str, Any]]:
        try:
            data = self._read(name)
            value = _with_whole_characters(json.loads(data)) if _HALF.search(data) else json.loads(data)
        except DAMAGE as error:
            raise DatasetError(f"{self.path}: {name} cannot be read ({error}); is the download complete?") from error
        if not isinstance(value, Mapping):
            raise DatasetError(f"{self.path}: {name} holds a {type(value).__name__}, expected an object of {meaning}")
        return data, dict(value)

    def _read(self, name: str) -> bytes:
        if isinstance(self._root, Path):
            return (self._root / name).read_bytes()
        with zipfile.ZipFile(self.path) as archive:
            return archive.read(self._root + name)


def _with_whole_characters(value: Any) -> Any:
    """Return a JSON value with the mark of a broken character for each half of one: no file and no report holds those.

    A half is what is left when a text was cut in the middle of an emoji.
    """
    text = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return json.loads(text)
