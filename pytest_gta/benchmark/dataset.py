"""What every dataset offers, whatever form it has: tasks, their input files, and the tools their agents get."""

from __future__ import annotations

import hashlib
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

from pytest_gta.benchmark.task import Resource, Task, TaskFault

TASK_SUFFIXES = (".yaml", ".yml")
"""Suffixes of a file that is a task by itself."""


class DatasetError(Exception):
    """A dataset that cannot be opened at all: the message names it, the reason and the next step."""


class Dataset(ABC):
    """A collection of tasks, read lazily.

    Attributes:
        name: What reports call it.
        paths: Where it lies; what an agent must not read.
    """

    name: str
    paths: tuple[Path, ...]

    @property
    @abstractmethod
    def task_ids(self) -> tuple[str, ...]:
        """Every task id, numbers in numeric order, then other ids in alphabetical order."""

    @property
    @abstractmethod
    def sha256(self) -> str:
        """Digest of all that decides what is asked and how it is scored."""

    @abstractmethod
    def read(self, task_id: str) -> Task | tuple[TaskFault, ...]:
        """Return one task, or all that is wrong with it."""

    @abstractmethod
    def has_resource(self, task: Task, resource: Resource) -> bool:
        """Whether an input file of a task is really there."""

    @abstractmethod
    def open_resource(self, task: Task, resource: Resource) -> AbstractContextManager[IO[bytes]]:
        """Open an input file of a task for reading.

        Raises:
            FileNotFoundError: When it is not there.
        """

    @property
    def members(self) -> tuple[Dataset, ...]:
        """The datasets it was put together from; only itself for one."""
        return (self,)

    @property
    def location(self) -> str:
        """What ``--gta-dataset`` takes to open it again."""
        return str(self.paths[0])

    @property
    def tool_metadata(self) -> dict[str, dict[str, Any]]:
        """The tools it describes, name to description and parameters; empty when it describes none.

        Raises:
            DatasetError: When the file that describes them is not usable.
        """
        return {}

    def check(self) -> None:
        """Find what would fail later, before anything is spent.

        Raises:
            DatasetError: When the file that describes the tools is not usable.
        """
        for member in self.members:
            member.tool_metadata  # noqa: B018 - reading it is the check

    def tools_of(self, task: Task) -> Mapping[str, Mapping[str, Any]]:
        """Return the tools offered for a task, as described; empty for the whole toolbox in our own words."""
        return self.tool_metadata

    def task(self, task_id: str) -> Task:
        """Return one task.

        Raises:
            TaskFault: When it is not usable; names the task and the checkpoint.
        """
        read = self.read(task_id)
        if isinstance(read, Task):
            return read
        raise read[0]

    def faults(self, task_id: str) -> tuple[TaskFault, ...]:
        """Return all that is wrong with one task; nothing when it is usable."""
        read = self.read(task_id)
        return () if isinstance(read, Task) else read

    def tasks(self) -> list[Task | TaskFault]:
        """Return every task in id order; a bad one is its first fault, so that it does not hide the others."""
        read = (self.read(task_id) for task_id in self.task_ids)
        return [task if isinstance(task, Task) else task[0] for task in read]

    def copy_resource(self, task: Task, resource: Resource, target: Path) -> None:
        """Copy an input file of a task to `target`, creating its folders.

        Raises:
            FileNotFoundError: When it is not there.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        with self.open_resource(task, resource) as source, target.open("wb") as out:
            shutil.copyfileobj(source, out)


class CombinedDataset(Dataset):
    """Several datasets as one; a task whose id is in two of them cannot be used.

    Args:
        members: At least two, in the order they were named.
    """

    def __init__(self, members: Sequence[Dataset]) -> None:
        self._members = tuple(members)
        self.name = " + ".join(member.name for member in members)
        self.paths = tuple(path for member in members for path in member.paths)
        self._owners: dict[str, list[Dataset]] = {}
        for member in members:
            for task_id in member.task_ids:
                self._owners.setdefault(task_id, []).append(member)

    @property
    def members(self) -> tuple[Dataset, ...]:
        """The datasets it was put together from."""
        return self._members

    @property
    def location(self) -> str:
        """The members' locations, separated by commas."""
        return ",".join(member.location for member in self._members)

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The ids of all members, in one order."""
        return tuple(sorted(self._owners, key=numeric_first))

    @property
    def sha256(self) -> str:
        """Digest of the members' digests; their order does not matter."""
        return hashlib.sha256("\n".join(sorted(member.sha256 for member in self._members)).encode()).hexdigest()

    def read(self, task_id: str) -> Task | tuple[TaskFault, ...]:
        """Return one task, or all that is wrong with it."""
        owners = self._owners[task_id]
        if len(owners) == 1:
            return owners[0].read(task_id)
        places = " and in ".join(owner.location for owner in owners)
        twice = TaskFault(task_id, None, f"its id is in {places}; rename one, or run them one at a time")
        return (twice, *(fault for owner in owners for fault in owner.faults(task_id)))

    def tools_of(self, task: Task) -> Mapping[str, Mapping[str, Any]]:
        """Return the tools that the task's own dataset offers."""
        return self._owners[task.id][0].tools_of(task)

    def has_resource(self, task: Task, resource: Resource) -> bool:
        """Whether an input file is in the task's own dataset."""
        return self._owners[task.id][0].has_resource(task, resource)

    def open_resource(self, task: Task, resource: Resource) -> AbstractContextManager[IO[bytes]]:
        """Open an input file of the task's own dataset."""
        return self._owners[task.id][0].open_resource(task, resource)


def numeric_first(task_id: str) -> tuple[bool, int, str]:
    """Return the key that sorts ids: numbers in numeric order, then the others."""
    number = task_id.isascii() and task_id.isdigit() and len(task_id) < 1000  # Python refuses to read more than 4300
    return (not number, int(task_id) if number else 0, task_id)
