"""Tables written as an Excel workbook."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from pytest_gta.formats.wording import plural
from pytest_gta.tools.cell_values import MAX_TEXT, Cell, typed_column
from pytest_gta.tools.column_widths import display_width
from pytest_gta.tools.printable_text import printable
from pytest_gta.tools.table_data import TableData
from pytest_gta.tools.tool import ToolFault

MAX_ROWS = 1_048_576
MAX_COLUMNS = 16_384
_WIDEST = 60
"""Characters a column is wide at most; longer text is wrapped."""
_FONT = "Calibri"
_TOTAL = re.compile(r"(?:grand |sub)?(?:total|sum)\b|合计|总计|小计", re.IGNORECASE)
_LOOKED_AT = 1_000
"""Rows that decide how wide a column is."""


def write_workbook(target: Path, tables: Sequence[TableData], *, title: str = "") -> list[str]:
    """Write one sheet a table.

    A first row of names gets a header's style, stays in view and has filters. Cells are typed by `typed_column`. A
    formula stays a formula, since models are asked for live workbooks; one that would start a program is text.

    Returns:
        One line for each sheet, then a sentence for each thing that had to be changed.

    Raises:
        ToolFault: A table is larger than a sheet can be.
        OSError: The file cannot be written.
    """
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    book.properties.title, book.properties.creator = title[:250], "pytest-gta"
    book.properties.created = book.properties.modified = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
    names: set[str] = set()
    lines, notes = [], list[str]()
    for number, table in enumerate(tables, start=1):
        width = max(map(len, table.rows), default=0)
        if len(table.rows) > MAX_ROWS or width > MAX_COLUMNS:
            raise ToolFault(
                f"a sheet holds {MAX_ROWS:,} rows and {MAX_COLUMNS:,} columns at most; table {number} has "
                f"{len(table.rows):,} x {width:,}"
            )
        name = _sheet_name(table.name or f"Sheet{number}", names)
        if table.name and name != table.name:
            notes.append(f"The sheet {table.name!r} is called {name!r}, for Excel does not take its name.")
        formulas = _fill(book.create_sheet(name), table, width, notes)
        counted = (
            f", {plural(formulas, 'formula')} (not calculated until the file is opened in Excel)" if formulas else ""
        )
        lines.append(f"Sheet {name!r}: {plural(len(table.rows), 'row')} x {plural(width, 'column')}{counted}.")
    book.save(target)
    return lines + notes


def _fill(sheet: Any, table: TableData, width: int, notes: list[str]) -> int:
    """Write a table to a sheet and return how many formulas it has."""
    from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
    from openpyxl.utils import get_column_letter

    rows = [[*row, *[None] * (width - len(row))] for row in table.rows]
    header = _has_header(table)
    body = rows[1:] if header else rows
    names = [_name(value) for value in rows[0]] if header else [""] * width
    columns = [typed_column([row[index] for row in body], names[index]) for index in range(width)]
    if any(isinstance(value, str) and len(value) > MAX_TEXT for row in rows for value in row):
        notes.append(f"Text over {MAX_TEXT:,} characters was cut, which is what a cell holds.")
    first = 2 if header else 1
    if header:
        line = Side(style="thin", color="BFBFBF")
        for index, name in enumerate(names, start=1):
            cell = sheet.cell(1, index)
            _put(cell, Cell(name[:MAX_TEXT] or None))
            cell.font = Font(name=_FONT, size=11, bold=True, color="FFFFFF")
            cell.fill = PatternFill("solid", start_color="1F3864")
            cell.alignment = Alignment(horizontal="center", vertical="center", wrap_text=True)
            cell.border = Border(bottom=line)
        if body:
            sheet.freeze_panes = "A2"
            sheet.auto_filter.ref = f"A1:{get_column_letter(width)}{len(rows)}"
    _set_up_pages(sheet, header=header)
    wrapped = Alignment(wrap_text=True, vertical="top")
    bold = Font(name=_FONT, size=11, bold=True)
    totals = {first + place for place, row in enumerate(body) if _TOTAL.match(_name(row[0]).strip())}
    heights: dict[int, int] = {}
    formulas = 0
    for index, column in enumerate(columns, start=1):
        # A sum is shown as the figures above it are.
        usual = Counter(cell.format for cell in column if cell.format).most_common(1)
        for row, value in enumerate(column, start=first):
            if value.value is None:
                continue
            cell = sheet.cell(row, index)
            _put(cell, value)
            formulas += value.formula
            if value.formula and not value.format and usual:
                cell.number_format = usual[0][0]
            if row in totals:
                cell.font = bold
            if (
                isinstance(value.value, str)
                and not value.formula
                and ("\n" in value.value or display_width(value.value) > _WIDEST)
            ):
                cell.alignment = wrapped
                heights[row] = max(heights.get(row, 1), _line_count(value.value))
        sheet.column_dimensions[get_column_letter(index)].width = _width(names[index - 1], column)
    for row, count in heights.items():
        sheet.row_dimensions[row].height = min(15.0 * count, 409.0)
        for cell in sheet[row]:
            cell.alignment = Alignment(wrap_text=cell.alignment.wrap_text, vertical="top")
    return formulas


def _set_up_pages(sheet: Any, *, header: bool) -> None:
    """Let a print-out have the sheet's width on one page and the header on each."""
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    if header:
        sheet.print_title_rows = "1:1"


def _line_count(text: str) -> int:
    return sum(-(-max(display_width(line), 1) // (_WIDEST - 4)) for line in text.split("\n"))


def _put(cell: Any, value: Cell) -> None:
    if isinstance(value.value, str) and not value.formula:
        cell.value = value.value
        # The library takes text that starts with "=" for a formula, and "#N/A" for an error.
        cell.data_type = "s"
    else:
        cell.value = value.value
    if value.format:
        cell.number_format = value.format


def _has_header(table: TableData) -> bool:
    """Return whether the first row names the columns: it was said to, or it is all text over other rows."""
    if table.has_header is not None:
        return table.has_header
    if len(table.rows) < 2 or not table.rows[0]:
        return False
    first = table.rows[0]
    texts = [value for value in first if isinstance(value, str) and value.strip() and not value.startswith("=")]
    distinct = len(set(texts)) == len(texts)
    return (
        len(texts) == len(first)
        and distinct
        and all(cell.format == "" and isinstance(cell.value, str) for cell in typed_column(first))
    )


def _name(value: Any) -> str:
    return "" if value is None else printable(str(value))


def _width(name: str, column: Sequence[Cell]) -> float:
    widest = max([display_width(line) for line in name.split("\n")], default=0) + 4
    for cell in column[:_LOOKED_AT]:
        if cell.value is None or cell.formula:
            continue
        widest = max(widest, *(display_width(line) + 2 for line in _shown(cell).split("\n")))
    return float(min(max(widest, 8), _WIDEST + 2))


def _shown(cell: Cell) -> str:
    value = cell.value
    if isinstance(value, datetime):
        return "2026-01-31 10:00:00"
    if isinstance(value, date):
        return "2026-01-31"
    if isinstance(value, int | float) and "," in cell.format:
        return f"$ {value:,.2f}"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _sheet_name(wanted: str, taken: set[str]) -> str:
    """Return a name Excel takes that no other sheet has, and take it."""
    name = re.sub(r"[\[\]:*?/\\]", " ", printable(wanted)).replace("\n", " ")
    name = " ".join(name.split()).strip("'")[:31].strip() or "Sheet"
    if name.lower() == "history":
        name = "History 1"
    plain, number = name, 2
    while name.lower() in taken:
        name = f"{plain[: 30 - len(str(number))]} {number}"
        number += 1
    taken.add(name.lower())
    return name
