"""One task as a YAML file that a person writes, its input files beside it.

id: farm-orders                    # optional; the file's name, or the folder's for a task.yaml
category: data_analysis            # one of the six, or a word of your own
capabilities: [operation, logic]   # optional; inferred from the request and the files
request: |
  Our third quarter is in orders.xlsx. Please give me ...
files:                             # optional; relative to this file, and at this path for the agent
  - orders.xlsx
checkpoints:
  - requirement: The quarter's figures are right.
    weight: 5                      # optional; 1
    checkpoints:
      - requirement: Summary.md gives the net revenue as EUR 4,137.43, within 1.00.
        weight: 3
"""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pytest_gta.benchmark.capability import CAPABILITIES
from pytest_gta.benchmark.kinds import kind_of
from pytest_gta.benchmark.task import Checkpoint, Resource, Task, TaskFault, category_slug, faults_of
from pytest_gta.benchmark.task_record import MAX_DEPTH, safe_relative
from pytest_gta.benchmark.tool_names import TOOL_CAPABILITIES
from pytest_gta.benchmark.yaml_document import (
    Node,
    NotYaml,
    fields_of,
    is_empty,
    items_of,
    line_of,
    name_of,
    named,
    number_of,
    read_document,
    text_of,
)

TASK_FILE = "task.yaml"
"""The name of a task's file that leaves its id to the folder."""

KEYS = ("id", "category", "request", "files", "capabilities", "tools", "checkpoints")
NODE_KEYS = ("id", "requirement", "weight", "checkpoints")

_NO_TASK = (
    "is no task: it has neither `request` nor `checkpoints`. Is it an input file? List it under `files` of its task"
)
_UNREADABLE = "?"
"""Stands for what could not be read, so that reading goes on; the task is not used then."""


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A file that was read.

    Attributes:
        path: The file.
        task_id: The task's id.
        read: The task, or all that is wrong with it.
        inputs: Where the input files it lists should be, whether they are there or not.
    """

    path: Path
    task_id: str
    read: Task | tuple[TaskFault, ...]
    inputs: tuple[Path, ...] = ()


def id_by_name(path: Path) -> str:
    """Return the id of a task whose file gives it none."""
    return path.parent.name if path.stem == Path(TASK_FILE).stem else path.stem


def read_task_file(path: Path, shown: str) -> TaskFile:
    """Read a task's file; all its faults are found at once.

    Args:
        path: The file.
        shown: How faults name it.
    """
    task_id = id_by_name(path)
    try:
        root = read_document(path)
    except OSError as error:
        return TaskFile(path, task_id, (TaskFault(task_id, None, f"{shown} cannot be read ({error.strerror})"),))
    except NotYaml as error:
        return TaskFile(path, task_id, (TaskFault(task_id, None, f"{shown}, line {error.line}: {error.reason}"),))
    return _Reader(path, shown, task_id).read(root)


class _Reader:
    def __init__(self, path: Path, shown: str, task_id: str) -> None:
        self._path, self._shown, self._id = path, shown, task_id
        self._faults: list[tuple[str | None, int, str]] = []
        self._lines: dict[str, int] = {}

    def read(self, root: Node) -> TaskFile:
        fields = fields_of(root, KEYS, lambda line, reason: self._fault(None, line, reason))
        if not fields.keys() & {"request", "checkpoints"}:
            self._faults = []
            self._fault(None, 1, _NO_TASK)
            return self._result(None, ())
        if not is_empty(fields.get("id")):
            self._id = self._text("id", fields["id"]) or self._id
        turns = self._turns(root, fields.get("request"))
        resources = self._resources(fields.get("files"))
        tools = self._names("tools", fields.get("tools"), TOOL_CAPABILITIES)
        capabilities = self._names("capabilities", fields.get("capabilities"), CAPABILITIES)
        category = self._category(root, fields.get("category"))
        nodes = items_of(fields.get("checkpoints"))
        if nodes is None:
            node = fields.get("checkpoints")
            self._fault(None, line_of(node or root), f"`checkpoints` is {named(node)}, expected a list of checkpoints")
        checkpoints = tuple(self._node(node, f"cp{n}", 1) for n, node in enumerate(nodes or (), 1))
        readable = not self._faults
        for fault in faults_of(self._id, turns, checkpoints):
            if readable or fault.node_id is not None:
                self._fault(fault.node_id, self._lines.get(fault.node_id or "", line_of(root)), fault.reason)
        if self._faults:
            return self._result(None, resources)
        task = Task(
            id=self._id,
            category=category,
            turns=turns,
            resources=resources,
            checkpoints=checkpoints,
            expected_tools=tools,
            stated_capabilities=capabilities,
        )
        return self._result(task, resources)

    def _result(self, task: Task | None, resources: tuple[Resource, ...]) -> TaskFile:
        faults = tuple(
            TaskFault(self._id, node_id, f"{self._shown}, line {line}: {reason}")
            for node_id, line, reason in self._faults
        )
        inputs = tuple(self._path.parent / resource.path for resource in resources)
        return TaskFile(self._path, self._id, task or faults, inputs)

    def _fault(self, node_id: str | None, line: int, reason: str) -> None:
        self._faults.append((node_id, line, reason))

    def _text(self, key: str, node: Node, node_id: str | None = None) -> str | None:
        """Return a text, or the text a number is written as; else a fault."""
        text = name_of(node)
        if text is None or not text.strip():
            hint = "; put it in quotes" if named(node) not in ("a list", "a set of keys", "empty", "a text") else ""
            what = "empty" if text is not None else named(node)
            self._fault(node_id, line_of(node), f"`{key}` is {what}, expected a text{hint}")
            return None
        return text.strip()

    def _turns(self, root: Node, node: Node | None) -> tuple[str, ...]:
        if node is None:
            self._fault(None, line_of(root), "`request` is missing")
            return ()
        messages = items_of(node)
        if messages is None:
            return tuple(text for text in [self._text("request", node)] if text)
        return tuple(text for message in messages if (text := self._text("request", message)))

    def _category(self, root: Node, node: Node | None) -> str:
        if node is None:
            self._fault(None, line_of(root), "`category` is missing")
            return "other"
        return category_slug(self._text("category", node) or "")

    def _list(self, key: str, node: Node | None) -> list[Node]:
        entries = items_of(node)
        if entries is None and node is not None and not is_empty(node):
            self._fault(None, line_of(node), f"`{key}` is {named(node)}, expected a list")
        return entries or []

    def _resources(self, node: Node | None) -> tuple[Resource, ...]:
        found: dict[str, Resource] = {}
        for entry in self._list("files", node):
            given = text_of(entry)
            relative = safe_relative(given) if given else None
            if given is None:
                self._fault(None, line_of(entry), f"an entry of `files` is {named(entry)}, expected a path")
            elif relative is None or not relative.name:
                self._fault(None, line_of(entry), f"the input path {given!r} leaves the folder of {self._path.name}")
            elif str(relative) in found:
                self._fault(None, line_of(entry), f"{given} is listed twice")
            else:
                kind = kind_of(relative.name)
                found[str(relative)] = Resource(str(relative), kind if kind in ("image", "audio", "video") else "file")
        return tuple(found.values())

    def _names(self, key: str, node: Node | None, known: Collection[str]) -> tuple[str, ...]:
        names = [(entry, self._text(key, entry)) for entry in self._list(key, node)]
        for entry, name in names:
            if name and name not in known:
                near = difflib.get_close_matches(name, known, n=4, cutoff=0.4) or list(known)[:4]
                self._fault(None, line_of(entry), f"`{key}` names {name!r}, which is none of them ({', '.join(near)})")
        return tuple(name for _, name in names if name)

    def _node(self, node: Node, position: str, depth: int) -> Checkpoint:
        fields = fields_of(node, NODE_KEYS, lambda line, reason: self._fault(position, line, reason))
        node_id = position
        if not is_empty(fields.get("id")):
            node_id = self._text("id", fields["id"], position) or position
        self._lines.setdefault(node_id, line_of(node))
        requirement = _UNREADABLE
        if "requirement" in fields:
            requirement = self._text("requirement", fields["requirement"], node_id) or _UNREADABLE
        elif fields:
            self._fault(node_id, line_of(node), "`requirement` is missing")
        weight = 1.0
        if "weight" in fields:
            number = number_of(fields["weight"])
            if number is None:
                what = named(fields["weight"])
                self._fault(node_id, line_of(fields["weight"]), f"`weight` is {what}, expected a number above 0")
            else:
                weight = number
        below: list[Node] = []
        if not is_empty(fields.get("checkpoints")):
            entries = items_of(fields["checkpoints"])
            if entries is None:
                what = named(fields["checkpoints"])
                self._fault(node_id, line_of(fields["checkpoints"]), f"`checkpoints` is {what}, expected a list")
            elif depth >= MAX_DEPTH:
                self._fault(node_id, line_of(node), f"is nested more than {MAX_DEPTH} levels deep")
            else:
                below = entries
        children = tuple(self._node(child, f"{node_id}-{n}", depth + 1) for n, child in enumerate(below, 1))
        return Checkpoint(node_id, requirement, weight, children)
