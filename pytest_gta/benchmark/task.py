"""A task of the benchmark: the request, its input files and its tree of weighted checkpoints."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from pytest_gta.benchmark.capability import TaskCapabilities, capabilities_of
from pytest_gta.benchmark.kinds import file_kinds

CATEGORIES: dict[str, str] = {
    "Data Analysis & Quantitative Reasoning": "data_analysis",
    "Educational & Instructional Content": "education",
    "Planning & Decision Support": "planning",
    "Business & Marketing Strategy": "marketing",
    "Creative Design & Expressive Generation": "creative_design",
    "Information Retrieval & Knowledge QA": "retrieval_qa",
}
"""The six workflow categories, as a release spells them, and the slug each goes by in ids, markers and reports."""


SLUG_LIMIT = 60
"""Characters of an id or a category in the names of tests and folders; file systems take 255 in all."""


class TaskFault(ValueError):
    """A task that cannot be used, with the task and, where there is one, the checkpoint at fault.

    Attributes:
        task_id: The task's id in its dataset.
        node_id: The checkpoint at fault, or None when the fault is the task's own.
        reason: What is wrong, as a clause without a full stop.
    """

    def __init__(self, task_id: str, node_id: str | None, reason: str) -> None:
        self.task_id, self.node_id, self.reason = task_id, node_id, reason
        where = f"task {task_id}" if node_id is None else f"task {task_id}, checkpoint {node_id}"
        super().__init__(f"{where}: {reason}")

    @property
    def slug(self) -> str:
        """The task's name in test ids; its category is not known."""
        return f"invalid_{_id_slug(self.task_id)}"

    @property
    def base_slug(self) -> str:
        """The same: what is no task is not repeated."""
        return self.slug


@dataclass(frozen=True, slots=True)
class Resource:
    """One input file of a task.

    Attributes:
        path: Where the request expects it, relative to the workspace, e.g. ``resources/files/2-1.pdf``.
        type: The release's own word for its kind (``image``, ``file``, ...), or "" when it gives none.
        bundled: False for a bare file name that the release only mentions (its task 126) and does not ship.
    """

    path: str
    type: str = ""
    bundled: bool = True


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A node of a task's rubric. A leaf is judged; any other node is the weighted mean of its children.

    Attributes:
        id: Unique within the task, e.g. ``cp1-2``.
        requirements: The result that is expected, in words.
        weight: Share among its siblings, finite and above 0.
        children: The checkpoints it is the mean of; empty for a leaf.
    """

    id: str
    requirements: str
    weight: float
    children: tuple[Checkpoint, ...] = ()

    @property
    def is_leaf(self) -> bool:
        """Whether a judge scores this node itself."""
        return not self.children

    def walk(self) -> Iterator[Checkpoint]:
        """Yield this node and all below it, in the rubric's order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class Brief:
    """What an agent is told of a task: all but the rubric.

    Attributes:
        id: The task's id.
        category: Its category's slug.
        turns: The user's messages in order; almost always one.
        inputs: Paths of the input files in the workspace, e.g. ``resources/files/2-1.pdf``.
        earlier_answer: What the agent answered before the last of `turns`, when it goes on with work that it has done;
            None when it begins.
    """

    id: str
    category: str
    turns: tuple[str, ...]
    inputs: tuple[str, ...]
    earlier_answer: str | None = None

    @property
    def request(self) -> str:
        """The user's request: all turns, a blank line between them."""
        return "\n\n".join(self.turns)

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The turns that the agent has not answered yet: all of them when it begins, else the last."""
        return self.turns if self.earlier_answer is None else self.turns[-1:]

    def going_on(self, answer: str, message: str) -> Brief:
        """Return what an agent is told that has answered all turns and is sent a further message.

        Args:
            answer: What it answered; "" when it gave no answer.
            message: The further message of the user.
        """
        return replace(self, turns=(*self.turns, message), earlier_answer=answer)


@dataclass(frozen=True, slots=True)
class Task:
    """One benchmark task; construction validates it.

    Attributes:
        id: The dataset's id, a string, not necessarily a number.
        category: A slug, one of the values of `CATEGORIES` for an official release.
        turns: The user's messages in order; almost always one.
        resources: The input files.
        checkpoints: The top nodes of the rubric; their weighted mean is the root score.
        expected_tools: Tools an annotation names, if any; never shown to the agent.
        stated_capabilities: Capabilities an annotation names, if any, as it spells them; never shown to the agent.
        notes: Oddities that do not stop the task from being used.
        repeat: Which of its independent runs this is, from 1; 0 when it is run once.
        kinds: File kinds asked for or given (``pdf``, ``video``, ...), sorted.

    Raises:
        TaskFault: When the request is empty or the rubric is not a usable tree.
    """

    id: str
    category: str
    turns: tuple[str, ...]
    resources: tuple[Resource, ...]
    checkpoints: tuple[Checkpoint, ...]
    expected_tools: tuple[str, ...] = ()
    stated_capabilities: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    repeat: int = 0
    kinds: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        for fault in faults_of(self.id, self.turns, self.checkpoints):
            raise fault
        names = [resource.path for resource in self.resources]
        object.__setattr__(self, "kinds", file_kinds(self.request, names))

    @property
    def request(self) -> str:
        """The user's request: all turns, a blank line between them."""
        return "\n\n".join(self.turns)

    @property
    def capabilities(self) -> TaskCapabilities:
        """What it asks of an agent, and whether it says so or that is inferred."""
        inputs = (resource.path for resource in self.resources)
        return capabilities_of(self.stated_capabilities, self.expected_tools, self.request, inputs)

    @property
    def brief(self) -> Brief:
        """The task without its rubric, to hand to an agent."""
        inputs = tuple(resource.path for resource in self.resources if resource.bundled)
        return Brief(self.id, self.category, self.turns, inputs)

    @property
    def slug(self) -> str:
        """The name in test ids: ``<category>_<id>`` in ``[a-z0-9_]``, with ``_r<n>`` for the n-th of its repeats."""
        return self.base_slug + (f"_r{self.repeat}" if self.repeat else "")

    @property
    def base_slug(self) -> str:
        """The slug without the repeat: the same for all independent runs of the task."""
        return f"{self.category}_{_id_slug(self.id)}"

    def repeated(self, times: int) -> tuple[Task, ...]:
        """Return the task once for each of its independent runs; just itself for one."""
        return tuple(replace(self, repeat=n) for n in range(1, times + 1)) if times > 1 else (self,)

    def nodes(self) -> Iterator[Checkpoint]:
        """Yield every checkpoint of the rubric, parents before children."""
        for top in self.checkpoints:
            yield from top.walk()

    @property
    def leaves(self) -> tuple[Checkpoint, ...]:
        """The checkpoints a judge scores, in the rubric's order."""
        return tuple(node for node in self.nodes() if node.is_leaf)


def faults_of(task_id: str, turns: Iterable[str], checkpoints: Iterable[Checkpoint]) -> Iterator[TaskFault]:
    """Yield all that keeps a request and a rubric from being a task."""
    if not any(turn.strip() for turn in turns):
        yield TaskFault(task_id, None, "the request is empty")
    nodes = [node for top in checkpoints for node in top.walk()]
    if not nodes:
        yield TaskFault(task_id, None, "the rubric has no checkpoints")
    seen: set[str] = set()
    for node in nodes:
        if node.id in seen:
            yield TaskFault(task_id, node.id, "this id is used twice")
        seen.add(node.id)
        if not math.isfinite(node.weight) or node.weight <= 0:
            yield TaskFault(task_id, node.id, f"weight {node.weight!r} is not a finite number above 0")
        if node.is_leaf and not node.requirements.strip():
            yield TaskFault(task_id, node.id, "a leaf needs a requirement, and this one has none")


def category_slug(name: str) -> str:
    """Return the slug of a category as a release spells it; an unknown one is made into a slug, none is ``other``."""
    known = CATEGORIES.get(name.strip())
    return known or _slugged(name)[:SLUG_LIMIT].strip("_") or "other"


def _id_slug(task_id: str) -> str:
    """An id without a letter of ours, or too long for the name of a folder, is told from others by its digest."""
    slug = _slugged(task_id)
    if 0 < len(slug) <= SLUG_LIMIT:
        return slug
    digest = hashlib.sha256(task_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug[:SLUG_LIMIT]}_{digest}".lstrip("_")


def _slugged(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
