"""The diagnosis of a run, as ``diagnosis.json`` holds it: a stage for a failed leaf, a level for a failed task."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from pytest_gta.benchmark.usage import Usage
from pytest_gta.benchmark.value import Value

DIAGNOSIS = "diagnosis.json"


class Diagnosed(Value):
    """One failed leaf or task.

    Attributes:
        task: The task's run key.
        leaf: The leaf's id; "" for the task as a whole.
        requirement: The leaf's requirement; "" for a task.
        score: Points 0-10.
        label: A stage (leaf) or a level (task); None when there is none.
        quote: The passage of the material that bears it out.
        reason: Why this label, or why none.
        key: Digest of all that the label depends on.
        usage: What it took, over all sessions.
    """

    task: str
    leaf: str
    requirement: str = ""
    score: float
    label: str | None = None
    quote: str = ""
    reason: str = ""
    key: str = ""
    usage: Usage = Usage()


class Diagnosis(Value):
    """What ``diagnosis.json`` holds.

    Attributes:
        schema_version: 1.
        judge: The model that was asked.
        threshold: Points below which a leaf or a task has failed.
        leaves: Every failed leaf.
        tasks: Every failed task.
        shares: Under ``stages`` and ``levels``, for each label, how many and the percentage of those labelled.
    """

    schema_version: int = 1
    judge: str
    threshold: float
    leaves: tuple[Diagnosed, ...]
    tasks: tuple[Diagnosed, ...]
    shares: dict[str, dict[str, dict[str, float]]]

    @property
    def unlabelled(self) -> tuple[Diagnosed, ...]:
        """What has no label."""
        return tuple(entry for entry in (*self.leaves, *self.tasks) if entry.label is None)

    @property
    def usage(self) -> Usage:
        """What it took, over all sessions."""
        return sum((entry.usage for entry in (*self.leaves, *self.tasks)), Usage())


def read_diagnosis(run: Path) -> Diagnosis | None:
    """Return what is known of a run, None when there is nothing or it is not readable."""
    try:
        return Diagnosis.model_validate_json((run / DIAGNOSIS).read_bytes())
    except (OSError, ValidationError):
        return None
