"""Drawing documents and web pages with the programs of this machine; skipped where they are missing."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import docx
import openpyxl
import pypdfium2
import pytest
from PIL import Image
from pptx import Presentation

from pytest_gta.formats import renderers
from pytest_gta.formats.browser import WebPictures, picture_page
from pytest_gta.formats.drawn_pages import file_pictures, pdf_pictures
from pytest_gta.formats.extract import Picture
from pytest_gta.formats.office import document_to_pdf
from pytest_gta.formats.renderers import Renderer, Renderers, find_renderers
from pytest_gta.workspace.confined_program import ProgramFailed
from tests.formats.office import png

FOUND = find_renderers()
needs_office = pytest.mark.skipif(FOUND.office is None, reason="LibreOffice is not installed")
needs_browser = pytest.mark.skipif(FOUND.browser is None, reason="Chromium is not installed")


def deck(path: Path, slides: int = 3, hidden: int = 2) -> Path:
    made = Presentation()
    for number in range(1, slides + 1):
        slide = made.slides.add_slide(made.slide_layouts[5])
        slide.shapes.title.text = f"Slide {number}"
        if number == hidden:
            slide._element.set("show", "0")
    made.save(str(path))
    return path


def convert(document: Path, family: str, folder: Path, seconds: float = 60.0) -> Path:
    assert FOUND.office is not None
    folder.mkdir()
    return document_to_pdf(FOUND.office.binary, document, family, folder, confined=FOUND.confined, seconds=seconds)


def text_of(pdf: Path, page: int) -> str:
    return str(pypdfium2.PdfDocument(pdf)[page].get_textpage().get_text_range())


@needs_office
def test_a_deck_with_a_hidden_slide_keeps_its_numbers(tmp_path: Path) -> None:
    pdf = convert(deck(tmp_path / "deck.pptx"), "slides", tmp_path / "made")
    assert pdf.name == "deck.pptx.pdf"
    assert [text_of(pdf, page).strip() for page in range(3)] == ["Slide 1", "Slide 2", "Slide 3"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deck.pptx", "made"]


@needs_office
def test_a_sheet_is_one_page(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    for row in range(1, 301):
        workbook.active.append([row * column for column in range(1, 15)])
    workbook.create_sheet("Other")["A1"] = "second"
    workbook.save(tmp_path / "book.xlsx")
    pdf = convert(tmp_path / "book.xlsx", "sheets", tmp_path / "made")
    found = pdf_pictures(str(pdf), 4, 1_200)
    assert found["pages"] == 2
    assert found["shown"] == [1, 2]
    assert "second" in text_of(pdf, 1)
    assert len(found["pictures"]) == 4
    assert all(max(picture["width"], picture["height"]) <= 1_200 for picture in found["pictures"])


@needs_office
def test_two_at_once_with_one_stem_do_not_collide(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("the word report")
    document.save(str(tmp_path / "Report.docx"))
    workbook = openpyxl.Workbook()
    workbook.active["A1"] = "the sheet report"
    workbook.save(tmp_path / "Report.xlsx")
    made: dict[str, Path] = {}

    def one(name: str, family: str) -> None:
        made[name] = convert(tmp_path / name, family, tmp_path / f"made-{family}")

    threads = [threading.Thread(target=one, args=pair) for pair in (("Report.docx", "word"), ("Report.xlsx", "sheets"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: path.name for name, path in made.items()} == {
        "Report.docx": "Report.docx.pdf",
        "Report.xlsx": "Report.xlsx.pdf",
    }
    assert "the word report" in text_of(made["Report.docx"], 0)
    assert "the sheet report" in text_of(made["Report.xlsx"], 0)


@needs_office
def test_what_cannot_be_converted_is_said(tmp_path: Path) -> None:
    (tmp_path / "bad.docx").write_bytes(b"PK\x03\x04 not a document")
    with pytest.raises(ProgramFailed):
        convert(tmp_path / "bad.docx", "word", tmp_path / "one")
    with pytest.raises(ProgramFailed, match=r"does not know a name that ends in \.txt"):
        (tmp_path / "notes.txt").write_text("x")
        convert(tmp_path / "notes.txt", "word", tmp_path / "two")
    started = time.monotonic()
    with pytest.raises(ProgramFailed, match="took longer than"):
        convert(deck(tmp_path / "deck.pptx"), "slides", tmp_path / "three", seconds=0.05)
    assert time.monotonic() - started < 50


PAGE = """<!doctype html><html><head><script src="https://cdn.example.com/chart.js"></script>
<link rel=stylesheet href="style.css"><style>body{margin:0} .hero{height:100vh}
.late{opacity:0} .late.on{opacity:1;background:#0000ff;height:400px}</style></head>
<body><div class=hero></div><div style="height:2500px"><canvas id=c width=400 height=200></canvas>
<iframe src="file:///etc/passwd" width=300></iframe></div><div class=late></div>
<script>alert("stop here");
const pen = document.getElementById('c').getContext('2d'); pen.fillStyle = '#00ff00'; pen.fillRect(0, 0, 400, 200);
new IntersectionObserver(all => all.forEach(e => e.isIntersecting && e.target.classList.add('on')))
  .observe(document.querySelector('.late'));</script></body></html>"""


def screen(page: Path, folder: Path, most: int = 4, seconds: float = 60.0, phone: bool = False) -> WebPictures:
    assert FOUND.browser is not None
    folder.mkdir()
    return picture_page(
        FOUND.browser.binary,
        page,
        folder,
        site=page.parent,
        confined=FOUND.confined,
        most=most,
        longest_px=1_280,
        seconds=seconds,
        phone=phone,
    )


def has_colour(path: Path, colour: tuple[int, int, int], least: int = 5_000) -> bool:
    image = Image.open(path).convert("RGB")
    return sum(count for count, seen in image.getcolors(1 << 24) or () if seen == colour) >= least


@needs_browser
def test_a_page_is_drawn_to_its_end_with_its_own_files(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "my page #1.html").write_text(PAGE)
    (site / "style.css").write_text(".hero{background:#ff0000}")
    made = screen(site / "my page #1.html", tmp_path / "made")
    assert made.pieces == 3
    assert made.height == 900 + 2_500 + 400 or made.height > 3_500
    assert made.not_loaded == ("cdn.example.com",)
    first, _, last = (path for _, path in made.files)
    assert has_colour(first, (255, 0, 0)), "the style sheet beside the page"
    assert has_colour(first, (0, 255, 0)), "what a script draws"
    assert has_colour(last, (0, 0, 255)), "what appears when scrolled to"
    assert sorted(path.name for path in site.iterdir()) == ["my page #1.html", "style.css"]


@needs_browser
def test_a_page_is_shown_on_a_phone_too_where_there_is_room_for_two(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        "<meta name=viewport content='width=device-width'><style>body{margin:0;background:#ff0000;height:2000px}"
        "@media (max-width: 375px){body{background:#0000ff}}</style>"
    )
    made = screen(tmp_path / "page.html", tmp_path / "made", most=2, phone=True)
    assert made.phone is not None
    where, picture = made.phone
    assert where == "first 1,280 of 2,000 pixels as on a phone, 375 pixels wide"
    assert Image.open(picture).size == (375, 1_280)
    assert has_colour(picture, (0, 0, 255), 375 * 1_280)
    assert [name for name, _ in made.files] == ["part 1 of 2"]
    assert has_colour(made.files[0][1], (255, 0, 0))
    assert screen(tmp_path / "page.html", tmp_path / "one", most=1, phone=True).phone is None


@needs_browser
def test_a_page_that_never_ends_costs_its_time_only(tmp_path: Path) -> None:
    (tmp_path / "loop.html").write_text("<p>text</p><script>while (true) {}</script>")
    started = time.monotonic()
    with pytest.raises(ProgramFailed, match="Chromium took longer than 5 s"):
        screen(tmp_path / "loop.html", tmp_path / "made", seconds=5)
    assert time.monotonic() - started < 60


def test_pictures_of_pages_are_spread_and_large_pages_come_in_parts(tmp_path: Path) -> None:
    document = pypdfium2.PdfDocument.new()
    for size in ((600, 800),) * 20 + ((2_000, 2_000),):
        document.new_page(*size)
    document.save(tmp_path / "a.pdf")
    few = pdf_pictures(str(tmp_path / "a.pdf"), 5, 400)
    assert few["pages"] == 21
    assert few["shown"] == [1, 6, 11, 16, 21]
    many = pdf_pictures(str(tmp_path / "a.pdf"), 23, 400)
    wheres = [picture["where"] for picture in many["pictures"]]
    assert wheres[:20] == [str(number) for number in range(1, 21)]
    assert wheres[20:] == ["21", "21, part 1 of 4", "21, part 4 of 4"]
    assert {(p["width"], p["height"]) for p in many["pictures"][20:]} == {(400, 400)}


def test_picture_files_are_made_small_and_anything_else_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png("blue", (2_000, 1_000)))
    made = Picture.from_json(file_pictures([str(tmp_path / "a.png")], 500)[0])
    assert (made.width, made.height) == (500, 250)
    (tmp_path / "b.png").write_text("no picture")
    with pytest.raises(ValueError, match="not an image"):
        file_pictures([str(tmp_path / "b.png")], 500)


def test_which_program_draws_what() -> None:
    office, browser = Renderer("LibreOffice", Path("/o"), "7"), Renderer("Chromium", Path("/c"), "9")
    both = Renderers(office, browser)
    assert both.names == ("LibreOffice", "Chromium")
    assert [both.for_family(f) for f in ("word", "slides", "sheets", "web", "pdf")] == [office] * 3 + [browser, None]
    assert Renderers().names == ()


def test_a_drawing_depends_on_the_fonts_that_packages_bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "soffice"
    program.write_text("#!/bin/sh\necho LibreOffice 1.2\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(renderers, "_bubblewrap_works", lambda: False)  # which would not see the program
    monkeypatch.setattr(renderers, "font_packages", lambda: iter(()))
    found = find_renderers().office
    assert found is not None and found.version == "LibreOffice 1.2"
    monkeypatch.setattr(renderers, "font_packages", lambda: iter([tmp_path / "noto_fonts"]))
    found = find_renderers().office
    assert found is not None and found.version == "LibreOffice 1.2, fonts of noto_fonts"


def test_programs_that_are_missing_or_broken_are_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_renderers().names == ()
    for name in ("soffice", "chromium"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    assert find_renderers().names == ()
