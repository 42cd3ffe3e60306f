"""The exit code and the last line agree, whatever happened, in one process and over workers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_gta.benchmark.task import category_slug
from tests.openai_server import Answer, fails
from tests.plugin.conftest import Project

DOWN = fails(401, "invalid key")


@dataclass(frozen=True)
class Case:
    """What the judge says of each of three tasks, and what the run then means."""

    scores: tuple[Any, Any, Any]
    options: tuple[str, ...]
    exit_code: int
    line: str


CASES = {
    "all pass": Case((8, 8, 8), (), 0, r"PASS \(exit 0\): all 3 graded tasks reach 7 points"),
    "one below": Case((8, 2, 8), (), 1, r"FAIL \(exit 1\): 1 of 3 graded tasks below 7 points"),
    "threshold is inclusive": Case((7, 7, 7), (), 0, r"PASS \(exit 0\).*"),
    "lower threshold": Case(
        (8, 2, 8), ("--gta-threshold=2",), 0, r"PASS \(exit 0\): all 3 graded tasks reach 2 points"
    ),
    "gate met": Case((8, 2, 8), ("--gta-fail-under=60",), 0, r"PASS \(exit 0\): Root SR 66.7 % >= 60 %"),
    "gate missed": Case((8, 2, 8), ("--gta-fail-under=70",), 1, r"FAIL \(exit 1\): Root SR 66.7 % < 70 %"),
    "score gate met": Case((8, 2, 8), ("--gta-fail-under-score=6",), 0, r"PASS \(exit 0\): Root Score 6.00 >= 6"),
    "judge prose": Case(
        (8, Answer(text="splendid work"), 8), (), 10, r"INCONCLUSIVE \(exit 10\): 1 of 3 tasks without a score .*"
    ),
    "judge prose allowed": Case(
        (8, Answer(text="splendid work"), 8), ("--gta-max-error-rate=40",), 0, r"PASS \(exit 0\).*"
    ),
    "low and unscored": Case((2, Answer(text="splendid work"), 8), (), 1, r"FAIL \(exit 1\).*"),
    "nothing scored": Case((Answer(text="?"),) * 3, (), 10, r"INCONCLUSIVE \(exit 10\): none of 3 tasks has a score"),
}


# What comes from a worker is a score or none; what is made of that is decided in the controlling process either way.
OVER_WORKERS = ("gate missed", "low and unscored", "nothing scored")


@pytest.mark.parametrize(
    ("name", "workers"), [*((name, "-n0") for name in CASES), *((name, "-n2") for name in OVER_WORKERS)]
)
def test_exit_code_and_last_line(make_project: Callable[..., Project], name: str, workers: str) -> None:
    case = CASES[name]
    project = make_project(3)
    for task_id, score in zip(project.index, case.scores, strict=True):
        project.fail_task(task_id, score)
    result = project.run(workers, *case.options)
    assert result.ret == case.exit_code
    said = [line for line in result.outlines if re.match(r"[A-Z ]+ \(exit \d+\): ", line)]
    assert len(said) == 1
    assert re.fullmatch(case.line, said[0])


def test_an_unreadable_judge_is_an_error_with_bounds_never_a_zero(make_project: Callable[..., Project]) -> None:
    project = make_project(2)
    project.scores[project.leaf("2", 0)] = Answer(text="a fine piece of work, 10 out of 10")
    result = project.run("--junitxml=junit.xml")
    result.assert_outcomes(passed=1, errors=1)
    task = project.tasks()["2"]
    assert (task["status"], task["root_score"], task["success"]) == ("unscored", None, None)
    low, high = task["root_bounds"]
    assert 0 < low < 8 < high <= 10
    summary = project.results()["summary"]
    assert summary["root_score"] == 8
    assert summary["root_sr"] == 100
    assert summary["root_sr_bounds"] == [50.0 if low < 7 else 100.0, 100.0]


def test_deselecting_everything_under_a_gate_is_not_green(make_project: Callable[..., Project]) -> None:
    result = make_project(2).run("-k", "no_such_task", "--gta-fail-under=10")
    assert result.ret == 5
    assert "NOTHING MEASURED (exit 5)" in result.stdout.str()


def test_deselecting_everything_is_pytests_own_code(make_project: Callable[..., Project]) -> None:
    assert make_project(2).run("-k", "no_such_task").ret == 5


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_options_that_leave_no_task_measure_nothing_and_are_named(
    make_project: Callable[..., Project], workers: str
) -> None:
    project = make_project(3)
    first, second = (category_slug(project.index[task_id]["workflow_category_6class"]) for task_id in "12")
    assert first != second
    result = project.run(workers, "--gta-task=1", f"--gta-category={second}")
    assert result.ret == 5
    said = " ".join([*result.outlines, *result.errlines])
    assert f"NOTHING MEASURED (exit 5): no task of {project.dataset} is selected by --gta-task=1 with " in said
    assert f"--gta-category={second} with --gta-agent=outputs:{project.outputs}; together they leave none" in said
    assert "Traceback" not in said
    assert not (project.pytester.path / "run").exists()
    assert project.server.chats == []


def test_outputs_of_none_of_the_tasks_measure_nothing(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    (project.outputs / "1").rename(project.outputs / "999")
    result = project.run()
    assert result.ret == 5
    assert f"is selected by --gta-agent=outputs:{project.outputs}\n" in result.stderr.str() + "\n"


def test_other_failures_count(make_project: Callable[..., Project]) -> None:
    project = make_project(1, suite="def test_w(gta_result):\n    gta_result.check()\n\ndef test_x():\n    assert 0\n")
    result = project.run()
    assert result.ret == 1
    assert "FAIL (exit 1): the graded task reaches 7 points; 1 other test failed" in result.stdout.str()


def test_unmet_tasks_pass_under_a_gate(make_project: Callable[..., Project]) -> None:
    project = make_project(2)
    project.fail_task("2")
    result = project.run("-v", "--gta-fail-under=50")
    assert result.ret == 0
    assert "UNMET" in result.stdout.str()
    assert re.search(r"1 passed, 1 unmet", result.stdout.str())


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_out_of_credit_stops_the_run(make_project: Callable[..., Project], workers: str) -> None:
    project = make_project(6)
    quota = fails(429, "You exceeded your current quota", code="insufficient_quota")
    for task_id in project.index:
        project.fail_task(task_id, quota)
    result = project.run(workers)
    assert result.ret == 10
    assert len(project.server.chats) <= 8
    statuses = {task["status"] for task in project.tasks().values()}
    assert statuses <= {"unscored", "not_run", "error"}
    assert "quota" in result.stdout.str()


def test_a_judge_that_has_gone_stops_the_run(make_project: Callable[..., Project]) -> None:
    project = make_project(6)
    for task_id in project.index:
        project.fail_task(task_id, fails(400, "no such deployment"))
    result = project.run()
    assert result.ret == 10
    statuses = [task["status"] for task in project.tasks().values()]
    assert statuses == ["unscored"] * 3 + ["not_run"] * 3
    assert "the judge has not answered for 3 tasks in a row" in project.tasks()["7"]["error"]
    asked = set(project.judged())
    assert asked == {leaf for task_id in ("1", "2", "3") for leaf in project.leaves(task_id)}
    project.scores.clear()
    again = project.pytester.runpytest_inprocess("--gta-resume=run", "--gta-report=off", "-p", "no:cacheprovider")
    assert again.ret == 0


def test_a_model_that_no_server_has_is_found_before_anything_is_spent(make_project: Callable[..., Project]) -> None:
    project = make_project(2)
    project.server.routes["/v1/models"] = lambda _: Answer(body={"data": [{"id": "judge"}]})
    for name in ("jugde", "typo"):
        project.server.routes[f"/v1/models/{name}"] = lambda _: fails(404, "no model", code="model_not_found")
    url = project.server.base_url
    found = project.run("--gta-judge-model=jugde")
    assert found.ret == 4
    assert [line for line in found.stderr.lines if line] == [
        f"ERROR: pytest-gta: --gta-judge-model=jugde at {url}: 404 there is no such model; it has judge"
    ]
    found = project.run(f"--gta-base-url={url}", "--gta-model=typo", agent="tools")
    assert found.ret == 4
    found.stderr.fnmatch_lines([f"*: --gta-model=typo at {url}: 404 there is no such model; it has judge"])
    assert not (project.pytester.path / "run").exists()


def test_a_server_that_is_away_is_found_before_a_live_agent_begins(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    project.server.close()
    for agent, options in (("tools", [f"--gta-base-url={project.server.base_url}", "--gta-model=m"]), ("fixture", [])):
        found = project.run(*options, agent=agent)
        assert found.ret == 4
        found.stderr.fnmatch_lines(["*: no connection: *; is the server running, and is --gta-*base-url right?"])
