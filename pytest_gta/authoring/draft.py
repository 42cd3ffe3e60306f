"""A drafted task: what a model writes from a raw request, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from pytest_gta.benchmark.task import Checkpoint, Resource, Task
from pytest_gta.benchmark.wording import USUAL_LEAVES

MOST_WEIGHT = 5


class Category(StrEnum):
    """The six categories, by their slugs."""

    DATA_ANALYSIS = "data_analysis"
    EDUCATION = "education"
    PLANNING = "planning"
    MARKETING = "marketing"
    CREATIVE_DESIGN = "creative_design"
    RETRIEVAL_QA = "retrieval_qa"


class DraftLeaf(BaseModel):
    """One requirement that a judge scores."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requirement: str = Field(description="One checkable state of the delivered files, in one or two sentences.")
    weight: int = Field(ge=1, le=MOST_WEIGHT, description="Importance among its siblings, 1 to 5.")


class DraftGroup(BaseModel):
    """A top checkpoint: the result that its leaves make up, or a leaf itself when it has none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requirement: str = Field(description="The result that the leaves below make up, in one sentence.")
    weight: int = Field(ge=1, le=MOST_WEIGHT, description="Importance among the groups, 1 to 5.")
    leaves: list[DraftLeaf]


class DraftAnswer(BaseModel):
    """The structured output asked of the model that drafts."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"description": "A benchmark task made from a raw request."}
    )

    name: str = Field(description="Two to four words that name the task, lower case, joined by hyphens.")
    category: Category
    request: str = Field(description="The reformulated request, as a person would send it.")
    checkpoints: list[DraftGroup]


def draft_faults(answer: DraftAnswer, inputs: Sequence[str]) -> Iterator[str]:
    """Yield what keeps a draft from being a task, as clauses that are told to the model.

    Args:
        answer: The draft.
        inputs: The names of the task's input files.
    """
    if not answer.request.strip():
        yield "`request` is empty"
    for name in inputs:
        if name not in answer.request:
            yield f"the request does not mention its input file {name}"
    texts = [text.strip() for group in answer.checkpoints for text in (group.requirement, *_leaf_texts(group))]
    if not all(texts):
        yield "a `requirement` is empty"
    leaves = sum(max(1, len(group.leaves)) for group in answer.checkpoints)
    fewest, most = USUAL_LEAVES
    if not fewest <= leaves <= most:
        yield f"the tree has {leaves} leaves; {fewest} to {most} are wanted"


def draft_nodes(answer: DraftAnswer) -> tuple[Checkpoint, ...]:
    """Return the draft's tree with ids by position: ``cp1``, ``cp1-1``."""
    return tuple(
        Checkpoint(
            f"cp{n}",
            group.requirement.strip(),
            float(group.weight),
            tuple(
                Checkpoint(f"cp{n}-{m}", leaf.requirement.strip(), float(leaf.weight))
                for m, leaf in enumerate(group.leaves, 1)
            ),
        )
        for n, group in enumerate(answer.checkpoints, 1)
    )


def draft_task(answer: DraftAnswer, task_id: str, inputs: Sequence[str]) -> Task:
    """Return the draft as a task, to check its words."""
    resources = tuple(Resource(name) for name in inputs)
    return Task(task_id, answer.category.value, (answer.request.strip(),), resources, draft_nodes(answer))


def slug_of(name: str) -> str:
    """Return a name that can be a folder's, "" when nothing is left of it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-")


def _leaf_texts(group: DraftGroup) -> list[str]:
    return [leaf.requirement for leaf in group.leaves]
