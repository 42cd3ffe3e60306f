"""`pytest-gta calibrate`: what a person sees who wants to know how far to trust a judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from pytest_gta.benchmark.results import RunResult, TaskResult, TaskStatus
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.cli import main as command
from tests.domain import a_run, graded, leaf, scored, unscored

JUDGED = {"1": (9, 9), "2": (2, 4), "3": (7, 8), "4": (0, 1), "5": (6, 5)}
PEOPLE = {"1": (10, 9), "2": (2, 3), "3": (6, 8), "4": (0, 0), "5": (8, 5)}


def task_of(task_id: str, points: tuple[float, ...]) -> TaskResult:
    nodes = [leaf(f"cp{n}") for n in range(len(points))]
    root = score_tree(nodes, {f"cp{n}": scored(f"cp{n}", p) for n, p in enumerate(points)})
    assert root.score is not None
    task = graded(task_id, root.score)
    return task.model_copy(update={"checkpoints": root.checkpoints, "root_score": root.score})


def a_judged_run(folder: Path, scores: dict[str, Any], model: str = "judge-1") -> RunResult:
    result = a_run(*(task_of(task, points) for task, points in scores.items()))
    result = result.model_copy(update={"run": {**result.run, "judge": {**result.run["judge"], "model": model}}})
    RunDirectory(folder).write_results(result)
    return result


def main(arguments: list[str]) -> int:
    return command([*arguments, "--resamples=20"])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    a_judged_run(tmp_path / "run", JUDGED)
    return tmp_path


def labels(folder: Path, scores: dict[str, Any], name: str = "labels.json") -> Path:
    made = {
        task: {"root_score": sum(p) / len(p), "leaves": {f"cp{n}": value for n, value in enumerate(p)}}
        for task, p in scores.items()
    }
    (folder / name).write_text(json.dumps(made))
    return folder / name


def test_people_against_a_judge(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels(here, PEOPLE)
    assert main(["calibrate", "labels.json", "run", "--json", "out.json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["judge-1", "/", "labels", "paper"]
    assert lines[1].split() == ["root", "scores", "5", "tasks"]
    table = {line.strip().split("  ")[0]: line for line in lines}
    assert table["Spearman"].split()[-1] == "0.895"
    assert table["ICC(2,1)"].split()[-1] == "0.928"
    assert table["Cohen's kappa"].split()[-1] == "0.812"
    assert table["accuracy"].split()[1:3] == ["80.0", "%"]
    assert "judge-1 passes 1 and fails 1 leaves against labels" in lines
    numbers = json.loads((here / "out.json").read_text())["pairs"][0]
    # Roots 9/9.5, 3/2.5, 7.5/7, 0.5/0, 5.5/6.5.
    assert numbers["roots"]["mae"]["value"] == pytest.approx((0.5 + 0.5 + 0.5 + 0.5 + 1) / 5)
    assert numbers["leaves"]["mae"]["value"] == pytest.approx((1 + 0 + 0 + 1 + 1 + 0 + 0 + 1 + 2 + 0) / 10)
    assert (numbers["leaves"]["judged"], numbers["leaves"]["both_pass"]) == (10, 3)


def test_two_people_are_compared_with_each_other(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["task,leaf,alice,bob"]
    for task, points in PEOPLE.items():
        rows += [f"{task},cp{n},{p},{max(p - 1, 0)}" for n, p in enumerate(points)]
        rows.append(f"{task},,{sum(points) / 2},{sum(points) / 2 + 0.25}")
    (here / "labels.csv").write_text("\n".join(rows))
    assert main(["calibrate", "labels.csv", "run"]) == 0
    out = capsys.readouterr().out
    headings = [line for line in out.splitlines() if line.endswith("paper")]
    assert [" ".join(h.split()) for h in headings] == [
        "judge-1 / people judge-1 / alice paper",
        "judge-1 / bob bob / alice paper",
    ]
    assert "ranking of 5 tasks by alice, bob, judge-1: Kendall's W 1.000" in out


def test_judge_against_judge_and_several_runs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a_judged_run(here / "second", PEOPLE, "judge-2")
    a_judged_run(here / "third", {t: p[::-1] for t, p in PEOPLE.items()}, "judge-1")
    assert main(["calibrate", "second", "run/results.json", "third"]) == 0
    out = capsys.readouterr().out
    assert "judge-1 / judge-2     judge-1 (third) / jud" in out
    assert "ranking of 5 tasks by judge-2, judge-1, judge-1 (third): Kendall's W 1.000" in out


def test_leaves_without_a_score_are_left_out_and_counted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels(here, PEOPLE)
    nodes = [leaf("cp0"), leaf("cp1")]
    root = score_tree(nodes, {"cp0": scored("cp0", 9), "cp1": unscored("cp1")})
    broken = graded("1", 5.0).model_copy(
        update={"checkpoints": root.checkpoints, "root_score": None, "status": TaskStatus.UNSCORED, "success": None}
    )
    RunDirectory(here / "run").write_results(a_run(broken, *(task_of(t, p) for t, p in JUDGED.items() if t != "1")))
    assert main(["calibrate", "labels.json", "run", "--json", "out.json"]) == 0
    numbers = json.loads((here / "out.json").read_text())["pairs"][0]
    assert (numbers["roots"]["tasks"], numbers["leaves"]["judged"], numbers["unmatched"]) == (4, 9, 1)
    assert "1 without a score (judge_error), left out" in capsys.readouterr().out


def test_the_page_has_the_table_and_a_plot(here: Path) -> None:
    hostile = {"tasks": {"1": {"root": {"<img src=x>": 3, "b$o$b": 4}}, "2": {"root": {"<img src=x>": 5, "b$o$b": 6}}}}
    (here / "labels.json").write_text(json.dumps(hostile))
    assert main(["calibrate", "labels.json", "run", "--html", "page.html"]) == 0
    page = html.fromstring((here / "page.html").read_text())
    assert "judge-1 / <img src=x>" in [cell.text for cell in page.iter("th")]
    (image,) = page.iter("img")
    assert image.get("src").startswith("data:image/png;base64,iVBOR")


def test_without_matplotlib_the_page_says_so(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    labels(here, PEOPLE)
    monkeypatch.setattr("pytest_gta.reporters.calibration_page.find_spec", lambda name: None)
    assert main(["calibrate", "labels.json", "run", "--html", "page.html"]) == 0
    assert "matplotlib is not installed" in (here / "page.html").read_text()
    assert "matplotlib is not installed" in capsys.readouterr().err


def test_nothing_in_common_is_its_own_exit_code(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels(here, {"99": (1, 2)})
    assert main(["calibrate", "labels.json", "run"]) == 5
    assert "nothing to compare" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no.csv", "run"], "no.csv cannot be read"),
        (["labels.json", "nowhere"], "nowhere"),
        (["labels.json", "run", "--threshold", "70"], "is not a number from 0 to 10"),
    ],
)
def test_what_cannot_be_used_is_named(
    here: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    labels(here, PEOPLE)
    with pytest.raises(SystemExit) as ended:
        main(["calibrate", *arguments])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_another_threshold_changes_what_passes(here: Path) -> None:
    labels(here, PEOPLE)
    main(["calibrate", "labels.json", "run", "--threshold", "5", "--json", "out.json"])
    numbers = json.loads((here / "out.json").read_text())["pairs"][0]
    assert (numbers["threshold"], numbers["leaves"]["accuracy"]["value"]) == (5, 100)
