"""Killed workers and controllers lose nothing that was finished, and a resumed run pays for nothing twice."""

from __future__ import annotations

import functools
import itertools
import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_gta.cli import main
from tests.openai_server import Answer, hangs
from tests.plugin.conftest import SUITE, WITHOUT, Project
from tests.waiting import LIMIT_S, eventually

DYING_AGENT = """
import os, pytest
from pathlib import Path

class Dying:
    label = "dying"

    def run(self, task, tools, workspace):
        if task.id == "3" and not Path("survive").exists():
            os.kill(os.getpid(), 9)
        workspace.resolve("answer.txt", writing=True).write_text(f"Answer to {task.id}")
        return "done"

@pytest.fixture
def gta_agent():
    return Dying()
"""


def verdicts_on_disk(run: Path) -> dict[str, set[str]]:
    """Return the ids of scored leaves by run key."""
    found = {}
    for file in run.glob("tasks/*/verdicts.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        found[file.parent.name] = {line["leaf_id"] for line in lines if line["score"] is not None}
    return found


def test_a_dead_worker_costs_its_task_only(make_project: Callable[..., Project]) -> None:
    project = make_project(5)
    project.pytester.makeconftest(DYING_AGENT)
    project.outputs.rename(project.outputs.with_name("unused"))
    options = ("-n2", "--junitxml=junit.xml", "--html=report.html", "--self-contained-html")
    result = project.run(*options, agent="fixture")
    assert result.ret == 10
    tasks = project.tasks()
    assert [task["status"] for task in tasks.values()] == ["graded", "graded", "error", "graded", "graded"]
    crashed = next(task for task in tasks.values() if task["status"] == "error")
    assert "crashed while running" in crashed["error"]
    assert "--gta-resume=" in crashed["error"]
    assert project.results()["summary"]["root_sr_bounds"] == [80, 100]
    page = (project.pytester.path / "report.html").read_text()
    assert page.count("&#34;result&#34;: &#34;Error&#34;") == 1
    junit = (project.pytester.path / "junit.xml").read_text()
    assert 'tests="5"' in junit
    assert 'errors="1"' in junit
    judged = len(project.server.chats)
    (project.pytester.path / "survive").touch()
    again = project.pytester.runpytest_inprocess("--gta-resume=run", *WITHOUT)
    assert again.ret == 0
    assert len(project.server.chats) - judged == len(project.leaves(list(project.index)[2]))
    assert {task["status"] for task in project.tasks().values()} == {"graded"}


def test_every_worker_that_one_shortage_of_memory_ended_is_told_so(
    make_project: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(3)
    project.pytester.makeconftest(DYING_AGENT.replace('task.id == "3"', 'task.id != "1"'))
    shortages = iter([True])

    class Watch:
        """Of all that are made, the first alone has seen the shortage."""

        def __init__(self) -> None:
            self.first = next(shortages, False)

        def has_killed(self) -> bool:
            return self.first

    monkeypatch.setattr("pytest_gta.controller.MemoryWatch", Watch)
    project.outputs.rename(project.outputs.with_name("unused"))
    assert project.run("-n2", agent="fixture").ret == 10
    one, *others = project.tasks().values()
    assert one["status"] == "graded"
    for task in others:
        assert "; the machine ran out of memory in this run: run fewer at once (-n); go on with" in task["error"]


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_killed_controller_loses_no_finished_leaf(make_project: Callable[..., Project], workers: str) -> None:
    project = make_project(6, files=True)
    normal = project.server.respond
    # After these the judge falls silent, so that the run cannot end before it is killed.
    answered = itertools.count()
    # A request that the kill cut off is no JSON.
    project.server.respond = lambda request: (
        hangs() if request.json is None or next(answered) >= 30 else normal(request)
    )
    run = project.pytester.path / "run"
    command = [sys.executable, "-m", "pytest", *project.arguments(), workers]
    with subprocess.Popen(
        command, cwd=project.pytester.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:  # fmt: skip
        eventually(lambda: sum(map(len, verdicts_on_disk(run).values())) >= 20)
        os.killpg(process.pid, signal.SIGKILL)
    assert project.server.wait_until_left(LIMIT_S)
    project.server.respond = normal
    finished = verdicts_on_disk(run)
    assert sum(map(len, finished.values())) >= 20
    assert not (run / "results.json").exists()
    before = len(project.judged())
    result = project.pytester.runpytest_inprocess(workers, "--gta-resume=run", *WITHOUT)
    assert result.ret == 0
    asked_again = project.judged()[before:]
    total = sum(len(project.leaves(task_id)) for task_id in project.index)
    assert len(asked_again) == total - sum(map(len, finished.values()))
    summary = project.results()["summary"]
    assert (summary["graded"], summary["scored_leaves"]) == (6, total)


def test_rejudge_failed_asks_only_for_what_has_no_score(make_project: Callable[..., Project]) -> None:
    project = make_project(2)
    unreadable = project.leaf("2", 1)
    project.scores[unreadable] = Answer(text="a pleasure to read")
    assert project.run().ret == 10
    before = len(project.judged())
    project.scores.clear()
    result = project.pytester.runpytest_inprocess("--gta-resume=run", "--gta-rejudge=failed", "-p", "no:cacheprovider")
    assert result.ret == 0
    assert project.judged()[before:] == [unreadable]


def test_rejudge_all_asks_for_every_leaf_and_runs_no_agent(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    project.run()
    before = len(project.judged())
    transcript = (project.pytester.path / "run/tasks/data_analysis_1/transcript.jsonl").read_bytes()
    project.fail_task("1", 3)
    result = project.pytester.runpytest_inprocess("--gta-resume=run", "--gta-rejudge=all", "-p", "no:cacheprovider")
    assert result.ret == 1
    assert len(project.judged()) - before == len(project.leaves("1"))
    assert (project.pytester.path / "run/tasks/data_analysis_1/transcript.jsonl").read_bytes() == transcript
    assert project.tasks()["1"]["root_score"] == pytest.approx(3)


def test_threshold_and_weights_need_no_call(make_project: Callable[..., Project]) -> None:
    project = make_project(2)
    project.fail_task("2", 5)
    assert project.run("--gta-json=gta.json", "--gta-report=gta.html").ret == 1
    before = len(project.judged())
    reports = [project.pytester.path / name for name in ("gta.json", "gta.html")]
    for report in reports:
        report.unlink()
    result = project.pytester.runpytest_inprocess("--gta-resume=run", "--gta-threshold=5", "-p", "no:cacheprovider")
    assert result.ret == 0
    assert len(project.judged()) == before
    assert [report.exists() for report in reports] == [True, True]


def test_a_run_is_resumed_as_it_was_or_not_at_all(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    project.run()
    result = project.pytester.runpytest_inprocess("--gta-resume=run", "--gta-agent=import:os:getcwd")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--gta-resume: * was made with another agent (outputs-outputs, now os.getcwd)*"])
    result = project.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--gta-run-dir: * already holds a run; go on with it by --gta-resume=*"])


@pytest.mark.parametrize("options", [("-k", "education"), ("--gta-task=2",)])
def test_results_of_a_run_stay_whole_when_a_part_of_it_is_run_again(
    make_project: Callable[..., Project], options: tuple[str, ...]
) -> None:
    project = make_project(3)
    project.run()
    before = project.results()
    again = project.pytester.runpytest_inprocess("--gta-resume=run", "-p", "no:cacheprovider", *options)
    assert again.ret == 0
    after = project.results()
    assert [task["task_id"] for task in after["tasks"]] == ["1", "2", "3"]
    assert [after["tasks"][n] for n in (0, 2)] == [before["tasks"][n] for n in (0, 2)]
    assert (after["summary"]["graded"], after["summary"]["root_score"]) == (3, before["summary"]["root_score"])


def test_scores_of_two_judges_do_not_stand_in_one_result(
    make_project: Callable[..., Project], capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project(2)
    project.run()
    left_out = (
        "left out, because another judge than another at 127.0.0.1/v1, prompt 2 scored them (judge at 127.0.0.1/v1, "
        "prompt 2): data_analysis_1; choose them with --gta-resume="
    )
    other = ("--gta-resume=run", "--gta-judge-model=another", "-p", "no:cacheprovider")
    again = project.pytester.runpytest_inprocess(*other, "-k", "education")
    assert f"gta: {left_out}" in again.stdout.str()
    live = project.results()
    assert live["run"]["judge"]["model"] == "another"
    assert list(project.tasks()) == ["2"]
    capsys.readouterr()
    assert main(["report", "run"]) == 0
    assert capsys.readouterr().err.startswith(f"pytest-gta: {left_out}")
    assert [project.results()[part] for part in ("summary", "tasks")] == [live[part] for part in ("summary", "tasks")]
    assert "left out" not in project.pytester.runpytest_inprocess(*other).stdout.str()
    assert list(project.tasks()) == ["1", "2"]


def test_reruns_keep_every_attempt(make_project: Callable[..., Project]) -> None:
    project = make_project(1, suite=SUITE)
    project.pytester.makeconftest(
        """
        import pytest
        from pathlib import Path

        class Learning:
            label = "learning"

            def run(self, task, tools, workspace):
                second = Path("second").exists()
                Path("second").touch()
                if second:
                    workspace.resolve("answer.txt", writing=True).write_text("better")
                return "done" if second else ""

        @pytest.fixture
        def gta_agent():
            return Learning()
        """
    )
    result = project.run("--reruns", "1", "--junitxml=junit.xml", agent="fixture")
    assert "1 passed, 1 rerun" in result.stdout.str()
    assert result.ret == 0
    attempts = list((project.pytester.path / "run" / "attempts").iterdir())
    assert [attempt.name for attempt in attempts] == ["data_analysis_1.1"]
    assert json.loads((attempts[0] / "result.json").read_text())["root_score"] == 0
    assert project.tasks()["1"]["root_score"] == 8
    # pytest-rerunfailures leaves an element for each attempt; each has its own score.
    cases = ElementTree.parse(project.pytester.path / "junit.xml").findall("testsuite/testcase")
    scores = [p.get("value") for case in cases for p in case.iter("property") if p.get("name") == "gta_root_score"]
    assert scores == ["0.0000", "8.0000"]


INTERRUPTED = """
def pytest_runtest_setup(item):
    if "education_2" in item.name:
        raise KeyboardInterrupt
"""


def test_the_last_line_of_an_interrupted_run_says_its_exit_code_and_how_to_go_on(
    make_project: Callable[..., Project],
) -> None:
    project = make_project(3)
    project.pytester.makeconftest(INTERRUPTED)
    result = project.run(no_reraise_ctrlc=True)
    assert result.ret == 2
    result.stdout.fnmatch_lines(["INTERRUPTED (exit 2): 2 of 3 tasks not run; go on with --gta-resume=*run"])
    assert "(exit 10)" not in result.stdout.str()
    assert [task["status"] for task in project.tasks().values()] == ["graded", "not_run", "not_run"]
    (project.pytester.path / "conftest.py").unlink()
    again = project.pytester.runpytest_inprocess("--gta-resume=run", "-p", "no:cacheprovider")
    assert again.ret == 0
    assert len(project.judged()) == sum(len(project.leaves(task_id)) for task_id in project.index)


DEAF = """
def pytest_runtest_logreport(report):
    if report.when == "checkpoint":
        raise OSError("cannot send (already closed?)")
"""


def test_a_task_whose_reports_find_nobody_waits_to_go_on(make_project: Callable[..., Project]) -> None:
    project = make_project(2)
    project.pytester.makeconftest(DEAF)
    result = project.pytester.runpytest_subprocess(*project.arguments())
    assert result.ret == 2
    assert "reports find nobody any more: cannot send (already closed?)" in result.stdout.str()
    run = project.pytester.path / "run"
    assert not list(run.glob("tasks/*/result.json"))
    assert [task["status"] for task in project.tasks().values()] == ["not_run", "not_run"]
    (project.pytester.path / "conftest.py").unlink()
    kept = sum(map(len, verdicts_on_disk(run).values()))
    before = len(project.judged())
    again = project.pytester.runpytest_subprocess("--gta-resume=run", "-p", "no:cacheprovider")
    assert again.ret == 0
    assert kept >= 1
    assert len(project.judged()) - before == sum(len(project.leaves(task_id)) for task_id in project.index) - kept


def test_a_run_that_goes_on_with_some_tasks_keeps_the_others_as_its_own(make_project: Callable[..., Project]) -> None:
    project = make_project(4)
    manifest = project.pytester.path / "run" / "run.json"
    project.run("-k", "education or planning")
    chosen = json.loads(manifest.read_text())["selected"]
    assert chosen == [task["run_key"] for task in project.tasks().values()]
    for options in (("-k", "education"), ("--gta-task=1",), ("--gta-task=2",)):
        project.pytester.runpytest_inprocess("--gta-resume=run", "-p", "no:cacheprovider", *options)
        assert set(json.loads(manifest.read_text())["selected"]) >= set(chosen)
    assert json.loads(manifest.read_text())["selected"] == ["data_analysis_1", *chosen]


def test_an_interrupted_run_keeps_the_scores_it_had(make_project: Callable[..., Project]) -> None:
    project = make_project(3)
    assert project.run("--gta-task=1,2").ret == 0
    project.pytester.makeconftest(INTERRUPTED)
    options = ("--gta-resume=run", "--gta-task=1,2,3", "-p", "no:cacheprovider")
    run = functools.partial(project.pytester.runpytest_inprocess, *options, no_reraise_ctrlc=True)
    again = run()
    assert [task["status"] for task in project.tasks().values()] == ["graded", "graded", "not_run"]
    again.stdout.fnmatch_lines(["INTERRUPTED (exit 2): 1 of 3 tasks not run; go on with *"])
    run("--gta-rejudge=all")
    assert [task["status"] for task in project.tasks().values()] == ["graded", "not_run", "not_run"]
    run("--gta-judge-model=another")
    assert [task["status"] for task in project.tasks().values()] == ["graded", "not_run", "not_run"]


STOPPED_WHILE_JUDGED = """
seen = []

def pytest_runtest_logreport(report):
    if "education_2" in report.nodeid and report.when == "checkpoint":
        seen.append(report)
        if len(seen) == 2:
            raise KeyboardInterrupt
"""


def test_what_the_judge_had_been_asked_of_an_interrupted_task_is_in_the_totals(
    make_project: Callable[..., Project],
) -> None:
    project = make_project(2)
    project.pytester.makeconftest(STOPPED_WHILE_JUDGED)
    assert project.run(no_reraise_ctrlc=True).ret == 2
    task = project.tasks()["2"]
    assert (task["status"], task["agent"]["stop_reason"]) == ("not_run", "finished")
    assert task["judge"]["calls"] == len(verdicts_on_disk(project.pytester.path / "run")["education_2"]) >= 2
    results = project.results()
    used = [task["judge"]["tokens"]["input"] for task in results["tasks"]]
    assert results["summary"]["tokens"]["judge"]["input"] == sum(used)
    assert min(used) > 0
