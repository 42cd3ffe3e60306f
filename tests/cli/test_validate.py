from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.cli import main
from tests.release_factory import make_release
from tests.task_files import TASK, write_task

MINI = Path(__file__).parents[2] / "benchmark_tasks" / "mini"


def test_the_full_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(make_release(tmp_path / "release.zip"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("release  (sha256 ")
    assert lines[1:] == [
        "132 tasks; 1,156 leaves, 231 at the top",
        "46 tasks with 70 input files, 0 missing",
        "",
        "category                  tasks   leaves",
        "creative_design              16      127",
        "data_analysis                34      307",
        "education                    31      256",
        "marketing                    16      157",
        "planning                     21      166",
        "retrieval_qa                 14      143",
        "",
        "capability                tasks  inferred",
        "perception                   30        30",
        "operation                   132       132",
        "logic                        41        41",
        "",
        "note     task 126: names the file 'LatencyReport.pdf', which the dataset does",
        "         not ship [oddity]",
        "note     task 126: names the file 'LatencyData.csv', which the dataset does not",
        "         ship [oddity]",
        "",
        "OK: 0 errors, 0 warnings, 2 notes",
    ]


def plant_faults(index: dict[str, Any]) -> None:
    index["1"]["sub_tasks"][0]["weight"] = -1
    index["1"]["sub_tasks"][1]["requirements"] = ""
    for record in index.values():
        record["dialogs"][0]["content"] += " Call the OCR tool and " + "very " * 30 + "carefully ReadPDF."


def test_every_error_is_shown_and_many_warnings_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(make_release(tmp_path / "d", tasks=9, edit=plant_faults))]) == 1
    out = capsys.readouterr().out
    assert "9 tasks, 1 of them not usable" in out
    assert "error    task 1, checkpoint cp1: weight -1.0 is not a finite number above 0" in out
    assert "error    task 1, checkpoint cp2: a leaf needs a requirement, and this one has" in out
    assert "warning  and 8 more of [request-names-tool]; --json lists all" in out
    assert out.splitlines()[-1] == "NOT OK: 2 errors, 16 warnings, 0 notes"
    assert max(map(len, out.splitlines())) < 80


def test_json_lists_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make_release(tmp_path / "d", tasks=9, edit=plant_faults)
    assert main(["validate", str(path), "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["ok"] is False
    assert printed["dataset"]["path"] == str(path)
    assert printed["counts"]["tasks"] == 9
    assert printed["counts"]["usable"] == 8
    assert printed["counts"]["categories"]["planning"] == {"tasks": 2, "leaves": 12}
    assert len(printed["findings"]) == 18
    assert printed["findings"][0] == {
        "level": "error",
        "check": "structure",
        "task_id": "1",
        "node_id": "cp1",
        "message": "weight -1.0 is not a finite number above 0",
    }


def test_the_bundled_tasks_have_no_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "mini", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["ok"]
    assert {finding["level"] for finding in printed["findings"]} == {"note"}


def plant_slips(index: dict[str, Any]) -> None:
    """Plant one slip of each kind in a copy of the bundled tasks."""
    rubric = {task_id: record["sub_tasks"] for task_id, record in index.items()}
    rubric["11"][0]["sub_tasks"][0]["requirements"] = "Read the orders sheet of the export."
    rubric["12"][0]["sub_tasks"][1]["requirements"] = rubric["12"][0]["sub_tasks"][0]["requirements"]
    rubric["13"][1]["sub_tasks"][0]["requirements"] = "ReadPDF was used on Bird_Count.xlsx pages."
    index["21"]["dialogs"][0]["content"] += " Listen to it with SpeechToText."
    index["22"]["dialogs"][0]["content"] += " Add song.mp3 too."
    rubric["31"][0]["sub_tasks"][0]["requirements"] = "Posters.zip holds three posters."
    for leaf in rubric["42"][0]["sub_tasks"]:
        leaf["requirements"] = leaf["requirements"].replace("Campaign_Table.xlsx", "The table")
    index["32"]["files"][0]["path"] = "resources/images/gone.png"
    rubric["33"][0]["sub_tasks"][0]["weight"] = 0
    index["11"]["dialogs"][0]["content"] += " The refunds should come to 99.44."
    index["51"]["workflow_category_6class"] = "Menus"


def test_every_slip_in_a_copy_is_reported_by_task_and_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(MINI, tmp_path / "copy", ignore=shutil.ignore_patterns("*.py", "sources", "references"))
    index = json.loads((MINI / "end.json").read_text())
    plant_slips(index)
    (tmp_path / "copy" / "end.json").write_text(json.dumps(index))
    assert main(["validate", str(tmp_path / "copy"), "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    found = {(f["level"], f["check"], f["task_id"], f["node_id"]) for f in printed["findings"]}
    assert found == {
        ("error", "structure", "33", "cp1-1"),
        ("error", "input-missing", "32", None),
        ("warning", "leaf-is-step", "11", "cp1-1"),
        ("warning", "answer-given", "11", "cp1-4"),
        ("warning", "leaf-twice", "12", "cp1-2"),
        ("warning", "leaf-names-tool", "13", "cp2-1"),
        ("warning", "request-names-tool", "21", None),
        ("warning", "deliverable-not-judged", "22", None),
        ("warning", "deliverable-not-asked", "31", "cp1-1"),
        ("note", "category", "51", None),
        ("note", "deliverable-in-group", "42", "cp1"),
        ("note", "toolmeta", None, None),
    }


def test_yaml_tasks_and_several_datasets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_task(tmp_path / "mine" / "berths" / "task.yaml", inputs={"in.csv": b"a"})
    write_task(tmp_path / "mine" / "slip.yaml", TASK.replace("weight: 2", "weight: heavy"))
    assert main(["validate", str(tmp_path / "mine"), str(make_release(tmp_path / "theirs", tasks=2))]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("mine + theirs  (sha256 ")
    assert lines[1].startswith("4 tasks, 1 of them not usable; ")
    errors = [line for line in lines if line.startswith("error")]
    assert errors == ["error    task slip, checkpoint cp1: slip.yaml, line 5: `weight` is a text,"]
    (tmp_path / "mine" / "slip.yaml").unlink()
    (tmp_path / "mine" / "berths" / "in.csv").unlink()
    assert main(["validate", str(tmp_path / "mine" / "berths" / "task.yaml")]) == 1
    assert "in.csv is not in the dataset" in capsys.readouterr().out


def test_words_of_the_official_release_are_at_most_notes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def plant(index: dict[str, Any]) -> None:
        index["1"]["sub_tasks"][0]["requirements"] = "Extract the totals from report_1.docx."

    make_release(tmp_path / "gta_workflow_dataset", tasks=2, edit=plant)
    monkeypatch.setenv("GTA_DATA", str(tmp_path))
    assert main(["validate", "workflow", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert (found["level"], found["check"], found["node_id"]) == ("note", "leaf-is-step", "cp1")


@pytest.mark.parametrize("arguments", [["validate"], [], ["valdate", "x"], ["validate", "x", "--jsn"]])
def test_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: pytest-gta")


def test_what_is_no_dataset_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["validate", str(tmp_path / "nope")])
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"pytest-gta: {tmp_path / 'nope'}: no such file or folder\n"
    monkeypatch.setenv("GTA_DATA", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        main(["validate", "workflow"])
    assert ended.value.code == 2
    assert f"the release is not in {tmp_path}; get it by: pytest-gta fetch workflow" in capsys.readouterr().err


def test_the_documented_task_is_as_good_as_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (MINI.parents[1] / "docs" / "write-a-task.md").read_text()
    for block, name in (("csv", "results.csv"), ("yaml", "task.yaml")):
        target = tmp_path / "my_tasks" / "trail-run" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page.split(f"```{block}\n")[1].split("```")[0])
    assert main(["validate", str(tmp_path / "my_tasks"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["findings"] == []
    assert printed["counts"]["leaves"] == 4
    finished = [line.split(",") for line in target.with_name("results.csv").read_text().splitlines()[1:]]
    seconds: dict[str, list[int]] = {}
    for _, _, club, time in finished:
        if time != "DNF":
            hours, minutes, rest = map(int, time.split(":"))
            seconds.setdefault(club, []).append(hours * 3600 + minutes * 60 + rest)
    averages = {club: sum(times) / len(times) for club, times in seconds.items()}
    assert averages == {"Hillside": 7075.5, "Valley": 6838.5, "Lakeside": 7827.0}
    assert "1:57:56 for Hillside, 1:53:59 for Valley" in " ".join(target.read_text().split())


def test_a_hostile_id_commands_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def spoil(index: dict[str, Any]) -> None:
        index["1\x1b[31m"] = {**index.pop("1"), "sub_tasks": []}

    main(["validate", str(make_release(tmp_path / "d", tasks=2, edit=spoil))])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "task 1\u241b[31m" in out


def test_only_files_that_may_be_tasks_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As below ``/``, where `/proc` holds links that nobody may follow."""
    write_task(tmp_path / "one" / "task.yaml")
    (tmp_path / "cwd").write_text("")
    is_file = Path.is_file
    closed = {"cwd"}

    def guarded(self: Path) -> bool:
        if self.name in closed:
            raise PermissionError(13, "Permission denied", str(self))
        return is_file(self)

    monkeypatch.setattr(Path, "is_file", guarded)
    assert main(["validate", str(tmp_path)]) == 0
    closed.add("task.yaml")
    with pytest.raises(SystemExit) as ended:
        main(["validate", str(tmp_path)])
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        f"pytest-gta: {tmp_path}: {tmp_path}/one/task.yaml cannot be read: Permission denied; "
        "name the folder that holds only your tasks\n"
    )
