"""Slides in the shapes models describe them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_gta.tools.document_tree import plain
from pytest_gta.tools.slide_outline import Slide, read_slides
from pytest_gta.tools.slide_visuals import Chart, Picture
from pytest_gta.tools.tool import ToolFault


def lines(slide: Slide, column: int = 0) -> list[tuple[str, int, str]]:
    return [(plain(line.content), line.level, line.mark) for line in slide.columns[column]]


def one(entry: Any) -> Slide:
    slides, _ = read_slides([{"title": "first"}, entry])
    return slides[1]


def test_json_text_object_and_list_are_the_same() -> None:
    slides = [{"title": "A", "content": "x"}, {"title": "B", "bullets": ["y"]}]
    shapes = (
        slides,
        json.dumps(slides),
        {"slides": slides},
        json.dumps({"slides": slides}),
        json.dumps(json.dumps(slides)),
    )
    read = [read_slides(shape)[0] for shape in shapes]
    assert all(found == read[0] for found in read) and [slide.title for slide in read[0]] == ["A", "B"]
    assert read_slides("```json\n" + json.dumps(slides) + "\n```")[0] == read[0]


def test_python_notation_is_taken_for_json() -> None:
    slides, _ = read_slides("[{'title': 'It is', 'bullets': ['a', None], 'notes': None}, {'title': 'Two'}]")
    assert [slide.title for slide in slides] == ["It is", "Two"]


def test_markdown_is_split_at_headings_and_rules() -> None:
    slides, _ = read_slides("# Title\n\nBy me\n\n## One\n\n- a\n- b\n\n---\n\nno title here")
    assert [(slide.title, slide.layout) for slide in slides] == [
        ("Title", "title"),
        ("One", "content"),
        ("", "content"),
    ]
    assert lines(slides[1]) == [("a", 0, "bullet"), ("b", 0, "bullet")]


def test_bullets_nest_by_lists_by_objects_and_by_markdown() -> None:
    expected = [("a", 0, "bullet"), ("b", 1, "bullet"), ("c", 2, "bullet"), ("d", 0, "bullet")]
    assert lines(one({"bullets": ["a", ["b", ["c"]], "d"]})) == expected
    assert lines(one({"bullets": [{"text": "a", "children": [{"text": "b", "children": ["c"]}]}, "d"]})) == expected
    assert lines(one({"content": "- a\n  - b\n    - c\n- d"})) == expected
    assert lines(one({"content": "• a\n  • b\n    • c\n• d"})) == expected


def test_plain_lines_numbers_and_bold() -> None:
    slide = one({"content": "Intro line\nSecond line\n\n3. three\n4. **four**"})
    assert lines(slide) == [
        ("Intro line", 0, "none"),
        ("Second line", 0, "none"),
        ("three", 0, "number"),
        ("four", 0, "number"),
    ]
    assert slide.columns[0][2].number == 3


@pytest.mark.parametrize(
    "table",
    [
        {"headers": ["A", "B"], "rows": [["1", 2], ["3", None]]},
        [["A", "B"], ["1", 2], ["3"]],
        [{"A": "1", "B": 2}, {"A": "3"}],
        {"columns": ["A", "B"], "data": [{"A": "1", "B": 2}, {"A": "3"}]},
        "| A | B |\n|---|--:|\n| 1 | 2 |\n| 3 | |",
    ],
)
def test_tables(table: Any) -> None:
    (found,) = one({"table": table}).tables
    cells = [[plain(cell) for cell in row] for row in (found.header, *found.rows)]
    assert cells == [["A", "B"], ["1", "2"], ["3", ""]]
    assert found.alignments[1] == "right"


def test_pictures_by_every_way_of_naming_them() -> None:
    slide = one({"content": "x {{image_2}}", "image": "a.png", "images": None, "pictures": None})
    assert slide.visuals == (Picture("{{image_2}}"), Picture("a.png"))
    slide = one({"images": ["{{image_1}}", {"path": "b.png", "caption": "B"}, 3, "![C](c.png)"]})
    assert slide.visuals == (
        Picture("{{image_1}}"),
        Picture("b.png", "B"),
        Picture("{{image_3}}"),
        Picture("c.png", "C"),
    )


def test_charts_in_our_shape_and_in_chart_js_shape() -> None:
    ours = {"type": "bar", "title": "T", "categories": ["Q1"], "series": [{"name": "S", "values": ["1,200"]}]}
    theirs = {"type": "bar", "title": "T", "data": {"labels": ["Q1"], "datasets": [{"label": "S", "data": [1200]}]}}
    expected = (Chart("bar", "T", ("Q1",), (("S", (1200.0,)),)),)
    assert one({"chart": ours}).visuals == one({"chart": theirs}).visuals == expected


@pytest.mark.parametrize(
    "data",
    [
        {"labels": ["A", "B"], "data": [1, 3]},
        {"labels": ["A", "B"], "datasets": [{"label": "", "data": [1, 3]}]},
        {"data": {"A": 1, "B": 3}},
        {"values": {"A": 1, "B": 3}},
        {"data": [{"label": "A", "value": 1}, {"label": "B", "value": 3}]},
        {"data": [{"name": "A", "value": "1"}, {"name": "B", "value": "3"}]},
    ],
)
def test_a_pie_by_every_way_of_giving_its_parts(data: dict[str, Any]) -> None:
    assert one({"chart": {"type": "pie", **data}}).visuals == (Chart("pie", "", ("A", "B"), (("", (1.0, 3.0)),)),)


def test_content_may_be_elements_that_say_what_they_are() -> None:
    slide = one(
        {
            "content": [
                {"type": "text", "text": "said"},
                {"type": "bullets", "items": ["x"]},
                {"type": "image", "path": "a.png"},
                {"type": "table", "headers": ["h"], "rows": [["1"]]},
                {"type": "chart", "chart_type": "line", "labels": ["Q1"], "data": [2]},
            ]
        }
    )
    assert [text for text, _, _ in lines(slide, 0)] == ["said", "x"]
    assert slide.visuals == (Chart("line", "", ("Q1",), (("", (2.0,)),)), Picture("a.png"))
    assert [plain(cell) for row in slide.tables[0].rows for cell in row] == ["1"]


def test_two_columns_and_their_labels() -> None:
    slide = one({"left": ["**Pros**", "cheap"], "right": {"title": "Cons", "items": ["slow"]}})
    assert lines(slide, 0) == [("Pros", 0, "none"), ("cheap", 0, "bullet")]
    assert lines(slide, 1) == [("Cons", 0, "none"), ("slow", 0, "bullet")]


def test_the_first_short_slide_is_the_cover_and_layouts_are_honoured() -> None:
    slides, _ = read_slides([{"title": "T", "content": "By me\n2026"}, {"title": "S", "layout": "Section Header"}])
    assert [slide.layout for slide in slides] == ["title", "section"]
    slides, _ = read_slides([{"title": "T", "bullets": ["a", "b"]}, {"title": "S"}])
    assert slides[0].layout == "content"


def test_unknown_keys_are_named_and_empty_ones_are_not() -> None:
    _, notes = read_slides([{"title": "T", "animation": "spin", "slide_number": 1, "notes": None}])
    assert len(notes) == 1 and "'animation'" in notes[0] and "slide_number" not in notes[0]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("[{", "not valid JSON"),
        ('[{"title": "A" "b": 1}]', "near"),
        ([], "JSON list"),
        ([5], "slide 1 must be an object, and 5 is not"),
        ([{"title": "T", "table": 5}], "slide 1: a table is"),
        ([{"title": "T", "chart": {"type": "pie"}}], "slide 1: a chart is"),
        ([{"title": "T", "image": 1.5}], "slide 1: an image is"),
    ],
)
def test_a_wrong_shape_is_answered_with_what_was_wrong_and_an_example(value: Any, says: str) -> None:
    with pytest.raises(ToolFault) as fault:
        read_slides(value)
    assert says in str(fault.value)


def test_control_characters_and_markup_in_titles() -> None:
    slides, _ = read_slides([{"title": "**A** \x00b\ud800", "notes": "x\x07y"}])
    assert slides[0].title == "A b\ufffd" and slides[0].notes == "xy"
