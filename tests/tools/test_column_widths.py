"""How a table's width is shared."""

from __future__ import annotations

import pytest

from pytest_gta.tools.column_widths import column_shares, display_width


def test_wide_and_combining_characters_are_counted_as_seen() -> None:
    assert [display_width(text) for text in ("abc", "中文", "e\u0301", "😀")] == [3, 4, 1, 2]


def test_prose_gets_more_than_numbers_and_shares_sum_to_one() -> None:
    shares = column_shares([["Name", "N", "Remark"], ["Alpha", "5", "a longer remark that goes on for a while " * 2]])
    assert sum(shares) == pytest.approx(1) and shares[2] > shares[0] > shares[1]


def test_no_short_word_is_broken_for_the_sake_of_a_long_one() -> None:
    header = ["KPI", "Definition", "Baseline", "Target", "Stretch", "Owner", "Frequency", "Notes"]
    row = [
        "a_very_long_identifier_that_must_be_broken_anyway",
        "word " * 20,
        "31%",
        "45%",
        "50%",
        "Product",
        "monthly",
        "x" * 50,
    ]
    page = 115.0
    shares = column_shares([header, row], page)
    for name, share in zip(header, shares, strict=True):
        assert share * page >= len(name) * 1.05, name


def test_more_columns_than_fit_are_levelled() -> None:
    shares = column_shares([[f"Column{n}" for n in range(30)]], 60.0)
    assert sum(shares) == pytest.approx(1) and min(shares) > 0.02


def test_empty_cells_have_some_width() -> None:
    assert column_shares([["", ""], ["", ""]]) == pytest.approx([0.5, 0.5])
