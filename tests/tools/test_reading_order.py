"""Lines are read as people read them: tables by rows, running text by columns."""

from __future__ import annotations

import random

from pytest_gta.tools.reading_order import TextLine, in_reading_order, with_words_joined


def line(left: int, top: int, width: int, text: str, height: int = 20) -> TextLine:
    return TextLine(left, top, left + width, top + height, text)


def texts(lines: list[TextLine]) -> list[str]:
    shuffled = list(lines)
    random.Random(4).shuffle(shuffled)
    return [found.text for found in in_reading_order(shuffled)]


def test_a_table_is_read_by_rows() -> None:
    cells = [line(x, y + x // 100, 60, f"{y},{x}") for y in range(0, 240, 40) for x in (0, 300, 500)]
    assert texts(cells) == [cell.text for cell in cells]


def test_columns_of_running_text_are_read_one_by_one() -> None:
    heading = line(0, 0, 800, "heading", 40)
    left = [line(0, 60 + 30 * i, 370 + i, f"left {i}") for i in range(5)]
    right = [line(430, 60 + 30 * i, 365 - i, f"right {i}") for i in range(5)]
    footer = line(10, 260, 700, "footer")
    assert texts([heading, *left, *right, footer]) == [
        "heading",
        *(f"left {i}" for i in range(5)),
        *(f"right {i}" for i in range(5)),
        "footer",
    ]


def test_a_slanted_row_stays_a_row() -> None:
    row = [line(200 * i, 10 + 4 * i, 150, f"word {i}") for i in range(4)]
    assert texts([*row, line(0, 60, 150, "next")]) == ["word 0", "word 1", "word 2", "word 3", "next"]


def test_nothing_and_one_line() -> None:
    assert in_reading_order([]) == []
    assert texts([line(0, 0, 10, "one")]) == ["one"]


def test_words_that_touch_are_one_line_and_cells_are_not() -> None:
    words = [line(0, 0, 80, "First"), line(76, 1, 60, "page"), line(160, 0, 60, "12"), line(0, 30, 60, "next")]
    joined = with_words_joined(words)
    assert [(found.text, found.right) for found in joined] == [("First page", 136), ("12", 220), ("next", 60)]
    large_and_small = [line(0, 0, 80, "T", height=60), line(82, 20, 60, "small")]
    assert with_words_joined(large_and_small) == large_and_small
