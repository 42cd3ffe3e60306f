from __future__ import annotations

from pytest_gta.benchmark.gate import Gate
from pytest_gta.benchmark.results import TaskStatus
from pytest_gta.benchmark.usage import Usage
from pytest_gta.reporters.junit import run_properties
from tests.domain import a_run, an_agent, graded, not_graded


def test_the_suite_says_what_was_measured_and_on_what() -> None:
    run = a_run(graded("1", 9), graded("2", 3), not_graded("3", TaskStatus.ERROR), gate=Gate(verdict="fail"))
    properties = dict(run_properties(run))
    assert properties["gta_root_sr"] == "50.0000"
    assert properties["gta_root_sr_at_5"] == properties["gta_root_sr_at_9"] == "50.0000"
    assert properties["gta_root_score"] == "6.0000"
    assert properties["gta_tool_sr"] == "not measured"
    assert (properties["gta_tasks"], properties["gta_graded"], properties["gta_errors"]) == ("3", "2", "1")
    assert (properties["gta_dataset"], properties["gta_dataset_sha256"]) == ("mini", "ab" * 32)
    assert (properties["gta_agent"], properties["gta_model"], properties["gta_judge_model"]) == ("tools", "m1", "j1")
    assert (properties["gta_judge_prompt_version"], properties["gta_threshold"]) == ("p1", "7")
    assert properties["gta_agent_cost_usd"] == "0.500000"
    assert properties["gta_verdict"] == "fail"


def test_nothing_measured_and_unknown_prices_are_words() -> None:
    unknown = an_agent(usage=Usage(calls=1, cost_usd=None))
    properties = dict(run_properties(a_run(graded("1", 9, agent=unknown))))
    assert properties["gta_agent_cost_usd"] == "unknown"
    empty = dict(run_properties(a_run()))
    assert (empty["gta_root_score"], empty["gta_root_sr"]) == ("not measured", "not measured")


def test_every_property_is_a_plain_text() -> None:
    """pytest escapes what XML cannot hold, in exact strings."""
    assert all(type(part) is str for pair in run_properties(a_run(graded("1", 9))) for part in pair)
