"""A review as a file: written with the critic's proposals, filled in by a person, read back strictly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_gta.authoring.critique import REQUEST, Action, Proposal
from pytest_gta.authoring.review import Choice, Decision, choices_for
from pytest_gta.benchmark.run_directory import write_atomic
from pytest_gta.benchmark.task import Checkpoint
from pytest_gta.benchmark.task_file_text import plain_number, plain_text, yaml_text
from pytest_gta.benchmark.yaml_document import (
    Node,
    NotYaml,
    fields_of,
    is_empty,
    items_of,
    line_of,
    name_of,
    number_of,
    read_document,
)

FILE = "file"
"""How a decision says that it was made in this file."""

_KEYS = ("session", "review")
_ENTRY_KEYS = (
    "node",
    "drafted",
    "weight",
    "critic",
    "reason",
    "proposed",
    "proposed_weight",
    "choices",
    "decision",
    "your_words",
    "your_weight",
)
_HEAD = """\
# The review of a drafted task. Give every entry a decision, one of its `choices`, and run the same command again:
#   accept  do what the critic proposes        edit  take your_words (and your_weight) instead
#   reject  leave it as it was drafted         drop  take it out, with all below it
"""


class ReviewFault(Exception):
    """A review file that cannot be used: the message names the file, the line and what is wrong."""


def write_review(
    path: Path,
    key: str,
    request: str,
    checkpoints: Sequence[Checkpoint],
    proposals: Sequence[Proposal],
    decisions: Mapping[str, Decision],
) -> None:
    """Write what is to be decided, as YAML, or as JSON when the file's name ends so.

    Args:
        path: The file.
        key: The session it belongs to.
        request: As drafted.
        checkpoints: As drafted.
        proposals: One a node, in order.
        decisions: Those that were made already, by node.
    """
    nodes = {node.id: node for top in checkpoints for node in top.walk()}
    entries = []
    for proposal in proposals:
        node, decided = nodes.get(proposal.node), decisions.get(proposal.node)
        entry: dict[str, Any] = {"node": proposal.node, "drafted": _block(node.requirements if node else request)}
        if node is not None:
            entry["weight"] = plain_number(node.weight)
        entry |= {"critic": proposal.action.value, "reason": _block(proposal.reason)}
        if proposal.action in (Action.AUGMENT, Action.REFINE):
            entry["proposed"] = _block(proposal.text)
            if proposal.node != REQUEST and proposal.weight:
                entry["proposed_weight"] = proposal.weight
        entry |= {
            "choices": ", ".join(choices_for(proposal)),
            "decision": decided.choice.value if decided else None,
            "your_words": _block(decided.text) if decided and decided.text else None,
        }
        if node is not None:
            entry["your_weight"] = decided.weight if decided else None
        entries.append(entry)
    whole = {"session": key, "review": entries}
    if path.suffix.lower() == ".json":
        write_atomic(path, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    else:
        write_atomic(path, _HEAD + yaml_text(whole))


def read_review(path: Path, key: str, proposals: Sequence[Proposal], at: str) -> tuple[list[Decision], list[str]]:
    """Return the decisions of a filled-in review, and the nodes that have none yet.

    Args:
        path: The file.
        key: The session it has to belong to.
        proposals: One a node.
        at: When it is read.

    Raises:
        ReviewFault: On the first thing that is wrong with it.
    """

    def fault(line: int, reason: str) -> None:
        raise ReviewFault(f"{path}, line {line}: {reason}")

    try:
        root = read_document(path)
    except OSError as error:
        raise ReviewFault(f"{path} cannot be read: {error.strerror}") from None
    except NotYaml as error:
        raise ReviewFault(f"{path}, line {error.line}: {error.reason}") from None
    fields = fields_of(root, _KEYS, fault)
    if name_of(fields.get("session")) != key:
        raise ReviewFault(f"{path} is the review of another draft; name another file, or delete it to have it written")
    by_node = {proposal.node: proposal for proposal in proposals}
    decisions: dict[str, Decision] = {}
    for entry in items_of(fields.get("review")) or []:
        values = fields_of(entry, _ENTRY_KEYS, fault)
        node = name_of(values.get("node")) or "?"
        if node not in by_node or node in decisions:
            fault(line_of(entry), f"{node} is no node of the draft, or is there twice")
        if not is_empty(values.get("decision")):
            decisions[node] = _decision(values, line_of(entry), by_node[node], at, fault)
    return list(decisions.values()), [node for node in by_node if node not in decisions]


def _decision(values: Mapping[str, Node], line: int, proposal: Proposal, at: str, fault: Any) -> Decision:
    allowed = choices_for(proposal)
    chosen = (name_of(values["decision"]) or "").strip().lower()
    if chosen not in allowed:
        fault(line_of(values["decision"]), f"{proposal.node}: decision {chosen!r} is none of {', '.join(allowed)}")
    words = (name_of(values.get("your_words")) or "").strip()
    weight = number_of(values.get("your_weight"))
    if chosen != Choice.EDIT:
        return Decision(node=proposal.node, choice=Choice(chosen), by=FILE, at=at)
    if not words:
        fault(line, f"{proposal.node}: to edit, write `your_words`")
    if not is_empty(values.get("your_weight")) and (weight is None or weight <= 0):
        fault(line_of(values["your_weight"]), f"{proposal.node}: `your_weight` is no number above 0")
    return Decision(node=proposal.node, choice=Choice.EDIT, text=words, weight=weight, by=FILE, at=at)


def _block(text: str) -> str:
    plain = plain_text(text)
    return f"{plain}\n" if "\n" in plain else plain
