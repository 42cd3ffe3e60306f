"""Workbooks in other formats (.xls, .xlsb, .ods): their values, by way of the calamine library."""

from __future__ import annotations

from typing import Any

from pytest_gta.formats.reading import Reading, Source, Unreadable
from pytest_gta.formats.sheet_cells import column_letters
from pytest_gta.formats.wording import plural


def read(source: Source, reading: Reading) -> None:
    """Read the values of a workbook sheet by sheet.

    Raises:
        Unreadable: When the workbook cannot be opened.
    """
    try:
        _read(source, reading)
    except BaseException as error:
        # calamine is written in Rust, and a panic there is no `Exception` here.
        if type(error).__name__ != "PanicException":
            raise
        raise Unreadable("it is damaged, and its reader gave up") from None


def _read(source: Source, reading: Reading) -> None:
    from python_calamine import CalamineError, CalamineWorkbook

    source.stream.seek(0)
    try:
        workbook = CalamineWorkbook.from_filelike(source.stream)
    except (CalamineError, OSError, ValueError) as error:
        raise Unreadable(f"it cannot be opened ({str(error)[:150]})") from None
    reading.facts["sheets"] = len(workbook.sheet_names)
    reading.fault("only the values are read from this workbook format; formulas, comments, charts and pictures are not")
    for number, facts in enumerate(workbook.sheets_metadata):
        if reading.full or reading.expired:
            reading.fault(f"{plural(len(workbook.sheet_names) - number, 'sheet')} not read: the limit was reached")
            break
        state = "" if str(facts.visible).endswith("Visible") else " [hidden sheet]"
        reading.add(f"\n=== sheet {facts.name}{state} ===")
        try:
            sheet = workbook.get_sheet_by_index(number)
            _add_rows(sheet, reading)
        except (CalamineError, OSError, ValueError, RuntimeError) as error:
            reading.add(f"[this sheet could not be read: {error}]")
            reading.fault(f"sheet {facts.name!r} could not be read: {error}")


def _add_rows(sheet: Any, reading: Reading) -> None:
    start = sheet.start
    if start is None:
        reading.add("[no cell of this sheet holds anything]")
        return
    first_row, first_column = int(start[0]), int(start[1])
    width = int(sheet.width)
    reading.add("row | " + " | ".join(column_letters(first_column + n + 1) for n in range(min(width, 60))))
    cells = rows = 0
    for number, values in enumerate(sheet.iter_rows(), first_row + 1):
        texts = ["" if value is None else _shown(value) for value in values]
        used = sum(1 for text in texts if text)
        if not used:
            continue
        rows += 1
        cells += used
        while texts and not texts[-1]:
            texts.pop()
        reading.add(f"{number} | " + " | ".join(text.replace("|", "\\|") for text in texts))
        if cells >= reading.limits.max_cells or reading.full or reading.expired:
            reading.fault(f"a sheet was read up to row {number:,}: the limit was reached")
            break
    reading.count("rows", rows)
    reading.count("cells", cells)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.15g}"
    return " / ".join(str(value).splitlines())
