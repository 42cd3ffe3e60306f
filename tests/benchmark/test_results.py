from __future__ import annotations

import json
import math

import pytest
from pydantic import ValidationError

from pytest_gta.benchmark.results import JudgeRecord, LeafStatus, RunResult, TaskResult, TaskStatus, Verdict
from pytest_gta.benchmark.usage import Tokens, Usage, total
from tests.domain import a_run, graded, not_graded, scored


@pytest.mark.parametrize("score", [-0.001, 10.001, 90, 1e308, math.nan, math.inf, "high", None])
def test_a_score_is_a_finite_number_of_0_to_10(score: object) -> None:
    with pytest.raises(ValidationError):
        Verdict(leaf_id="a", status=LeafStatus.SCORED, score=score)  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [LeafStatus.JUDGE_ERROR, LeafStatus.JUDGE_REFUSED, LeafStatus.NOT_RUN])
def test_a_failure_cannot_carry_a_score(status: LeafStatus) -> None:
    with pytest.raises(ValidationError, match="cannot have a score"):
        Verdict(leaf_id="a", status=status, score=0)
    assert not status.is_score


def test_a_verdict_is_frozen_and_knows_all_its_fields() -> None:
    with pytest.raises(ValidationError):
        scored("a", 5).score = 9  # type: ignore[misc]
    with pytest.raises(ValidationError):
        Verdict.model_validate({"leaf_id": "a", "status": "scored", "score": 5, "grade": "A"})


def test_usage_adds_up_and_an_unknown_price_stays_unknown() -> None:
    one = Usage(calls=1, tokens=Tokens(input=10, cached=4, output=2), cost_usd=0.5)
    assert one + one == Usage(calls=2, tokens=Tokens(input=20, cached=8, output=4), cost_usd=1.0)
    assert (one + Usage(calls=1, cost_usd=None)).cost_usd is None
    assert total([]) == 0.0
    assert total([1.0, None, 2.0]) is None


def test_a_run_is_the_same_after_json_and_plain_for_other_programs() -> None:
    run = a_run(graded("1", 8.25), not_graded("2", TaskStatus.ERROR))
    text = run.model_dump_json()
    assert RunResult.model_validate_json(text).tasks == run.tasks
    plain = json.loads(text)
    assert plain["schema_version"] == 1
    assert plain["tasks"][0]["status"] == "graded"
    assert plain["tasks"][0]["root_score"] == 8.25
    assert plain["tasks"][1]["root_score"] is None
    assert plain["summary"]["root_sr_bounds"] == [50.0, 100.0]
    assert set(plain["tasks"][0]["checkpoints"][0]) >= {"id", "requirements", "weight", "score", "status", "analysis"}


def test_a_leaf_is_found_by_its_id() -> None:
    task = graded("1", 8)
    assert task.leaf("cp1").score == 8.0
    with pytest.raises(KeyError, match="task 1 has no leaf 'cp9'; it has cp1"):
        task.leaf("cp9")


def test_half_an_emoji_survives_json_in_ascii() -> None:
    task = graded("1", 8, analysis="fine \ud83d")
    carried = json.dumps(task.model_dump(mode="python"), default=str)
    assert TaskResult.model_validate(json.loads(carried)).leaf("cp1").analysis == "fine \ud83d"


def test_what_a_task_took_stands_beside_what_its_agent_and_judge_did() -> None:
    written = json.loads(a_run(graded("1", 8)).model_dump_json())["tasks"][0]
    assert list(written["agent"]) == [
        "label", "stop_reason", "stop_detail", "turns", "tool_calls", "tool_errors", "wall_s", "final_answer",
        "tools_offered", "notes", "calls", "tokens", "cost_usd",
    ]  # fmt: skip
    assert written["agent"]["tokens"] == {"input": 900, "cached": 300, "output": 120}
    assert written["agent"]["cost_usd"] == 0.25
    assert written["judge"] == {
        "name": "",
        "cached_leaves": 0, "wall_s": 0.0, "calls": 1, "tokens": {"input": 100, "cached": 0, "output": 10},
        "cost_usd": 0.01,
    }  # fmt: skip


@pytest.mark.parametrize(
    "took",
    [
        {"calls": 2, "tokens": {"input": 5, "output": 1}, "cost_usd": None},
        {"usage": {"calls": 2, "tokens": {"input": 5, "output": 1}, "cost_usd": None}},
    ],
    ids=["as written", "as earlier versions wrote it"],
)
def test_a_record_is_read_with_what_it_took(took: dict[str, object]) -> None:
    record = JudgeRecord.model_validate({"cached_leaves": 3, **took})
    assert record == JudgeRecord(cached_leaves=3, usage=Usage(calls=2, tokens=Tokens(input=5, output=1), cost_usd=None))
    with pytest.raises(ValidationError):
        JudgeRecord.model_validate({"calls": 2, "cost": 1.0})
