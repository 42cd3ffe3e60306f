"""The cells of one worksheet, streamed: value and formula of each used one, however large the sheet."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

from pytest_gta.formats.markup import Element, all_text, child, children, local, stream

_NS = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_STRICT = "{http://purl.oclc.org/ooxml/spreadsheetml/main}"
_TAGS = ("row", "col", "mergeCell", "hyperlink", "dataValidation", "conditionalFormatting", "autoFilter", "pane")
_ADDRESS = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_DATE_LETTERS = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')
_REFERENCE = re.compile(r"""("[^"]*"|'[^']*'!?)|(?<![A-Za-z0-9_.$])(\$?)([A-Z]{1,3})(\$?)(\d{1,7})(?![A-Za-z0-9_.(])""")


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How a cell shows what it holds: as a date or time, as a percentage, plainly, or not at all."""

    is_date: bool = False
    is_percent: bool = False
    is_unseen: bool = False

    @classmethod
    def of(cls, code: str) -> NumberFormat:
        """Return what a format code means."""
        bare = _DATE_LETTERS.sub("", code.split(";")[0]).lower()
        is_date = any(letter in bare for letter in "dmyhs") and "general" not in bare
        return cls(is_date, "%" in bare, code.strip() == ";;;")


@dataclass(slots=True)
class SheetMeasure:
    """What was met in a sheet besides its cells.

    Attributes:
        cells: Cells with a value or a formula.
        rows: Rows with such cells.
        first_row, last_row, first_column, last_column: Where they lie, counted from 1; 0 for an empty sheet.
        formulas: Cells with a formula.
        uncalculated: Formulas without a stored value.
        errors: Cells that show an error such as ``#DIV/0!``.
        unseen: Cells whose text is white on white, or formatted away.
        hidden_rows: Used rows that are hidden.
        hidden_columns: Letters of hidden columns.
        merged: Merged ranges (the first few), and how many there are.
        links: Addresses that cells link to.
        features: Counts of validations, conditional formats, filters, frozen panes.
        cut: Whether the limit on cells was reached.
    """

    cells: int = 0
    rows: int = 0
    first_row: int = 0
    last_row: int = 0
    first_column: int = 0
    last_column: int = 0
    formulas: int = 0
    uncalculated: int = 0
    errors: int = 0
    unseen: int = 0
    hidden_rows: list[int] = field(default_factory=list)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    merged_count: int = 0
    links: dict[str, str] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A used row: its number, whether it is hidden, and the text of each used cell by column number."""

    number: int
    hidden: bool
    cells: dict[int, str]


class CellReader:
    """Streams the cells of worksheets of one workbook.

    Args:
        shared: The workbook's shared strings.
        formats: The number format of each cell style.
        since_1904: Whether its days are counted from 1904.
    """

    def __init__(self, shared: Sequence[str], formats: Sequence[NumberFormat], since_1904: bool) -> None:
        self._shared, self._formats, self._since_1904 = shared, formats, since_1904

    def rows(self, part: IO[bytes], measure: SheetMeasure, most_cells: int) -> Iterator[Row]:
        """Yield the used rows of a sheet in order and note the rest in `measure`; stops after `most_cells`.

        Raises:
            Unreadable: When its XML is damaged from here on.
        """
        tags = tuple(space + tag for tag in _TAGS for space in (_NS, _STRICT))
        masters: dict[str, tuple[str, str]] = {}
        number = 0
        for element in stream(part, tags):
            name = local(element)
            if name != "row":
                _note(element, name, measure)
                continue
            number = int(element.get("r") or number + 1)
            if measure.cut or len(element) == 0:
                continue
            cells = self._cells(element, number, masters, measure)
            if not cells:
                continue
            hidden = element.get("hidden") in ("1", "true")
            if hidden:
                measure.hidden_rows.append(number)
            measure.rows += 1
            measure.cells += len(cells)
            measure.first_row = measure.first_row or number
            measure.last_row = number
            low, high = min(cells), max(cells)
            measure.first_column = min(measure.first_column or low, low)
            measure.last_column = max(measure.last_column, high)
            measure.cut = measure.cells >= most_cells
            yield Row(number, hidden, cells)

    def _cells(
        self, row: Element, number: int, masters: dict[str, tuple[str, str]], measure: SheetMeasure
    ) -> dict[int, str]:
        found: dict[int, str] = {}
        column = 0
        for element in row:
            address = element.get("r")
            match = _ADDRESS.match(address) if address else None
            column = _column_number(match.group(1)) if match else column + 1
            if len(element) == 0:
                continue
            value = self._value(element)
            formula = self._formula(element, address or f"{column_letters(column)}{number}", masters)
            if element.get("t") == "e":
                measure.errors += 1
            if formula is not None:
                measure.formulas += 1
                if value is None:
                    measure.uncalculated += 1
                found[column] = f"{'not calculated' if value is None else value} {{={formula}}}"
            elif value not in (None, ""):
                found[column] = str(value)
            if column in found and self._format(element.get("s", "0")).is_unseen:
                measure.unseen += 1
                found[column] = f"[hidden text: {found[column]}]"
        return found

    def _value(self, cell: Element) -> str | None:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return _rich_text(child(cell, "is"))
        holder = child(cell, "v")
        text = holder.text if holder is not None else None
        if text is None:
            return None
        if kind == "s":
            index = int(text) if text.isdigit() else -1
            return self._shared[index] if 0 <= index < len(self._shared) else "[missing shared text]"
        if kind == "b":
            return "TRUE" if text.strip() == "1" else "FALSE"
        if kind in ("str", "e", "d"):
            return str(text)
        return self._number(text, cell.get("s", "0"))

    def _number(self, text: str, style: str) -> str:
        try:
            number = float(text)
        except ValueError:
            return text
        shown = self._format(style)
        if shown.is_date:
            return self._date(number) or f"{number:.15g}"
        if shown.is_percent:
            return f"{number * 100:.10g}%"
        return f"{number:.15g}"

    def _format(self, style: str) -> NumberFormat:
        index = int(style) if style.isdigit() else 0
        return self._formats[index] if index < len(self._formats) else NumberFormat()

    def _date(self, number: float) -> str:
        if not 0 <= number < 2_958_466:
            return ""
        days = number + 1462 if self._since_1904 else number
        # Excel believes in a 29 February 1900; days before it count from one day later.
        start = datetime.datetime(1899, 12, 30 if days >= 60 else 31)
        moment = start + datetime.timedelta(seconds=round(days * 86_400))
        if number < 1:
            return moment.strftime("%H:%M:%S")
        return moment.strftime("%Y-%m-%d" if moment.time() == datetime.time() else "%Y-%m-%d %H:%M:%S")

    def _formula(self, cell: Element, address: str, masters: dict[str, tuple[str, str]]) -> str | None:
        element = child(cell, "f")
        if element is None:
            return None
        text = str(element.text or "")
        if element.get("t") != "shared":
            return text or "array formula"
        key = element.get("si", "")
        if text:
            masters[key] = (text, address)
            return text
        master = masters.get(key)
        return "shared formula" if master is None else shifted(*master, address)


def shifted(formula: str, origin: str, address: str) -> str:
    """Return a formula as copied from one cell to another: relative references move along, ``$`` ones stay.

    Of a range that would leave the sheet nothing sensible remains; such a reference becomes ``#REF!``.
    """
    start, end = _ADDRESS.match(origin), _ADDRESS.match(address)
    if start is None or end is None:
        return formula
    right = _column_number(end.group(1)) - _column_number(start.group(1))
    down = int(end.group(2)) - int(start.group(2))

    def move(match: re.Match[str]) -> str:
        quoted, fixed_column, letters, fixed_row, number = match.groups()
        if quoted:
            return quoted
        column = _column_number(letters) + (0 if fixed_column else right)
        row = int(number) + (0 if fixed_row else down)
        return f"{fixed_column}{column_letters(column)}{fixed_row}{row}" if column > 0 and row > 0 else "#REF!"

    return _REFERENCE.sub(move, formula)


def column_letters(number: int) -> str:
    """Return a column's letters: 1 is A, 27 is AA."""
    letters = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def shared_strings(part: IO[bytes]) -> Iterator[str]:
    """Yield the shared strings of a workbook in order.

    Raises:
        Unreadable: When their XML is damaged from here on.
    """
    for element in stream(part, (_NS + "si", _STRICT + "si")):
        yield _rich_text(element)


def _rich_text(holder: Element | None) -> str:
    """Return a text without its phonetic guides."""
    if holder is None:
        return ""
    parts = [element.text or "" for element in children(holder, "t")]
    parts.extend(all_text(run, "t") for run in children(holder, "r"))
    return "".join(parts)


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _note(element: Element, name: str, measure: SheetMeasure) -> None:
    if name == "col":
        if element.get("hidden") in ("1", "true"):
            measure.hidden_columns.append((int(element.get("min", "0")), int(element.get("max", "0"))))
    elif name == "mergeCell":
        measure.merged_count += 1
        if len(measure.merged) < 30:
            measure.merged.append(element.get("ref", ""))
    elif name == "hyperlink":
        if len(measure.links) < 200:
            target = next((v for k, v in element.attrib.items() if k.endswith("}id")), "")
            measure.links[element.get("ref", "")] = target or "#" + element.get("location", "")
    else:
        label = {
            "dataValidation": "data validations",
            "conditionalFormatting": "conditional formats",
            "autoFilter": "filters",
            "pane": "frozen panes",
        }[name]
        measure.features[label] = measure.features.get(label, 0) + 1
