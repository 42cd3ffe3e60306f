"""What a person decides on each node of a draft, and the task that comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from pytest_gta.authoring.critique import REQUEST, Action, Proposal
from pytest_gta.benchmark.task import Checkpoint


class Choice(StrEnum):
    """What is decided on a node."""

    ACCEPT = "accept"
    """Do what the critic proposes."""
    EDIT = "edit"
    """Take the person's words instead of the critic's."""
    REJECT = "reject"
    """Leave the node as it was drafted."""
    DROP = "drop"
    """Take the node out, with all below it."""


class Decision(BaseModel):
    """One decision, as it is recorded.

    Attributes:
        node: ``request``, or the id of a checkpoint in the draft.
        choice: What was decided.
        text: The person's words, with an edit.
        weight: The person's weight, with an edit; None leaves the proposed or drafted one.
        by: Who decided: ``terminal``, ``file``, or ``--yes`` for nobody.
        at: When, in UTC.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    node: str
    choice: Choice
    text: str = ""
    weight: float | None = None
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What is left after a review.

    Attributes:
        request: The request.
        checkpoints: The tree, with new ids by position.
    """

    request: str
    checkpoints: tuple[Checkpoint, ...]


def choices_for(proposal: Proposal) -> tuple[Choice, ...]:
    """Return what can be decided on a node: there is nothing to reject in a pass, and the request stays."""
    kept = (Choice.ACCEPT, Choice.EDIT)
    rejected = () if proposal.action is Action.PASS else (Choice.REJECT,)
    dropped = () if proposal.node == REQUEST or proposal.action is Action.DELETE else (Choice.DROP,)
    return (*kept, *rejected, *dropped)


def after_review(
    request: str, checkpoints: Sequence[Checkpoint], proposals: Sequence[Proposal], decisions: Mapping[str, Decision]
) -> Reviewed:
    """Return what comes of a draft, its critique and a decision on every node.

    A group that loses all its leaves is lost itself.

    Args:
        request: As drafted.
        checkpoints: As drafted.
        proposals: One a node.
        decisions: One a node, by node.
    """
    by_node = {proposal.node: proposal for proposal in proposals}
    reworded = _words(by_node[REQUEST], decisions[REQUEST])
    kept = _after(checkpoints, by_node, decisions)
    return Reviewed(reworded or request, _numbered(kept))


def _words(proposal: Proposal, decision: Decision) -> str:
    """Return the words that were decided on, "" when the drafted ones stay."""
    if decision.choice is Choice.EDIT:
        return decision.text.strip()
    accepted = decision.choice is Choice.ACCEPT and proposal.action in (Action.REFINE, Action.AUGMENT)
    return proposal.text.strip() if accepted else ""


def _after(
    nodes: Sequence[Checkpoint], by_node: Mapping[str, Proposal], decisions: Mapping[str, Decision]
) -> list[Checkpoint]:
    kept = []
    for node in nodes:
        proposal, decision = by_node[node.id], decisions[node.id]
        accepted_deletion = decision.choice is Choice.ACCEPT and proposal.action is Action.DELETE
        if decision.choice is Choice.DROP or accepted_deletion:
            continue
        below = _after(node.children, by_node, decisions)
        words, weight = _words(proposal, decision), decision.weight or float(proposal.weight) or node.weight
        added = [Checkpoint("new", words, weight)] if words and proposal.action is Action.AUGMENT else []
        stays = Checkpoint(node.id, node.requirements, node.weight, tuple(below))
        if words and proposal.action is not Action.AUGMENT:
            stays = Checkpoint(node.id, words, weight, tuple(below))
        if node.is_leaf:
            kept += [stays, *added]
        elif below or added:
            kept.append(Checkpoint(stays.id, stays.requirements, stays.weight, (*below, *added)))
    return kept


def _numbered(nodes: Sequence[Checkpoint], parent: str = "cp") -> tuple[Checkpoint, ...]:
    """Give ids by position."""
    return tuple(
        Checkpoint(f"{parent}{n}", node.requirements, node.weight, _numbered(node.children, f"{parent}{n}-"))
        for n, node in enumerate(nodes, 1)
    )
