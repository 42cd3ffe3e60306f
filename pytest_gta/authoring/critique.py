"""A critic's proposals on a draft: one of augment, refine, delete and pass for every node, with a reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from pytest_gta.authoring.draft import MOST_WEIGHT
from pytest_gta.benchmark.task import Checkpoint

REQUEST = "request"
"""The node that stands for the request itself."""


class Action(StrEnum):
    """What a critic proposes for a node."""

    AUGMENT = "augment"
    """Add to it: a further leaf beside it (below it, for a group), a further demand in the request."""
    REFINE = "refine"
    """Word it otherwise."""
    DELETE = "delete"
    """Take it out."""
    PASS = "pass"  # noqa: S105 - no password
    """Leave it as it is."""


class Proposal(BaseModel):
    """What the critic proposes for one node."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    node: str = Field(description="`request`, or the id of a checkpoint.")
    action: Action
    reason: str = Field(description="At most 40 words: why.")
    text: str = Field(
        description="With refine: the new words of the node. With augment: the whole new request, or the requirement "
        'of the leaf to add. Else "".'
    )
    weight: int = Field(ge=0, le=MOST_WEIGHT, description="With refine or augment of a checkpoint: 1 to 5. Else 0.")


class CritiqueAnswer(BaseModel):
    """The structured output asked of the critic."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"description": "One proposal for every node of the draft."}
    )

    proposals: list[Proposal]


def critique_faults(answer: CritiqueAnswer, checkpoints: Sequence[Checkpoint], inputs: Sequence[str]) -> Iterator[str]:
    """Yield what keeps a critique from being of use, as clauses that are told to the model.

    Args:
        answer: The critique.
        checkpoints: The draft's tree.
        inputs: The names of the task's input files.
    """
    nodes = [REQUEST, *(node.id for top in checkpoints for node in top.walk())]
    named = [proposal.node for proposal in answer.proposals]
    if missing := [node for node in nodes if node not in named]:
        yield f"there is no proposal for {', '.join(missing)}"
    if unknown := [node for node in named if node not in nodes]:
        yield f"there is no node {', '.join(unknown)}"
    if twice := [node for node in nodes if named.count(node) > 1]:
        yield f"there is more than one proposal for {', '.join(twice)}"
    for proposal in answer.proposals:
        adds = proposal.action in (Action.AUGMENT, Action.REFINE)
        if adds and not proposal.text.strip():
            yield f"{proposal.node}: `text` is empty, and {proposal.action.value} needs words"
        if proposal.node != REQUEST:
            continue
        if proposal.action is Action.DELETE:
            yield "request: it cannot be deleted; say with pass and a reason that it makes no task"
        yield from (f"request: the new words lack {name}" for name in inputs if adds and name not in proposal.text)


def proposals_in_order(answer: CritiqueAnswer, checkpoints: Sequence[Checkpoint]) -> list[Proposal]:
    """Return the proposals in the order of the draft: the request, then the tree."""
    by_node = {proposal.node: proposal for proposal in answer.proposals}
    return [by_node[node] for node in (REQUEST, *(node.id for top in checkpoints for node in top.walk()))]
