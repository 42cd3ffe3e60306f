"""What is wrong with a dataset, found before a run is paid for.

An *error* keeps a task from being run as it was meant to be. A *warning* is a likely slip of its author, for a person
to decide on. A *note* is an oddity that does no harm: the official release has some.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from pytest_gta.benchmark.atomic import AtomicDataset
from pytest_gta.benchmark.capability import CAPABILITIES, CapabilityBasis
from pytest_gta.benchmark.damage import DAMAGE
from pytest_gta.benchmark.dataset import Dataset, DatasetError
from pytest_gta.benchmark.finding import Finding, Level
from pytest_gta.benchmark.kinds import kind_of
from pytest_gta.benchmark.release import TOOL_METADATA, Release
from pytest_gta.benchmark.task import CATEGORIES, Resource, Task
from pytest_gta.benchmark.tool_names import TOOL_CAPABILITIES
from pytest_gta.benchmark.wording import wording_findings

OFFICIAL_NAMES = ("workflow", "gta_workflow_dataset")
"""What the official release goes by: its own name, and that of its folder."""

PARAMETER_TYPES = ("text", "int", "float", "bool", "image", "audio", "video", "file")

_FIRST_BYTES = 4096
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True)
class Counts:
    """What a dataset holds. Leaves, inputs and categories are those of its usable tasks.

    Attributes:
        tasks: Records in its index.
        usable: Those that can be run.
        leaves: Checkpoints that are judged.
        top_leaves: Those of them at the top of their rubric.
        tasks_with_inputs: Tasks with input files.
        inputs: Input files, those that are only named too.
        missing_inputs: Those of them that the dataset should hold and does not.
        categories: Category slug to its number of tasks and of leaves.
        capabilities: Capability to the number of its tasks, and of those where it is only inferred.
    """

    tasks: int
    usable: int
    leaves: int
    top_leaves: int
    tasks_with_inputs: int
    inputs: int
    missing_inputs: int
    categories: dict[str, tuple[int, int]]
    capabilities: dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Validation:
    """All that was found, and what the dataset holds."""

    counts: Counts
    findings: tuple[Finding, ...]

    def of(self, level: Level) -> tuple[Finding, ...]:
        """Return the findings of one level."""
        return tuple(finding for finding in self.findings if finding.level is level)

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.of(Level.ERROR)


def validate(dataset: Dataset) -> Validation:
    """Check a whole dataset. Reads the beginning of every input file and unpacks none."""
    tasks = [task for task in dataset.tasks() if isinstance(task, Task)]
    findings = [
        Finding(Level.ERROR, "structure", fault.task_id, fault.node_id, fault.reason)
        for task_id in dataset.task_ids
        for fault in dataset.faults(task_id)
    ]
    if not dataset.task_ids:
        findings.append(Finding(Level.ERROR, "structure", None, None, "there are no tasks in it"))
    findings.extend(_same_slug(tasks))
    official = {i for member in dataset.members if member.name in OFFICIAL_NAMES for i in member.task_ids}
    short = {i for member in dataset.members if isinstance(member, AtomicDataset) for i in member.task_ids}
    missing = 0
    for task in tasks:
        inputs = list(_inputs(task, dataset))
        missing += sum(finding.check == "input-missing" for finding in inputs)
        findings.extend((*_notes(task), *inputs))
        if task.id in short:
            continue
        findings.extend(_oddities(task))
        findings.extend(_of_the_release(f) if task.id in official else f for f in wording_findings(task))
    findings.extend(finding for member in dataset.members for finding in _tools(member))
    order = list(Level)
    return Validation(_counts(dataset, tasks, missing), tuple(sorted(findings, key=lambda f: order.index(f.level))))


def _of_the_release(finding: Finding) -> Finding:
    """The words of the official release are as they are: what is said of them is no more than a note."""
    return replace(finding, level=Level.NOTE)


def _counts(dataset: Dataset, tasks: list[Task], missing: int) -> Counts:
    return Counts(
        tasks=len(dataset.task_ids),
        usable=len(tasks),
        leaves=sum(len(task.leaves) for task in tasks),
        top_leaves=sum(node.is_leaf for task in tasks for node in task.checkpoints),
        tasks_with_inputs=sum(bool(task.resources) for task in tasks),
        inputs=sum(len(task.resources) for task in tasks),
        missing_inputs=missing,
        categories={
            name: (number, sum(len(task.leaves) for task in tasks if task.category == name))
            for name, number in sorted(Counter(task.category for task in tasks).items())
        },
        capabilities=_capabilities(tasks),
    )


def _capabilities(tasks: list[Task]) -> dict[str, tuple[int, int]]:
    found = [task.capabilities for task in tasks]
    table = {}
    for name in CAPABILITIES:
        those = [one for one in found if name in one.names]
        if those:
            table[name] = len(those), sum(one.basis is CapabilityBasis.INFERRED for one in those)
    return table


def _same_slug(tasks: list[Task]) -> Iterator[Finding]:
    first: dict[str, Task] = {}
    for task in tasks:
        other = first.setdefault(task.slug, task)
        if other is not task:
            message = f"has the same test id as task {other.id}: {task.slug}; rename one"
            yield Finding(Level.ERROR, "structure", task.id, None, message)


def _notes(task: Task) -> Iterator[Finding]:
    for note in task.notes:
        yield Finding(Level.NOTE, "oddity", task.id, None, note)


def _oddities(task: Task) -> Iterator[Finding]:
    if task.category == "other":
        yield Finding(Level.WARNING, "category", task.id, None, "has no `workflow_category_6class`")
    elif task.category not in CATEGORIES.values():
        message = f"its category {task.category!r} is none of the official six"
        yield Finding(Level.NOTE, "category", task.id, None, message)
    for name in task.expected_tools:
        if name not in TOOL_CAPABILITIES:
            message = f"`tools` names {name!r}, which is none of the benchmark's {len(TOOL_CAPABILITIES)} tools"
            yield Finding(Level.WARNING, "tool-unknown", task.id, None, message)
    for name in task.stated_capabilities:
        if name not in CAPABILITIES:
            message = f"`capabilities` names {name!r}, which is none of {', '.join(CAPABILITIES)}"
            yield Finding(Level.WARNING, "capability-unknown", task.id, None, message)


# -- input files ------------------------------------------------------------------------------------------------------


def _inputs(task: Task, dataset: Dataset) -> Iterator[Finding]:
    for resource in task.resources:
        if not resource.bundled:
            continue
        if not dataset.has_resource(task, resource):
            message = f"{resource.path} is not in the dataset; a live agent cannot be given the task"
            yield Finding(Level.ERROR, "input-missing", task.id, None, message)
        elif reason := _unreadable(task, resource, dataset):
            yield Finding(Level.ERROR, "input-unreadable", task.id, None, f"{resource.path} {reason}")


def _unreadable(task: Task, resource: Resource, dataset: Dataset) -> str:
    try:
        with dataset.open_resource(task, resource) as source:
            beginning = source.read(_FIRST_BYTES)
    except DAMAGE as error:
        return f"cannot be read ({error})"
    if not beginning:
        return "is empty"
    if beginning.startswith(_LFS_POINTER):
        return "is a Git LFS pointer, not the file; run `git lfs pull`"
    if kind_of(resource.path) in ("docx", "pptx", "xlsx") and beginning.startswith(b"<"):
        return "holds a web page or XML under the name of an Office file"
    return ""


# -- toolmeta.json ----------------------------------------------------------------------------------------------------


def _tools(dataset: Dataset) -> Iterator[Finding]:
    try:
        tools = dataset.tool_metadata
    except DatasetError as error:
        yield Finding(Level.ERROR, "toolmeta", None, None, str(error).removeprefix(f"{dataset.location}: "))
        return
    if not tools and not isinstance(dataset, Release):
        return
    if not tools:
        message = f"there is no {TOOL_METADATA}: all {len(TOOL_CAPABILITIES)} tools are offered, in our own words"
        yield Finding(Level.NOTE, "toolmeta", None, None, message)
        return
    if not isinstance(dataset, AtomicDataset):
        yield from _tool_names(tools)
    for name, entry in tools.items():
        for fault in _entry_faults(entry):
            yield Finding(Level.ERROR, "toolmeta", None, None, f"{TOOL_METADATA}: {name}: {fault}")


def _tool_names(tools: Iterable[str]) -> Iterator[Finding]:
    unknown = sorted(set(tools) - set(TOOL_CAPABILITIES))
    if unknown:
        message = f"{TOOL_METADATA} has tools that are not the benchmark's and are not offered: {', '.join(unknown)}"
        yield Finding(Level.WARNING, "tool-unknown", None, None, message)
    lacking = sorted(set(TOOL_CAPABILITIES) - set(tools))
    if lacking:
        message = f"{TOOL_METADATA} lacks {len(lacking)} of the benchmark's tools: {', '.join(lacking)}"
        yield Finding(Level.NOTE, "toolmeta", None, None, message)


def _entry_faults(entry: dict[str, Any]) -> Iterator[str]:
    if not isinstance(entry.get("description"), str | None):
        yield "`description` is not text"
    for side in ("inputs", "outputs"):
        parameters = entry.get(side)
        if parameters is None and side == "outputs":
            continue
        if not isinstance(parameters, list):
            yield f"`{side}` is not a list of parameters"
            continue
        for number, parameter in enumerate(parameters, 1):
            if not isinstance(parameter, dict):
                yield f"`{side}` {number} is not an object"
                continue
            name = parameter.get("name")
            if parameter.get("type") not in PARAMETER_TYPES:
                shown = name or number
                yield f"`{side}` {shown}: type {parameter.get('type')!r} is none of {', '.join(PARAMETER_TYPES)}"
            if side == "inputs" and (not isinstance(name, str) or not name.isidentifier()):
                yield f"`inputs` {number}: name {name!r} is not a name"
