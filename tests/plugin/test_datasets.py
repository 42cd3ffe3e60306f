"""Runs over a user's own tasks: YAML files in their repository, several datasets at once, a source of their own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_gta.agents.seclusion import choose_seclusion
from tests.openai_server import judge
from tests.plugin.conftest import Project
from tests.task_files import TASK, write_task

AGENT = """
from pathlib import Path

def run(task, tools, workspace):
    seen = [(workspace.root / name).read_text() for name in task.inputs]
    (workspace.root / "plan.md").write_text(f"Berths, reviewed in 2026. {seen}")
    return "Finished."
"""


@pytest.fixture
def mine(make_project: Callable[..., Project]) -> Project:
    """A project with two YAML tasks of its own, one with an input, and an agent."""
    project = make_project(1)
    folder = project.pytester.path
    write_task(folder / "my_tasks" / "berths" / "task.yaml", inputs={"berths.csv": b"a,b,c"})
    write_task(folder / "my_tasks" / "review.yaml", TASK.replace("planning", "customer care"))
    (folder / "own_agent.py").write_text(AGENT)
    project.server.respond = judge({}, default=8)
    return project


def arguments(project: Project, *datasets: str) -> list[str]:
    rest = [text for text in project.arguments("import:own_agent:run") if not text.startswith("--gta-dataset=")]
    return [*rest, *(f"--gta-dataset={name}" for name in datasets)]


def results(project: Project) -> dict[str, object]:
    found: dict[str, object] = json.loads((project.pytester.path / "run" / "results.json").read_text())
    return found


def test_yaml_tasks_are_run_and_judged(mine: Project) -> None:
    ended = mine.pytester.runpytest_inprocess(*arguments(mine, "my_tasks"))
    ended.assert_outcomes(passed=2)
    ended.stdout.fnmatch_lines(["gta: my_tasks, 2 tasks, 4 leaves, success from 7 points"])
    assert mine.server.chats
    found = json.loads((mine.pytester.path / "run" / "results.json").read_text())
    assert {task["task_id"]: (task["category"], task["root_score"]) for task in found["tasks"]} == {
        "berths": ("planning", 8.0),
        "review": ("customer_care", 8.0),
    }
    workspace = mine.pytester.path / "run" / "tasks" / "planning_berths" / "workspace"
    assert (workspace / "berths.csv").read_bytes() == b"a,b,c"
    assert "a,b,c" in (workspace / "plan.md").read_text()
    assert found["run"]["dataset"]["path"] == str(mine.pytester.path / "my_tasks")


def test_several_datasets_in_one_run_and_its_report(mine: Project) -> None:
    ended = mine.pytester.runpytest_inprocess(*arguments(mine, "my_tasks/review.yaml", "dataset"), "-q")
    ended.assert_outcomes(passed=2)
    found = json.loads((mine.pytester.path / "run" / "results.json").read_text())
    assert found["run"]["dataset"]["name"] == "review + dataset"
    from pytest_gta.cli import main

    assert main(["report", "run"]) == 0
    assert main(["pack", "run", "-o", "pack.json"]) == 0
    packed = json.loads(Path("pack.json").read_text())
    assert [str(task["task_id"]) for task in packed["tasks"]] == ["1", "review"]


def test_a_bad_yaml_task_is_an_error_of_its_own(mine: Project) -> None:
    write_task(mine.pytester.path / "my_tasks" / "slip.yaml", TASK.replace("requirement", "requirment", 1))
    ended = mine.pytester.runpytest_inprocess(*arguments(mine, "my_tasks"))
    ended.assert_outcomes(passed=2, errors=1)
    ended.stdout.fnmatch_lines(
        ["*task slip, checkpoint cp1: slip.yaml, line 4: there is no key `requirment` here; did you mean*"]
    )


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["one process", "two workers"])
def test_a_source_of_ones_own(mine: Project, workers: tuple[str, ...]) -> None:
    mine.pytester.makeconftest(
        """
        def pytest_gta_dataset(config, name):
            if name.startswith("tracker:"):
                with (config.rootpath / "asked.txt").open("a") as log:
                    print(name, file=log)
                return config.rootpath / name.removeprefix("tracker:")
        """
    )
    options = (*arguments(mine, "tracker:my_tasks", "mini"), "--gta-task=berths", *workers)
    mine.pytester.runpytest_inprocess(*options).assert_outcomes(passed=1)
    assert (mine.pytester.path / "asked.txt").read_text() == "tracker:my_tasks\n"
    found = json.loads((mine.pytester.path / "run" / "results.json").read_text())
    assert found["run"]["dataset"]["path"].startswith(f"{mine.pytester.path}/my_tasks,")


def test_a_source_that_nobody_knows_is_a_usage_error(mine: Project) -> None:
    ended = mine.pytester.runpytest_inprocess(*arguments(mine, "tracker:web"))
    assert ended.ret == 4
    ended.stderr.fnmatch_lines(["*--gta-dataset: 'tracker:web' is known to no plugin or conftest.py*"])


@pytest.mark.skipif(not choose_seclusion("auto", (), ()).program, reason="commands cannot be secluded on this machine")
def test_a_command_sees_neither_tasks_nor_drafts_nor_other_runs(
    mine: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = mine.pytester.path
    monkeypatch.setenv("HOME", str(tmp_path))  # pytester makes the project itself the home, which is hidden whole
    draft = folder / ".gta" / "author" / "x" / "session.json"
    draft.parent.mkdir(parents=True)
    draft.write_text("a drafted rubric")
    for earlier in (".gta/runs/one", "earlier"):
        (folder / earlier / "tasks").mkdir(parents=True)
        (folder / earlier / "run.json").write_text("{}")
        (folder / earlier / "tasks" / "result.json").write_text("an earlier rubric")
    program = folder / "program.py"
    program.write_text(
        "from pathlib import Path\n"
        f"places = [Path({str(folder)!r}, name) for name in ('own_agent.py', 'my_tasks/berths/task.yaml',\n"
        "          'my_tasks/review.yaml', '.gta/author/x/session.json', '.gta/runs/one/tasks/result.json',\n"
        "          'earlier/run.json', 'earlier/tasks/result.json')]\n"
        "Path('plan.md').write_text(' '.join(place.name for place in places if place.is_file()))\n"
        "print('Finished.')\n"
    )
    rest = [text for text in arguments(mine, "my_tasks") if not text.startswith("--gta-agent=")]
    command = f"--gta-agent=cmd:{sys.executable} {program}"
    mine.pytester.runpytest_inprocess(*rest, command, "--gta-task=berths").assert_outcomes(passed=1)
    seen = (folder / "run" / "tasks" / "planning_berths" / "workspace" / "plan.md").read_text()
    assert seen == "own_agent.py"
