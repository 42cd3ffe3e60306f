"""The text in pictures is read, with boxes and in order, from scans, photos and screenshots of any length."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from reportlab.pdfgen.canvas import Canvas

from pytest_gta.tools import ocr
from pytest_gta.tools.ocr import read_lines, read_text, tesseract_lines
from pytest_gta.tools.tool import ToolFault
from pytest_gta.tools.toolbox import Toolbox
from tests.tools.pictures import font, saved, written

needs_rapidocr = pytest.mark.skipif(ocr.engine() != "rapidocr", reason="rapidocr is not installed")


def lines_of(text: str) -> list[tuple[tuple[int, ...], str]]:
    found = [re.fullmatch(r"\((\d+), (\d+), (\d+), (\d+)\) (.+)", line) for line in text.splitlines()]
    return [(tuple(map(int, match.groups()[:4])), match[5]) for match in found if match]


@needs_rapidocr
def test_lines_come_with_their_boxes_in_the_confined_process(toolbox: Toolbox) -> None:
    page = written(((40, 30), "Invoice 2024-017"), ((40, 110), "Total: 1,284.50 EUR"), ((400, 110), "paid"))
    saved(page, toolbox.workspace.root / "invoice.png")
    answer = toolbox.call("OCR", {"image": "invoice.png"})
    assert not answer.is_error
    lines = lines_of(answer.text)
    assert [text for _, text in lines] == ["Invoice 2024-017", "Total: 1,284.50 EUR", "paid"]
    left, top, right, bottom = lines[0][0]
    assert abs(left - 40) < 8 and abs(top - 35) < 10 and abs(right - 285) < 20 and abs(bottom - 62) < 10


@needs_rapidocr
def test_a_photo_is_read_upright_and_what_is_transparent_is_white(tmp_path: Path) -> None:
    picture = written(((30, 40), "Platform 9 departs"), size=(420, 120))
    exif = Image.Exif()
    exif[0x0112] = 8
    saved(picture.rotate(-90, expand=True), tmp_path / "turned.jpg", exif=exif)
    [(box, text)] = lines_of(read_text(str(tmp_path / "turned.jpg")))
    assert text == "Platform 9 departs" and box[2] - box[0] > 4 * (box[3] - box[1])
    clear = Image.new("RGBA", (420, 120), (0, 0, 0, 0))
    ImageDraw.Draw(clear).text((30, 40), "Clear sky", fill="black", font=font(28))
    saved(clear, tmp_path / "clear.png")
    assert [text for _, text in lines_of(read_text(str(tmp_path / "clear.png")))] == ["Clear sky"]


@needs_rapidocr
def test_accents_are_read(tmp_path: Path) -> None:
    page = written(((30, 30), "Größe über Straße"), ((30, 100), "mañana señor número"))
    assert [line.text for line in read_lines(page)] == ["Größe über Straße", "mañana señor número"]


@needs_rapidocr
@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_page_the_wrong_way_round_is_read_in_order(tmp_path: Path, degrees: int) -> None:
    words = ["Invoice 2024-017", "Widget A costs 9.50", "Gadget B costs 12.00", "Total due in March"]
    page = written(*(((40, 30 + 70 * row), text) for row, text in enumerate(words)), size=(500, 380))
    saved(page.rotate(degrees, expand=True), tmp_path / "turned.png")
    told = read_text(str(tmp_path / "turned.png"))
    assert told.startswith("[The page stands on its head" if degrees == 180 else "[The lines run up or down")
    lines = lines_of(told)
    assert [text for _, text in lines] == words
    # The box is where the line is in the file: its ink fills it, and nothing else does.
    (left, top, right, bottom), _ = lines[0]
    with Image.open(tmp_path / "turned.png") as turned:
        ink = turned.convert("L").point(lambda value: 255 * (value < 128))
        found = ink.crop((left - 5, top - 5, right + 5, bottom + 5)).getbbox()
    assert found is not None
    sides = sorted((found[2] - found[0], found[3] - found[1]))
    assert sides[0] > 15 and sides[1] > 180


@needs_rapidocr
def test_a_few_words_on_a_large_page_are_found() -> None:
    page = Image.new("RGB", (1556, 2200), "white")
    page.paste(written(((10, 10), "Page one text"), size=(300, 60)), (250, 340))
    (line,) = read_lines(page)
    assert line.text == "Page one text" and abs(line.left - 260) < 8 and abs(line.top - 355) < 10
    assert read_lines(Image.new("RGB", (1556, 2200), "white")) == []


@needs_rapidocr
def test_the_pages_of_a_pdf_that_are_pictures_are_read(toolbox: Toolbox) -> None:
    root = toolbox.workspace.root
    saved(written(((60, 60), "Scanned words 42"), size=(500, 300)), root / "page.png")
    canvas = Canvas(str(root / "scan.pdf"), pagesize=(500, 300))
    canvas.drawString(50, 200, "This page has its text in the file")
    canvas.showPage()
    canvas.drawImage(str(root / "page.png"), 0, 0, 500, 300)
    canvas.save()
    assert "OCR, given this file, reads its pages without text" in toolbox.call("ReadPDF", {"file": "scan.pdf"}).text
    answer = toolbox.call("OCR", {"image": "scan.pdf"})
    mark, line = answer.text.splitlines()
    assert mark == "[page 2]" and line.endswith(") Scanned words 42")
    (root / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    assert "broken.pdf is a PDF that cannot be opened" in toolbox.call("OCR", {"image": "broken.pdf"}).text


@needs_rapidocr
def test_what_looks_like_text_and_cannot_be_read_is_said(tmp_path: Path) -> None:
    saved(written(((30, 30), "Invoice 2024"), ((30, 120), "Привет мир"), size=(500, 200)), tmp_path / "two.png")
    told = read_text(str(tmp_path / "two.png"))
    assert [text for _, text in lines_of(told)] == ["Invoice 2024"]
    assert "1 more place may be text and could not be read" in told


@needs_rapidocr
def test_a_long_screenshot_keeps_its_small_letters() -> None:
    rows = [((30, 20 + 380 * i), f"Row {i} of the list has code {1000 + 37 * i}") for i in range(6)]
    found = read_lines(written(*rows, size=(500, 2100), letters=15))
    assert [line.text for line in found] == [text for _, text in rows]
    assert all(abs(line.top - place[1]) < 12 for line, (place, _) in zip(found, rows, strict=True))


@needs_rapidocr
def test_all_pages_of_a_scan_are_read(tmp_path: Path) -> None:
    one, two = (written(((30, 40), text), size=(300, 100)) for text in ("First page", "Second page"))
    saved(one, tmp_path / "scan.tif", save_all=True, append_images=[two])
    first, second = read_text(str(tmp_path / "scan.tif")).split("\n[page 2]\n")
    assert first.startswith("[page 1]\n(") and first.endswith(") First page") and second.endswith(") Second page")


@needs_rapidocr
def test_a_picture_without_text_says_so(tmp_path: Path) -> None:
    saved(Image.new("RGB", (200, 200), "white"), tmp_path / "blank.png")
    assert read_text(str(tmp_path / "blank.png")) == "No text was found in the picture."
    saved(Image.new("RGB", (1, 1), "white"), tmp_path / "dot.png")
    assert read_text(str(tmp_path / "dot.png")) == "No text was found in the picture."


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr.importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    saved(Image.new("RGB", (20, 20)), tmp_path / "a.png")
    with pytest.raises(ToolFault, match=r"pytest-gta\[ocr\].*tesseract"):
        read_text(str(tmp_path / "a.png"))


TABLE = (
    "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
    "1\t1\t0\t0\t0\t0\t0\t0\t640\t240\t-1\t\n"
    "5\t1\t1\t1\t1\t1\t40\t35\t100\t25\t96.1\tInvoice\n"
    "5\t1\t1\t1\t1\t2\t150\t33\t130\t27\t91.0\t2024-017\n"
    '5\t1\t1\t1\t2\t1\t40\t115\t90\t24\t95.2\t"Total\n'
    "5\t1\t1\t1\t2\t2\t400\t115\t60\t24\t95.2\tpaid\n"
)


def test_tesseract_s_words_become_lines() -> None:
    lines = [(line.left, line.top, line.right, line.bottom, line.text) for line in tesseract_lines(TABLE)]
    assert lines == [(40, 33, 280, 60, "Invoice 2024-017"), (40, 115, 130, 139, '"Total'), (400, 115, 460, 139, "paid")]


def test_tesseract_reads_where_there_is_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "tesseract"
    (tmp_path / "table").write_text(TABLE)
    program.write_text(
        '#!/bin/sh\nif [ "$1" = --list-langs ]; then echo "List:"; echo eng; echo deu; exit 0; fi\n'
        f'/bin/cat > /dev/null\necho "$@" > {tmp_path}/asked\n/bin/cat {tmp_path}/table\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(ocr.importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    saved(written(((40, 30), "x")), tmp_path / "a.png")
    assert read_text(str(tmp_path / "a.png")).startswith("(40, 33, 280, 60) Invoice 2024-017\n")
    assert (tmp_path / "asked").read_text().strip() == "stdin stdout -l eng+deu tsv"
