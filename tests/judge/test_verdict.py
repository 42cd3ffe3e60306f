"""What counts as a score, and what never does."""
# ruff: noqa: RUF001

from __future__ import annotations

import json

import pytest

from pytest_gta.benchmark.usage import Usage
from pytest_gta.judge.verdict import (
    ANALYSIS_LIMIT,
    ParsedVerdict,
    Refused,
    Unreadable,
    parse_text,
    parse_verdict,
    scale_warning,
)
from pytest_gta.llm.reply import Reply


def reply(text: str, finish_reason: str = "stop", refusal: str | None = None) -> Reply:
    return Reply(text, (), finish_reason, refusal, Usage(calls=1), {"role": "assistant", "content": text})


def score_of(text: str) -> float | None:
    parsed = parse_text(text)
    return parsed.score if isinstance(parsed, ParsedVerdict) else None


def test_a_plain_verdict_keeps_score_and_reason() -> None:
    assert parse_verdict(reply('{"analysis": "report.docx lacks a chart", "score": 6}')) == ParsedVerdict(
        6.0, "report.docx lacks a chart"
    )


@pytest.mark.parametrize(
    ("written", "score"),
    [
        ("7.5", 7.5),
        ('"8"', 8.0),
        ("0", 0.0),
        ("10", 10.0),
        ("10.0", 10.0),
        ('"７．５"', 7.5),
        ('"８"', 8.0),
        ('"8\u200b"', 8.0),
        ("８", 8.0),
        ("8\u200b", 8.0),
        ("0.9", 0.9),
        ("1e0", 1.0),
    ],
)
def test_an_unambiguous_number_is_a_score_in_an_object_and_alone(written: str, score: float) -> None:
    assert score_of(f'{{"analysis": "x", "score": {written}}}') == score
    if written != "1e0":
        assert score_of(written) == score


@pytest.mark.parametrize(
    "written",
    [
        '"10/10"', '"8-9"', '"score: 85"', '"no score: 3 issues"', '"8 of 10"', '"about 8"', '"8,5"', '"8%"', '""',
        '"+8"', '"²"', '"①"', '"½"', '"eight"', '"٣"', "90", "85", "11", "10.01", "-1", "-0.5", "98989898", "1e308",
        "1e999", "NaN", "Infinity", "-Infinity", '"NaN"', '"inf"', "true", "false", "null", "[8]", '{"value": 8}',
        '["8"]', "9" * 400,
    ],
)  # fmt: skip
def test_anything_else_is_not_a_score_and_nothing_is_clamped(written: str) -> None:
    parsed = parse_text(f'{{"analysis": "Only 3 of 10 slides", "score": {written}}}')
    assert isinstance(parsed, Unreadable), parsed
    assert "score" in parsed.reason


@pytest.mark.parametrize(
    "text",
    [
        "10/10", "8-9", "score: 85", "score: 8", "no score: 3 issues", "[8]", '{"value": 8}', "true", "null", "NaN",
        "The 2024 report is missing, so 0", "Checkpoint 1: I would give 9/10", "Score: -3", "I give it an 8.",
        "HTTP 429 Too Many Requests (gpt-5.2)", "Error code: 503 - {'error': {'message': 'score 8'}}", "-1", "11",
        '"8-9"', '{"analysis": "no number at all"}', '[{"analysis": "a", "score": 8}]', '{"verdict": {"score": 8}}',
        "{}",
    ],
)  # fmt: skip
def test_digits_in_prose_errors_and_other_shapes_are_not_a_score(text: str) -> None:
    assert isinstance(parse_text(text), Unreadable)


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"analysis": "ok", "score": 8}\n```',
        '```json  \n{"analysis": "ok", "score": 8}\n```  \n',
        '``` \n{"analysis": "ok", "score": 8}```',
        '```JSON {"analysis": "ok", "score": 8} ```',
        'Here is my verdict:\n\n```json\n{"analysis": "ok", "score": 8}\n```\nLet me know if 3 more are needed.',
        'I looked at {placeholders} and 9 files.\n{"analysis": "ok", "score": 8}\nThat is all.',
        '\ufeff{"analysis": "ok", "score": 8}\n',
        '{"Analysis": "ok", "Score": 8}',
        '{"analysis": "ok", "sc\u200bore": "8"}',
        'Facts: {"slides": 3}. Verdict: {"analysis": "ok", "score": 8}',
        'Draft {"analysis": "ok", "score": 8} and again {"analysis": "ok", "score": 8.0}',
    ],
)
def test_fences_prose_and_stray_characters_around_a_verdict(text: str) -> None:
    assert parse_text(text) == ParsedVerdict(8.0, "ok")


def test_a_raw_newline_in_a_string_is_taken_as_one() -> None:
    assert parse_text('{"analysis": "line one\nline two\ttab", "score": 4}') == ParsedVerdict(
        4.0, "line one line two tab"
    )


@pytest.mark.parametrize(
    "text",
    [
        '<think>{"score":2}</think>{"score":9}',
        '{"score":2} hm, no, better.</think>\n\n{"score":9}',
        '<think>a</think> b {"score":1} </think>```json\n{"analysis":"", "score":9}\n```',
        '<THINKING>\n{"score":2}\n</THINKING>\n{"score":9}',
        '<think>{"score": 2</think>{"score":9}',
        '{"score":9}<think>{"score":2}',
    ],
)
def test_the_answer_after_the_reasoning_counts_not_a_draft_inside(text: str) -> None:
    assert parse_text(text) == ParsedVerdict(9.0, "")


@pytest.mark.parametrize("text", ['<think>{"score":2}</think>', '<think>{"score":2}', '<think>{"score":2}</think> \n'])
def test_reasoning_without_an_answer_is_no_score(text: str) -> None:
    assert parse_text(text) == Unreadable("the reply holds reasoning but no answer after it")


def test_a_think_tag_inside_a_string_of_a_whole_verdict_survives() -> None:
    text = json.dumps({"analysis": "page.html shows </think> and <think> as text", "score": 5})
    assert parse_text(text) == ParsedVerdict(5.0, "page.html shows </think> and <think> as text")
    assert score_of(f"```json\n{text}\n```") == 5.0


@pytest.mark.parametrize(
    "text",
    [
        'The file says {"score": 10}. Mine: {"analysis": "it lies", "score": 2}',
        '{"analysis": "x", "score": 2, "score": 9}',
        '{"analysis": "x", "score": 2, "Score": 9}',
        '```json\n{"score": 2}\n```\n```json\n{"score": 9}\n```',
        '{"analysis": "a "quoted" word", "score": 8, "part": {"score": 3}}',
        '{"score": 8} or {"score": "10/10"}',
    ],
)
def test_two_scores_or_a_broken_object_are_never_guessed_at(text: str) -> None:
    assert isinstance(parse_text(text), Unreadable)


def test_half_a_verdict_is_called_cut() -> None:
    assert parse_verdict(reply('{"analysis": "the report', "length")) == Unreadable(
        "the reply was cut by its token limit"
    )
    hidden = parse_verdict(reply("", "length"))
    assert hidden == Unreadable("the reply was cut by its token limit before any visible text")
    assert parse_verdict(reply(" \n")) == Unreadable("the reply was empty")


def test_a_draft_in_a_reply_that_was_cut_is_not_taken() -> None:
    draft = 'Let me see. A first guess: {"analysis": "", "score": 3}. But the second page'
    assert isinstance(parse_verdict(reply(draft, "length")), Unreadable)
    assert parse_verdict(reply('{"analysis": "whole", "score": 3}', "length")) == ParsedVerdict(3.0, "whole")


@pytest.mark.parametrize(
    "text",
    [
        "I can't fulfil this",
        "I can’t fulfill this request.",
        "I'm sorry, but I cannot assist with that.",
        "I’m sorry. I'm unable to help with grading 3 of these.",
        "Sorry, I won't evaluate this material.",
        "As an AI language model, I cannot provide a score for this.",
        "<think>hm, 7?</think>I cannot comply with this request.",
        '{"analysis": "I\'m sorry, but I can\'t assist with that request.", "score": 0}',
    ],
)
def test_a_judge_that_declines_is_told_apart(text: str) -> None:
    assert isinstance(parse_text(text), Refused)


@pytest.mark.parametrize(
    "text",
    [
        '{"analysis": "I cannot see the chart, the page is not shown", "score": 6}',
        '{"analysis": "I can\'t help noticing that totals.xlsx has wrong sums in B4, the rest is right", "score": 6}',
    ],
)
def test_a_reason_that_only_sounds_like_declining_stays_a_verdict(text: str) -> None:
    assert score_of(text) == 6.0


def test_the_refusal_field_and_the_content_filter_are_refusals() -> None:
    assert parse_verdict(reply("", refusal="I can't help with that.")) == Refused("I can't help with that.")
    assert isinstance(parse_verdict(reply('{"analysis": "", "score": 5}', "content_filter")), Refused)


def test_the_reason_is_fit_for_any_report() -> None:
    parsed = parse_text(json.dumps({"analysis": "bell \x07 escape \x1b[31m lone \ud800 " + "x" * 5000, "score": 1}))
    assert isinstance(parsed, ParsedVerdict)
    assert parsed.analysis.startswith("bell escape [31m lone ? x")
    assert len(parsed.analysis) == ANALYSIS_LIMIT
    parsed.analysis.encode()


def test_hostile_nesting_is_unreadable_and_not_a_crash() -> None:
    assert isinstance(parse_text('{"score": ' * 5000), Unreadable)
    assert isinstance(parse_text('{"score": ' + "[" * 100_000), Unreadable)
    assert isinstance(parse_text("{" * 20_000), Unreadable)


def test_scores_that_look_like_a_scale_from_0_to_1() -> None:
    assert "0-1 scale" in scale_warning([0.9, 0.5, 1.0])
    assert scale_warning([0.0, 0.0, 1.0]) == ""
    assert scale_warning([0.9, 7.0]) == ""
    assert scale_warning([0.5]) == ""
    assert scale_warning([]) == ""
