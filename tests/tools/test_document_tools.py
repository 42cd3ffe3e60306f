"""The eleven document tools as a model calls them, in the confined process of a task."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import docx
import openpyxl
import pypdf
import pytest
from PIL import Image
from pptx import Presentation

from pytest_gta.tools import document_files, document_readers, table_files
from pytest_gta.tools.tool import ToolResult
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import choose_confinement
from pytest_gta.workspace.workspace import Workspace

Call = Callable[..., ToolResult]

REFERENCE_PARAMETERS = {
    "CsvFileGenerator": ["filename", "data_str", "output_dir"],
    "DocxFileGenerator": ["filename", "content", "image_paths", "output_dir", "render_markdown"],
    "PdfFileGenerator": ["filename", "content", "image_paths", "output_dir", "render_markdown"],
    "PptxFileGenerator": ["filename", "slides_content_str", "image_paths", "output_dir"],
    "XlsxFileGenerator": ["filename", "data_str", "output_dir"],
    "HtmlFileGenerator": ["filename", "html_code", "output_dir"],
    "ReadCSV": ["csv_file"],
    "ReadDOCX": ["file"],
    "ReadPDF": ["file"],
    "ReadPPTX": ["file"],
    "ReadXLSX": ["file"],
}


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolbox]:
    """A toolbox on a workspace with an input picture, and the kinds of broken files that come in."""
    root = tmp_path_factory.mktemp("documents") / "workspace"
    (root / "resources" / "files").mkdir(parents=True)
    Image.new("RGB", (300, 200), "navy").save(root / "resources" / "files" / "Sales, 2026.png")
    (root / "empty.docx").write_bytes(b"")
    (root / "broken.pdf").write_bytes(b"%PDF-1.7\n1 0 obj <<")
    (root / "broken.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    (root / "old.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    (root / "semicolons.csv").write_bytes("id;name;größe\n007;Müller;1,5\n".encode("cp1252"))
    (root / "notes.txt").write_text("plain text")
    with Toolbox(Workspace.open(root, ["resources/files/Sales, 2026.png"]), choose_confinement()) as made:
        yield made


@pytest.fixture(scope="module")
def call(box: Toolbox) -> Call:
    def run(name: str, **arguments: Any) -> ToolResult:
        return box.call(name, json.dumps(arguments))

    return run


def test_names_and_parameters_are_the_benchmarks_own() -> None:
    tools = (*document_files.TOOLS, *table_files.TOOLS, *document_readers.TOOLS)
    parameters = {tool.name: [p.name for p in tool.spec.parameters if p.name != "offset"] for tool in tools}
    assert {name: sorted(names) for name, names in parameters.items()} == {
        name: sorted(names) for name, names in REFERENCE_PARAMETERS.items()
    }
    assert all(tool.spec.capability == "operation" for tool in tools)


def test_word_document_with_an_input_picture(box: Toolbox, call: Call) -> None:
    result = call(
        "DocxFileGenerator",
        filename="out/Bericht 报告",
        content="# Title\n\n{{image_1}}\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        image_paths="Sales, 2026.png",
    )
    assert not result.is_error and result.files == ("out/Bericht 报告.docx",)
    document = docx.Document(str(box.workspace.root / result.files[0]))
    assert document.paragraphs[0].style.name == "Heading 1" and len(document.inline_shapes) == 1
    assert len(document.tables) == 1 and "left out" not in result.text


def test_markdown_is_rendered_unless_it_is_declined(box: Toolbox, call: Call) -> None:
    result = call("DocxFileGenerator", filename="literal", content="# Not a heading\n\n**x**", render_markdown=False)
    document = docx.Document(str(box.workspace.root / "literal.docx"))
    assert [p.text for p in document.paragraphs] == ["# Not a heading", "**x**"]
    assert "letter for letter" in result.text


def test_a_file_made_earlier_is_replaced_and_that_is_said(box: Toolbox, call: Call) -> None:
    first = call("PdfFileGenerator", filename="report.pdf", content="# One")
    second = call("PdfFileGenerator", filename="report", content="# Two\n\n<!-- pagebreak -->\n\nx")
    assert "in place of" not in first.text and "in place of the earlier file" in second.text
    assert second.files == ("report.pdf",) and "2 pages" in second.text
    assert pypdf.PdfReader(box.workspace.root / "report.pdf").metadata.title == "Two"  # type: ignore[union-attr]
    assert [p.name for p in box.workspace.root.iterdir() if p.name.startswith(".")] == []


def test_an_input_is_never_replaced(box: Toolbox, call: Call) -> None:
    before = (box.workspace.root / "resources/files/Sales, 2026.png").read_bytes()
    result = call("HtmlFileGenerator", filename="resources/files/Sales, 2026.png", html_code="x")
    assert result.is_error
    assert (box.workspace.root / "resources/files/Sales, 2026.png").read_bytes() == before


def test_a_missing_picture_is_said_and_the_file_is_made(box: Toolbox, call: Call) -> None:
    for name, argument, value in (
        ("DocxFileGenerator", "content", "text {{image_1}}"),
        ("PdfFileGenerator", "content", "text {{image_1}}"),
        ("PptxFileGenerator", "slides_content_str", [{"title": "T", "image": "{{image_1}}"}]),
    ):
        result = call(name, filename="missing", image_paths=["gone.png"], **{argument: value})
        assert not result.is_error and len(result.files) == 1
        assert "'gone.png' was left out: there is no file 'gone.png'" in result.text


def test_pictures_outside_the_workspace_are_refused(call: Call) -> None:
    for path in ("/etc/passwd", "../x.png", "~/a.png", "file:///etc/hostname"):
        result = call("PdfFileGenerator", filename="outside", content="![x]({{image_1}})", image_paths=[path])
        assert "was left out" in result.text, path
        assert "root:" not in result.text


def test_deck_from_text_and_from_a_list(box: Toolbox, call: Call) -> None:
    slides = [{"title": "Cover"}, {"title": "B", "bullets": ["x"], "notes": "n"}]
    for value in (slides, json.dumps(slides)):
        result = call("PptxFileGenerator", filename="deck.pptx", slides_content_str=value)
        assert "2 slides" in result.text
        assert len(Presentation(str(box.workspace.root / "deck.pptx")).slides) == 2
    assert [p.text for p in Presentation(str(box.workspace.root / "deck.pptx")).slides[1].placeholders][:2] == [
        "B",
        "x",
    ]


def test_workbook_and_csv(box: Toolbox, call: Call) -> None:
    result = call("XlsxFileGenerator", filename="book", data_str={"A": [["n"], [1]], "B": [{"k": "007"}]})
    assert "2 sheets" in result.text
    book = openpyxl.load_workbook(box.workspace.root / "book.xlsx")
    assert book.sheetnames == ["A", "B"] and book["B"]["A2"].value == "007"
    result = call("CsvFileGenerator", filename="t.csv", data_str='[{"a": "x,y"}]', output_dir="tables")
    assert result.files == ("tables/t.csv",)
    assert (box.workspace.root / "tables/t.csv").read_bytes() == b'a\r\n"x,y"\r\n'


def test_pages_keep_the_suffix_they_have(call: Call) -> None:
    files = [
        call("HtmlFileGenerator", filename=name, html_code="body{}").files for name in ("a", "b.html", "style.css")
    ]
    assert files == [("a.html",), ("b.html",), ("style.css",)]


@pytest.mark.parametrize(
    ("filename", "path"),
    [
        ("Q1: Report", "Q1 - Report.html"),
        ("./a/b/page", "a/b/page.html"),
        ("/mnt/data/page2.html", "page2.html"),
        ("`v1.2`", "v1.2.html"),
        ("Übersicht 概览 😀.HTML", "Übersicht 概览 😀.HTML"),
    ],
)
def test_names_as_models_write_them(call: Call, filename: str, path: str) -> None:
    assert call("HtmlFileGenerator", filename=filename, html_code="x").files == (path,)


@pytest.mark.parametrize("filename", ["../x", "/etc/x", "~/x", "file:///tmp/x", "a\x00b", "", ".hidden", "a\nb"])
def test_names_that_lead_elsewhere_are_refused(call: Call, filename: str) -> None:
    result = call("HtmlFileGenerator", filename=filename, html_code="x")
    assert (result.is_error and not result.files) or result.files == ("output.html",)


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("DocxFileGenerator", {"filename": "x", "content": "  "}, "content is empty"),
        (
            "PdfFileGenerator",
            {"filename": "x", "content": "a", "image_paths": {"a": 1}},
            "image_paths takes file names",
        ),
        ("PptxFileGenerator", {"filename": "x", "slides_content_str": "[{"}, "For example"),
        ("XlsxFileGenerator", {"filename": "x", "data_str": "[1]"}, '["North", 120]'),
        ("CsvFileGenerator", {"filename": "x", "data_str": {"A": [["a"]], "B": [["b"]]}}, "one table"),
        ("HtmlFileGenerator", {"filename": "x", "html_code": ""}, "html_code is empty"),
        ("ReadPDF", {"file": "deck.pptx"}, "PowerPoint deck by its content, not for ReadPDF: use ReadPPTX"),
        ("ReadDOCX", {"file": "resources/files/Sales, 2026.png"}, "for text in it use OCR"),
        ("ReadXLSX", {"file": "notes.txt"}, "text file by its content"),
        ("ReadCSV", {"csv_file": "report.pdf"}, "use ReadPDF"),
        ("ReadDOCX", {"file": "empty.docx"}, "empty"),
        ("ReadDOCX", {"file": "old.docx"}, "old.docx"),
        ("ReadPDF", {"file": "broken.pdf"}, "cannot be read"),
        ("ReadXLSX", {"file": "broken.xlsx"}, "broken.xlsx"),
        ("ReadPDF", {"file": "gone.pdf"}, "no file 'gone.pdf'"),
    ],
)
def test_what_cannot_be_done_is_an_error_that_says_why(
    box: Toolbox, call: Call, name: str, arguments: dict[str, Any], says: str
) -> None:
    call("PptxFileGenerator", filename="deck.pptx", slides_content_str=[{"title": "T"}])
    call("PdfFileGenerator", filename="report.pdf", content="x")
    result = call(name, **arguments)
    assert result.is_error and says in result.text, result.text
    assert "Traceback" not in result.text and str(box.workspace.root) not in result.text


def test_readers_return_what_the_writers_wrote(call: Call) -> None:
    markdown = (
        "# Heading\n\nSome **bold** text.\n\n- point\n\n| Region | Revenue |\n|---|---|\n| North | 120 |\n| 东部 | 95 |"
    )
    call("DocxFileGenerator", filename="round", content=markdown)
    call("PdfFileGenerator", filename="round", content=markdown + "\n\n<!-- pagebreak -->\n\nsecond page")
    call(
        "PptxFileGenerator",
        filename="round",
        slides_content_str=[
            {"title": "First"},
            {
                "title": "Second",
                "bullets": ["point"],
                "table": [["Region", "Revenue"], ["North", 120]],
                "notes": "Say it.",
            },
        ],
    )
    call(
        "XlsxFileGenerator",
        filename="round",
        data_str={"Sales": [["Region", "Revenue"], ["North", 120], ["Sum", "=SUM(B2:B2)"]]},
    )
    word = call("ReadDOCX", file="round.docx").text
    assert word.index("# Heading") < word.index("point") < word.index("North") and "东部" in word
    pdf = call("ReadPDF", file="round.pdf").text
    assert pdf.index("page 1") < pdf.index("North") < pdf.index("page 2") < pdf.index("second page")
    deck = call("ReadPPTX", file="round.pptx").text
    assert deck.index("First") < deck.index("Second") < deck.index("North") and "Say it." in deck
    book = call("ReadXLSX", file="round.xlsx").text
    assert "Sales" in book and "North" in book and "SUM(B2:B2)" in book


def test_csv_comes_back_as_it_is(call: Call) -> None:
    text = call("ReadCSV", csv_file="semicolons.csv").text
    assert "id;name;größe\n007;Müller;1,5" in text and "semicolon" in text


def test_long_files_are_read_page_by_page_without_a_gap(box: Toolbox, call: Call) -> None:
    rows = [["Number", "Text"]] + [[number, f"row {number} " + "x" * 90] for number in range(1, 1_500)]
    call("CsvFileGenerator", filename="long.csv", data_str=rows)
    call("XlsxFileGenerator", filename="long.xlsx", data_str=rows)
    for tool, argument, name in (("ReadCSV", "csv_file", "long.csv"), ("ReadXLSX", "file", "long.xlsx")):
        seen, offset, pages = "", 0, 0
        while True:
            result = call(tool, **{argument: name, "offset": offset})
            assert not result.is_error and len(result.text) <= 30_000
            seen += result.text
            pages += 1
            if '"offset": ' not in result.text:
                break
            offset = int(result.text.rsplit('"offset": ', 1)[1].rstrip("]"))
        assert pages > 3
        assert all(f"row {number} x" in seen for number in range(1, 1_500))
    beyond = call("ReadCSV", csv_file="long.csv", offset=10**7)
    assert beyond.is_error and "characters of text" in beyond.text


def test_a_large_workbook_is_measured_though_only_a_page_is_read(
    box: Toolbox, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_readers, "_LONG", 1_000)
    monkeypatch.chdir(box.workspace.root)
    rows = [["n"]] + [[f"row {number} {'x' * 60}"] for number in range(2_000)]
    call("XlsxFileGenerator", filename="large.xlsx", data_str=rows)
    text = document_readers.read_xlsx_file("large.xlsx")["text"]
    assert "sheet 'Sheet1': 2,001 rows x 1 columns" in text and "limit was reached" not in text
    offset = int(text.rsplit('"offset": ', 1)[1].rstrip("]"))
    following = document_readers.read_xlsx_file("large.xlsx", offset)["text"]
    last = max(int(part.split(" ")[0]) for part in text.split("row ")[2:] if part[0].isdigit())
    assert f"row {last + 1} x" in following


def test_a_package_that_unpacks_to_gigabytes_costs_one_answer(box: Toolbox, call: Call) -> None:
    with zipfile.ZipFile(box.workspace.root / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", "<Types/>")
        with package.open("word/document.xml", "w", force_zip64=True) as part:
            for _ in range(120):
                part.write(bytes(1024 * 1024 * 5))
    result = call("ReadDOCX", file="bomb.docx")
    assert result.is_error and "Traceback" not in result.text
    assert not call("ReadCSV", csv_file="notes.txt").is_error
