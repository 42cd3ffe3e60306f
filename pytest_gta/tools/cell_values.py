"""What a workbook's cell is to hold for a value a model wrote: a number, a date, a formula or text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from pytest_gta.tools.printable_text import printable

MAX_TEXT = 32_767
"""Characters Excel holds in a cell."""

_PLAIN = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?")
_GROUPED = re.compile(r"-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d{1,10})?")
_PERCENT = re.compile(r"(-?\d{1,12}(?:\.\d{1,10})?)\s?%")
_MONEY = re.compile(r"(-?)([$€£¥₹])\s?(\d{1,3}(?:,\d{3})+|\d{1,12})(\.\d{1,4})?")
_DATE = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?)?")
_ID_NAME = re.compile(
    r"(?:^|[\s_-])(?:id|ids|no|code|sku|zip|zipcode|postcode|phone|tel|mobile|isbn|ean|iban|account|serial|version)\.?$"
    r"|编号|代码|电话|邮编|学号|工号",
    re.IGNORECASE,
)
_STARTS_PROGRAM = re.compile(r"\|.*!|\b(?:CALL|REGISTER(?:\.ID)?|EXEC|DDE)\s*\(", re.IGNORECASE)
"""Formulas that start a program when the file is opened; nothing else is kept from being a formula."""

_NEWER = re.compile(
    r"(?<![\w.])(XLOOKUP|XMATCH|FILTER|UNIQUE|SORT|SORTBY|SEQUENCE|RANDARRAY|LET|LAMBDA|TEXTJOIN|CONCAT|IFS|SWITCH|MAXIFS|"
    r"MINIFS|VSTACK|HSTACK|TEXTSPLIT|TEXTBEFORE|TEXTAFTER|STDEV\.S|STDEV\.P|VAR\.S|VAR\.P|PERCENTILE\.INC|QUARTILE\.INC|"
    r"RANK\.EQ|RANK\.AVG|NORM\.DIST|FORECAST\.LINEAR|DAYS)\s*\(",
    re.IGNORECASE,
)
"""Functions a file must name with a prefix, or Excel shows an error until each cell is edited."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's value.

    Attributes:
        value: A number, date, truth value, text, or None for an empty cell.
        format: The number format it is shown in, or "" for the general one.
        formula: Whether `value` is a formula.
    """

    value: int | float | bool | str | date | None
    format: str = ""
    formula: bool = False


def typed_column(values: Sequence[Any], header: str = "") -> list[Cell]:
    """Return the cells of a column.

    Text that is a number, an amount, a percentage or an ISO date becomes one. Where any text of the column looks like
    an id (a leading zero, a plus sign, more digits than a number can hold), or its header says so, all of them stay
    text. JSON numbers stay numbers, whatever the header says.
    """
    as_text = bool(_ID_NAME.search(header.strip())) or any(_is_id(value) for value in values)
    return [_cell(value, as_text=as_text) for value in values]


def _is_id(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    text = value.strip()
    return bool(re.fullmatch(r"0\d+|\+\d[\d\s-]{5,}|\d{16,}", text))


def _cell(value: Any, *, as_text: bool) -> Cell:
    if value is None or value == "":
        return Cell(None)
    if isinstance(value, bool):
        return Cell(value)
    if isinstance(value, int):
        # Excel keeps 15 digits; a longer number is an id.
        return Cell(value) if abs(value) < 10**15 else Cell(str(value))
    if isinstance(value, float):
        return Cell(value) if math.isfinite(value) else Cell(str(value))
    if isinstance(value, dict) and set(value) <= {"value", "formula", "format", "number_format"} and value:
        inner = _cell(value.get("formula", value.get("value")), as_text=as_text)
        shown = value.get("format", value.get("number_format"))
        return Cell(inner.value, str(shown) if shown else inner.format, inner.formula)
    if isinstance(value, dict | list):
        return Cell(printable(json.dumps(value, ensure_ascii=False))[:MAX_TEXT])
    return _from_text(printable(str(value)), as_text=as_text)


def _from_text(text: str, *, as_text: bool) -> Cell:
    bare = text.strip()
    if bare.startswith("=") and len(bare) > 1 and not _STARTS_PROGRAM.search(bare):
        return Cell(_NEWER.sub(_prefixed, bare)[:8192], formula=True)
    if not as_text and len(bare) <= 40:
        found = _number(bare) or _date(bare)
        if found:
            return found
    return Cell(text[:MAX_TEXT])


def _prefixed(found: re.Match[str]) -> str:
    name = found.group(1).upper()
    inner = "_xlws." if name in ("FILTER", "SORT") else ""
    return f"_xlfn.{inner}{name}("


def _number(text: str) -> Cell | None:
    if _PLAIN.fullmatch(text):
        if "." not in text:
            return Cell(int(text))
        decimals = len(text.split(".")[1])
        return Cell(float(text), "0." + "0" * decimals if decimals <= 4 else "")
    if _GROUPED.fullmatch(text):
        number = float(text.replace(",", ""))
        decimals = len(text.partition(".")[2])
        return Cell(number if decimals else int(number), "#,##0" + ("." + "0" * decimals if decimals else ""))
    if found := _PERCENT.fullmatch(text):
        decimals = len(found.group(1).partition(".")[2])
        # Rounded: 12.3 / 100 has a tail that shows in the cell's edit line.
        return Cell(
            round(float(found.group(1)) / 100, decimals + 4), "0" + ("." + "0" * decimals if decimals else "") + "%"
        )
    if found := _MONEY.fullmatch(text):
        sign, mark, whole, part = found.groups()
        amount = float(sign + whole.replace(",", "") + (part or ""))
        return Cell(amount, f'"{mark}"#,##0' + ("." + "0" * (len(part) - 1) if part else ""))
    return None


def _date(text: str) -> Cell | None:
    found = _DATE.fullmatch(text)
    if not found:
        return None
    year, mark, month, day, hour, minute, second = found.groups()
    shown = f"yyyy{mark}mm{mark}dd"
    try:
        if hour is None:
            value: date = date(int(year), int(month), int(day))
        else:
            value = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0))
            shown += " hh:mm" + (":ss" if second else "")
    except ValueError:
        return None
    # Excel's calendar starts in 1900, with a day that never was until March.
    return Cell(value, shown) if value.year > 1900 else None
