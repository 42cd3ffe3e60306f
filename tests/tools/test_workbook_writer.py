"""Workbooks and CSV, read back with openpyxl and csv; the shapes of data they are made of."""

from __future__ import annotations

import csv
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pytest_gta.tools.csv_writer import write_csv
from pytest_gta.tools.table_data import TableData, read_tables
from pytest_gta.tools.tool import ToolFault
from pytest_gta.tools.workbook_writer import write_workbook

ROWS = [["Region", "Revenue"], ["North", 120], ["South", 95.5]]


def book_of(folder: Path, data: Any) -> tuple[Any, list[str]]:
    lines = write_workbook(folder / "b.xlsx", read_tables(data))
    return openpyxl.load_workbook(folder / "b.xlsx"), lines


def values(sheet: Any) -> list[list[Any]]:
    return [[cell.value for cell in row] for row in sheet.iter_rows()]


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        json.dumps(ROWS),
        "```json\n" + json.dumps(ROWS) + "\n```",
        str(ROWS),
        [{"Region": "North", "Revenue": 120}, {"Region": "South", "Revenue": 95.5}],
        {"columns": ["Region", "Revenue"], "rows": [["North", 120], ["South", 95.5]]},
        {"Region": ["North", "South"], "Revenue": [120, 95.5]},
        {"sheets": [{"name": "Sheet1", "rows": ROWS}]},
        {"sheets": {"Sheet1": ROWS}},
        {"Sheet1": ROWS},
        [{"sheet_name": "Sheet1", "data": ROWS}],
        "Region,Revenue\nNorth,120\nSouth,95.5\n",
        "Region;Revenue\nNorth;120\nSouth;95.5",
        "| Region | Revenue |\n|---|---|\n| North | 120 |\n| South | 95.5 |",
    ],
)
def test_every_shape_models_use_gives_the_same_sheet(tmp_path: Path, data: Any) -> None:
    book, _ = book_of(tmp_path, data)
    assert book.sheetnames == ["Sheet1"]
    assert values(book.active) == ROWS


def test_keys_of_all_objects_become_the_header(tmp_path: Path) -> None:
    book, _ = book_of(tmp_path, [{"a": 1}, {"b": 2, "a": 3}])
    assert values(book.active) == [["a", "b"], [1, None], [3, 2]]


def test_several_sheets_with_names_excel_does_not_take(tmp_path: Path) -> None:
    long = "A very long sheet name that goes on and on"
    book, lines = book_of(tmp_path, {"Q1/Q2: [x]?": ROWS, long: ROWS, long + "!": ROWS, "history": ROWS, "": ROWS})
    assert book.sheetnames == ["Q1 Q2 x", long[:31].strip(), long[:29] + " 2", "History 1", "Sheet5"]
    assert any("'Q1/Q2: [x]?' is called 'Q1 Q2 x'" in line for line in lines)


def test_a_sheet_may_be_empty_beside_others(tmp_path: Path) -> None:
    book, lines = book_of(tmp_path, {"Sales": [["a"], [1]], "Notes": []})
    assert book.sheetnames == ["Sales", "Notes"] and book["Notes"].max_row == 1
    assert lines[:2] == ["Sheet 'Sales': 2 rows x 1 column.", "Sheet 'Notes': 0 rows x 0 columns."]


def test_header_style_frozen_row_filter_and_widths(tmp_path: Path) -> None:
    book, _ = book_of(tmp_path, [["Region", "Remarks", "N"], ["North", "word " * 40, 1]])
    sheet = book.active
    assert sheet["A1"].font.bold and sheet["A1"].fill.start_color.rgb == "001F3864"
    assert sheet.freeze_panes == "A2" and sheet.auto_filter.ref == "A1:C2"
    assert sheet.column_dimensions["B"].width == 62 and sheet["B2"].alignment.wrap_text
    assert sheet.column_dimensions["C"].width < 12
    assert sheet.row_dimensions[2].height >= 45
    assert sheet.page_setup.orientation == "landscape" and sheet.sheet_properties.pageSetUpPr.fitToPage


@pytest.mark.parametrize("data", [[[1, 2], [3, 4]], [["a", 1], ["b", 2]], [["only", "row"]], [["a", "a"], ["b", "c"]]])
def test_rows_without_names_have_no_header(tmp_path: Path, data: Any) -> None:
    sheet = book_of(tmp_path, data)[0].active
    assert sheet.freeze_panes is None and not sheet["A1"].font.bold


def test_types_formats_and_ids(tmp_path: Path) -> None:
    book, lines = book_of(
        tmp_path,
        [
            ["Code", "Amount", "Share", "Day"],
            ["007", "1,234.50", "12%", "2026-01-31"],
            ["010", "$5", "3.5%", "2026-02-01"],
            ["Total", "=SUM(B2:B3)", None, None],
        ],
    )
    sheet = book.active
    assert [sheet[name].value for name in ("A2", "B2", "C2", "D2")] == ["007", 1234.5, 0.12, datetime(2026, 1, 31)]
    assert [sheet[name].number_format for name in ("B2", "C3", "D2")] == ["#,##0.00", "0.0%", "yyyy-mm-dd"]
    assert sheet["B4"].value == "=SUM(B2:B3)" and sheet["B4"].data_type == "f"
    assert sheet["B4"].number_format == "#,##0.00" and sheet["B4"].font.bold
    assert "1 formula (" in lines[0]


def test_text_is_never_taken_for_a_formula_or_an_error(tmp_path: Path) -> None:
    book, _ = book_of(tmp_path, [["x"], ["=cmd|' /C calc'!A0"], ["#N/A"], ["+1"], ["-"]])
    assert [book.active.cell(row, 1).data_type for row in range(2, 6)] == ["s"] * 4


def test_ragged_rows_scripts_and_hostile_text(tmp_path: Path) -> None:
    book, lines = book_of(tmp_path, [["a", "b"], ["中文 😀 العربية"], ["a\x00b", "c\ud800", 3], ["x" * 40_000]])
    assert book.active["A2"].value == "中文 😀 العربية"
    assert [book.active[name].value for name in ("A3", "B3", "C3")] == ["ab", "c\ufffd", 3]
    assert len(book.active["A4"].value) == 32_767
    assert any("32,767" in line for line in lines)


def test_too_many_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolFault, match="16,384 columns at most"):
        write_workbook(tmp_path / "b.xlsx", [TableData("", [[0] * 16_385])])


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("", "empty"),
        ("hello", "no table"),
        ("[[1, 2], [3", "not valid JSON"),
        ("[1, 2]", "row 1 is '1', and every row must be a list"),
        ([["a"], "b"], "row 2 is 'b', and every row must be a list of cells like the others"),
        ([], "no rows"),
        ([[], []], "no rows"),
        ([{}], "no rows"),
        ("5", "no table"),
        ({"a": {"b": 1}}, "no table"),
    ],
)
def test_a_wrong_shape_is_answered_with_what_was_wrong_and_an_example(data: Any, says: str) -> None:
    with pytest.raises(ToolFault) as fault:
        read_tables(data)
    assert says in str(fault.value) and '["North", 120]' in str(fault.value)


def csv_of(folder: Path, data: Any) -> tuple[list[list[str]], bytes, list[str]]:
    lines = write_csv(folder / "t.csv", read_tables(data)[0])
    raw = (folder / "t.csv").read_bytes()
    with (folder / "t.csv").open(encoding="utf-8", newline="") as source:
        return list(csv.reader(source)), raw, lines


def test_csv_is_rfc_4180_in_utf8(tmp_path: Path) -> None:
    rows, raw, lines = csv_of(tmp_path, [["a,b", 'say "hi"', "two\nlines"], [1, None, True], ["中文", 0.1, "=1+1"]])
    assert rows == [["a,b", 'say "hi"', "two\nlines"], ["1", "", "true"], ["中文", "0.1", "=1+1"]]
    assert raw.startswith(b'"a,b","say ""hi""","two\nlines"\r\n') and not raw.startswith(b"\xef\xbb\xbf")
    assert lines == ["3 rows x 3 columns."]


def test_csv_of_objects_keeps_their_values(tmp_path: Path) -> None:
    rows, _, _ = csv_of(tmp_path, [{"id": "007", "n": 1}, {"id": "008", "x": {"y": 2}}])
    assert rows == [["id", "n", "x"], ["007", "1", ""], ["008", "", '{"y": 2}']]


def test_csv_text_and_ragged_rows(tmp_path: Path) -> None:
    rows, _, lines = csv_of(tmp_path, 'name,note\nA,"x, y"\nB\n')
    assert rows == [["name", "note"], ["A", "x, y"], ["B"]]
    assert "row 3 has 1, the first 2" in lines[1]
