"""Items: ids, markers, keywords, selection; and usage errors before anything is spent."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import pytest

from tests.plugin.conftest import Project


def collected(result: pytest.RunResult) -> list[str]:
    return [line.partition("[")[2].rstrip("]") for line in result.outlines if "::test_workflow[" in line]


SIX = ["data_analysis_1", "education_2", "planning_3", "marketing_5", "creative_design_6", "retrieval_qa_7"]


def test_ids_in_dataset_order(make_project: Callable[..., Project]) -> None:
    result = make_project(6).run("--collect-only", "-q")
    assert sorted(collected(result)) == sorted(SIX)
    assert not (result.outlines and any("run directory" in line for line in result.outlines))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("-k", "data_analysis"), ["data_analysis_1"]),
        (("-m", "planning"), ["planning_3"]),
        (("-k", "pptx"), ["planning_3"]),
        (("--gta-task=2,5",), ["education_2", "marketing_5"]),
        (("--gta-category=planning education",), ["education_2", "planning_3"]),
        (("--gta-limit=2",), SIX[:2]),
        (("--gta-shard=2/3",), [SIX[1], SIX[4]]),
        (("--gta-limit=4", "--gta-shard=2/2"), [SIX[1], SIX[3]]),
        (("test_suite.py::test_workflow[marketing_5]",), ["marketing_5"]),
    ],
)
def test_selection(make_project: Callable[..., Project], options: tuple[str, ...], expected: list[str]) -> None:
    assert collected(make_project(6).run("--collect-only", "-q", *options)) == expected


def test_items_are_the_same_in_every_worker(
    make_project: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "random")
    project = make_project(6)
    result = project.run("-n2", "-k", "education or planning")
    result.assert_outcomes(passed=2)
    assert sorted(task["run_key"] for task in project.tasks().values()) == ["education_2", "planning_3"]


def test_outputs_select_the_tasks_they_have(make_project: Callable[..., Project]) -> None:
    project = make_project(6)
    (project.outputs / "3").rename(project.outputs / "task 3")
    listed = project.run("--collect-only")
    assert len([line for line in listed.outlines if "<Function" in line]) == 5
    ended = project.run()
    assert "5 of 6 tasks" in ended.stdout.str()
    ended.stdout.fnmatch_lines(["gta: finished outputs that are of no task of the dataset: task 3"])


@pytest.mark.parametrize("option", ["--markers", "--fixtures", "--fixtures-per-test", "--setup-plan", "--collect-only"])
def test_showing_what_there_is_needs_no_key_and_leaves_nothing_behind(
    make_project: Callable[..., Project], option: str
) -> None:
    project = make_project(2)
    shown = project.run(option, "--gta-model=gpt-5", "--gta-judge-base-url=http://127.0.0.1:9/v1", agent="tools")
    assert shown.ret == 0
    assert "GTA-Workflow" not in shown.stdout.str()
    assert not (project.pytester.path / "run").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--gta-threshold=eleven",), "--gta-threshold: 'eleven' is not a number from 0 to 10"),
        (("--gta-shard=3/2",), "--gta-shard: '3/2' is not of the form I/N with 1 <= I <= N, such as 2/4"),
        (("--gta-task=99",), "--gta-task: '99' is not in the dataset; it has *"),
        (("--gta-category=planing",), "--gta-category: 'planing' is not in the dataset; it has planning*"),
        (("--gta-dataset=nowhere",), "*nowhere: no such file or folder"),
        (("--gta-sandbox=docker",), "--gta-sandbox: 'docker' is not one of auto, sandlock, bwrap, process, off"),
        (("--gta-agent=outputs:nowhere",), "*--gta-agent=outputs:*nowhere*"),
        (("--gta-agent=robot",), "--gta-agent=robot: not a known agent; valid: tools*"),
        (("--gta-agent=import:no_such_module:run",), "--gta-agent=import:no_such_module:run: *"),
        (("--gta-agent=tools",), "--gta-agent=tools needs a model: add --gta-model=NAME*"),
        (("--gta-agent=lagent",), "--gta-agent=lagent needs a model of its own: add --gta-model=NAME*"),
        (("--gta-agent=manus", "--gta-model=manus-1.6"), "--gta-agent=manus needs a key: set MANUS_API_KEY"),
        (("--gta-agent=smolagents", "--gta-model=local"), "--gta-agent=smolagents needs a model of its own: *"),
        (
            ("--gta-agent=tools", "--gta-model=gpt-5"),
            "no API key for the model 'gpt-5': set OPENAI_API_KEY, or use --gta-model=local (needs no key)",
        ),
        (("--gta-judge-base-url=https://user:pw@host/v1",), "--gta-judge-base-url holds a key; put the key in *"),
        (("--gta-rejudge=all",), "--gta-rejudge needs the run to judge again: add --gta-resume=DIR"),
        (("--gta-run-dir=", "--gta-resume=nowhere"), "--gta-resume: * is not a run directory*"),
        (("--dist=loadfile", "-n1"), "--dist=loadfile runs a task that crashes its worker again and again*"),
    ],
)
def test_usage_errors(make_project: Callable[..., Project], options: tuple[str, ...], message: str) -> None:
    project = make_project(6)
    named = [option for option in options if option.startswith("--gta-agent=")]
    others = [option for option in options if option not in named]
    result = project.run(*others, agent=named[0].partition("=")[2] if named else None)
    assert result.ret == 4
    errors = [line for line in result.errlines if line.startswith("ERROR: pytest-gta: ")]
    assert len(errors) == 1
    result.stderr.fnmatch_lines([f"ERROR: pytest-gta: {message.replace('[', '[[]')}"])
    assert "Traceback" not in result.stderr.str()
    assert project.server.chats == []
    assert "pw@" not in result.stderr.str() + result.stdout.str()


@pytest.mark.skipif(importlib.util.find_spec("lagent") is not None, reason="lagent is installed")
def test_a_framework_that_is_not_installed_is_named_with_what_brings_it(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    result = project.run("--gta-model=m", f"--gta-base-url={project.server.base_url}", agent="lagent")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["ERROR: pytest-gta: --gta-agent=lagent: lagent is not usable: *; pip install 'lagent<0.3' cachetools"]
    )
    assert project.server.chats == []


def test_missing_input_is_an_error_for_a_live_agent_only(make_project: Callable[..., Project]) -> None:
    probe = make_project(3, files=True)
    path = next(e["path"] for t in probe.index.values() for e in t["files"])
    (probe.dataset / path).unlink()
    task_id = next(i for i, t in probe.index.items() if any(e["path"] == path for e in t["files"]))
    assert probe.run("--gta-run-dir=scored").ret == 0
    noted = probe.tasks("scored")[task_id]
    assert any(path in note for note in noted["notes"]) or path in str(noted)
    probe.pytester.makepyfile(my_agent="def run(task, tools, workspace):\n    return 'done'\n")
    result = probe.run("--gta-run-dir=live", agent="import:my_agent:run")
    assert result.ret == 10
    assert probe.tasks("live")[task_id]["status"] == "error"
    assert path in probe.tasks("live")[task_id]["error"]
