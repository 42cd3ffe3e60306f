"""How wide text is, and how a table's width is shared among its columns."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def display_width(text: str) -> int:
    """Return the width of a text in characters of a Latin text; Chinese, Japanese, Korean and emoji count two."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def column_shares(rows: Sequence[Sequence[str]]) -> list[float]:
    """Return each column's share of the width, summing to 1.

    A column gets room for its longest word, and the rest goes by how much text it holds, so that a column of prose
    is wide and one of numbers is narrow, yet wraps nothing it need not.
    """
    columns = [[display_width(cell) for cell in column] for column in zip(*rows, strict=True)]
    words = [
        max((display_width(word) for cell in column for word in cell.split()), default=1)
        for column in zip(*rows, strict=True)
    ]
    # Beyond 60 characters a cell wraps anyway, and one long cell must not starve the others.
    wanted = [min(60, max(column, default=1)) * 0.7 + 0.3 * min(60, sum(column) / len(column)) for column in columns]
    least = [min(24, word * 1.2) + 3 for word in words]
    sizes = [max(low, want, 4) for low, want in zip(least, wanted, strict=True)]
    total = sum(sizes)
    shares = [size / total for size in sizes]
    # Squeezed columns give up prose first: nothing narrower than its longest word when the page allows.
    page = 90.0
    if total > page and sum(least) < page:
        spare = page - sum(least)
        surplus = [size - low for size, low in zip(sizes, least, strict=True)]
        shares = [(low + spare * extra / (sum(surplus) or 1)) / page for low, extra in zip(least, surplus, strict=True)]
    return shares
