"""From one record of ``end.json`` to a `Task`, or to all that is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from pytest_gta.benchmark.task import Checkpoint, Resource, Task, TaskFault, category_slug, faults_of

MAX_DEPTH = 20


def read_task(task_id: str, record: Any, exists: Callable[[str], bool]) -> Task | tuple[TaskFault, ...]:
    """Return the task a record describes, or every fault of it.

    Args:
        task_id: The record's key.
        record: The record, as JSON gives it.
        exists: Whether the dataset holds a file of that path.
    """
    if not isinstance(record, Mapping):
        return (TaskFault(task_id, None, f"the record is {_named(record)}, expected an object"),)
    return _Reader(task_id, exists).read(record)


def safe_relative(path: str) -> PurePosixPath | None:
    """Return `path` as a relative path without ``..`` or an empty name, or None when it is not one."""
    pure = PurePosixPath(path.replace("\\", "/"))
    unsafe = pure.is_absolute() or not pure.parts or ".." in pure.parts or "\0" in path or ":" in pure.parts[0]
    return None if unsafe else pure


class _Reader:
    """Reads one record, going on after a fault, so that all are found at once."""

    def __init__(self, task_id: str, exists: Callable[[str], bool]) -> None:
        self._id, self._exists = task_id, exists
        self._faults: list[TaskFault] = []
        self._notes: list[str] = []

    def read(self, record: Mapping[str, Any]) -> Task | tuple[TaskFault, ...]:
        messages = self._messages(record)
        turns = tuple(self._content(m) for m in messages if m.get("role", "user") == "user")
        listed = [entry for m in messages for entry in self._list(m, "resources")] + self._list(record, "files")
        resources = self._resources(listed)
        nodes = record.get("sub_tasks")
        if not isinstance(nodes, list):
            self._fault(None, f"`sub_tasks` is {_named(nodes)}, expected a list of checkpoints")
            checkpoints: tuple[Checkpoint, ...] = ()
        else:
            checkpoints = tuple(self._node(node, str(i), 1) for i, node in enumerate(nodes, 1))
        category = record.get("workflow_category_6class")
        tools, capabilities = (tuple(map(str, self._list(record, key))) for key in ("tools", "capabilities"))
        # What could not be read has been told of: only the rest is checked as a task is.
        readable = not self._faults
        self._faults.extend(f for f in faults_of(self._id, turns, checkpoints) if readable or f.node_id is not None)
        if self._faults:
            return tuple(self._faults)
        return Task(
            id=self._id,
            category=category_slug(category if isinstance(category, str) else ""),
            turns=turns,
            resources=resources,
            checkpoints=checkpoints,
            expected_tools=tools,
            stated_capabilities=capabilities,
            notes=tuple(self._notes),
        )

    def _fault(self, node_id: str | None, reason: str) -> None:
        fault = TaskFault(self._id, node_id, reason)
        if str(fault) not in map(str, self._faults):  # a release lists its inputs twice
            self._faults.append(fault)

    def _messages(self, record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        dialogs = record.get("dialogs")
        if not isinstance(dialogs, list) or not all(isinstance(m, Mapping) for m in dialogs):
            self._fault(None, "`dialogs` is not a list of messages")
            return []
        return dialogs

    def _content(self, message: Mapping[str, Any]) -> str:
        content = message.get("content")
        if isinstance(content, str):
            return content
        self._fault(None, f"a message's `content` is {_named(content)}, expected text")
        return ""

    def _list(self, record: Mapping[str, Any], key: str) -> list[Any]:
        value = record.get(key)
        if value is None:
            return []
        if isinstance(value, list):
            return value
        self._fault(None, f"`{key}` is {_named(value)}, expected a list")
        return []

    def _resources(self, listed: list[Any]) -> tuple[Resource, ...]:
        """Merge the two places a release lists inputs in (`dialogs[].resources`, `files`); the first of each stays."""
        found: dict[str, Resource] = {}
        for entry in listed:
            bare = not isinstance(entry, Mapping)
            given = entry if bare else entry.get("path")
            if not isinstance(given, str) or not given.strip():
                self._without_path(entry)
                continue
            relative = safe_relative(given)
            if relative is None:
                self._fault(None, f"the input path {given!r} leaves the dataset folder")
                continue
            path = str(relative)
            if path in found:
                continue
            bundled = not bare or self._exists(path)
            if not bundled:
                self._notes.append(f"names the file {path!r}, which the dataset does not ship")
            found[path] = Resource(path, "" if bare else str(entry.get("type") or ""), bundled)
        return tuple(found.values())

    def _without_path(self, entry: Any) -> None:
        if isinstance(entry, Mapping) and entry.get("url"):
            note = f"an input is only a link and is not staged: {entry['url']}"
            if note not in self._notes:
                self._notes.append(note)
        else:
            self._fault(None, f"an input file entry has no path: {entry!r:.80}")

    def _node(self, node: Any, position: str, depth: int) -> Checkpoint:
        """Read a node and all below it; what is not readable of it is replaced, as the task is not used then."""
        if not isinstance(node, Mapping):
            self._fault(f"#{position}", f"is {_named(node)}, expected an object")
            return Checkpoint(f"#{position}", "?", 1.0)
        node_id = str(node.get("id") or f"#{position}")
        weight = node.get("weight")
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            self._fault(node_id, f"weight {weight!r:.40} is not a number")
            weight = 1.0
        requirements = node.get("requirements")
        if not isinstance(requirements, str):
            self._fault(node_id, "`requirements` is missing or not text")
            requirements = "?"
        children = node.get("sub_tasks")
        if children is not None and not isinstance(children, list):
            self._fault(node_id, f"`sub_tasks` is {_named(children)}, expected a list")
            children = None
        if children and depth >= MAX_DEPTH:
            self._fault(node_id, f"is nested more than {MAX_DEPTH} levels deep")
            children = None
        below = tuple(self._node(child, f"{position}.{i}", depth + 1) for i, child in enumerate(children or (), 1))
        return Checkpoint(node_id, requirements, _as_float(weight), below)


def _as_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:  # an integer of more digits than a float holds
        return float("inf")


def _named(value: Any) -> str:
    """Return what a JSON value is, in JSON's words."""
    if value is None:
        return "missing or null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
