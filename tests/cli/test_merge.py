from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.benchmark.release import Release
from pytest_gta.benchmark.results import TaskResult, TaskStatus
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.benchmark.scoring import unmeasured
from pytest_gta.benchmark.task import Task
from pytest_gta.cli import main
from tests.domain import a_run, graded
from tests.release_factory import make_release


class Shards:
    """A dataset of six tasks and the run directories of its shards."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.dataset = make_release(root / "data", tasks=6)
        self.release = Release(self.dataset)
        self.tasks = [task for task in self.release.tasks() if isinstance(task, Task)]

    def run(self, name: str, shard: tuple[int, int] | None, score: float = 9, **options: str) -> RunDirectory:
        """Make the run directory of a shard, every task of it with this score."""
        run = RunDirectory(self.root / name)
        tasks = self.tasks[shard[0] - 1 :: shard[1]] if shard else self.tasks
        results = [self.judged(task, score) for task in tasks]
        for task, result in zip(tasks, results, strict=True):
            folder = run.task(task.slug)
            folder.write_result(result)
            folder.workspace.mkdir()
            (folder.workspace / "table.csv").write_text(task.id)
        made = a_run(*results, **self.facts(shard))
        cut = {"shard": f"{shard[0]}/{shard[1]}"} if shard else {}
        run.write_manifest(
            {
                **made.run,
                "options": {"model": "m1", "dataset": str(self.dataset), **cut, **options},
                "selected": [task.slug for task in tasks],
            }
        )
        run.write_results(made)
        return run

    def facts(self, shard: tuple[int, int] | None) -> dict[str, Any]:
        dataset = {"name": "data", "path": str(self.dataset), "sha256": self.release.sha256, "tasks": 6}
        return {"dataset": dataset, "shard": shard, "started_at": f"2026-01-0{shard[0] if shard else 1}"}

    @staticmethod
    def judged(task: Task, score: float) -> TaskResult:
        return graded(task.id, score, category=task.category)


@pytest.fixture
def shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shards:
    monkeypatch.chdir(tmp_path)
    return Shards(tmp_path)


def test_shards_become_one_run(shards: Shards, capsys: pytest.CaptureFixture[str]) -> None:
    shards.run("s1", (1, 3))
    shards.run("s2", (2, 3), score=3)
    shards.run("s3", (3, 3))
    assert main(["merge", "s1", "s2", "s3", "-o", "whole", "--json", "out/gta.json"]) == 1
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out.splitlines()[-1] == "FAIL (exit 1): 2 of 6 graded tasks below 7 points"
    values = json.loads(Path("whole/results.json").read_text())
    assert [task["run_key"] for task in values["tasks"]] == [task.slug for task in shards.tasks]
    assert values["summary"]["root_sr"] == pytest.approx(400 / 6)
    assert values["run"]["id"] == "whole"
    assert values["run"]["started_at"] == "2026-01-01"
    assert [part["shard"] for part in values["run"]["merged_from"]] == [[1, 3], [2, 3], [3, 3]]
    for task in shards.tasks:
        assert Path("whole/tasks", task.slug, "workspace", "table.csv").read_text() == task.id
    assert json.loads(Path("out/gta.json").read_text())["tasks"] == values["tasks"]
    # It is a run like any other.
    assert main(["report", "whole"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == captured.out.splitlines()[-1]


def test_a_missing_shard_is_named_with_its_tasks_and_is_no_pass(
    shards: Shards, capsys: pytest.CaptureFixture[str]
) -> None:
    shards.run("s1", (1, 3))
    shards.run("s3", (3, 3))
    assert main(["merge", "s1", "s3", "--json", "gta.json", "--fail-under", "10", "--max-error-rate", "100"]) == 10
    captured = capsys.readouterr()
    absent = ", ".join(task.slug for task in shards.tasks[1::3])
    assert captured.err.splitlines() == [f"pytest-gta: in no run: {absent}", "pytest-gta: shard 2/3 missing"]
    assert captured.out.splitlines()[-1].startswith("INCONCLUSIVE (exit 10): shard 2/3 missing")
    assert json.loads(Path("gta.json").read_text())["summary"]["not_run"] == 2


def test_of_results_alone_a_missing_shard_is_named(shards: Shards, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 3):
        shards.run(f"s{number}", (number, 3))
    assert main(["merge", "s1/results.json", "s3/results.json", "-o", "whole"]) == 10
    assert capsys.readouterr().err == "pytest-gta: shard 2/3 missing\n"
    assert len(list(Path("whole/tasks").iterdir())) == 4


def test_runs_with_other_repeats_are_no_parts_of_one_run(shards: Shards, capsys: pytest.CaptureFixture[str]) -> None:
    shards.run("s1", (1, 3))
    shards.run("twice", None, repeat="2")
    repeated = [
        shards.judged(task, 9).model_copy(update={"repeat": 2, "run_key": f"{task.slug}_r2"}) for task in shards.tasks
    ]
    RunDirectory(shards.root).write_results(a_run(*repeated, **shards.facts(None)), shards.root / "twice.json")
    for other in ("twice", "twice.json"):
        with pytest.raises(SystemExit):
            main(["merge", "s1", other, "-o", "whole"])
        assert f"{other} is no part of the same run as s1: another --gta-repeat (1, now 2)" in capsys.readouterr().err


def test_the_whole_run_does_not_write_over_the_reports_of_a_part(shards: Shards) -> None:
    for number in (1, 2):
        shards.run(f"s{number}", (number, 2), json="/s1.json", report="/s1.html", markdown="/s1.md", threshold="7")
    assert main(["merge", "s1", "s2", "-o", "whole"]) == 0
    options = json.loads(Path("whole/run.json").read_text())["options"]
    assert options == {"model": "m1", "dataset": str(shards.dataset), "threshold": "7"}


def test_of_two_results_the_graded_one_is_taken(shards: Shards, capsys: pytest.CaptureFixture[str]) -> None:
    first = shards.run("s1", (1, 2))
    lost = shards.tasks[0]
    first.task(lost.slug).write_result(unmeasured(lost, "", TaskStatus.ERROR, "worker crashed", {}))
    (first.root / "results.json").unlink()
    shards.run("again", (1, 2), score=8)
    shards.run("s2", (2, 2))
    assert main(["merge", "s1", "again", "s2", "-o", "whole"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"pytest-gta: {lost.slug} is in s1, again: taken from again"
    assert lines[1].endswith("is in s1, again: taken from s1")
    scores = [task["root_score"] for task in json.loads(Path("whole/results.json").read_text())["tasks"]]
    assert scores == [8, 9, 9, 9, 9, 9]


def test_the_gate_is_that_of_the_runs_unless_another_is_given(
    shards: Shards, capsys: pytest.CaptureFixture[str]
) -> None:
    shards.run("s1", (1, 2), fail_under="40")
    shards.run("s2", (2, 2), score=3, fail_under="40")
    assert main(["merge", "s1", "s2", "--json", "a.json"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "PASS (exit 0): Root SR 50.0 % >= 40 %"
    assert main(["merge", "s1", "s2", "--json", "a.json", "--fail-under", "60"]) == 1
    shards.run("main", None)
    assert main(["merge", "s1", "s2", "--json", "a.json", "--fail-under", "0", "--baseline", "main"]) == 10
    assert "Root SR fell from 100.0 to 50.0 % over 6 common tasks" in capsys.readouterr().out


def test_runs_that_were_not_made_alike_are_refused(shards: Shards, capsys: pytest.CaptureFixture[str]) -> None:
    shards.run("s1", (1, 2))
    RunDirectory(Path("other")).write_results(a_run(graded("1", 9), judge={"model": "j2", "prompt_version": "p1"}))
    RunDirectory(Path("thrice")).write_results(
        a_run(
            graded("1", 9), **shards.facts((2, 2)), judge={"model": "j1", "prompt_version": "p1", "name": "j1, thrice"}
        )
    )
    RunDirectory(Path("cut")).write_results(a_run(graded("1", 9), **shards.facts((2, 3))))
    for arguments, said in (
        (["s1", "other", "--json", "x"], "other is no part of the same run as s1: another dataset ("),
        (["s1", "thrice", "--json", "x"], "s1: another judge (None, now j1, thrice)"),
        (["s1", "cut", "--json", "x"], "the runs are shards of different cuts: 1/2, 2/3"),
        (["s1"], "merge needs a place for the whole run: -o DIR, or --json FILE, or both"),
        (["s1", "-o", "data"], "there is something already; name another directory"),
        (["s1", "--json", "x", "--fail-under", "101"], "fail_under: '101' is not a number from 0 to 100"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["merge", *arguments])
        assert ended.value.code == 2
        assert said.replace("fail_under", "--fail-under") in capsys.readouterr().err
    assert not Path("x").exists()


def test_a_place_that_cannot_be_written_is_said(shards: Shards, capsys: pytest.CaptureFixture[str]) -> None:
    shards.run("s1", None)
    Path("taken").write_text("a file")
    with pytest.raises(SystemExit) as ended:
        main(["merge", "s1", "--json", "taken/gta.json"])
    assert ended.value.code == 2
    place = Path("taken/gta.json").absolute()
    assert capsys.readouterr().err == f"pytest-gta: {place} cannot be written: File exists\n"
