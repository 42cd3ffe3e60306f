"""Score and summary files of the reference, read as runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.benchmark.reference_scores import is_reference_file, read_reference
from pytest_gta.benchmark.results import RunResult, TaskStatus
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.cli import main
from pytest_gta.run.finished_run import read_runs
from pytest_gta.settings import SettingsError
from tests.domain import a_run, graded

MADE = {"script": "judge.py", "pack": "packs/their_model.json", "model": "gpt-5.2", "base_url": None}


def entry(score: Any, *nodes: tuple[str, Any, str], status: str = "ok", **more: Any) -> dict[str, Any]:
    listed = [{"id": name, "score": points, "analysis": said} for name, points, said in nodes]
    detail = {"sample_index": 1, "score": score, "nodes": listed}
    return {"status": status, "score": score, "detail": detail, "attempt": 1, **more}


def details(**tasks: Any) -> dict[str, Any]:
    results = {name.removeprefix("t"): {"task_id": int(name[1:]), **task} for name, task in tasks.items()}
    return {"schema_version": 2, "generated_from": MADE, "task_results": results}


def summary(*rows: tuple[int, str, Any]) -> dict[str, Any]:
    listed = [{"task_id": number, "status": status, "score": score} for number, status, score in rows]
    return {"schema_version": 1, "generated_from": {"details_file": "x.json", **MADE}, "per_task": listed}


def read(value: dict[str, Any], *known: Any) -> RunResult:
    assert is_reference_file(value)
    return read_reference(value, Path("their_scores.json"), known, 7.0)


def leaves_of(task: Any) -> list[str]:
    return [leaf.id for leaf in task.leaves()]


def test_roots_are_recomputed_from_the_leaves() -> None:
    ours = graded("1", 9)
    names = leaves_of(ours)
    nodes = [(name, 4, "so so") for name in names]
    # The file's own root is one that was rounded, or there is none.
    (task,) = read(details(t1=entry(4.04, *nodes)), ours).tasks
    assert read(details(t1=entry(None, *nodes)), ours).tasks == (task,)
    assert (task.status, task.root_score, task.success) == (TaskStatus.GRADED, 4.0, False)
    assert (task.slug, task.category) == (ours.slug, ours.category)
    assert {leaf.analysis for leaf in task.leaves()} == {"so so"}
    assert [leaf.requirements for leaf in task.leaves()] == [leaf.requirements for leaf in ours.leaves()]


def test_a_file_of_another_rubric_with_the_same_ids_keeps_its_own_score() -> None:
    ours = graded("1", 9)
    nodes = [(name, 4, "so so") for name in leaves_of(ours)]
    (task,) = read(details(t1=entry(9.9, *nodes)), ours).tasks
    assert (task.status, task.root_score, task.success, task.checkpoints) == (TaskStatus.GRADED, 9.9, True, ())
    assert task.notes == (
        "the file's own score; by the rubric known here its leaves make 4.00, so it was made with another",
    )


def test_a_leaf_that_the_file_has_no_score_for_is_not_a_zero() -> None:
    ours = graded("1", 9)
    first, *rest = leaves_of(ours)
    for wrong in (None, "8", True, float("nan"), 11, -1):
        nodes = [(name, 8, "") for name in rest]
        (task,) = read(details(t1=entry(8.0, (first, wrong, ""), *nodes)), ours).tasks
        assert (task.status, task.root_score) == (TaskStatus.UNSCORED, None)
        assert task.root_bounds[0] < task.root_bounds[1]


def test_a_score_taken_from_an_unreadable_answer_is_said() -> None:
    ours = graded("1", 9)
    nodes = [(name, 0, "regex fallback") for name in leaves_of(ours)]
    (task,) = read(details(t1=entry(0.0, *nodes)), ours).tasks
    assert (task.root_score, len(task.notes)) == (0.0, 1)
    assert "could not read" in task.notes[0]


def test_without_a_rubric_the_files_own_score_counts() -> None:
    (task,) = read(details(t5=entry(6.5, ("cp1", 2, "")))).tasks
    assert (task.root_score, task.slug, task.checkpoints) == (6.5, "task_5", ())
    assert task.notes == ("the file's own score; its leaves are not known here",)


def test_errors_are_unscored_and_pending_is_not_run() -> None:
    value = details(t1=entry(None, status="error", error="Timeout: no answer"), t2=entry(None), t3=entry(7.0))
    assert [(t.status, t.error) for t in read(value).tasks] == [
        (TaskStatus.UNSCORED, "Timeout: no answer"),
        (TaskStatus.UNSCORED, "the file has no score for it"),
        (TaskStatus.GRADED, None),
    ]
    rows = read(summary((1, "ok", 7.5), (2, "error", None), (3, "pending", None), (4, "unknown", 0.0))).tasks
    assert [t.status.value for t in rows] == ["graded", "unscored", "not_run", "not_run"]
    assert [t.root_score for t in rows] == [7.5, None, None, None]


def test_it_is_labelled() -> None:
    run = read(summary((1, "ok", 7.5))).run
    assert run["read_from"] == "score summary of the reference"
    assert (run["agent"]["label"], run["judge"]["model"]) == ("their_model", "gpt-5.2")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"generated_from": {}, "task_results": []}, "`task_results` is not of the expected form"),
        ({"generated_from": {}, "task_results": {}}, "`task_results` holds no task"),
        (summary((1, "ok", 7), (1, "ok", 8)), "`per_task` holds a task twice"),
    ],
)
def test_what_is_not_what_it_looks_like(value: Any, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps(value))
    with pytest.raises(SettingsError, match=f"is not a score file that can be read: {reason}"):
        read_runs([file])


def test_other_files_are_refused_as_before(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"task_results": {}}')
    with pytest.raises(SettingsError, match=r"is not a results\.json of this version"):
        read_runs([tmp_path / "x.json"])


def test_compare_sets_it_beside_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tasks = [graded(str(number), 9) for number in (1, 2, 3)]
    RunDirectory(tmp_path / "a").write_results(a_run(*tasks))
    worse = {f"t{n}": entry(2.0, *((leaf, 2, "") for leaf in leaves_of(t))) for n, t in enumerate(tasks, 1)}
    (tmp_path / "their_scores.json").write_text(json.dumps(details(**worse)))
    assert main(["compare", "a", "their_scores.json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("B  their_scores.json: their_model (score file of the reference)")
    assert lines[1].endswith("3 of 3 tasks graded")
    row = next(line for line in lines[4:] if line.startswith("B  0.0"))
    assert "unknown" in row.split()
    assert any(line.startswith("WARNING: B is not like A: another dataset") for line in lines)
    assert any(line.startswith("B against A: ") and "3 common tasks" in line for line in lines)
    assert any(line.startswith("Agents' time  A ") and line.endswith("B unknown") for line in lines)


def test_compare_warns_of_another_rubric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tasks = [graded(str(number), 9) for number in (1, 2)]
    RunDirectory(tmp_path / "a").write_results(a_run(*tasks))
    other = {f"t{n}": entry(9.0, *((leaf, 2, "") for leaf in leaves_of(t))) for n, t in enumerate(tasks, 1)}
    (tmp_path / "their_scores.json").write_text(json.dumps(details(**other)))
    assert main(["compare", "a", "their_scores.json"]) == 0
    assert (
        "WARNING: B is not like A: 2 tasks scored by another rubric: the file's own scores count"
        in capsys.readouterr().out.splitlines()
    )
