"""Kinds of agents, as the user of pytest meets them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from pytest_gta.cli import main
from tests.openai_server import OpenAIServer, RecordedRequest, fails
from tests.plugin.conftest import Project


def test_a_command(make_project: Callable[..., Project]) -> None:
    project = make_project(2)
    project.pytester.makefile(
        ".py",
        agent="import sys\nopen('report.md', 'w').write(sys.stdin.read())\nprint('I wrote report.md.')\n",
    )
    # It may have a login of its own: naming its model asks for no key of ours.
    result = project.run("--gta-model=gpt-5", agent=f"cmd:{sys.executable} agent.py")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["gta: command *seclu*"])
    task = project.tasks()["1"]
    assert task["agent"]["final_answer"] == "I wrote report.md."
    assert [file["path"] for file in task["deliverables"]] == ["report.md"]
    assert project.results()["run"]["agent"]["kind"] == "cmd"


def test_a_command_that_is_not_there_is_a_usage_error(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    result = project.run(agent="cmd:no-such-program --x")
    assert result.ret == 4
    assert "there is no program 'no-such-program'" in result.stderr.str()
    assert not (project.pytester.path / "run").exists()


def test_react(make_project: Callable[..., Project], openai_server: Callable[..., OpenAIServer]) -> None:
    def respond(request: RecordedRequest) -> str:
        if request.turn:
            return "Thought: done\nFinal Answer: six times seven is 42"
        return 'Thought: I count.\nAction: Calculator\nAction Input: {"expression": "6 * 7"}'

    project = make_project(1)
    model = openai_server(respond)
    result = project.run("--gta-model=text-model", f"--gta-base-url={model.base_url}", agent="react")
    result.assert_outcomes(passed=1)
    agent = project.tasks()["1"]["agent"]
    assert (agent["label"], agent["turns"], agent["tool_calls"], agent["tool_errors"]) == ("react-text-model", 2, 1, 0)
    assert agent["final_answer"] == "six times seven is 42"
    assert project.results()["run"]["agent"]["settings"]["max_turns"] == 10


def test_what_a_model_used_before_it_gave_out_counts_and_the_task_is_an_error(
    make_project: Callable[..., Project], openai_server: Callable[..., OpenAIServer]
) -> None:
    def respond(request: RecordedRequest) -> Any:
        if request.turn:
            return fails(401, "invalid key")
        return 'Thought: I count.\nAction: Calculator\nAction Input: {"expression": "6 * 7"}'

    project = make_project(1)
    model = openai_server(respond)
    result = project.run("--gta-model=text-model", f"--gta-base-url={model.base_url}", agent="react")
    assert result.ret == 10
    task = project.tasks()["1"]
    assert (task["status"], task["root_score"]) == ("error", None)
    agent = task["agent"]
    assert (agent["stop_reason"], agent["tool_calls"], agent["calls"]) == ("unavailable", 1, len(model.chats))
    assert agent["tokens"]["input"] > 0
    assert project.results()["summary"]["tokens"]["agent"] == agent["tokens"]
    (line,) = [line for line in result.outlines if line.startswith("ERROR  data_analysis_1 ")]
    assert line.split("leaves")[1] == ", unavailable"


def test_a_model_is_needed(make_project: Callable[..., Project]) -> None:
    result = make_project(1).run(agent="react")
    assert result.ret == 4
    assert "--gta-agent=react needs a model" in result.stderr.str()


def test_the_fixture_of_the_suite(make_project: Callable[..., Project]) -> None:
    project = make_project(2)
    project.pytester.makeconftest(
        """
        import pytest

        @pytest.fixture
        def gta_agent():
            return lambda task: f"The request has {len(task.request.split())} words."
        """
    )
    result = project.run(agent="fixture")
    result.assert_outcomes(passed=2)
    words = len(project.index["1"]["dialogs"][0]["content"].split())
    assert project.tasks()["1"]["agent"]["final_answer"] == f"The request has {words} words."


def test_an_agent_of_the_suite_takes_the_place_of_the_models_own(
    make_project: Callable[..., Project], capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project(2)
    project.pytester.makeconftest(
        """
        import pytest

        @pytest.fixture
        def gta_agent(gta_settings):
            assert gta_settings.model == "m"

            def planner(task):
                return "planned"

            return planner
        """
    )
    url = project.server.base_url
    project.run("--gta-model=m", f"--gta-base-url={url}", agent="tools").assert_outcomes(passed=2)
    results = project.results()
    assert {task["agent"]["label"] for task in results["tasks"]} == {"planner"}
    agent = results["run"]["agent"]
    assert (agent["kind"], agent["label"], agent["model"]) == ("fixture", "planner", "m")
    assert main(["report", str(project.pytester.path / "run")]) == 0
    assert project.results()["run"]["agent"] == agent


def test_a_run_is_never_named_after_an_agent_that_did_not_run(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    project.pytester.makeconftest(
        """
        from pathlib import Path

        import pytest

        @pytest.fixture
        def gta_agent():
            return lambda task: Path("ran").write_text("mine")
        """
    )
    result = project.run(agent="import:os:getcwd")
    result.assert_outcomes(errors=1)
    assert result.ret == 10
    told = project.tasks()["1"]["error"]
    assert "overrides the fixture gta_agent, but os.getcwd is what this run is named after" in told
    assert "--gta-agent=fixture" in told
    assert not (project.pytester.path / "ran").exists()
    assert not project.server.chats


def test_work_that_was_finished_before_the_suite_had_an_agent_keeps_its_score(
    make_project: Callable[..., Project],
) -> None:
    project = make_project(1)
    project.run().assert_outcomes(passed=1)
    project.pytester.makeconftest(
        "import pytest\n\n@pytest.fixture\ndef gta_agent():\n    return lambda task: 'mine'\n"
    )
    again = project.pytester.runpytest_subprocess("--gta-resume=run", "-p", "no:cacheprovider")
    again.assert_outcomes(passed=1)
    assert project.tasks()["1"]["agent"]["label"] == "outputs-outputs"


def test_work_that_was_removed_from_under_the_agent_is_no_zero(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    project.pytester.makepyfile(
        cleaner="""
        import shutil

        def run(task, tools, workspace):
            shutil.rmtree(workspace.root.parent)
        """
    )
    project.run(agent="import:cleaner:run").assert_outcomes(errors=1)
    task = project.tasks()["1"]
    assert (task["status"], task["root_score"], task["success"]) == ("error", None, None)
    assert "its folder was removed while the agent was at work" in task["error"]
    assert "--gta-resume=" in task["error"]


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_fixture_that_is_not_overridden(make_project: Callable[..., Project], workers: str) -> None:
    project = make_project(2)
    result = project.run(workers, agent="fixture")
    result.assert_outcomes(errors=2)
    told = project.tasks()["1"]["error"]
    assert told.startswith("agent fixture: no conftest.py of this suite overrides the fixture gta_agent; write one")
    assert "Traceback" not in result.stdout.str()
    assert "building.py" not in result.stdout.str()


def test_finished_work_of_a_fixture_that_is_gone_keeps_its_score(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    project.pytester.makeconftest(
        """
        import pytest

        @pytest.fixture
        def gta_agent():
            return lambda task: "done"
        """
    )
    project.run(agent="fixture").assert_outcomes(passed=1)
    score = project.tasks()["1"]["root_score"]
    (project.pytester.path / "conftest.py").unlink()
    again = project.pytester.runpytest_subprocess("--gta-resume=run", "-p", "no:cacheprovider")
    again.assert_outcomes(passed=1)
    assert (project.tasks()["1"]["status"], project.tasks()["1"]["root_score"]) == ("graded", score)
