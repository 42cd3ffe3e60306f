"""The tools that read documents and tables: Word, PDF, slides, workbooks, CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool, ToolFault

PRELOAD = ("pytest_gta.formats.read",)

_READERS = {
    "word": "ReadDOCX",
    "pdf": "ReadPDF",
    "slides": "ReadPPTX",
    "sheets": "ReadXLSX",
}
_NAMES = {
    "word": "a Word document",
    "pdf": "a PDF",
    "slides": "a PowerPoint deck",
    "sheets": "a workbook",
    "text": "a text file",
    "web": "a web page",
    "image": "a picture",
    "audio": "a sound file",
    "video": "a video",
    "archive": "an archive",
}
_OTHER_TOOLS = {
    "image": "for text in it use OCR, for what it shows ImageDescription",
    "audio": "for speech use SpeechToText",
    "video": "use VideoDescription or VideoOCR",
}


def _reader(name: str, argument: str, family: str, suffix: str, words: str, filetype: str | None = None) -> Tool:
    return Tool(
        ToolSpec(
            name,
            "operation",
            f"{words} Long answers come in pages: read on with `offset`.",
            (
                ToolParameter(
                    argument,
                    "file",
                    f"The {suffix} file in the workspace.",
                    example=f"resources/file{suffix}",
                    filetype=filetype,
                ),
            ),
        ),
        f"pytest_gta.tools.document_readers:read_{family}_file",
        reads=(argument,),
        paged=True,
    )


READ_CSV = _reader(
    "ReadCSV",
    "csv_file",
    "csv",
    ".csv",
    "Returns a CSV or TSV file's rows exactly as they are (007 stays 007), after its size and whether its encoding or "
    "separator is unusual.",
)
READ_DOCX = _reader(
    "ReadDOCX",
    "file",
    "docx",
    ".docx",
    "Returns a Word document in reading order as markdown: headings, lists, tables, notes, comments, headers and text "
    "boxes, with the place of each picture.",
)
READ_PDF = _reader(
    "ReadPDF",
    "file",
    "pdf",
    ".pdf",
    "Returns a PDF's text page by page, with a mark before each page; pages that are only pictures are named.",
)
READ_PPTX = _reader(
    "ReadPPTX",
    "file",
    "pptx",
    ".pptx",
    "Returns a deck slide by slide, with a mark before each: text in reading order, tables, charts' figures, grouped "
    "shapes, the place of pictures, and the speaker's notes.",
)
READ_XLSX = _reader(
    "ReadXLSX",
    "file",
    "xlsx",
    ".xlsx",
    "Returns all sheets of a workbook, with a mark before each: values and formulas, hidden sheets and rows named.",
)
TOOLS = (READ_CSV, READ_DOCX, READ_PDF, READ_PPTX, READ_XLSX)
"""The tools of this module."""


def read_csv_file(csv_file: str) -> dict[str, Any]:
    """Return the rows of a CSV file."""
    return _read(csv_file, "ReadCSV", "text")


def read_docx_file(file: str) -> dict[str, Any]:
    """Return the text of a Word document."""
    return _read(file, "ReadDOCX", "word")


def read_pdf_file(file: str) -> dict[str, Any]:
    """Return the text of a PDF."""
    return _read(file, "ReadPDF", "pdf")


def read_pptx_file(file: str) -> dict[str, Any]:
    """Return the text of a deck."""
    return _read(file, "ReadPPTX", "slides")


def read_xlsx_file(file: str) -> dict[str, Any]:
    """Return the sheets of a workbook."""
    return _read(file, "ReadXLSX", "sheets")


def _read(name: str, tool: str, family: str) -> dict[str, Any]:
    """Read a file of one family.

    Raises:
        ToolFault: It is of another family, or nothing of it can be read.
    """
    from pytest_gta.formats.limits import ReadLimits
    from pytest_gta.formats.read import read_file

    found = read_file(Path(name), ReadLimits(max_pictures=0))
    if found.kind != family and not (family == "text" and found.kind == "web"):
        raise ToolFault(_wrong_kind(name, tool, found.kind))
    if not found.text and found.faults:
        raise ToolFault(f"{name} cannot be read: {'; '.join(found.faults)}")
    facts = ", ".join(f"{key}: {value}" for key, value in found.facts.items())
    head = [f"{Path(name).name} ({facts})" if facts else Path(name).name]
    head += [f"Note: {fault}" for fault in found.faults]
    return {"text": "\n".join([*head, "", found.text or "(it holds no text)"])}


def _wrong_kind(name: str, tool: str, kind: str) -> str:
    what = _NAMES.get(kind, "a file of no known kind")
    if kind in _READERS:
        return f"{name} is {what} by its content, not for {tool}: use {_READERS[kind]}"
    if kind in ("text", "web"):
        return f"{name} is {what} by its content, not for {tool}: use ReadCSV, which returns any text file as it is"
    hint = _OTHER_TOOLS.get(kind)
    return f"{name} is {what} by its content, which {tool} does not read{f'; {hint}' if hint else ''}"
