"""Budgets: the running work finishes, the rest is not run, every report is written, the exit code is 10."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from pytest_gta.benchmark.usage import Tokens
from tests.openai_server import fails
from tests.plugin.conftest import Project

AGENT = """
from pathlib import Path

from pytest_gta.agents.protocol import AgentRun
from pytest_gta.benchmark.results import StopReason
from pytest_gta.benchmark.usage import Tokens, Usage

def agent(task, workspace):
    Path(workspace.root, "note.txt").write_text("Written by the agent.")
    usage = Usage(calls=2, tokens=Tokens(input=900_000, output=100_000), cost_usd=3.0)
    return AgentRun(StopReason.FINISHED, f"Finished task {task.id}.", usage=usage)
"""


@pytest.fixture(params=["-n0", "-n2"])
def workers(request: pytest.FixtureRequest) -> str:
    """Every behaviour holds in one process and over two workers."""
    return str(request.param)


@pytest.fixture
def priced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every model have a price: a dollar a million tokens, in this process."""

    def price(_endpoint: object, tokens: Tokens) -> float:
        return (tokens.input + tokens.output) / 1e6

    monkeypatch.setattr("pytest_gta.run.spending_limit.price", price)
    monkeypatch.setattr("pytest_gta.llm.client.price", price)


def statuses(project: Project) -> list[str]:
    return [task["status"] for task in project.results()["tasks"]]


def test_tokens_run_out(make_project: Callable[..., Project], workers: str) -> None:
    project = make_project(8)
    result = project.run(workers, "--gta-max-tokens=3000", "--gta-json=copy.json", "--junitxml=junit.xml")
    assert result.ret == 10
    found = statuses(project)
    # Two workers can each have one task at work when the budget is reached.
    assert found.count("graded") in ((1,) if workers == "-n0" else (1, 2, 3))
    assert set(found) == {"graded", "not_run"}
    reasons = {task["error"] for task in project.results()["tasks"] if task["status"] == "not_run"}
    assert all(re.fullmatch(r"budget reached: [\d,]+ of 3,000 tokens used", reason) for reason in reasons)
    not_run = found.count("not_run")
    output = result.stdout.str()
    assert re.search(rf"INCONCLUSIVE \(exit 10\): {not_run} of 8 tasks not run: budget reached: ", output)
    assert (project.pytester.path / "copy.json").is_file()
    assert (project.pytester.path / "junit.xml").is_file()
    # What was begun was judged to its end.
    graded = [task for task in project.results()["tasks"] if task["status"] == "graded"]
    assert len(project.judged()) == sum(len(project.leaves(task["task_id"])) for task in graded)


def test_a_budget_allows_no_error_rate_to_pass(make_project: Callable[..., Project]) -> None:
    project = make_project(4)
    result = project.run("--gta-max-tokens=3000", "--gta-max-error-rate=100", "--gta-fail-under=10")
    assert result.ret == 10
    assert project.results()["gate"]["verdict"] == "inconclusive"


def test_a_budget_that_is_not_reached_changes_nothing(make_project: Callable[..., Project]) -> None:
    project = make_project(2)
    result = project.run("--gta-max-tokens=10000000")
    assert result.ret == 0
    ledger = (project.pytester.path / "run" / "control" / "spending.jsonl").read_text().splitlines()
    tokens = project.results()["summary"]["tokens"]["judge"]
    assert sum(json.loads(line)["tokens"] for line in ledger) == tokens["input"] + tokens["output"]


@pytest.mark.usefixtures("priced")
def test_money_runs_out_also_that_of_an_agent_of_the_users_own(make_project: Callable[..., Project]) -> None:
    project = make_project(4)
    project.pytester.makepyfile(my_agent=AGENT)
    result = project.run("--gta-max-cost=6", agent="import:my_agent:agent")
    assert result.ret == 10
    assert statuses(project) == ["graded", "graded", "not_run", "not_run"]
    assert "gta: budget: an agent of your own counts by what it reports" in result.stdout.str()
    # A resumed run goes on counting where it was, and with more money it goes on.
    resume = ["--gta-resume=run", "--gta-report=off", "-p", "no:cacheprovider"]
    assert project.pytester.runpytest_inprocess(*resume).ret == 10
    again = project.pytester.runpytest_inprocess(*resume, "--gta-max-cost=100")
    again.assert_outcomes(passed=4)
    assert statuses(project) == ["graded"] * 4


def test_a_report_gives_the_same_reason(
    make_project: Callable[..., Project], capsys: pytest.CaptureFixture[str]
) -> None:
    from pytest_gta.cli import main

    project = make_project(3)
    result = project.run("--gta-max-tokens=3000")
    said = next(line for line in result.outlines if line.startswith("INCONCLUSIVE"))
    capsys.readouterr()
    assert main(["report", str(project.pytester.path / "run")]) == 10
    assert capsys.readouterr().out.splitlines()[-1] == said


def test_an_unknown_price_is_refused_before_anything_is_spent(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    result = project.run("--gta-max-cost=5")
    assert result.ret == 4
    said = result.stderr.str()
    assert f"--gta-max-cost: the price of the judge 'judge' at {project.server.base_url} is not known" in said
    assert "--gta-max-tokens" in said
    assert project.server.chats == []


def test_a_halted_run_goes_on_when_resumed(make_project: Callable[..., Project]) -> None:
    project = make_project(3)
    quota = fails(429, "You exceeded your current quota", code="insufficient_quota")
    for task_id in project.index:
        project.fail_task(task_id, quota)
    result = project.run("--gta-max-error-rate=100")
    assert result.ret == 10
    assert "quota" in next(line for line in result.outlines if line.startswith("INCONCLUSIVE"))
    project.scores.clear()
    again = project.pytester.runpytest_inprocess("--gta-resume=run", "--gta-report=off", "-p", "no:cacheprovider")
    again.assert_outcomes(passed=3)
    assert again.ret == 0
