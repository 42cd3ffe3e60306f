from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.read import read_file
from tests.formats.office import png

Drawer = Callable[[Canvas], None]


def text_page(text: str) -> Drawer:
    return lambda canvas: canvas.drawString(72, 700, text)


def scanned_page(canvas: Canvas) -> None:
    canvas.drawImage(ImageReader(io.BytesIO(png("grey", (400, 500)))), 0, 0, 595, 842)


def make(path: Path, *pages: Drawer) -> Path:
    canvas = Canvas(str(path), pagesize=(595, 842))
    canvas.setTitle("Survey")
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return path


def test_pages_are_marked_and_pictured(tmp_path: Path) -> None:
    extract = read_file(make(tmp_path / "a.pdf", text_page("First page here."), text_page("Second page here.")))
    assert (extract.kind, extract.media_type, extract.faults) == ("pdf", "application/pdf", ())
    assert extract.facts["pages"] == 2
    assert "=== page 1 ===\nFirst page here.\n\n=== page 2 ===\nSecond page here." in extract.text
    assert "[document properties: title: Survey" in extract.text
    assert [(p.where, max(p.width, p.height)) for p in extract.pictures] == [("page 1", 1200), ("page 2", 1200)]
    with Image.open(io.BytesIO(extract.pictures[0].data)) as image:
        assert image.size == (extract.pictures[0].width, extract.pictures[0].height)


def test_scanned_pages_are_named_first_and_pictured(tmp_path: Path) -> None:
    pages = [text_page("A cover with enough words."), *[scanned_page] * 8, text_page("An end with enough words.")]
    extract = read_file(make(tmp_path / "mixed.pdf", *pages), ReadLimits(max_pictures=9))
    assert extract.notes[0] == "8 of 10 pages are scans or pictures without text: 2-9"
    assert "=== page 2 [a picture, no text in the file] ===\n[no text]" in extract.text
    assert [p.where for p in extract.pictures] == [f"page {n}" for n in range(1, 10)]
    assert extract.faults == ("9 of 10 pages are pictured: 1-9",)


def test_scans_that_find_no_room_are_named(tmp_path: Path) -> None:
    extract = read_file(make(tmp_path / "scan.pdf", *[scanned_page] * 6), ReadLimits(max_pictures=3))
    assert [p.where for p in extract.pictures] == ["page 1", "page 3", "page 6"]
    assert "pages that are pictures without text are not shown: 2, 4-5" in extract.faults


def test_pictures_are_spread_over_a_long_document(tmp_path: Path) -> None:
    path = make(tmp_path / "long.pdf", *[text_page(f"This is the page with number {n}.") for n in range(1, 61)])
    extract = read_file(path, ReadLimits(max_pictures=4))
    assert [p.where for p in extract.pictures] == ["page 1", "page 21", "page 40", "page 60"]
    assert "This is the page with number 40." in extract.text


def encrypted(path: Path, password: str) -> Path:
    writer = PdfWriter(clone_from=PdfReader(path))
    writer.encrypt(password, "owner secret", algorithm="RC4-128")
    writer.write(path)
    return path


def test_empty_password_is_tried(tmp_path: Path) -> None:
    path = encrypted(make(tmp_path / "open.pdf", text_page("Readable all the same.")), "")
    extract = read_file(path)
    assert "Readable all the same." in extract.text
    assert "it is encrypted, with an empty password" in extract.notes


def test_password_is_one_plain_fault(tmp_path: Path) -> None:
    extract = read_file(encrypted(make(tmp_path / "shut.pdf", text_page("Secret.")), "pass"))
    assert extract.faults == ("PDF document: it is encrypted and needs a password (an empty one was tried)",)
    assert (extract.text, extract.pictures) == ("", ())


def test_links_comments_outline_fields_and_attachments(tmp_path: Path) -> None:
    def linked(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "A page with a link on it.")
        canvas.linkURL("https://example.org/source", (72, 690, 200, 710))
        canvas.bookmarkPage("one")
        canvas.addOutlineEntry("Chapter one", "one")

    path = make(tmp_path / "rich.pdf", linked)
    writer = PdfWriter(clone_from=PdfReader(path))
    writer.add_annotation(0, FreeText(text="please rephrase", rect=(50, 550, 200, 650)))
    writer.add_attachment("data.csv", b"a,b\n1,2\n")
    writer.write(path)
    extract = read_file(path)
    assert "[links: https://example.org/source]" in extract.text
    assert "please rephrase]" in extract.text
    assert "[outline: Chapter one]" in extract.text
    assert extract.faults == ("attached files are listed, not opened: data.csv (8 bytes)",)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_truncated_is_plain_or_rescued(tmp_path: Path, share: float) -> None:
    path = make(tmp_path / "cut.pdf", text_page("Some words on a page."))
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    extract = read_file(path)
    assert extract.kind == "pdf"
    assert (
        extract.faults == ("PDF document: it is damaged or incomplete and cannot be opened",)
        or "Some words" in extract.text
    )


def test_page_tree_that_loops_ends(tmp_path: Path) -> None:
    pdf = (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Count 2/Kids[2 0 R 3 0 R]/Annots 4 0 R>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]/Resources<</XObject<</A 3 0 R>>>>>>endobj\n"
        b"4 0 obj[4 0 R]endobj\ntrailer<</Root 1 0 R>>\n"
    )
    path = tmp_path / "loop.pdf"
    path.write_bytes(pdf)
    extract = read_file(path, ReadLimits(max_seconds=5))
    assert extract.kind == "pdf"
    assert extract.faults or extract.facts["pages"] >= 1


def test_text_alone(tmp_path: Path) -> None:
    extract = read_file(make(tmp_path / "a.pdf", text_page("Only the text of it.")), ReadLimits(max_pictures=0))
    assert (extract.pictures, extract.faults) == ((), ())


def test_text_that_is_not_seen_is_marked(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "These words can be seen.")
        canvas.setFillColorRGB(0, 0, 0.5)
        canvas.rect(60, 590, 300, 30, fill=1)
        canvas.setFillColorRGB(1, 1, 1)
        canvas.drawString(72, 600, "A header on blue.")
        canvas.drawString(72, 650, "white on white")
        words = canvas.beginText(72, 500)
        words.setTextRenderMode(3)
        words.textLine("drawn invisibly")
        canvas.drawText(words)

    extract = read_file(make(tmp_path / "hidden.pdf", draw))
    assert "[hidden text: white on white drawn invisibly]" in extract.text
    assert extract.notes == ("page 1 holds text that is not seen, marked [hidden text: ...]",)


def test_recognised_words_over_a_scan_are_not_hidden(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        scanned_page(canvas)
        words = canvas.beginText(72, 500)
        words.setTextRenderMode(3)
        words.textLine("words that a scanner recognised")
        canvas.drawText(words)

    extract = read_file(make(tmp_path / "ocr.pdf", draw))
    assert "words that a scanner recognised" in extract.text
    assert extract.notes == ()
