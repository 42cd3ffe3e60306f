from __future__ import annotations

import pytest

from pytest_gta.benchmark.answer_key import AnswerKey
from pytest_gta.benchmark.results import LeafStatus, Verdict
from pytest_gta.benchmark.task import Brief, Checkpoint
from pytest_gta.judge.answer_rule import AnswerRule
from pytest_gta.judge.evidence import Evidence


@pytest.mark.parametrize(
    ("reply", "score", "analysis"),
    [
        ("Seven apples.", 10, "The answer says 'seven'."),
        ("Eight apples.", 0, "The answer does not say '7' or 'seven'."),
        ("", 0, "There is no answer."),
    ],
)
def test_right_and_wrong(reply: str, score: float, analysis: str) -> None:
    told: list[Verdict] = []
    rule = AnswerRule({"0": AnswerKey((("7", "seven"),))})
    brief, leaf = Brief("0", "tools_1", ("How many?",), ()), Checkpoint("answer", "The answer says '7'.", 1.0)
    verdicts = rule.judge_task(brief, [leaf], Evidence((), (), "", ""), told.append, final_answer=reply)
    verdict = verdicts["answer"]
    assert (verdict.status, verdict.score, verdict.analysis) == (LeafStatus.SCORED, score, analysis)
    assert (verdict.usage.calls, verdict.usage.cost_usd) == (0, 0.0)
    assert told == [verdict]
