"""The tools that write tables: CSV and Excel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_gta.tools.document_files import FILENAME, OUTPUT_DIR, answer, written
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool, ToolFault

PRELOAD = ("openpyxl",)

_ROWS = [["Region", "Revenue"], ["North", 120], ["South", 95.5]]

CSV_FILE_GENERATOR = Tool(
    ToolSpec(
        "CsvFileGenerator",
        "operation",
        "Writes one table as a CSV file (UTF-8, commas, quotes where needed), values exactly as given. Returns the "
        "file's path and how many rows and columns it has.",
        (
            FILENAME,
            ToolParameter(
                "data_str",
                "text",
                'The rows: a JSON list of lists, [["Region", "Revenue"], ["North", 120]], or of objects, '
                '[{"Region": "North", "Revenue": 120}], whose keys become the header; or CSV text.',
                example=_ROWS,
                lists=True,
            ),
            OUTPUT_DIR,
        ),
    ),
    "pytest_gta.tools.table_files:write_csv_file",
    writes=".csv",
)
XLSX_FILE_GENERATOR = Tool(
    ToolSpec(
        "XlsxFileGenerator",
        "operation",
        "Writes an Excel workbook (.xlsx) of one or more sheets. A first row of names becomes a styled header with "
        "filters that stays in view. Numbers, amounts (1,234.50 or $12), percentages and ISO dates in text become "
        'real ones; ids such as 007 stay text. Text that starts with "=" is a formula, e.g. =SUM(B2:B9), and is '
        "calculated when the file is opened. Returns the file's path and what each sheet holds.",
        (
            FILENAME,
            ToolParameter(
                "data_str",
                "text",
                'The rows: a JSON list of lists, [["Region", "Revenue"], ["North", 120]], or of objects, '
                '[{"Region": "North", "Revenue": 120}]; for several sheets an object with rows by sheet name, '
                '{"Sales": [[...]], "Costs": [[...]]}. CSV text is taken too.',
                example=_ROWS,
                lists=True,
            ),
            OUTPUT_DIR,
        ),
    ),
    "pytest_gta.tools.table_files:write_xlsx_file",
    writes=".xlsx",
)
TOOLS = (CSV_FILE_GENERATOR, XLSX_FILE_GENERATOR)
"""The tools of this module."""


def write_csv_file(target: str, data_str: Any) -> dict[str, Any]:
    """Write a CSV file in the current folder, which is the workspace.

    Raises:
        ToolFault: The data is in no known shape, or of several tables.
    """
    from pytest_gta.tools.csv_writer import write_csv
    from pytest_gta.tools.table_data import read_tables

    tables = read_tables(data_str)
    if len(tables) > 1:
        names = ", ".join(repr(table.name) for table in tables)
        raise ToolFault(
            f"a CSV file holds one table, and data_str has {len(tables)} ({names}). Call CsvFileGenerator for each, or "
            "XlsxFileGenerator for all in one file"
        )
    replaced, lines = written(target, lambda path: write_csv(path, tables[0]))
    return answer(target, replaced, "", lines)


def write_xlsx_file(target: str, data_str: Any) -> dict[str, Any]:
    """Write a workbook in the current folder, which is the workspace.

    Raises:
        ToolFault: The data is in no known shape, or too large for a sheet.
    """
    from pytest_gta.tools.table_data import read_tables
    from pytest_gta.tools.workbook_writer import write_workbook

    tables = read_tables(data_str)
    replaced, lines = written(target, lambda path: write_workbook(path, tables, title=Path(target).stem))
    return answer(target, replaced, f"{len(tables)} sheet{'s' * (len(tables) != 1)}", lines)
