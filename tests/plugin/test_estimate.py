"""``--gta-estimate`` says what a run would take, and spends nothing."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pytest_gta.run.estimate import EVIDENCE_TOKENS, JUDGE_PROMPT_TOKENS, VERDICT_TOKENS
from tests.plugin.conftest import Project


def line(result: pytest.RunResult, name: str) -> str:
    return next(line for line in result.outlines if line.startswith(name))


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_it_prints_and_spends_nothing(make_project: Callable[..., Project], workers: str) -> None:
    project = make_project(3)
    result = project.run(workers, "--gta-estimate", "-k", "_1 or _2")
    assert result.ret == 0
    leaves = len(project.leaves("1")) + len(project.leaves("2"))
    assert line(result, "Tasks") == f"Tasks    2 tasks, {leaves} leaves"
    assert line(result, "Agent") == "Agent    no tokens, no cost"
    judge = line(result, "Judge")
    assert judge.startswith(f"Judge    {leaves} calls, about ")
    assert judge.endswith("cost unknown")
    assert f"about {leaves * (JUDGE_PROMPT_TOKENS + EVIDENCE_TOKENS) / 1e6:.1f}M tokens in" in judge
    assert f"{leaves * VERDICT_TOKENS:,} out" in judge
    assert "assumptions (15 turns a task" in line(result, "From")
    assert "ESTIMATE: nothing was run, nothing was spent" in result.outlines
    assert project.server.chats == []
    assert not (project.pytester.path / "run").exists()


def test_a_known_price_needs_no_key(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    leaves = len(project.leaves("1"))
    result = project.pytester.runpytest_inprocess(
        "--gta-model=gpt-4o", "--gta-judge-model=gpt-4o", f"--gta-dataset={project.dataset}", "--gta-estimate",
        "--gta-repeat=2", "-p", "no:cacheprovider",
    )  # fmt: skip
    assert result.ret == 0
    assert line(result, "Tasks") == f"Tasks    2 tasks, {2 * leaves} leaves"
    # 2 * 15 turns of 15,000 tokens in at $2.5 a million, of 600 out at $10.
    assert line(result, "Agent") == f"Agent    about 0.5M tokens in, 18,000 out, about ${0.45 * 2.5 + 0.018 * 10:.2f}"


def test_a_past_run_is_what_it_goes_by(make_project: Callable[..., Project]) -> None:
    project = make_project(3)
    project.run("-n0", "--gta-run-dir=main", "--gta-task=1,2")
    asked = len(project.server.chats)
    past = json.loads((project.pytester.path / "main" / "results.json").read_text())
    tokens = past["summary"]["tokens"]["judge"]
    result = project.run("--gta-estimate", "--gta-baseline=main", "--gta-task=1,2")
    judge = line(result, "Judge")
    assert f"{tokens['input']:,} tokens in, {tokens['output']:,} out" in judge
    assert line(result, "From") == "From     what the tasks took in main"
    assert len(project.server.chats) == asked


def test_feedback_is_counted_as_a_second_attempt_of_every_task(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    leaves = len(project.leaves("1"))
    result = project.pytester.runpytest_inprocess(
        "--gta-model=gpt-4o", "--gta-judge-model=gpt-4o", f"--gta-dataset={project.dataset}", "--gta-estimate",
        "--gta-feedback=coarse", "-p", "no:cacheprovider",
    )  # fmt: skip
    assert line(result, "Judge").startswith(f"Judge    {2 * leaves} calls, ")
    assert line(result, "Agent") == f"Agent    about 0.5M tokens in, 18,000 out, about ${0.45 * 2.5 + 0.018 * 10:.2f}"
    assert "each task counts twice" in " ".join(result.outlines)
