"""``--gta-repeat``: a task is several items, each with its own directory; metrics know what belongs together."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.plugin.conftest import Project

AGENT = """
import pytest
from pathlib import Path

class Mine:
    label = "mine"

    def run(self, task, tools, workspace):
        counter = Path(__file__).parent / "runs"
        with counter.open("a") as runs:
            runs.write(task.id + "\\n")
        Path(workspace.root, "note.txt").write_text("Written by the agent.")
        return f"Finished task {task.id}."

@pytest.fixture
def gta_agent():
    return Mine()
"""


@pytest.fixture(params=["-n0", "-n2"])
def workers(request: pytest.FixtureRequest) -> str:
    """Every behaviour holds in one process and over two workers."""
    return str(request.param)


def test_each_repeat_is_a_run_of_its_own(make_project: Callable[..., Project], workers: str) -> None:
    project = make_project(2)
    project.pytester.makeconftest(AGENT)
    project.fail_task("2")
    result = project.run(workers, "--gta-repeat=3", agent="fixture")
    result.assert_outcomes(passed=3, failed=3)
    runs = (project.pytester.path / "runs").read_text().split()
    assert sorted(runs) == ["1"] * 3 + ["2"] * 3
    tasks = project.results()["tasks"]
    keys = [task["run_key"] for task in tasks]
    assert [key.rpartition("_")[2] for key in keys] == ["r1", "r2", "r3"] * 2
    assert [task["repeat"] for task in tasks] == [1, 2, 3] * 2
    folders = project.pytester.path / "run" / "tasks"
    assert {folder.name for folder in folders.iterdir()} == set(keys)
    assert all((folders / key / "workspace" / "note.txt").is_file() for key in keys)
    assert len(project.judged()) == 3 * sum(len(project.leaves(task_id)) for task_id in project.index)
    summary = project.results()["summary"]
    assert (summary["tasks"], summary["graded"], summary["root_sr"]) == (6, 6, 50.0)
    # Repeats that end alike say no more than two tasks do.
    assert summary["root_sr_ci"] == pytest.approx([9.453, 90.547], abs=0.001)
    assert summary["repeats"]["at_k"]["3"] == {"tasks": 2, "pass_at": 50.0, "pass_all": 50.0}
    output = result.stdout.str()
    assert "gta: dataset, 2 tasks 3 times each, 54 leaves" in output
    assert "(3 of 6 graded runs of 2 tasks)" in output
    assert "FAIL (exit 1): 3 of 6 graded runs below 7 points" in output
    assert re.search(r"pass\^k +50\.0 % +50\.0 % +50\.0 %\n", output)


def test_a_repeat_is_chosen_by_its_id_and_resumed(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    project.pytester.makeconftest(AGENT)
    first = project.run("--gta-repeat=2", "-k", "r2", agent="fixture")
    first.assert_outcomes(passed=1, deselected=1)
    again = project.pytester.runpytest_inprocess("--gta-resume=run", "--gta-report=off", "-p", "no:cacheprovider")
    again.assert_outcomes(passed=2)
    assert (project.pytester.path / "runs").read_text().split() == ["1", "1"]
    assert [task["resumed"] for task in project.results()["tasks"]] == [False, True]
    single = project.pytester.runpytest_inprocess(
        "--gta-resume=run", "--gta-report=off", "--gta-repeat=1", "-p", "no:cacheprovider"
    )
    assert single.ret == 4
    assert "was made with another --gta-repeat (several, now 1)" in single.stderr.str()


def test_a_report_knows_the_repeats(make_project: Callable[..., Project], capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_gta.cli import main

    project = make_project(1)
    project.pytester.makeconftest(AGENT)
    project.run("--gta-repeat=2", agent="fixture")
    before = project.results()
    assert main(["report", str(project.pytester.path / "run")]) == 0
    assert project.results()["summary"]["repeats"] == before["summary"]["repeats"]
    assert "(2 of 2 graded runs of 1 task)" in capsys.readouterr().out


def test_work_that_is_done_already_cannot_be_repeated(make_project: Callable[..., Project]) -> None:
    result = make_project(1).run("--gta-repeat=2")
    assert result.ret == 4
    assert "--gta-repeat=2 runs the agent anew each time, but outputs" in result.stderr.str()
