from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.cli import main
from tests.atomic_factory import Index, make_atomic
from tests.release_factory import make_release


def test_the_full_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(make_release(tmp_path / "release.zip"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) < 80
    assert lines[0].startswith("release  (sha256 ")
    rows = {" ".join(line.split()) for line in lines}
    assert rows >= {
        "here published",
        "tasks 132 132",
        "categories 6 6",
        "leaves 1,156 1,156",
        "a task, mean 8.76 8.76",
        "a task, from the least to the most 3 to 14 3 to 19",
        "leaves at level 1, the top 231 -",
        "tasks with input files 46 46",
        "files of such a task, mean (range) 1.52 (1 to 2) -",
        "the benchmark's tools described 37 37",
        "data_analysis 34 25.8 % 34 25.8 %",
        "capability asked for (inferred for 132) tasks published",
        "operation 132 100.0 % 131 99.2 %",
        "creativity - 24 18.2 %",
        "docx 22 16.7 % 16.4 %",
        "code - 4.0 %",
        "csv 20 28.6 % some",
        "video - some",
        "operation 19 51.4 % 19 51.4 %",
        "published GTA-2, arXiv 2604.15715, of GTA-Workflow; not counted here",
    }
    assert not any("no usable task" in line for line in lines)


def test_the_bars(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["stats", str(make_release(tmp_path / "release.zip"))])
    lines = capsys.readouterr().out.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("leaves a task"))
    rows = [line.split() for line in lines[start + 1 : lines.index("", start)]]
    numbers = {int(row[0]): (row[1] if len(row) > 3 else "", int(row[-2]), int(row[-1])) for row in rows}
    assert sum(here for _, here, _ in numbers.values()) == sum(theirs for _, _, theirs in numbers.values()) == 132
    tallest = max(max(here, theirs) for _, here, theirs in numbers.values())
    assert all(len(bar) == max(1, round(30 * here / tallest)) for bar, here, _ in numbers.values() if here)
    assert numbers[19] == ("", 0, 1)


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make_release(tmp_path / "d", tasks=6)
    assert main(["stats", str(path), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["dataset"]["path"] == str(path)
    assert printed["statistics"]["tasks"] == 6
    assert printed["statistics"]["categories"]["planning"] == 1
    leaves = printed["statistics"]["leaves"]
    assert leaves["number"] == 6
    assert leaves["mean"] == leaves["total"] / 6
    assert sum(leaves["counts"].values()) == 6
    assert printed["published"]["leaves"]["mean"] == pytest.approx(8.7576, abs=1e-4)
    assert printed["published"]["leaves"]["counts"]["7"] == 26
    assert printed["published"]["source"].endswith("not counted here")


def test_records_that_are_no_tasks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def spoil(index: dict[str, Any]) -> None:
        index["1"]["sub_tasks"] = []

    main(["stats", str(make_release(tmp_path / "d", tasks=2, edit=spoil))])
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "records that are no usable task 1 -" in rows


def test_the_bundled_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "mini"]) == 0
    assert capsys.readouterr().out.startswith("mini  (sha256 ")


def failure(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert failure(["stats", "mini", "--plot", "a.gif"], capsys) == (
        "pytest-gta: --plot: a.gif: a plot is drawn to a file ending in .png, .svg, .pdf\n"
    )
    assert failure(["stats", str(tmp_path / "x")], capsys) == f"pytest-gta: {tmp_path}/x: no such file or folder\n"
    monkeypatch.setattr("pytest_gta.reporters.statistics_plot.find_spec", lambda _: None)
    assert failure(["stats", "mini", "--plot", "a.png"], capsys) == (
        "pytest-gta: --plot: drawing needs matplotlib: pip install 'pytest-gta[tools]'\n"
    )


@pytest.mark.parametrize(("suffix", "beginning"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF-")])
def test_a_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str, beginning: bytes) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "plots" / f"a.{suffix}"
    assert main(["stats", str(make_release(tmp_path / "$x^2$", tasks=6)), "--plot", str(file)]) == 0
    assert file.read_bytes().startswith(beginning)
    assert capsys.readouterr().out.splitlines()[-1] == f"drawn to {file}"


def test_a_plot_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("")
    assert failure(["stats", "mini", "--plot", str(tmp_path / "file" / "a.png")], capsys).startswith(
        f"pytest-gta: --plot: {tmp_path}/file/a.png cannot be written: "
    )


def test_questions_with_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def spoil(index: Index) -> None:
        index["2"]["gt_answer"] = {}

    path = str(make_atomic(tmp_path / "gta_dataset.zip", edit=spoil))
    assert main(["stats", path]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) < 80
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "here published",
        "questions 6 229",
        "answered in text 4 172",
        "with an answer key: can be run 3 -",
        "with an open answer: left out 1 -",
        "answered by a picture: left out 1 57",
        "whose record is not usable 1 -",
        "input files 6 252",
        "tools 6 14",
        "",
        "tools of a question questions published",
        "1 3 17",
        "2 3 147",
        "3 0 50",
        "4 0 15",
        "",
        "tool questions published",
        "ImageDescription 2 -",
        "OCR 2 -",
        "TextToBbox (not among the tools here) 2 -",
        "Calculator 1 -",
        "DrawBox 1 -",
        "GoogleSearch 1 -",
        "",
        "published GTA-2, arXiv 2604.15715, of GTA-Atomic; not counted here",
    ]
    assert main(["stats", path, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["statistics"]["tools_a_question"] == {"1": 3, "2": 3}
    assert printed["published"]["tools_a_question"] == {"1": 17, "2": 147, "3": 50, "4": 15}
    if find_spec("matplotlib"):
        assert "leave it out for GTA-Atomic" in failure(["stats", path, "--plot", str(tmp_path / "a.png")], capsys)
