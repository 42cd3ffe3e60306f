from __future__ import annotations

import pytest

from pytest_gta.benchmark.file_names import file_names
from pytest_gta.benchmark.kinds import file_kinds, kind_of, mentioned_kinds


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("resources/files/2-1.pdf", "pdf"),
        ("A.DOC", "docx"),
        ("deck.pptx", "pptx"),
        ("old.xls", "xlsx"),
        ("macro.XLSM", "xlsx"),
        ("rows.tsv", "csv"),
        ("photo.JPEG", "image"),
        ("voice.m4a", "audio"),
        ("clip.webm", "video"),
        ("index.htm", "html"),
        ("notes.md", "markdown"),
        ("app.tsx", "other"),
        ("styles.css", "code"),
        ("README", "other"),
        (".pdf", "other"),
    ],
)
def test_the_suffix_says_the_kind(name: str, kind: str) -> None:
    assert kind_of(name) == kind


@pytest.mark.parametrize(
    ("request_text", "kinds"),
    [
        ("Write a PDF and a Word document.", {"pdf", "docx"}),
        ("Make a PowerPoint, five slides", {"pptx"}),
        ("a slide deck with pictures", {"pptx", "image"}),
        ("An Excel workbook and two CSVs", {"xlsx", "csv"}),
        ("a web page (HTML5)", {"html"}),
        ("a voice-over for the video", {"audio", "video"}),
        ("words about wordplay, a document of thought and excellent landslides", set()),
        ("image.png", {"image"}),
        ("Save as report.docx.", {"docx"}),
    ],
)
def test_the_words_of_a_request_say_what_it_asks_for(request_text: str, kinds: set[str]) -> None:
    assert mentioned_kinds(request_text) == kinds


def test_kinds_of_a_task_are_sorted_and_include_its_inputs() -> None:
    assert file_kinds("Write a report as PDF", ["resources/a.csv", "resources/b.bin"]) == ("csv", "pdf")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Save it as `report.docx` and table-2.csv.", ["report.docx", "table-2.csv"]),
        ("Use resources/files/2-1.pdf, then report.docx again report.docx", ["2-1.pdf", "report.docx"]),
        ("see https://example.org/page.html or www.example.org/x.pdf", []),
        ("as .docx or DOCX, e.g. nothing", []),
        ("v1.2.json and 报告.pdf", ["v1.2.json", "报告.pdf"]),
        ("a.pyc and b.py2", []),
        (r"C:\work\out.xlsx", ["out.xlsx"]),
    ],
)
def test_file_names_in_a_text(text: str, names: list[str]) -> None:
    assert file_names(text) == names
