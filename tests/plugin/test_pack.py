"""A run's work as an eval pack, and that pack scored again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.cli import main
from tests.plugin.conftest import Project


def keys_and_scores(project: Project, run: str) -> dict[str, Any]:
    """By task: root score, by leaf the digest of all its verdict depends on (evidence too) and the score; files."""
    found = {}
    for task in project.tasks(run).values():
        lines = (project.pytester.path / run / "tasks" / task["run_key"] / "verdicts.jsonl").read_text().splitlines()
        leaves = {v["leaf_id"]: (v["key"], v["score"]) for v in map(json.loads, lines)}
        files = [(f["path"], f["sha256"], f["evidence"]) for f in task["deliverables"]]
        found[task["task_id"]] = (task["root_score"], leaves, files)
    return found


@pytest.mark.parametrize("options", [[], ["--relative"]])
def test_outputs_and_their_pack_score_the_same(make_project: Callable[..., Project], options: list[str]) -> None:
    project = make_project(3, files=True)
    (project.outputs / "2" / "files" / "charts").mkdir()
    (project.outputs / "2" / "files" / "charts" / "table.csv").write_text("a,b\n")
    project.scores = {project.leaf("2", 0): 3}
    project.run()
    assert main(["pack", "run", "-o", "packs/eval_pack.json", *options]) == 0
    content = json.loads(Path("packs/eval_pack.json").read_text())
    assert [task["task_id"] for task in content["tasks"]] == [1, 2, 3]
    first = content["tasks"][0]
    assert first["origin_prompt"] == [project.index["1"]["dialogs"][0]["content"]]
    assert [node["id"] for node in first["full_tree"]] == [node["id"] for node in project.index["1"]["sub_tasks"]]
    assert first["meta"]["root_score"] == pytest.approx(8)
    assert Path(first["attached_files"][0]).is_absolute() is not bool(options)
    assert content["generated_from"]["num_tasks"] == 3

    result = project.run("--gta-run-dir=again", agent="pack:packs/eval_pack.json")
    result.stdout.fnmatch_lines(["*agent pack:packs/eval_pack.json*"])
    assert keys_and_scores(project, "again") == keys_and_scores(project, "run")


def test_a_missing_file_is_an_error_of_that_task_alone(make_project: Callable[..., Project]) -> None:
    project = make_project(2)
    project.run()
    assert main(["pack", "run", "-o", "pack.json", "--relative"]) == 0
    content = json.loads(Path("pack.json").read_text())
    content["tasks"][1]["attached_files"] = ["gone/table.csv"]
    del content["tasks"][1]["meta"]
    Path("pack.json").write_text(json.dumps(content))
    result = project.run("--gta-run-dir=again", agent="pack:pack.json")
    result.assert_outcomes(passed=1, errors=1)
    assert "attached files are missing: gone/table.csv" in project.tasks("again")["2"]["error"]


def test_only_packed_tasks_are_selected_and_duplicates_are_a_usage_error(make_project: Callable[..., Project]) -> None:
    project = make_project(3)
    entry = {"task_id": 2, "assistant_outputs": [[{"role": "assistant", "content": "x"}]], "attached_files": None}
    Path("pack.json").write_text(json.dumps({"tasks": [entry]}))
    result = project.run(agent="pack:pack.json")
    result.assert_outcomes(passed=1)
    Path("pack.json").write_text(json.dumps({"tasks": [entry, entry]}))
    result = project.run("--gta-run-dir=other", agent="pack:pack.json")
    assert result.ret == 4
    assert "more than one entry for task 2" in result.stderr.str()


def test_what_cannot_be_packed(make_project: Callable[..., Project], capsys: pytest.CaptureFixture[str]) -> None:
    project = make_project(1)
    with pytest.raises(SystemExit):
        main(["pack", "nowhere", "-o", "p.json"])
    assert "nowhere is not a run directory" in capsys.readouterr().err
    project.run()
    (project.dataset / "end.json").unlink()
    with pytest.raises(SystemExit):
        main(["pack", "run", "-o", "p.json"])
    assert "the run's dataset is gone" in capsys.readouterr().err
