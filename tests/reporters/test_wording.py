from __future__ import annotations

import pytest

from pytest_gta.benchmark.coverage import Coverage
from pytest_gta.reporters.wording import (
    agent_name,
    caution,
    count,
    duration,
    interval,
    money,
    points,
    points_against,
    quantity,
    rate,
    shortened,
    shown_to_judge,
    told_apart,
)


@pytest.mark.parametrize(
    ("amount", "text"),
    [(None, "cost unknown"), (0.0, "$0.00"), (0.0031, "$0.0031"), (0.1, "$0.10"), (1.239, "$1.24"), (1e-7, "$0.0000")],
)
def test_money(amount: float | None, text: str) -> None:
    assert money(amount) == text


def test_what_was_not_measured_is_no_number() -> None:
    assert (points(None), rate(None), interval(None), duration(None)) == ("-", "-", "", "unknown")
    assert (points(7.0), rate(14.3939), interval((9.41, 21.39)), interval((1, 2.345), 2)) == (
        "7.00",
        "14.4 %",
        "[9.4, 21.4]",
        "[1.00, 2.35]",
    )


@pytest.mark.parametrize(
    ("score", "digits", "text"),
    [
        (6.999, 2, "6.99"),
        (6.4999, 2, "6.49"),
        (6.999, 1, "6.9"),
        (9.996, 2, "9.99"),
        (6.666, 2, "6.67"),
        (6.999999999999999, 2, "7.00"),
        (7.1 + 0.2, 2, "7.30"),
        (7.0, 1, "7.0"),
        (0.0, 2, "0.00"),
    ],
)
def test_a_score_below_a_threshold_is_not_shown_as_one_that_reaches_it(score: float, digits: int, text: str) -> None:
    assert points(score, digits) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (9.44, "9.4 s"),
        (9.96, "10 s"),
        (48.2, "48 s"),
        (59.6, "1 min 0 s"),
        (725, "12 min 5 s"),
        (3599.7, "1 h 0 min"),
        (10930, "3 h 2 min"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (99_999, "99,999"), (100_000, "0.1M"), (65_960_000, "66.0M"), (3_000_000_000, "3,000.0M")],
)
def test_quantity(number: int, text: str) -> None:
    assert quantity(number) == text


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [(1, "task", "1 task"), (0, "task", "0 tasks"), (1156, "leaf", "1,156 leaves"), (1, "leaf", "1 leaf")],
)
def test_count(number: int, noun: str, text: str) -> None:
    assert count(number, noun) == text


@pytest.mark.parametrize(
    ("label", "model", "name"),
    [
        ("gpt-5", "gpt-5", "gpt-5"),
        ("careful", "gpt-5", "careful on gpt-5"),
        ("careful", None, "careful"),
        (None, None, ""),
    ],
)
def test_an_agent_that_is_the_model_itself_is_named_once(label: str | None, model: str | None, name: str) -> None:
    assert agent_name({"label": label, "model": model}) == name


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [
        (5.5, 7, "5.50"),
        (6.998, 7, "6.998"),
        (6.9999, 7, "6.9999"),
        (7.0, 7, "7.00"),
        (7 - 1e-12, 7, "6.999999999999"),
    ],
)
def test_a_number_shows_on_which_side_of_a_limit_it_is(value: float, limit: float, text: str) -> None:
    assert told_apart(value, limit) == text
    assert (float(text) >= limit) == (value >= limit)


@pytest.mark.parametrize(
    ("score", "limit", "text"),
    [
        (4.2998, 7, "4.29"),
        (6.998, 7, "6.99"),
        (6.749, 6.75, "6.749"),
        (7.0, 7, "7.00"),
        (7 - 1e-12, 7, "6.999999999999"),
    ],
)
def test_a_score_against_its_limit_is_written_as_everywhere(score: float, limit: float, text: str) -> None:
    assert points_against(score, limit) == text
    if text != points(score):
        assert (float(points(score)) >= limit) != (score >= limit)


@pytest.mark.parametrize(
    ("text", "room", "shown"),
    [
        ("no more than\n it may", 30, "no more than it may"),
        ("one two three four five", 15, "one two ..."),
        (
            "/home/someone/projects/agent/.gta/runs/20260301/tasks/9/workspace cannot be written",
            40,
            "/home.../9/workspace cannot be written",
        ),
        ("the file /a/very/long/path/to/somewhere/report.docx", 40, "the file /a/ve.../report.docx"),
        ("x" * 100, 20, "xxx...xxxxxx"),
    ],
)
def test_a_long_text_keeps_its_beginning_and_a_long_word_both_its_ends(text: str, room: int, shown: str) -> None:
    assert shortened(text, room) == shown
    assert len(shown) <= room


def test_what_a_judge_was_shown() -> None:
    long = Coverage(
        files=4, files_shown=3, pages=9, pages_shown=7, characters=30_120, characters_shown=21_285,
        pictures_shown=1, passages=2,
    )  # fmt: skip
    assert shown_to_judge(long) == (
        "3 of 4 files, 7 of 9 pages, 21,285 of 30,120 characters of text (2 passages found for this requirement), "
        "1 picture"
    )
    assert shown_to_judge(Coverage(files=1, files_shown=1, pictures_shown=1)) == "1 file, 1 picture"
    whole = Coverage(files=2, files_shown=2, pages=9, pages_shown=9, characters=1_200, characters_shown=1_200)
    assert shown_to_judge(whole) == "all 2 files, all 9 pages, all 1,200 characters of text, 0 pictures"
    assert shown_to_judge(Coverage(files=0, files_shown=0)) == "no file was delivered"
    assert shown_to_judge(None) == "", "not recorded is not nothing"


def test_a_shortened_text_commands_no_terminal() -> None:
    assert shortened("a \x1b[31m red", 40) == "a \u241b[31m red"


@pytest.mark.parametrize(
    ("agent", "judge", "parts"),
    [
        ("m1", {"model": "j1"}, None),
        ("local", {"model": "j1"}, "as an agent it has few tools and turns"),
        ("m1", {"model": "local"}, "as a judge it sees excerpts"),
        (None, {"model": "j1", "panel": ["j1", "local"]}, "as a judge it sees excerpts"),
        ("local", {"model": "local"}, "as an agent it has few tools and turns; as a judge it sees excerpts"),
    ],
)
def test_numbers_of_the_bundled_model_come_with_a_caution(
    agent: str | None, judge: dict[str, object], parts: str | None
) -> None:
    expected = (
        ""
        if parts is None
        else (f"The bundled model is tiny ({parts}): scores show that everything runs, not how good anything is.")
    )
    assert caution({"agent": {"model": agent}, "judge": judge}) == expected
