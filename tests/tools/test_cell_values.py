"""Values of cells: what becomes a number, a date, a formula, and what stays text."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

from pytest_gta.tools.cell_values import Cell, typed_column


def cell(value: Any, header: str = "") -> Cell:
    return typed_column([value], header)[0]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, Cell(5)),
        (1.5, Cell(1.5)),
        (True, Cell(True)),
        (None, Cell(None)),
        ("", Cell(None)),
        ("42", Cell(42)),
        ("-3.50", Cell(-3.5, "0.00")),
        ("1,234", Cell(1234, "#,##0")),
        ("-1,234,567.5", Cell(-1234567.5, "#,##0.0")),
        ("12%", Cell(0.12, "0%")),
        ("-3.25 %", Cell(-0.0325, "0.00%")),
        ("$1,234.50", Cell(1234.5, '"$"#,##0.00')),
        ("¥ 98", Cell(98.0, '"¥"#,##0')),
        ("-€5", Cell(-5.0, '"€"#,##0')),
        ("2026-01-31", Cell(date(2026, 1, 31), "yyyy-mm-dd")),
        ("2026/1/5", Cell(date(2026, 1, 5), "yyyy/mm/dd")),
        ("2026-01-31 14:05", Cell(datetime(2026, 1, 31, 14, 5), "yyyy-mm-dd hh:mm")),
        ("2026-01-31T14:05:09", Cell(datetime(2026, 1, 31, 14, 5, 9), "yyyy-mm-dd hh:mm:ss")),
        ("=SUM(A1:A3)", Cell("=SUM(A1:A3)", formula=True)),
        ({"value": "12", "format": "0.0"}, Cell(12, "0.0")),
        ({"formula": "=A1*2"}, Cell("=A1*2", formula=True)),
    ],
)
def test_what_is_typed(value: Any, expected: Cell) -> None:
    assert cell(value) == expected


@pytest.mark.parametrize(
    "text",
    [
        "007",
        "+49 171 1234567",
        "1234567890123456",
        "1,23",
        "1.234,56",
        "12,34,567",
        "2026-02-30",
        "1850-01-01",
        "01/02/2026",
        "1e5",
        "3-4",
        "v1.2",
        "NaN",
        "=",
        "-",
        "TRUE",
        "#N/A",
        "12 apples",
    ],
)
def test_what_stays_text(text: str) -> None:
    assert cell(text) == Cell(text)


def test_one_id_makes_the_whole_column_text() -> None:
    assert typed_column(["007", "123", 5]) == [Cell("007"), Cell("123"), Cell(5)]


@pytest.mark.parametrize("header", ["Product ID", "zip", "Phone", "order_no", "学号", "ISBN"])
def test_a_header_makes_a_column_text(header: str) -> None:
    assert cell("12345", header) == Cell("12345")


@pytest.mark.parametrize("header", ["Revenue", "Width", "Paid", "Number of units"])
def test_a_header_that_only_sounds_like_an_id_does_not(header: str) -> None:
    assert cell("12345", header) == Cell(12345)


def test_numbers_excel_cannot_hold_are_text() -> None:
    assert cell(10**16) == Cell(str(10**16))
    assert cell(float("nan")) == Cell("nan") and cell(float("inf")) == Cell("inf")


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", '=DDE("cmd","/C calc","x")', '=CALL("kernel32","WinExec")'])
def test_formulas_that_start_programs_are_text(text: str) -> None:
    assert cell(text) == Cell(text)


@pytest.mark.parametrize("text", ["+1+1", "-A1", "@SUM(A1)"])
def test_text_that_only_looks_like_a_formula_is_text(text: str) -> None:
    assert cell(text) == Cell(text)


def test_newer_functions_get_the_prefix_excel_wants() -> None:
    assert cell("=XLOOKUP(A1,B:B,C:C)").value == "=_xlfn.XLOOKUP(A1,B:B,C:C)"
    assert cell("=FILTER(A1:A9,B1:B9>2)").value == "=_xlfn._xlws.FILTER(A1:A9,B1:B9>2)"
    assert cell("=_xlfn.CONCAT(A1,B1)").value == "=_xlfn.CONCAT(A1,B1)"


def test_nested_values_and_control_characters() -> None:
    assert cell(["a", {"b": 1}]) == Cell('["a", {"b": 1}]')
    assert cell("a\x00b\x0bc\ud800") == Cell("abc\ufffd")
