"""The tools that read documents and tables: Word, PDF, slides, workbooks, CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import OFFSET, Tool, ToolFault

PRELOAD = ("pytest_gta.formats.read",)

PAGE = 28_000
"""Characters of a file's text in one answer."""
_WHOLE = 50_000_000
_LONG = 400_000
"""Bytes of a file that is read no further than the page that is asked for."""
_SHEETS_MEASURED = 50
_PARTIAL = {"sheets": ("rows", "cells", "characters"), "pdf": ("characters",)}
"""Facts that count only what was read."""
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
                OFFSET,
            ),
        ),
        f"pytest_gta.tools.document_readers:read_{family}_file",
        reads=(argument,),
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


def read_csv_file(csv_file: str, offset: int = 0) -> dict[str, Any]:
    """Return the rows of a CSV file, from a character on."""
    return _read(csv_file, "ReadCSV", "text", offset)


def read_docx_file(file: str, offset: int = 0) -> dict[str, Any]:
    """Return the text of a Word document, from a character on."""
    return _read(file, "ReadDOCX", "word", offset)


def read_pdf_file(file: str, offset: int = 0) -> dict[str, Any]:
    """Return the text of a PDF, from a character on."""
    return _read(file, "ReadPDF", "pdf", offset)


def read_pptx_file(file: str, offset: int = 0) -> dict[str, Any]:
    """Return the text of a deck, from a character on."""
    return _read(file, "ReadPPTX", "slides", offset)


def read_xlsx_file(file: str, offset: int = 0) -> dict[str, Any]:
    """Return the sheets of a workbook, from a character on."""
    return _read(file, "ReadXLSX", "sheets", offset)


def _read(name: str, tool: str, family: str, offset: int) -> dict[str, Any]:
    """Read one page of a file of one family.

    Raises:
        ToolFault: It is of another family, nothing of it can be read, or it ends before `offset`.
    """
    from pytest_gta.formats.limits import ReadLimits
    from pytest_gta.formats.read import read_file

    if offset < 0:
        raise ToolFault(f"`offset` is {offset}, and characters are counted from 0")
    # Of what is very long, no more is read than is shown.
    long = family in ("sheets", "pdf") and Path(name).stat().st_size > _LONG
    most = offset + PAGE + 1 if long else _WHOLE
    found = read_file(Path(name), ReadLimits(max_pictures=0, max_chars=most))
    if found.kind != family and not (family == "text" and found.kind == "web"):
        raise ToolFault(_wrong_kind(name, tool, found.kind, found.faults))
    if not found.text and found.faults:
        raise ToolFault(f"{name} cannot be read: {'; '.join(found.faults)}")
    if offset and offset >= len(found.text):
        raise ToolFault(
            f"`offset` is {offset:,}, and {name} has {len(found.text):,} characters of text, counted from 0"
        )
    # A sheet's first lines say how much of it was read, so that its text can shift by a few characters: better a row
    # twice than none.
    start = found.text.rfind("\n", 0, offset) + 1 if offset and family == "sheets" else offset
    end = _page_end(found.text, start)
    cut = end < len(found.text)
    facts = _whole_sizes(name) if cut and family == "sheets" else {}
    facts |= {key: value for key, value in found.facts.items() if not (cut and key in _PARTIAL.get(family, ()))}
    shown = ", ".join(f"{key}: {value}" for key, value in facts.items())
    head = [f"{Path(name).name} ({shown})" if shown else Path(name).name]
    head += [f"Note: {remark}" for remark in (*found.faults, *found.notes) if not (cut and _is_of_paging(remark))]
    if found.facts.get("pages without text"):
        head.append("Note: OCR, given this file, reads its pages without text")
    if offset:
        head.append(f"[from character {start:,}]")
    text = found.text[start:end] if found.text else "(it holds no text)"
    tail = []
    if cut:
        total = "" if most != _WHOLE else f" of {len(found.text):,}"
        tail = [
            f"[characters {start:,} to {end:,}{total}; more follows: to read on, call {tool} again with the same file "
            f'and "offset": {end}]'
        ]
    return {"text": "\n".join([*head, "", text, *tail])}


def _page_end(text: str, offset: int) -> int:
    """Return where a page that starts at `offset` ends: at a line's end where there is one near by."""
    end = offset + PAGE
    if end >= len(text):
        return len(text)
    line_end = text.rfind("\n", end - 2_000, end)
    return line_end + 1 if line_end > 0 else end


def _is_of_paging(remark: str) -> bool:
    """Return whether a remark only says that reading stopped where the page ends."""
    return "the limit was reached" in remark or remark.startswith("the text after character")


def _whole_sizes(name: str) -> dict[str, Any]:
    """Return how large each sheet of a workbook is, however much of it was read."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with CalamineWorkbook.from_path(name) as book:
            sizes = [(sheet, book.get_sheet_by_name(sheet)) for sheet in book.sheet_names[:_SHEETS_MEASURED]]
            return {f"sheet {sheet!r}": f"{found.height:,} rows x {found.width:,} columns" for sheet, found in sizes}
    except (CalamineError, OSError, ValueError):
        return {}


def _wrong_kind(name: str, tool: str, kind: str, faults: tuple[str, ...]) -> str:
    what = _NAMES.get(kind, "a file of no known kind")
    if kind in _READERS:
        return f"{name} is {what} by its content, not for {tool}: use {_READERS[kind]}"
    if kind in ("text", "web"):
        return f"{name} is {what} by its content, not for {tool}: use ReadCSV, which returns any text file as it is"
    if kind not in _NAMES:
        return f"{name} cannot be read: {'; '.join(faults) or what}"
    hint = _OTHER_TOOLS.get(kind)
    return f"{name} is {what} by its content, which {tool} does not read{f'; {hint}' if hint else ''}"
