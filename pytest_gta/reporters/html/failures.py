"""Where failures come from, as the report shows it: the diagnosis of a run, if it has one."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_gta.benchmark.diagnosis import Diagnosed, Diagnosis
from pytest_gta.judge.failure_label import LEVELS, STAGES
from pytest_gta.reporters.html.room import Cut, fit
from pytest_gta.reporters.visible_text import visible
from pytest_gta.reporters.wording import count

_LEVEL_NAMES = {"A": "A, single leaves", "B": "B, composition", "C": "C, deliverable"}
_MEANINGS = {str(label): meaning for label, meaning in (*STAGES.items(), *LEVELS.items())}
MOST_BYTES = 400
"""What a reason or a passage of one label may take."""


@dataclass(frozen=True, slots=True)
class FailureView:
    """Why one leaf or task failed.

    Attributes:
        name: The stage or the level; "" without a label.
        meaning: What that is.
        reason: Why this label, or why none.
        quote: The passage that bears it out.
    """

    name: str
    meaning: str
    reason: Cut
    quote: Cut


@dataclass(frozen=True, slots=True)
class Share:
    """How often one label was given."""

    key: str
    name: str
    meaning: str
    number: int
    percent: float


@dataclass(frozen=True, slots=True)
class FailureShares:
    """The labels of one kind: the stages of failed leaves, or the levels of failed tasks."""

    title: str
    head: str
    key: str
    shares: tuple[Share, ...]
    note: str


class Failures:
    """The labels of a run, to look up.

    Args:
        diagnosis: The diagnosis; None when the run was not diagnosed.
    """

    def __init__(self, diagnosis: Diagnosis | None) -> None:
        self._diagnosis = diagnosis
        entries = (*diagnosis.leaves, *diagnosis.tasks) if diagnosis else ()
        self._entries: dict[tuple[str, str], Diagnosed] = {(entry.task, entry.leaf): entry for entry in entries}

    def of(self, run_key: str, leaf: str = "") -> FailureView | None:
        """Return why a leaf failed, or the task as a whole; None where nothing is said of it."""
        entry = self._entries.get((run_key, leaf))
        if entry is None:
            return None
        label = entry.label or ""
        reason, quote = fit(entry.reason, MOST_BYTES), fit(entry.quote, MOST_BYTES)
        return FailureView(visible(_named(label)), _MEANINGS.get(label, ""), reason, quote)

    def stages(self, run_key: str) -> tuple[str, ...]:
        """Return the stages at which leaves of a task were lost, sorted."""
        leaves = self._diagnosis.leaves if self._diagnosis else ()
        return tuple(sorted({entry.label for entry in leaves if entry.task == run_key and entry.label}))

    def shares(self) -> tuple[FailureShares, ...]:
        """Return how often each label was given, of stages and of levels; nothing without a label."""
        diagnosis = self._diagnosis
        if diagnosis is None:
            return ()
        tables = []
        for title, head, group, key, entries, noun in (
            ("Stages of failed leaves", "Stage", "stages", "stage", diagnosis.leaves, "leaf"),
            ("Levels of failed tasks", "Level", "levels", "", diagnosis.tasks, "task"),
        ):
            given = diagnosis.shares.get(group, {})
            shares = tuple(
                Share(label, _named(label), _MEANINGS.get(label, ""), int(one["count"]), one["percent"])
                for label, one in sorted(given.items(), key=lambda item: -item[1]["count"])
                if one["count"]
            )
            if not shares:
                continue
            labelled = sum(share.number for share in shares)
            failed = count(len(entries), noun)
            note = f"{labelled} of {failed} below {diagnosis.threshold:g} points labelled by {diagnosis.judge}"
            tables.append(FailureShares(title, head, key, shares, note))
        return tuple(tables)


def _named(label: str) -> str:
    return _LEVEL_NAMES.get(label, label)
