"""Decks, read back with python-pptx."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from pptx import Presentation
from pptx.enum.chart import XL_CHART_TYPE

from pytest_gta.tools.picture_sources import PictureSources
from pytest_gta.tools.slide_outline import read_slides
from pytest_gta.tools.slides_writer import write_slides

Make = Callable[..., Path]
SENTENCE = "This is one of the many findings of the study, told in a sentence that wraps. "


def write(folder: Path, slides: Any, names: Sequence[str] = ()) -> tuple[Any, list[str]]:
    pictures = PictureSources(names, lambda name: folder / name)
    described, _ = read_slides(slides)
    count, notes = write_slides(folder / "out.pptx", described, pictures)
    deck = Presentation(str(folder / "out.pptx"))
    assert len(deck.slides) == count
    assert_nothing_overlaps(deck)
    return deck, [*pictures.notes, *notes]


def assert_nothing_overlaps(deck: Any) -> None:
    for number, slide in enumerate(deck.slides, start=1):
        boxes = []
        drawn_below = [shape for shape in slide.slide_layout.shapes if not shape.is_placeholder]
        for shape in (*slide.shapes, *drawn_below):
            if shape.is_placeholder and shape.placeholder_format.type == 13:
                continue  # the slide number
            left, top, width, height = shape.left, shape.top, shape.width, shape.height
            assert left >= 0 and top >= 0, (number, shape.name)
            assert left + width <= deck.slide_width and top + height <= deck.slide_height, (number, shape.name)
            boxes.append((shape.name, left, top, left + width, top + height))
        for first, second in combinations(boxes, 2):
            apart = first[3] <= second[1] or second[3] <= first[1] or first[4] <= second[2] or second[4] <= first[2]
            assert apart, (number, first, second)


def body(slide: Any, index: int = 1) -> Any:
    return next(shape for shape in slide.placeholders if shape.placeholder_format.idx == index)


def pictures_of(slide: Any) -> list[Any]:
    return [shape for shape in slide.shapes if shape.shape_type == 13]


def test_cover_titles_bullets_and_notes(tmp_path: Path) -> None:
    deck, notes = write(
        tmp_path,
        [
            {"title": "Review", "subtitle": "Board", "content": "March 2026", "notes": "Welcome."},
            {"title": "Agenda", "bullets": ["Market", ["North"], "Outlook"], "notes": "Two minutes."},
        ],
    )
    cover, agenda = deck.slides
    assert cover.slide_layout.name == "Title Slide" and cover.shapes.title.text == "Review"
    assert [p.text for p in body(cover).text_frame.paragraphs] == ["Board", "March 2026"]
    assert agenda.slide_layout.name == "Title and Content"
    assert [(p.text, p.level) for p in body(agenda).text_frame.paragraphs] == [
        ("Market", 0),
        ("North", 1),
        ("Outlook", 0),
    ]
    assert [slide.notes_slide.notes_text_frame.text for slide in deck.slides] == ["Welcome.", "Two minutes."]
    assert deck.slide_width / deck.slide_height == pytest.approx(16 / 9)
    assert deck.core_properties.title == "Review"
    assert notes == []


def test_no_empty_placeholder_is_left(tmp_path: Path, picture: Make) -> None:
    picture("a.png")
    deck, _ = write(
        tmp_path, [{"title": "T"}, {"title": "P", "image": "a.png"}, {"content": "no title"}, {"title": "only"}]
    )
    for slide in deck.slides:
        assert all(shape.text_frame.text or shape.placeholder_format.type == 13 for shape in slide.placeholders)


def test_a_slide_without_a_title_keeps_clear_of_the_line_under_it(tmp_path: Path) -> None:
    rows = [["a", "b"], ["1", "2"]]
    deck, _ = write(tmp_path, [{"title": "C"}, "\n".join(f"- point {n}" for n in range(12)), {"table": rows}])
    assert body(deck.slides[1]).text_frame.text.startswith("point 0")


def test_long_text_goes_on_and_nothing_is_lost(tmp_path: Path) -> None:
    bullets = [f"Finding {number}: {SENTENCE * 2}" for number in range(20)]
    deck, notes = write(tmp_path, [{"title": "Cover"}, {"title": "Findings", "bullets": bullets}])
    titles = [slide.shapes.title.text for slide in deck.slides]
    assert titles[:3] == ["Cover", "Findings", "Findings (continued)"]
    shown = [p.text for slide in list(deck.slides)[1:] for p in body(slide).text_frame.paragraphs]
    assert shown == [bullet.strip() for bullet in bullets]
    sizes = {
        run.font.size.pt for slide in list(deck.slides)[1:] for p in body(slide).text_frame.paragraphs for run in p.runs
    }
    assert min(sizes) >= 14
    assert f"'Findings' did not fit one slide and takes {len(deck.slides) - 1}." in notes


def test_one_endless_paragraph_is_split_between_sentences(tmp_path: Path) -> None:
    deck, _ = write(tmp_path, [{"title": "C"}, {"title": "Long", "content": SENTENCE * 60}])
    parts = [body(slide).text_frame.text for slide in list(deck.slides)[1:]]
    assert len(parts) > 1 and all(part.strip().endswith(".") for part in parts)
    assert "".join(parts).replace(" ", "").replace("\n", "") == (SENTENCE * 60).replace(" ", "")


def test_text_without_spaces_is_split_too(tmp_path: Path) -> None:
    text = "市场规模持续扩大" * 300
    deck, _ = write(tmp_path, [{"title": "C"}, {"title": "长", "content": text}])
    assert "".join(body(slide).text_frame.text for slide in list(deck.slides)[1:]).replace("\n", "") == text


def test_few_words_are_large_and_many_are_smaller(tmp_path: Path) -> None:
    deck, _ = write(
        tmp_path, [{"title": "C"}, {"title": "A", "bullets": ["x"]}, {"title": "B", "bullets": [SENTENCE] * 8}]
    )
    few, many = (body(slide).text_frame.paragraphs[0].runs[0].font.size.pt for slide in list(deck.slides)[1:])
    assert few == 24 and 16 <= many < 24


def test_pictures_stand_beside_text_in_proportion(tmp_path: Path, picture: Make) -> None:
    picture("wide.png", 1600, 400)
    picture("tall.png", 400, 1600)
    deck, _ = write(
        tmp_path,
        [{"title": "C"}, {"title": "Both", "content": "- text " * 10 + "{{image_1}}", "image": "tall.png"}],
        ["wide.png", "tall.png"],
    )
    shown = pictures_of(deck.slides[1])
    assert len(shown) == 2
    assert shown[0].width / shown[0].height == pytest.approx(4, rel=0.02)
    assert shown[1].height / shown[1].width == pytest.approx(4, rel=0.02)
    assert all(shape.left >= body(deck.slides[1]).left + body(deck.slides[1]).width for shape in shown)
    assert shown[1]._element.nvPicPr.cNvPr.get("descr") == "tall"


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 13])
def test_any_number_of_pictures_fits(tmp_path: Path, picture: Make, count: int) -> None:
    names = [picture(f"p{n}.png", 100 + 90 * n, 500 - 30 * n).name for n in range(count)]
    deck, _ = write(
        tmp_path, [{"title": "Gallery", "images": [{"path": name, "caption": f"No {name}"} for name in names]}]
    )
    assert sum(len(pictures_of(slide)) for slide in deck.slides) == count


def test_long_text_with_a_picture_has_the_picture_once(tmp_path: Path, picture: Make) -> None:
    picture("a.png", 800, 600)
    deck, _ = write(tmp_path, [{"title": "C"}, {"title": "T", "bullets": [SENTENCE * 2] * 14, "image": "a.png"}])
    assert [len(pictures_of(slide)) for slide in deck.slides] == [0, 1] + [0] * (len(deck.slides) - 2)
    assert sum(len(body(slide).text_frame.paragraphs) for slide in list(deck.slides)[1:]) == 14


def test_images_without_a_place_follow_and_missing_ones_are_said(tmp_path: Path, picture: Make) -> None:
    picture("extra_chart.png")
    deck, notes = write(tmp_path, [{"title": "C"}, {"title": "T", "image": "gone.png"}], ["extra_chart.png"])
    assert deck.slides[-1].shapes.title.text == "extra chart" and len(pictures_of(deck.slides[-1])) == 1
    assert any("'gone.png'" in note for note in notes)


def test_tables_keep_their_header_and_every_row(tmp_path: Path) -> None:
    rows = [[f"Item {n}", n * 17, SENTENCE] for n in range(40)]
    deck, _ = write(
        tmp_path, [{"title": "C"}, {"title": "T", "table": {"headers": ["Name", "Value", "Note"], "rows": rows}}]
    )
    tables = [shape.table for slide in deck.slides for shape in slide.shapes if shape.has_table]
    assert len(tables) > 1
    assert all([cell.text for cell in table.rows[0].cells] == ["Name", "Value", "Note"] for table in tables)
    assert [row.cells[0].text for table in tables for row in list(table.rows)[1:]] == [row[0] for row in rows]
    size = tables[0].cell(1, 0).text_frame.paragraphs[0].runs[0].font.size.pt
    assert size >= 9


def test_text_over_a_small_table_shares_the_slide(tmp_path: Path) -> None:
    deck, _ = write(
        tmp_path, [{"title": "C"}, {"title": "T", "content": "Key figures:\n\n| A | B |\n|---|--:|\n| x | **1** |"}]
    )
    assert len(deck.slides) == 2
    (table,) = [shape.table for shape in deck.slides[1].shapes if shape.has_table]
    assert table.cell(1, 1).text == "1" and table.cell(1, 1).text_frame.paragraphs[0].runs[0].font.bold
    assert table.cell(1, 1).text_frame.paragraphs[0].alignment == 3


def test_two_columns(tmp_path: Path) -> None:
    deck, _ = write(tmp_path, [{"title": "C"}, {"title": "T", "left": ["a", "b"], "right": [SENTENCE] * 30}])
    assert deck.slides[1].slide_layout.name == "Two Content"
    assert body(deck.slides[1], 1).text_frame.text == "a\nb"
    assert sum(len(body(slide, 2).text_frame.paragraphs) for slide in list(deck.slides)[1:]) == 30


def test_charts_stay_charts(tmp_path: Path) -> None:
    chart = {"type": "pie", "title": "Share", "categories": ["A", "B"], "series": [{"name": "S", "values": [1, 3]}]}
    deck, _ = write(tmp_path, [{"title": "C"}, {"title": "T", "bullets": ["x"], "chart": chart}])
    (found,) = [shape.chart for shape in deck.slides[1].shapes if shape.has_chart]
    assert found.chart_type == XL_CHART_TYPE.PIE
    assert list(found.plots[0].categories) == ["A", "B"] and list(found.series[0].values) == [1, 3]


def test_links_numbers_and_styles(tmp_path: Path) -> None:
    deck, _ = write(tmp_path, [{"title": "C"}, {"title": "T", "content": "3. [site](https://x.org/) **b** ~~s~~ `c`"}])
    paragraph = body(deck.slides[1]).text_frame.paragraphs[0]
    assert paragraph.runs[0].hyperlink.address == "https://x.org/"
    assert paragraph._p.xpath("a:pPr/a:buAutoNum/@startAt") == ["3"]
    runs = {run.text: run for run in paragraph.runs}
    assert runs["b"].font.bold and runs["c"].font.name == "Consolas"


def test_right_to_left(tmp_path: Path) -> None:
    deck, _ = write(tmp_path, [{"title": "C"}, {"title": "العربية", "bullets": ["مرحبا"]}])
    assert body(deck.slides[1]).text_frame.paragraphs[0]._p.xpath("a:pPr/@rtl") == ["1"]


def test_an_endless_title_stays_in_its_box(tmp_path: Path) -> None:
    deck, _ = write(tmp_path, [{"title": "C"}, {"title": "A title that goes on " * 10, "bullets": ["x"]}])
    assert deck.slides[1].shapes.title.text_frame.paragraphs[0].runs[0].font.size.pt <= 22


def test_every_slide_but_covers_is_numbered(tmp_path: Path) -> None:
    deck, _ = write(tmp_path, [{"title": "C"}, {"title": "T", "bullets": ["x"]}])
    assert [len(slide.element.xpath(".//a:fld[@type='slidenum']")) for slide in deck.slides] == [0, 1]


def test_ids_are_unique_and_paragraph_properties_in_order(tmp_path: Path, picture: Make) -> None:
    picture("a.png")
    deck, _ = write(
        tmp_path,
        [{"title": "C"}, {"title": "T", "content": "1. x\n- y\n\nz", "image": "a.png", "table": [["a"], ["b"]]}],
    )
    order = ["lnSpc", "spcBef", "spcAft", "buFont", "buNone", "buAutoNum", "buChar", "tabLst", "defRPr"]
    for slide in deck.slides:
        ids = slide.element.xpath(".//p:cNvPr/@id")
        assert len(ids) == len(set(ids))
        for properties in slide.element.xpath(".//a:pPr"):
            places = [order.index(child.tag.split("}")[1]) for child in properties]
            assert places == sorted(places)
