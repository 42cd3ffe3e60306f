from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.cli import main
from tests.release_factory import make_release


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
    assert json.loads(capsys.readouterr().out)["ok"]


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
