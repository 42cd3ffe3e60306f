"""The reference deliverables exist under the names the requests ask for, open, and hold what the leaves ask for."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import openpyxl
import pypdf
import pytest

from benchmark_tasks.mini.reference import make_references
from pytest_gta.benchmark.release import Release
from pytest_gta.benchmark.task import Task
from tests.mini.test_dataset import MINI, NAMED_FILE


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("references")
    make_references(folder)
    return folder


def test_exactly_the_files_asked_for(outputs: Path) -> None:
    for task in Release(MINI).tasks():
        assert isinstance(task, Task)
        inputs = {Path(resource.path).name for resource in task.resources}
        asked = set(NAMED_FILE.findall(task.request)) - inputs
        made = {path.name for path in (outputs / task.id / "files").rglob("*") if path.is_file()}
        assert made == asked, task.id
        assert (outputs / task.id / "final.txt").read_text("utf-8").strip()


def pdf_text(path: Path) -> str:
    return " ".join(page.extract_text() for page in pypdf.PdfReader(path).pages)


def test_farm_shop(outputs: Path) -> None:
    book = openpyxl.load_workbook(outputs / "11/files/Q3_Clean.xlsx")
    ids = [row[0] for row in book["Orders"].iter_rows(min_row=2, values_only=True)]
    assert len(ids) == len(set(ids)) == 45
    summary = (outputs / "11/files/Q3_Summary.md").read_text("utf-8")
    assert "4,137.43" in summary and "99.44" in summary
    assert len(summary.split()) <= 250


def test_ear_training(outputs: Path) -> None:
    import docx

    key = json.loads((outputs / "21/files/Answer_Key.json").read_text("utf-8"))
    assert len(key) == 8 and len(key["question_answers"]) == 6
    sheet = docx.Document(str(outputs / "21/files/Ear_Training_Sheet.docx"))
    (table,) = sheet.tables
    assert [cell.text for cell in table.columns[0].cells[1:]] == [str(i) for i in range(1, 9)]
    assert not any(cell.text for column in list(table.columns)[1:] for cell in column.cells[1:])
    text = " ".join(paragraph.text for paragraph in sheet.paragraphs)
    assert (
        sum(paragraph.text.endswith("?") and paragraph.style.name == "List Number" for paragraph in sheet.paragraphs)
        == 6
    )
    assert "96" not in text and not any(note["name"] in text for note in key["notes"])


def test_craft_fair(outputs: Path) -> None:
    book = openpyxl.load_workbook(outputs / "31/files/Stall_Plan.xlsx")
    with (MINI / "resources/files/31-applications.csv").open(encoding="utf-8") as lines:
        applied = {row["trader"]: row for row in csv.DictReader(lines)}
    used = dict.fromkeys(("Main Hall", "Library", "Foyer", "Annex"), 0)
    placed = [row for row in book["Allocation"].iter_rows(min_row=2, values_only=True) if row[0] != "Total"]
    assert sorted(row[0] for row in placed) == sorted(applied)
    for trader, kind, room, tables, *_ in placed:
        used[room] += tables
        assert tables == int(applied[trader]["tables"] or 1)
        assert room == "Annex" or kind != "food"
        assert room != "Foyer" or applied[trader]["needs_power"] != "yes"
    assert used["Main Hall"] <= 10 and used["Library"] <= 5 and used["Foyer"] <= 4 and used["Annex"] <= 6
    brief = outputs / "31/files/Fair_Brief.pdf"
    assert len(pypdf.PdfReader(brief).pages) <= 2
    assert "GBP 414" in pdf_text(brief) and "GBP 123" in pdf_text(brief)


def test_mug_forum(outputs: Path) -> None:
    import pptx

    with (outputs / "41/files/Mug_Posts.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 16 and sum(int(row["likes"]) for row in rows) == 191
    deck = pptx.Presentation(str(outputs / "41/files/Mug_Feedback.pptx"))
    assert len(deck.slides) == 6
    assert all(slide.has_notes_slide and slide.notes_slide.notes_text_frame.text.endswith(".") for slide in deck.slides)
    (chart,) = [shape.chart for slide in deck.slides for shape in slide.shapes if shape.has_chart]
    assert list(chart.plots[0].series[0].values) == [5, 2, 2, 2]


def test_cafe_menu(outputs: Path) -> None:
    from PIL import Image

    (page,) = pypdf.PdfReader(outputs / "51/files/Menu_Card.pdf").pages
    assert [round(float(side) / 72 * 25.4) for side in page.mediabox[2:]] == [148, 210]
    text = page.extract_text()
    for price in ("6.70", "9.70", "5.90", "16.00", "13.30", "17.90", "12.90", "5.20", "4.60", "3.90"):
        assert price in text
    assert "Crab" not in text and "Rum" not in text
    with Image.open(outputs / "51/files/Menu_Post.png") as image:
        assert image.size == (1080, 1080)
    assert 4 <= len(json.loads((outputs / "51/files/palette.json").read_text("utf-8"))) <= 6


def test_pet_cover(outputs: Path) -> None:
    with (outputs / "61/files/PetCoverComparison.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 12 and list(rows[0]) == ["point", "pawsure", "pawsure_page", "tailguard", "tailguard_page"]
    page = (outputs / "61/files/PetCoverComparison.html").read_text("utf-8")
    for amount in ("1,536.00", "1,732.50", "1,024.80", "930.30", "94.50"):
        assert amount in page
    for row in rows:
        assert row["pawsure"] in page and row["tailguard"] in page
