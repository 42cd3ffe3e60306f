"""The order in which lines of text on a page are read: rows from the top, columns of running text one by one."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

_LEAST_LINES = 4
"""Lines that each of two columns of running text has at least."""
_FILLED = 0.65
"""How much of a column's width a line of running text fills; the cells of a table fill less."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text on a page, with its box in pixels.

    Attributes:
        left: Column of its left edge.
        top: Row of its top edge.
        right: Column after its last.
        bottom: Row after its last.
        text: What it says.
    """

    left: int
    top: int
    right: int
    bottom: int
    text: str

    @property
    def height(self) -> int:
        """Pixels."""
        return self.bottom - self.top

    @property
    def width(self) -> int:
        """Pixels."""
        return self.right - self.left

    def scaled(self, by: float) -> TextLine:
        """Return it in the pixels of a picture that many times as large."""
        left, top, right, bottom = (round(edge * by) for edge in (self.left, self.top, self.right, self.bottom))
        return TextLine(left, top, right, bottom, self.text)


def in_reading_order(lines: Sequence[TextLine]) -> list[TextLine]:
    """Return lines in the order they are read.

    A row is read from left to right before the next, as in forms and tables. Where the page has columns of running
    text - lines that fill them, beside a gutter that no line crosses - each column is read before the next; a line
    over all columns, such as a heading, ends them.
    """
    gutter = _gutter(lines)
    if gutter is None:
        return _by_rows(lines)
    crossing = sorted((line for line in lines if line.left < gutter < line.right), key=lambda line: line.top)
    rest = [line for line in lines if not line.left < gutter < line.right]
    ordered: list[TextLine] = []
    for cross in [*crossing, None]:
        above = [line for line in rest if cross is None or _middle(line) < _middle(cross)]
        rest = [line for line in rest if line not in above]
        left = [line for line in above if line.right <= gutter]
        right = [line for line in above if line.left >= gutter]
        ordered += [*in_reading_order(left), *in_reading_order(right)]
        ordered += [cross] if cross is not None else []
    return ordered


def with_words_joined(lines: Sequence[TextLine]) -> list[TextLine]:
    """Return lines in reading order with those joined that touch: words of one line, found apart in large letters."""
    joined: list[TextLine] = []
    for line in lines:
        last = joined[-1] if joined else None
        if last is not None and _touch(last, line):
            joined[-1] = TextLine(
                last.left,
                min(last.top, line.top),
                max(last.right, line.right),
                max(last.bottom, line.bottom),
                f"{last.text} {line.text}",
            )
        else:
            joined.append(line)
    return joined


def _touch(one: TextLine, other: TextLine) -> bool:
    low, high = sorted((one.height, other.height))
    beside = abs(_middle(one) - _middle(other)) < 0.3 * low and high < 1.5 * low
    return beside and one.left < other.left and abs(other.left - one.right) <= 0.35 * low


def _by_rows(lines: Sequence[TextLine]) -> list[TextLine]:
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=_middle):
        row = rows[-1] if rows else []
        last = row[-1] if row else None
        # Its middle lies within the row's last line, and the other way round: letters of another size stand alone.
        if last is not None and abs(_middle(line) - _middle(last)) < 0.5 * min(line.height, last.height):
            row.append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda line: line.left)]


def _gutter(lines: Sequence[TextLine]) -> float | None:
    """Return where two columns of running text part; None when there are none."""
    if len(lines) < 2 * _LEAST_LINES:
        return None
    page = max(line.right for line in lines) - min(line.left for line in lines)
    narrow = sorted((line for line in lines if line.width < 0.6 * page), key=lambda line: line.left)
    reach = narrow[0].right if narrow else 0
    for at, line in enumerate(narrow[1:], 1):
        if line.left > reach and _is_text(narrow[:at]) and _is_text(narrow[at:]):
            return (reach + line.left) / 2
        reach = max(reach, line.right)
    return None


def _is_text(lines: Sequence[TextLine]) -> bool:
    if len(lines) < _LEAST_LINES:
        return False
    width = max(line.right for line in lines) - min(line.left for line in lines)
    wide = statistics.median(line.width for line in lines) >= _FILLED * width
    # A column of a table is filled too, but its cells are short.
    return wide and statistics.median(line.width / max(1, line.height) for line in lines) >= 6


def _middle(line: TextLine) -> float:
    return (line.top + line.bottom) / 2
