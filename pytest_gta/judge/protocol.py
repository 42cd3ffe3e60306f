"""What scores the leaves of a task: one judge, a panel of several, or one of a suite's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pytest_gta.benchmark.results import Verdict
from pytest_gta.benchmark.task import Brief, Checkpoint
from pytest_gta.judge.evidence import Evidence


class TaskJudge(Protocol):
    """Scores the leaves of one task from the evidence."""

    label: str
    """What reports call it."""

    def judge_task(
        self,
        brief: Brief,
        leaves: Sequence[Checkpoint],
        evidence: Evidence,
        on_verdict: Callable[[Verdict], None] = ...,
        known: Mapping[str, Verdict] | None = None,
        *,
        final_answer: str,
    ) -> dict[str, Verdict]:
        """Return a verdict for every leaf, in the order of `leaves`.

        Args:
            brief: The task, without its rubric.
            leaves: What to judge.
            evidence: What was delivered.
            on_verdict: Called in the calling thread with each verdict as soon as there is one.
            known: Verdicts by leaf id that an earlier attempt reached and that may be reused.
            final_answer: The agent's last message.
        """
