"""What a dataset consists of, in the terms in which GTA-2 describes its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pytest_gta.benchmark.capability import CAPABILITIES, CapabilityBasis
from pytest_gta.benchmark.dataset import Dataset, DatasetError
from pytest_gta.benchmark.file_names import file_names
from pytest_gta.benchmark.kinds import kind_of, mentioned_kinds
from pytest_gta.benchmark.task import CATEGORIES, Checkpoint, Task
from pytest_gta.benchmark.tool_names import TOOL_CAPABILITIES


@dataclass(frozen=True, slots=True)
class Spread:
    """How a number is spread.

    Attributes:
        counts: Value to how often it occurs, by value.
    """

    counts: Mapping[float, int]

    @property
    def number(self) -> int:
        """How many values there are."""
        return sum(self.counts.values())

    @property
    def total(self) -> float:
        """Their sum."""
        return sum(value * times for value, times in self.counts.items())

    @property
    def mean(self) -> float | None:
        """Their mean, None when there are none."""
        return self.total / self.number if self.counts else None

    @property
    def least(self) -> float | None:
        """The smallest, None when there are none."""
        return min(self.counts, default=None)

    @property
    def most(self) -> float | None:
        """The largest, None when there are none."""
        return max(self.counts, default=None)


@dataclass(frozen=True, slots=True)
class DatasetStatistics:
    """What a dataset consists of. All but `unusable` is of its usable tasks.

    Attributes:
        tasks: Usable tasks.
        unusable: Records that are no usable task.
        leaves: Leaves a task.
        top_leaves: Leaves that are at the top of their rubric.
        inner: Checkpoints that are the mean of others.
        depths: Level of each leaf; 1 is the top.
        leaf_weights: Weight of each leaf among its siblings.
        inner_weights: Weight of each other checkpoint among its siblings.
        request_words: Words of each request.
        categories: Category slug to its tasks.
        category_leaves: Category slug to the leaves of its tasks.
        tasks_with_inputs: Tasks that have input files, also such as are only named.
        inputs: Kind of file to the number of input files, most first.
        inputs_a_task: Input files of each task that has some.
        deliverables: Kind of file to the number of tasks that ask for it, by `asked_kinds`, most first.
        capabilities: Capability to the number of tasks that ask for it.
        capabilities_inferred: Tasks whose capabilities are guessed by rule.
        tools: Capability to the number of the benchmark's tools that the dataset describes.
        other_tools: Tools it describes that are not the benchmark's; -1 when its descriptions cannot be read.
        tasks_naming_tools: Tasks that name expected tools.
    """

    tasks: int
    unusable: int
    leaves: Spread
    top_leaves: int
    inner: int
    depths: Spread
    leaf_weights: Spread
    inner_weights: Spread
    request_words: Spread
    categories: Mapping[str, int]
    category_leaves: Mapping[str, int]
    tasks_with_inputs: int
    inputs: Mapping[str, int]
    inputs_a_task: Spread
    deliverables: Mapping[str, int]
    capabilities: Mapping[str, int]
    capabilities_inferred: int
    tools: Mapping[str, int]
    other_tools: int
    tasks_naming_tools: int


def statistics_of(dataset: Dataset) -> DatasetStatistics:
    """Count a dataset. No input file is read."""
    tasks = [task for task in dataset.tasks() if isinstance(task, Task)]
    nodes = [node for task in tasks for node in task.nodes()]
    levels = [level for task in tasks for top in task.checkpoints for level in _leaf_levels(top, 1)]
    try:
        described: Iterable[str] | None = dataset.tool_metadata
    except DatasetError:
        described = None
    leaves: Counter[str] = Counter()
    for task in tasks:
        leaves[task.category] += len(task.leaves)
    return DatasetStatistics(
        tasks=len(tasks),
        unusable=len(dataset.task_ids) - len(tasks),
        leaves=_spread(len(task.leaves) for task in tasks),
        top_leaves=sum(node.is_leaf for task in tasks for node in task.checkpoints),
        inner=sum(not node.is_leaf for node in nodes),
        depths=_spread(levels),
        leaf_weights=_spread(node.weight for node in nodes if node.is_leaf),
        inner_weights=_spread(node.weight for node in nodes if not node.is_leaf),
        request_words=_spread(len(task.request.split()) for task in tasks),
        categories=_by_category(Counter(task.category for task in tasks)),
        category_leaves=_by_category(leaves),
        tasks_with_inputs=sum(bool(task.resources) for task in tasks),
        inputs=_most_first(kind_of(resource.path) for task in tasks for resource in task.resources),
        inputs_a_task=_spread(len(task.resources) for task in tasks if task.resources),
        deliverables=_most_first(kind for task in tasks for kind in asked_kinds(task)),
        capabilities=_in_order(name for task in tasks for name in task.capabilities.names),
        capabilities_inferred=sum(task.capabilities.basis is CapabilityBasis.INFERRED for task in tasks),
        tools=_in_order(TOOL_CAPABILITIES[name] for name in described or () if name in TOOL_CAPABILITIES),
        other_tools=-1 if described is None else len(set(described) - set(TOOL_CAPABILITIES)),
        tasks_naming_tools=sum(bool(task.expected_tools) for task in tasks),
    )


def asked_kinds(task: Task) -> tuple[str, ...]:
    """Return the kinds of files a task seems to ask for, sorted: ``text`` when it asks for none.

    They are those of the files that its request or its rubric names and that are no inputs; where it names none, the
    kinds that its request speaks of and that no input has.
    """
    given = {name.casefold() for resource in task.resources for name in file_names(resource.path)}
    texts = (task.request, *(leaf.requirements for leaf in task.leaves))
    named = {kind_of(name) for text in texts for name in file_names(text) if name.casefold() not in given} - {"other"}
    spoken = mentioned_kinds(task.request) - {kind_of(resource.path) for resource in task.resources}
    return tuple(sorted(named or spoken or {"text"}))


def _leaf_levels(node: Checkpoint, level: int) -> Iterator[int]:
    if node.is_leaf:
        yield level
    for child in node.children:
        yield from _leaf_levels(child, level + 1)


def _spread(values: Iterable[float]) -> Spread:
    return Spread(dict(sorted(Counter(values).items())))


def _most_first(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def _by_category(counts: Mapping[str, int]) -> dict[str, int]:
    """Order categories: the official ones as the release has them, then others by name."""
    official = [slug for slug in CATEGORIES.values() if slug in counts]
    return {slug: counts[slug] for slug in (*official, *sorted(set(counts) - set(official)))}


def _in_order(capabilities: Iterable[str]) -> dict[str, int]:
    found = Counter(capabilities)
    return {name: found[name] for name in CAPABILITIES if found[name]}
