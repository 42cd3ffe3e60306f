"""Tables as models describe them: lists of rows, lists of objects, several sheets, or CSV text."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_gta.tools.printable_text import printable, with_real_line_ends
from pytest_gta.tools.tool import ToolFault

ROWS_EXAMPLE = '[["Region", "Revenue"], ["North", 120], ["South", 95.5]]'
SHEETS_EXAMPLE = (
    f'{ROWS_EXAMPLE}, or [{{"Region": "North", "Revenue": 120}}], or for several sheets '
    '{"Sales": [["Region", "Revenue"], ["North", 120]], "Costs": [["Item", "Cost"], ["Rent", 40]]}'
)
_ROWS = ("rows", "data", "values", "records", "content")
_HEADER = ("header", "headers", "columns")
_NAME = ("name", "sheet_name", "sheet", "sheetname", "title", "sheetName")


@dataclass(frozen=True, slots=True)
class TableData:
    """One table.

    Attributes:
        name: What a sheet of it is to be called, or "".
        rows: Its rows; cells are JSON values. Rows may differ in length.
        has_header: Whether the first row is known to name the columns; None when nothing said so.
    """

    name: str
    rows: list[list[Any]]
    has_header: bool | None = None


def read_tables(value: Any) -> list[TableData]:
    """Return the tables that an argument describes.

    Args:
        value: JSON text, a list or an object; text that is no JSON is read as CSV.

    Raises:
        ToolFault: When it is none of the shapes; the message has examples.
    """
    if isinstance(value, str):
        value = _from_text(value)
        if isinstance(value, TableData):
            return [value]
    if isinstance(value, Mapping):
        return _from_object(value)
    if isinstance(value, list):
        if value and all(_is_sheet(part) for part in value):
            return [table for part in value for table in _sheet(part)]
        return [_table("", value)]
    raise ToolFault(f"data_str holds {_shown(value)}, which is no table. Give rows, e.g. {SHEETS_EXAMPLE}")


def _from_text(text: str) -> Any:
    fenced = re.fullmatch(r"\s*```[a-zA-Z]*\s*\n(.*?)\n?```\s*", text, re.DOTALL)
    text = printable(fenced.group(1) if fenced else text).strip()
    if not text:
        raise ToolFault(f"data_str is empty. Give rows, e.g. {SHEETS_EXAMPLE}")
    try:
        value = json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        if text[0] not in "[{":
            return _from_csv(text)
        try:
            # Python's own notation (single quotes, None, True) is a common slip.
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            around = text[max(0, error.pos - 30) : error.pos + 30]
            raise ToolFault(
                f"data_str is not valid JSON: {error.msg} at character {error.pos}, near {around!r}. "
                f"Give rows, e.g. {SHEETS_EXAMPLE}"
            ) from None
    except RecursionError:
        raise ToolFault("data_str is nested too deep for a table.") from None
    if isinstance(value, str):
        return _from_text(value) if value.strip()[:1] in ("[", "{") else _from_csv(value)
    return value


def _from_csv(text: str) -> TableData:
    text = with_real_line_ends(text)
    if "\n" not in text.strip() and not any(mark in text for mark in ",;\t|"):
        raise ToolFault(f"data_str holds {_shown(text)}, which is no table. Give rows, e.g. {SHEETS_EXAMPLE}")
    lines = text.strip("\n").split("\n")
    if lines[0].lstrip().startswith("|") and len(lines) > 1 and re.fullmatch(r"[\s|:-]+", lines[1]):
        cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines if line.strip()]
        return TableData("", [cells[0], *cells[2:]], has_header=True)
    counts = {mark: lines[0].count(mark) for mark in ",;\t"}
    delimiter = max(counts, key=lambda mark: counts[mark]) if any(counts.values()) else ","
    # The module's limit on a field is smaller than what a model may write.
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    return TableData("", [list(row) for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row])


def _from_object(value: Mapping[str, Any]) -> list[TableData]:
    sheets = value.get("sheets", value.get("worksheets"))
    if isinstance(sheets, Mapping):
        return _from_object(sheets)
    if isinstance(sheets, list) and sheets:
        return [table for number, part in enumerate(sheets, 1) for table in _sheet(part, number)]
    if _is_sheet(value):
        return _sheet(value)
    parts = list(value.values())
    if parts and all(isinstance(part, list) for part in parts):
        if any(parts) and all(not isinstance(cell, list | dict) for part in parts for cell in part):
            # Columns by name.
            height = max(map(len, parts))
            rows: list[list[Any]] = [
                [part[row] if row < len(part) else None for part in parts] for row in range(height)
            ]
            return [TableData("", [list(map(str, value)), *rows], has_header=True)]
        # A sheet may be left empty beside others that are not.
        return [
            _table(str(name), part) if part or not any(parts) else TableData(str(name), [])
            for name, part in value.items()
        ]
    if parts and all(isinstance(part, Mapping) and _is_sheet(part) for part in parts):
        return [_named(table, str(name)) for name, part in value.items() for table in _sheet(part)]
    if parts and not any(isinstance(part, list | dict) for part in parts):
        return [TableData("", [list(map(str, value)), parts], has_header=True)]
    raise ToolFault(f"data_str is an object that is no table: {_shown(value)}. Give rows, e.g. {SHEETS_EXAMPLE}")


def _is_sheet(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and any(isinstance(value.get(key), list) for key in _ROWS)
        and (not (set(value) - {*_ROWS, *_HEADER, *_NAME}))
    )


def _sheet(value: Any, number: int = 0) -> list[TableData]:
    if isinstance(value, list):
        return [_table("", value)]
    if not isinstance(value, Mapping):
        raise ToolFault(f'sheet {number} is {_shown(value)}. A sheet is {{"name": "Sales", "rows": {ROWS_EXAMPLE}}}')
    name = next((str(value[key]) for key in _NAME if isinstance(value.get(key), str)), "")
    rows: list[Any] = next((value[key] for key in _ROWS if isinstance(value.get(key), list)), [])
    header = next((value[key] for key in _HEADER if isinstance(value.get(key), list)), None)
    table = _table(name, rows, header)
    return [table]


def _named(table: TableData, name: str) -> TableData:
    return TableData(table.name or name, table.rows, table.has_header)


def _table(name: str, rows: list[Any], header: list[Any] | None = None) -> TableData:
    where = f" of sheet {name!r}" if name else ""
    if header is not None:
        header = [
            column.get("name", column.get("header", "")) if isinstance(column, Mapping) else column for column in header
        ]
    if any(rows) and all(isinstance(row, Mapping) for row in rows):
        keys = header or list(dict.fromkeys(key for row in rows for key in row))
        return TableData(
            name, [list(map(str, keys)), *([row.get(key) for key in keys] for row in rows)], has_header=True
        )
    for number, row in enumerate(rows if any(rows) else [], start=1):
        if not isinstance(row, list | tuple):
            raise ToolFault(
                f"row {number}{where} is {_shown(row)}, and every row must be a list of cells"
                f"{' like the others' if number > 1 else ''}. For example {SHEETS_EXAMPLE}"
            )
    if not header and not any(rows):
        raise ToolFault(f"there are no rows with cells{where.replace(' of ', ' in ')}. For example {SHEETS_EXAMPLE}")
    written = [list(row) for row in rows]
    return TableData(name, [list(header), *written] if header else written, True if header else None)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return repr(text if len(text) <= 80 else text[:77] + "...")
