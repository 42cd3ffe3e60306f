"""Several samples, a panel, and judging again: as options of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.openai_server import RecordedRequest, fails, judge
from tests.plugin.conftest import Project

MakeProject = Callable[..., Project]


def leaves_of(task: dict[str, Any]) -> list[dict[str, Any]]:
    def walk(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [leaf for node in nodes for leaf in (walk(node["checkpoints"]) if node["checkpoints"] else [node])]

    return walk(task["checkpoints"])


def by_model(project: Project, scores: dict[str, Any]) -> None:
    project.server.respond = lambda request: judge(lambda _: scores[request.model])(request)


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_panel_takes_the_median_and_keeps_each_opinion(make_project: MakeProject, workers: str) -> None:
    project = make_project(2)
    by_model(project, {"a": 9, "b": 4, "c": 7})
    result = project.run(workers, "--gta-judge-panel=a,b,c")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["gta: *judge a + b + c*"])
    run = project.results()["run"]
    assert (run["judge"]["model"], run["judge"]["panel"]) == ("a + b + c", ["a", "b", "c"])
    leaf = leaves_of(project.tasks()["1"])[0]
    assert (leaf["score"], leaf["spread"]) == (7, 5)
    assert [(o["judge"], o["score"], o["status"]) for o in leaf["panel"]] == [
        ("a", 9, "scored"),
        ("b", 4, "scored"),
        ("c", 7, "scored"),
    ]


def test_samples_are_kept_with_their_spread(make_project: MakeProject) -> None:
    project = make_project(1)
    asked: dict[str, int] = {}

    def respond(request: RecordedRequest) -> Any:
        requirement = project._requirement(request)
        asked[requirement] = asked.get(requirement, 0) + 1
        return judge(lambda _: {1: 3, 2: 9, 3: 8}[asked[requirement]])(request)

    project.server.respond = respond
    project.run("--gta-judge-samples=3").assert_outcomes(passed=1)
    assert project.results()["run"]["judge"]["samples"] == 3
    for leaf in leaves_of(project.tasks()["1"]):
        assert (leaf["score"], sorted(leaf["samples"]), leaf["spread"]) == (8, [3, 8, 9], 6)


def test_a_judge_of_the_panel_that_fails_is_the_only_one_asked_again(make_project: MakeProject) -> None:
    project = make_project(1)
    by_model(project, {"a": 9, "b": fails(400, "no such model")})
    first = project.run("--gta-judge-panel=a,b")
    assert first.ret == 10
    assert "1 of 2 judges without a score: b: " in project.tasks()["1"]["error"]
    leaves, before = len(project.leaves("1")), len(project.server.chats)
    by_model(project, {"a": 1, "b": 5})
    again = project.pytester.runpytest_inprocess("--gta-resume=run", "--gta-rejudge=failed", "-p", "no:cacheprovider")
    again.assert_outcomes(passed=1)
    asked = project.server.chats[before:]
    assert [request.model for request in asked] == ["b"] * leaves
    assert project.tasks()["1"]["root_score"] == 7, "the median of the 9 that was kept and the new 5"


def test_judging_all_again_looks_nothing_up_and_keeps_what_comes_of_it(make_project: MakeProject) -> None:
    project = make_project(1)
    project.run("--gta-cache=kept")
    leaves = len(project.leaves("1"))
    project.fail_task("1", 5)
    resume = ["--gta-resume=run", "-p", "no:cacheprovider"]
    project.pytester.runpytest_inprocess(*resume, "--gta-rejudge=all")
    assert len(project.server.chats) == 2 * leaves
    assert project.tasks()["1"]["root_score"] == 5
    project.run("--gta-cache=kept", "--gta-run-dir=later")
    assert len(project.server.chats) == 2 * leaves
    assert project.tasks("later")["1"]["root_score"] == 5


@pytest.mark.parametrize(
    ("panel", "words"),
    [
        ("a", "does not name two different judges"),
        ("a,a", "does not name two different judges"),
        ("a,local", "cannot sit on a panel"),
        ("a,b@http://", "is not an http:// or https:// address"),
        ("a,b@https://user:secret-word@host/v1", "holds a key"),
    ],
)
def test_a_panel_that_is_none_is_a_usage_error(make_project: MakeProject, panel: str, words: str) -> None:
    result = make_project(1).run(f"--gta-judge-panel={panel}")
    assert result.ret == 4
    assert words in result.stderr.str()
    assert "secret-word" not in result.stderr.str()
