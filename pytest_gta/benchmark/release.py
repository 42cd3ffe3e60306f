"""A dataset in the release's shape, as a folder or a zip: ``end.json``, ``toolmeta.json`` and ``resources/``.

Nothing is unpacked and no input file is read when tasks are listed: a release is about 6 GB.
The shape is the one of GTA-Workflow v0.2.0 (``gta_workflow_dataset.zip``).
"""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_gta.benchmark.task import Checkpoint, Resource, Task, TaskFault, category_slug

INDEX = "end.json"
TOOL_METADATA = "toolmeta.json"


class DatasetError(Exception):
    """A dataset that cannot be opened at all: the message names it, the reason and the next step."""


class Release:
    """A dataset folder or zip, read lazily.

    Args:
        path: The folder or zip file.
        name: What reports call it; the last part of the path unless given.

    Raises:
        DatasetError: When there is no readable ``end.json`` in it.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.path = path
        self.name = name or path.stem
        self._root = self._find_root()
        try:
            self._index_bytes = self._read(INDEX)
            index = json.loads(self._index_bytes)
        except (ValueError, OSError, zipfile.BadZipFile) as error:
            raise DatasetError(f"{path}: {INDEX} cannot be read ({error}); is the download complete?") from error
        if not isinstance(index, dict):
            raise DatasetError(f"{path}: {INDEX} holds a {type(index).__name__}, expected an object of tasks keyed by id")
        self._records: dict[str, Any] = index

    @property
    def task_ids(self) -> tuple[str, ...]:
        """Every task id, numbers in numeric order, then other ids in alphabetical order."""
        return tuple(sorted(self._records, key=_numeric_first))

    @cached_property
    def sha256(self) -> str:
        """Digest of ``end.json`` and ``toolmeta.json``: what identifies the questions and the tools offered."""
        digest = hashlib.sha256(self._index_bytes)
        if self._exists(TOOL_METADATA):
            digest.update(self._read(TOOL_METADATA))
        return digest.hexdigest()

    def task(self, task_id: str) -> Task:
        """Return one task.

        Raises:
            TaskFault: When its record is not usable; names the task and the checkpoint.
        """
        return _read_task(task_id, self._records[task_id], self._exists)

    def tasks(self) -> list[Task | TaskFault]:
        """Return every task in id order; a bad one is its fault, so that it does not hide the others."""
        found: list[Task | TaskFault] = []
        for task_id in self.task_ids:
            try:
                found.append(self.task(task_id))
            except TaskFault as fault:
                found.append(fault)
        return found

    @cached_property
    def tool_metadata(self) -> dict[str, dict[str, Any]]:
        """``toolmeta.json``: tool name to its description and parameters; empty when the dataset has none."""
        if not self._exists(TOOL_METADATA):
            return {}
        metadata = json.loads(self._read(TOOL_METADATA))
        return {str(name): dict(entry) for name, entry in metadata.items()} if isinstance(metadata, dict) else {}

    def has_resource(self, resource: Resource) -> bool:
        """Whether the input file is really in the dataset."""
        return safe_relative(resource.path) is not None and self._exists(resource.path)

    def copy_resource(self, resource: Resource, target: Path) -> None:
        """Copy one input file to `target`, creating its folders.

        Raises:
            FileNotFoundError: When the dataset does not hold it.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        if not self.has_resource(resource):
            raise FileNotFoundError(f"{resource.path} is not in {self.path}")
        if isinstance(self._root, Path):
            shutil.copyfile(self._root / resource.path, target)
            return
        with zipfile.ZipFile(self.path) as archive, archive.open(self._root + resource.path) as source:
            with target.open("wb") as out:
                shutil.copyfileobj(source, out)

    # -- a folder and a zip, read alike ------------------------------------------------------------------------------

    def _find_root(self) -> Path | str:
        """Where ``end.json`` lies: the path itself or one folder below, as the release zip has it."""
        if self.path.is_dir():
            for root in (self.path, *sorted(p for p in self.path.iterdir() if p.is_dir())):
                if (root / INDEX).is_file():
                    return root
            raise DatasetError(f"{self.path}: no {INDEX} in this folder; give the folder that holds it")
        if not self.path.exists():
            raise DatasetError(f"{self.path}: no such file or folder; check --gta-dataset")
        try:
            with zipfile.ZipFile(self.path) as archive:
                names = set(archive.namelist())
        except (zipfile.BadZipFile, OSError) as error:
            raise DatasetError(f"{self.path}: not a folder and not a readable zip ({error})") from error
        self._names = names
        roots = sorted(n[: -len(INDEX)] for n in names if PurePosixPath(n).name == INDEX and n.count("/") <= 1)
        if not roots:
            raise DatasetError(f"{self.path}: no {INDEX} in this zip")
        return roots[0]

    def _exists(self, name: str) -> bool:
        if isinstance(self._root, Path):
            return (self._root / name).is_file()
        return self._root + name in self._names

    def _read(self, name: str) -> bytes:
        if isinstance(self._root, Path):
            return (self._root / name).read_bytes()
        with zipfile.ZipFile(self.path) as archive:
            return archive.read(self._root + name)


def _numeric_first(task_id: str) -> tuple[bool, int, str]:
    number = task_id.isascii() and task_id.isdigit()
    return (not number, int(task_id) if number else 0, task_id)


def safe_relative(path: str) -> PurePosixPath | None:
    """Return `path` as a relative path without ``..`` or an empty name, or None when it is not one."""
    pure = PurePosixPath(path.replace("\\", "/"))
    unsafe = pure.is_absolute() or not pure.parts or ".." in pure.parts or "\0" in path or ":" in pure.parts[0]
    return None if unsafe else pure


def _read_task(task_id: str, record: Any, exists: Any) -> Task:
    if not isinstance(record, Mapping):
        raise TaskFault(task_id, None, f"the record is a {type(record).__name__}, expected an object")
    dialogs = record.get("dialogs")
    if not isinstance(dialogs, list) or not all(isinstance(m, Mapping) for m in dialogs):
        raise TaskFault(task_id, None, "`dialogs` is not a list of messages")
    turns = tuple(_turn_text(task_id, m) for m in dialogs if m.get("role", "user") == "user")
    listed = [entry for m in dialogs for entry in _list(task_id, m, "resources")] + _list(task_id, record, "files")
    resources, notes = _read_resources(task_id, listed, exists)
    nodes = record.get("sub_tasks")
    if not isinstance(nodes, list):
        raise TaskFault(task_id, None, f"`sub_tasks` is {type(nodes).__name__}, expected a list of checkpoints")
    return Task(
        id=task_id,
        category=category_slug(str(record.get("workflow_category_6class") or "")),
        turns=turns,
        resources=resources,
        checkpoints=tuple(_read_node(task_id, node, str(i), 1) for i, node in enumerate(nodes, 1)),
        expected_tools=tuple(str(t) for t in _list(task_id, record, "tools")),
        notes=notes,
    )


def _turn_text(task_id: str, message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if not isinstance(content, str):
        raise TaskFault(task_id, None, f"a message's `content` is {type(content).__name__}, expected text")
    return content


def _list(task_id: str, record: Mapping[str, Any], key: str) -> list[Any]:
    value = record.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise TaskFault(task_id, None, f"`{key}` is {type(value).__name__}, expected a list")
    return value


def _read_resources(task_id: str, listed: list[Any], exists: Any) -> tuple[tuple[Resource, ...], tuple[str, ...]]:
    """Merge the two places a release lists inputs in (`dialogs[].resources` and `files`), keeping the first of each."""
    found: dict[str, Resource] = {}
    notes: list[str] = []
    for entry in listed:
        path = entry.get("path") if isinstance(entry, Mapping) else entry
        if not isinstance(path, str) or not path.strip():
            if isinstance(entry, Mapping) and entry.get("url"):
                notes.append(f"an input is only a link and is not staged: {entry['url']}")
                continue
            raise TaskFault(task_id, None, f"an input file entry has no path: {entry!r:.80}")
        if safe_relative(path) is None:
            raise TaskFault(task_id, None, f"the input path {path!r} leaves the dataset folder")
        bare = not isinstance(entry, Mapping)
        if path in found:
            continue
        bundled = not bare or exists(path)
        if not bundled:
            notes.append(f"names the file {path!r}, which the dataset does not ship")
        found[path] = Resource(path, "" if bare else str(entry.get("type") or ""), bundled)
    return tuple(found.values()), tuple(notes)


def _read_node(task_id: str, node: Any, position: str, depth: int) -> Checkpoint:
    if not isinstance(node, Mapping):
        raise TaskFault(task_id, f"#{position}", f"is a {type(node).__name__}, expected an object")
    if depth > 20:
        raise TaskFault(task_id, f"#{position}", "is nested more than 20 levels deep")
    node_id = str(node.get("id") or f"#{position}")
    weight = node.get("weight")
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise TaskFault(task_id, node_id, f"weight {weight!r} is not a number")
    requirements = node.get("requirements")
    if not isinstance(requirements, str):
        raise TaskFault(task_id, node_id, "`requirements` is missing or not text")
    children = node.get("sub_tasks")
    if children is not None and not isinstance(children, list):
        raise TaskFault(task_id, node_id, "`sub_tasks` is not a list")
    return Checkpoint(
        id=node_id,
        requirements=requirements,
        weight=float(weight),
        children=tuple(_read_node(task_id, c, f"{position}.{i}", depth + 1) for i, c in enumerate(children or (), 1)),
    )
