"""How wide text is, and how a table's width is shared among its columns."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_LONGEST_WORD = 20.0
"""Characters beyond which a word is broken rather than given room."""
_LONGEST_CELL = 60
"""Characters beyond which a cell wraps anyway: one long cell must not starve the others."""


def display_width(text: str) -> int:
    """Return the width of a text in characters of a Latin text; Chinese, Japanese, Korean and emoji count two."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def column_shares(rows: Sequence[Sequence[str]], page: float = 90.0) -> list[float]:
    """Return each column's share of the width, summing to 1.

    A column gets room for its longest word, and the rest goes by how much text it holds, so that a column of prose is
    wide and one of numbers is narrow, yet breaks no word it need not.

    Args:
        rows: The cells' text, the header first.
        page: Characters that the whole width holds in the table's font.
    """
    columns = list(zip(*rows, strict=True))
    least = [_word_room(column) for column in columns]
    wanted = [max(low, _text_room(column)) for low, column in zip(least, columns, strict=True)]
    sizes = wanted
    if sum(wanted) > page:
        if sum(least) <= page:
            spare = page - sum(least)
            surplus = [want - low for want, low in zip(wanted, least, strict=True)]
            sizes = [low + spare * extra / sum(surplus) for low, extra in zip(least, surplus, strict=True)]
        else:
            sizes = _levelled(least, page)
    return [size / sum(sizes) for size in sizes]


def _word_room(column: Sequence[str]) -> float:
    """Return what a column's longest word takes; the header is bold, and so a little wider."""
    room = 3.0
    for index, cell in enumerate(column):
        for word in cell.split():
            wide = any(unicodedata.east_asian_width(char) in "WF" for char in word)
            width = min(display_width(word), 8) if wide else display_width(word) * (1.2 if index == 0 else 1.05)
            room = max(room, min(width, _LONGEST_WORD))
    return room + 2.5


def _text_room(column: Sequence[str]) -> float:
    widths = [min(_LONGEST_CELL, display_width(cell)) for cell in column]
    return 0.7 * max(widths, default=0) + 0.3 * sum(widths) / max(len(widths), 1) + 2.5


def _levelled(sizes: Sequence[float], page: float) -> list[float]:
    """Cut the largest down to one level, so that the sum is `page` and the small ones keep their size."""
    low, high = 0.0, max(sizes)
    for _ in range(40):
        level = (low + high) / 2
        low, high = (level, high) if sum(min(size, level) for size in sizes) <= page else (low, level)
    return [min(size, low) for size in sizes]
