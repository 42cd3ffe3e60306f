"""A table written as CSV."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from pytest_gta.formats.wording import plural
from pytest_gta.tools.printable_text import printable
from pytest_gta.tools.table_data import TableData


def write_csv(target: Path, table: TableData) -> list[str]:
    """Write a table as RFC 4180 has it: commas, quotes where needed, CRLF, UTF-8 without a mark.

    Values are written as they are. Text that starts with ``=`` is kept, for the file is data and changing it would make
    it wrong; a program that takes such text for a formula asks before it runs anything.

    Returns:
        A line on what was written, and a sentence when rows differ in length.

    Raises:
        OSError: The file cannot be written.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerows([_text(value) for value in row] for row in table.rows)
    target.write_bytes(buffer.getvalue().encode("utf-8"))
    widths = {len(row) for row in table.rows}
    lines = [f"{plural(len(table.rows), 'row')} x {plural(max(widths, default=0), 'column')}."]
    if len(widths) > 1:
        odd = next(number for number, row in enumerate(table.rows, start=1) if len(row) != len(table.rows[0]))
        lines.append(
            f"Not all rows have as many cells as the first: row {odd} has {len(table.rows[odd - 1])}, the first "
            f"{len(table.rows[0])}."
        )
    return lines


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return printable(json.dumps(value, ensure_ascii=False))
    return printable(str(value))
