"""A judge without a model: a reply is compared with the key of its question."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_gta.benchmark.answer_key import AnswerKey
from pytest_gta.benchmark.results import LeafStatus, Verdict
from pytest_gta.benchmark.task import Brief, Checkpoint
from pytest_gta.judge.evidence import Evidence

RIGHT, WRONG = 10.0, 0.0
"""Points of a right and of a wrong answer."""


@dataclass
class AnswerRule:
    """Scores questions that have one right answer.

    Attributes:
        keys: The key of each question, by its id.
        label: What reports call it.
    """

    keys: Mapping[str, AnswerKey]
    label: str = "answer-key"

    def judge_task(
        self,
        brief: Brief,
        leaves: Sequence[Checkpoint],
        evidence: Evidence,
        on_verdict: Callable[[Verdict], None] = lambda _verdict: None,
        known: Mapping[str, Verdict] | None = None,
        *,
        final_answer: str,
    ) -> dict[str, Verdict]:
        """Return the verdict of the question's one leaf; files that were delivered play no part."""
        right, reason = self.keys[brief.id].explain(final_answer)
        verdicts = {}
        for leaf in leaves:
            digest = hashlib.sha256(f"{self.label}\n{leaf.requirements}\n{final_answer}".encode()).hexdigest()
            verdict = Verdict(
                leaf_id=leaf.id,
                status=LeafStatus.SCORED,
                score=RIGHT if right else WRONG,
                analysis=f"{reason[0].upper()}{reason[1:]}.",
                key=digest,
            )
            verdicts[leaf.id] = verdict
            on_verdict(verdict)
        return verdicts
