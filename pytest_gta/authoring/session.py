"""The state of one task in the making, on disk after every step: what was paid for is never paid for again."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from pytest_gta.authoring.critique import CritiqueAnswer
from pytest_gta.authoring.draft import DraftAnswer
from pytest_gta.authoring.review import Decision
from pytest_gta.benchmark.run_directory import write_atomic
from pytest_gta.benchmark.usage import Usage

STATE = "session.json"


class UnreadableSession(Exception):
    """A state file that is there and cannot be gone on with: the message names it and the next step."""


class State(BaseModel):
    """What ``session.json`` holds, and what a task keeps as the record of how it came about.

    Attributes:
        schema_version: 1.
        raw_request: The request as it was found.
        files: Input files: name to SHA-256.
        model: Who drafted and criticised.
        author_version: Version of the prompts.
        draft: The draft, None while there is none.
        critique: The critic's proposals, None while there are none.
        decisions: A decision a node, in the order they were made.
        usage: What each step took, unusable replies included, by step: ``draft``, ``critique``.
        landed: Where the finished task is, "" before.
    """

    model_config = ConfigDict(extra="forbid")

    schema_version: int = 1
    raw_request: str
    files: dict[str, str]
    model: str
    author_version: str
    draft: DraftAnswer | None = None
    critique: CritiqueAnswer | None = None
    decisions: list[Decision] = []
    usage: dict[str, Usage] = {}
    landed: str = ""

    @property
    def total_usage(self) -> Usage:
        """What all steps took."""
        return sum(self.usage.values(), Usage())


class Session:
    """One task in the making.

    Args:
        folder: Where its state is kept.
        new: Its state when there is none yet.

    Raises:
        UnreadableSession: When there is a state that is none.
    """

    def __init__(self, folder: Path, new: State) -> None:
        self.folder = folder
        self._path = folder / STATE
        try:
            self.state = State.model_validate_json(self._path.read_bytes())
            self.resumed = True
        except FileNotFoundError:
            self.state, self.resumed = new, False
        except (OSError, ValidationError):
            raise UnreadableSession(f"{self._path} cannot be gone on with; delete it to begin anew") from None

    def record(self, **changes: Any) -> None:
        """Change the state; it is on disk when this returns."""
        self.state = self.state.model_copy(update=changes)
        write_atomic(self._path, json.dumps(self.state.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n")

    def spend(self, step: str, usage: Usage) -> None:
        """Book what a step took."""
        self.record(usage={**self.state.usage, step: self.state.usage.get(step, Usage()) + usage})

    def decide(self, decision: Decision) -> None:
        """Record a decision; a later one on the same node takes its place."""
        kept = [earlier for earlier in self.state.decisions if earlier.node != decision.node]
        self.record(decisions=[*kept, decision])

    @property
    def decisions(self) -> dict[str, Decision]:
        """The decisions by node."""
        return {decision.node: decision for decision in self.state.decisions}


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
