"""One thing found in a dataset, and how much it matters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found.

    Attributes:
        level: How much it matters.
        check: The check that found it, in a word or two with hyphens.
        task_id: The task it is in; None for the dataset's own.
        node_id: The checkpoint it is in, where it is in one.
        message: What was found, as a clause.
    """

    level: Level
    check: str
    task_id: str | None
    node_id: str | None
    message: str

    @property
    def where(self) -> str:
        """The task and the checkpoint, or the dataset, in words."""
        if self.task_id is None:
            return "dataset"
        return f"task {self.task_id}" + (f", checkpoint {self.node_id}" if self.node_id else "")
