"""``--gta-baseline``: a run is compared with an earlier one; the last line, the exit code and results.json agree."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from tests.plugin.conftest import Project


def measured(project: Project, *args: str, fails: str = "") -> pytest.RunResult:
    """Measure the baseline into the folder ``main``."""
    for task_id in fails.split():
        project.fail_task(task_id)
    result = project.run("-n0", "--gta-run-dir=main", *args)
    project.scores.clear()
    assert (project.pytester.path / "main" / "results.json").is_file()
    return result


def last_line(result: pytest.RunResult) -> str:
    """Return it as one: each reason may have a line of its own."""
    found = re.search(r"^[A-Z ]+ \(exit \d+\): .*(?:\n +.*)*", "\n".join(result.outlines), re.MULTILINE)
    assert found is not None
    return re.sub(r"\n +", "; ", found[0])


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_no_drop_passes_though_tasks_are_low(make_project: Callable[..., Project], workers: str) -> None:
    project = make_project(3)
    measured(project, fails="1 2")
    project.fail_task("1")
    result = project.run(workers, "--gta-baseline=main/results.json")
    assert result.ret == 0
    assert last_line(result) == (
        "PASS (exit 0): no drop shown against the baseline over 3 common tasks: Root SR +33.3 %, Root Score +2.00"
    )
    gate = project.results()["gate"]
    assert gate["verdict"] == gate["baseline"]["verdict"] == "pass"
    assert gate["baseline"]["root_sr"]["before"] == pytest.approx(100 / 3)
    assert gate["baseline"]["root_sr"]["after"] == pytest.approx(200 / 3)
    assert [name.rpartition("_")[2] for name in gate["baseline"]["won"]] == ["2"]
    output = result.stdout.str()
    assert "Against the baseline, over 3 common tasks" in output
    assert re.search(r"Root SR +33\.3 -> 66\.7  \+33\.3  \[", output)
    assert re.search(r"Root Score +4\.00 -> 6\.00  \+2\.00", output)
    assert re.search(r"  won +1: \w+_2\n", output)


def test_a_significant_drop_fails(make_project: Callable[..., Project]) -> None:
    project = make_project(8)
    measured(project)
    for task_id in list(project.index)[:7]:
        project.fail_task(task_id)
    result = project.run("--gta-baseline=main")
    assert result.ret == 1
    assert last_line(result) == (
        "FAIL (exit 1): Root SR fell from 100.0 to 12.5 % over 8 common tasks, p = 0.016; "
        "Root Score fell from 8.00 to 2.75 over 8 common tasks, p = 0.016"
    )
    assert project.results()["gate"]["baseline"]["certain"] is True


def test_a_drop_that_may_be_noise_is_inconclusive(make_project: Callable[..., Project]) -> None:
    project = make_project(4)
    measured(project)
    project.fail_task("2")
    result = project.run("--gta-baseline=main")
    assert result.ret == 10
    assert last_line(result).startswith(
        "INCONCLUSIVE (exit 10): Root SR fell from 100.0 to 75.0 % over 4 common tasks, p = 1.00: may be noise, may "
        "be a drop of 10 %; about 38 tasks, or 10 times the repeats in both runs, would decide"
    )
    assert project.results()["gate"]["verdict"] == "inconclusive"


def test_the_other_gates_hold_as_well(make_project: Callable[..., Project]) -> None:
    project = make_project(3)
    measured(project, fails="1 2 3")
    project.fail_task("1")
    result = project.run("--gta-baseline=main", "--gta-fail-under=70")
    assert result.ret == 1
    assert last_line(result) == "FAIL (exit 1): Root SR 66.7 % < 70 %"


def test_tasks_of_one_run_only_are_named(make_project: Callable[..., Project]) -> None:
    project = make_project(4)
    measured(project, "--gta-task=1,2,3")
    result = project.run("--gta-baseline=main", "--gta-task=2,3,5")
    assert result.ret == 0
    output = result.stdout.str()
    assert "over 2 common tasks" in output
    assert re.search(r"only there +1: \w+_1\n", output)
    assert re.search(r"only here +1: \w+_5\n", output)


@pytest.mark.parametrize("change", ["dataset", "judge", "prompt", "tasks", "missing", "text"])
def test_what_cannot_be_compared_is_refused_before_anything_is_spent(
    make_project: Callable[..., Project], change: str
) -> None:
    project = make_project(2)
    measured(project, "--gta-task=1")
    asked = len(project.server.chats)
    file = project.pytester.path / "main" / "results.json"
    values = json.loads(file.read_text())
    if change == "dataset":
        values["run"]["dataset"]["sha256"] = "f" * 64
    elif change == "judge":
        values["run"]["judge"]["model"] = "another"
    elif change == "prompt":
        values["run"]["judge"]["prompt_version"] = "0"
    file.write_text("{}" if change == "text" else json.dumps(values))
    if change == "missing":
        file.unlink()
    path = "main/results.json"
    options = ["--gta-task=2"] if change == "tasks" else []
    result = project.run(f"--gta-baseline={path}", *options)
    assert result.ret == 4
    said = result.stderr.str() + result.stdout.str()
    expected = {
        "dataset": "cannot be compared with this run: another dataset (ffffffffffff, now ",
        "judge": "another judge model (another, now judge)",
        "prompt": "another judge prompt version (0, now ",
        "tasks": "has a score for none of the 1 selected tasks",
        "missing": "cannot be read: No such file or directory",
        "text": "is not a results.json of this version",
    }[change]
    assert "pytest-gta: --gta-baseline: " in said
    assert expected in said
    assert len(project.server.chats) == asked
    assert not (project.pytester.path / "run").exists()


def test_a_report_says_the_same_as_the_run(
    make_project: Callable[..., Project], capsys: pytest.CaptureFixture[str]
) -> None:
    from pytest_gta.cli import main

    project = make_project(4)
    measured(project)
    project.fail_task("2")
    said = last_line(project.run("--gta-baseline=main"))
    before = project.results()["gate"]
    capsys.readouterr()
    assert main(["report", str(project.pytester.path / "run")]) == 10
    assert re.sub(r"\n +", "; ", capsys.readouterr().out).splitlines()[-1] == said
    assert project.results()["gate"] == before
