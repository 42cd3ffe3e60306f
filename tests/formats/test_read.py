from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import docx
import pytest

from pytest_gta.formats.extract import Extract, Picture
from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.read import read_file, read_file_json
from tests.formats.office import png

COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504


def compound(path: Path, stream: str) -> Path:
    path.write_bytes(COMPOUND + stream.encode("utf-16-le") + b"\0" * 512)
    return path


def test_json_form_is_lossless(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(png())
    extract = read_file(path)
    assert Extract.from_json(json.loads(json.dumps(extract.to_json()))) == extract
    assert read_file_json(str(path), {"max_pictures": 0})["pictures"] == []


def test_unknown_limits_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="max_picturs"):
        read_file_json(str(tmp_path), {"max_picturs": 1})


@pytest.mark.parametrize(
    "suffix", ["docx", "pptx", "xlsx", "pdf", "html", "txt", "png", "wav", "mp4", "zip", "xyz", ""]
)
def test_empty_file_is_one_plain_fault(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"empty.{suffix}"
    path.touch()
    assert read_file(path).faults == ("the file is empty (0 bytes)",)


@pytest.mark.parametrize(
    "suffix", ["docx", "pptx", "xlsx", "pdf", "png", "jpg", "wav", "mp3", "mp4", "zip", "tar.gz", "bin"]
)
def test_noise_is_one_plain_fault(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"noise.{suffix}"
    path.write_bytes(bytes((n * 73 + n // 7) % 256 for n in range(5_000)))
    extract = read_file(path)
    assert (extract.text, extract.pictures) == ("", ())
    assert extract.faults


def test_missing_file_and_folder(tmp_path: Path) -> None:
    assert read_file(tmp_path / "gone.pdf").faults == ("the file cannot be opened: No such file or directory",)
    assert read_file(tmp_path).faults == ("the file cannot be opened: Is a directory",)


def test_wrong_suffix_is_read_by_content_and_noted(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("inside")
    path = tmp_path / "report.pdf"
    document.save(str(path))
    extract = read_file(path)
    assert extract.kind == "word"
    assert "inside" in extract.text
    assert extract.notes == ("its name ends in .pdf (PDF document), but by its content it is a Word document",)


def test_a_text_that_speaks_of_pdf_is_a_text(tmp_path: Path) -> None:
    script = tmp_path / "make.py"
    script.write_text('"""Writes a report."""\n\nHEADER = "%PDF-1.4"\n')
    extract = read_file(script)
    assert (extract.kind, extract.media_type, extract.faults) == ("text", "text/x-python", ())
    assert 'HEADER = "%PDF-1.4"' in extract.text
    # Lines before it are no reason to refuse what is meant to be one.
    late = tmp_path / "late.pdf"
    late.write_bytes(b"Content-Type: application/pdf\r\n\r\n%PDF-1.4\n")
    assert read_file(late).media_type == "application/pdf"


def test_text_named_as_a_document(tmp_path: Path) -> None:
    path = tmp_path / "report.docx"
    path.write_text("just words")
    extract = read_file(path)
    assert (extract.kind, extract.text) == ("text", "just words")
    assert extract.notes == ("its name ends in .docx (Word document), but by its content it is a docx file",)


def test_old_office_formats_are_named(tmp_path: Path) -> None:
    word = read_file(compound(tmp_path / "a.doc", "WordDocument"))
    assert (word.kind, word.faults) == (
        "word",
        ("Word 97-2003 document: the old .doc format is not readable; .docx is",),
    )
    renamed = read_file(compound(tmp_path / "b.docx", "WordDocument"))
    assert renamed.faults == ("Word 97-2003 document: the old .doc format is not readable; .docx is",)
    deck = read_file(compound(tmp_path / "c.ppt", "PowerPoint Document"))
    assert deck.faults == ("PowerPoint 97-2003 deck: the old .ppt format is not readable; .pptx is",)


def test_password_protected_office_file(tmp_path: Path) -> None:
    extract = read_file(compound(tmp_path / "a.xlsx", "EncryptedPackage"))
    assert extract.faults == ("Office file: it is encrypted and needs a password",)


def test_office_bomb_is_refused_within_bounds(tmp_path: Path) -> None:
    path = tmp_path / "bomb.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", "<Types/>")
        package.writestr("word/document.xml", b" " * 60_000_000)
    extract = read_file(path)
    assert extract.faults == ("Word document: part word/document.xml unpacks to more than 50,331,648 bytes",)


def test_file_too_large_to_open(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x" * 100)
    assert read_file(path, ReadLimits(max_bytes=50)).faults == (
        "the file has 100 bytes, more than the 50 that are read",
    )


def test_picture_says_where_it_is() -> None:
    picture = Picture("page 2", "image/png", b"abc", 3, 4)
    assert Picture.from_json(picture.to_json()) == picture
    assert "abc" not in repr(picture)


def test_importing_the_reader_imports_no_document_library() -> None:
    code = (
        "import sys, pytest_gta.formats.read\n"
        "heavy = {'docx', 'pptx', 'openpyxl', 'pypdf', 'pypdfium2', 'PIL', 'lxml', 'numpy', 'av', 'openai'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
