from __future__ import annotations

import re
from itertools import pairwise

import pytest

from pytest_gta.judge.excerpts import excerpt, fair_shares

GAP = re.compile(r"\n\[\.\.\. ([\d,]+) characters not shown(?:, going on in: [^\n]*)? \.\.\.\]\n")


@pytest.mark.parametrize(
    ("sizes", "total", "shares"),
    [
        ([100, 5_000, 5_000], 4_100, [100, 2_000, 2_000]),
        ([10, 20, 30], 1_000, [10, 20, 30]),
        ([1_000, 10, 1_000, 10], 100, [40, 10, 40, 10]),
        ([5], 0, [0]),
        ([], 10, []),
    ],
)
def test_small_wishes_are_met_and_large_ones_share_alike(sizes: list[int], total: int, shares: list[int]) -> None:
    assert fair_shares(sizes, total) == shares


def book(pages: int, lines: int = 40) -> str:
    return "\n".join(
        f"\n=== page {page} ===\n" + "\n".join(f"page {page} line {line} of the book" for line in range(lines))
        for page in range(1, pages + 1)
    )


def test_a_text_that_fits_is_left_alone() -> None:
    assert excerpt("short", 5) == ("short", 0)


@pytest.mark.parametrize("room", [50, 399, 400, 2_000, 10_000, 40_000])
def test_what_is_shown_and_what_is_not_add_up(room: int) -> None:
    text = book(60)
    shown, missing = excerpt(text, room)
    assert sum(int(number.replace(",", "")) for number in GAP.findall(shown)) == missing
    assert len(GAP.sub("", shown)) == len(text) - missing
    assert len(shown) <= room * 1.15 + 100
    for piece in GAP.split(shown)[::2]:
        assert piece in text


def test_beginning_end_and_pages_between_are_shown() -> None:
    shown, _ = excerpt(book(60), 20_000)
    pages = [int(number) for number in re.findall(r"=== page (\d+) ===", shown)]
    assert pages[0] == 1
    assert "page 60 line 39" in shown
    middle = [page for page in pages if 20 <= page <= 50]
    assert len(middle) >= 3
    assert max(b - a for a, b in pairwise(pages)) < 25


def test_a_passage_within_a_page_says_which_page_it_is_of() -> None:
    text = "=== page 1 ===\n" + "a\n" * 4_000 + "=== page 2 ===\n" + "b\n" * 4_000
    shown, _ = excerpt(text, 3_000)
    assert "going on in: page 2 ...]" in shown


def test_text_on_a_single_line_is_cut_too() -> None:
    shown, missing = excerpt("x" * 100_000, 5_000)
    assert 90_000 < missing < 97_000
    assert len(shown) < 6_000
