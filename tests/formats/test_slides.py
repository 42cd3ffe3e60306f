from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.read import read_file
from tests.formats.office import png, rewrite


@pytest.fixture
def deck(tmp_path: Path) -> Path:
    presentation = Presentation()
    first = presentation.slides.add_slide(presentation.slide_layouts[1])
    first.shapes.title.text = "Results"
    first.placeholders[1].text = "Up by 12%"
    paragraph = first.placeholders[1].text_frame.add_paragraph()
    paragraph.text, paragraph.level = "in the east", 1
    first.notes_slide.notes_text_frame.text = "say it slowly"
    second = presentation.slides.add_slide(presentation.slide_layouts[5])
    second.shapes.title.text = "Numbers"
    table = second.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Region", "Units"
    table.cell(1, 0).text, table.cell(1, 1).text = "East", "5"
    data = CategoryChartData()
    data.categories = ["Q1", "Q2"]
    data.add_series("Sales", (1.5, None))
    chart = second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(4), Inches(3), data)
    chart.chart.has_title = True
    chart.chart.chart_title.text_frame.text = "Sales by quarter"
    group = second.shapes.add_group_shape()
    inner = group.shapes.add_group_shape()
    inner.shapes.add_textbox(0, 0, Inches(2), Inches(1)).text_frame.text = "deep in a group"
    picture = second.shapes.add_picture(io.BytesIO(png()), Inches(1), Inches(1))
    picture._element.nvPicPr.cNvPr.set("descr", "a red field")
    third = presentation.slides.add_slide(presentation.slide_layouts[6])
    third._element.set("show", "0")
    path = tmp_path / "deck.pptx"
    presentation.save(str(path))
    return path


def test_text_in_order_with_levels_notes_and_layout(deck: Path) -> None:
    extract = read_file(deck)
    assert (extract.kind, extract.faults, extract.facts["slides"]) == ("slides", (), 3)
    assert (
        "=== slide 1: Results ===\n(layout: Title and Content)\n# Results\n- Up by 12%\n  - in the east\n"
        "[speaker notes]\nsay it slowly\n[end of notes]"
    ) in extract.text


def test_table_chart_group_and_picture(deck: Path) -> None:
    extract = read_file(deck)
    assert "| Region | Units |\n| --- | --- |\n| East | 5 |" in extract.text
    assert (
        "[chart: bar vertical, title: Sales by quarter\n  categories: Q1, Q2\n  series Sales: 1.5, (none)]"
        in extract.text
    )
    assert "deep in a group" in extract.text
    assert "[picture 1, alt text: a red field]" in extract.text
    assert [p.where for p in extract.pictures] == ["slide 2, picture 1"]


def test_hidden_and_empty_slide(deck: Path) -> None:
    extract = read_file(deck)
    assert "=== slide 3 (no title) [hidden slide] ===" in extract.text
    assert "[nothing on this slide]" in extract.text
    assert extract.notes == ("hidden slides: 3",)


def chart_part(deck: Path) -> str:
    import zipfile

    with zipfile.ZipFile(deck) as package:
        return next(name for name in package.namelist() if re.match(r"ppt/charts/chart\d+\.xml", name))


def test_unreadable_chart_costs_only_itself(deck: Path) -> None:
    extract = read_file(rewrite(deck, {chart_part(deck): b"<not-a-chart/>"}))
    assert extract.faults == ("a chart in slide 2 could not be read: it has no plot",)
    assert "[chart that could not be read: it has no plot]" in extract.text
    assert "deep in a group" in extract.text


def test_missing_chart_part_is_a_placeholder(deck: Path) -> None:
    part = chart_part(deck)
    extract = read_file(rewrite(deck, {part: None}))
    assert extract.faults == (f"a chart in slide 2 could not be read: part {part} is missing",)
    assert "| East | 5 |" in extract.text


def test_three_dimensional_pie_and_error_points_are_read(deck: Path) -> None:
    def change(data: bytes) -> bytes:
        data = data.replace(b"c:barChart", b"c:pie3DChart")
        return data.replace(b"<c:v>1.5</c:v>", b"<c:v>#N/A</c:v>")

    extract = read_file(rewrite(deck, {chart_part(deck): change}))
    assert "[chart: pie3D vertical, title: Sales by quarter" in extract.text
    assert "series Sales: #N/A, (none)" in extract.text


def test_broken_slide_costs_only_itself(deck: Path) -> None:
    extract = read_file(rewrite(deck, {"ppt/slides/slide1.xml": b"\x00\x01 no xml"}))
    assert len(extract.faults) == 1
    assert extract.faults[0].startswith("slide 1 could not be read: part ppt/slides/slide1.xml")
    assert "[this slide could not be read:" in extract.text
    assert "=== slide 2: Numbers ===" in extract.text


def test_relation_to_nothing(deck: Path) -> None:
    def change(data: bytes) -> bytes:
        return re.sub(rb'Target="\.\./media/[^"]+"', b'Target="NULL"', data)

    extract = read_file(rewrite(deck, {"ppt/slides/_rels/slide2.xml.rels": change}))
    assert extract.faults == ("slide 2, picture 1 is missing from the file",)
    assert "[picture 1, missing from the file, alt text: a red field]" in extract.text


def test_smartart_and_comments(deck: Path) -> None:
    space = 'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    drawing = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    model = f"""<dgm:dataModel {space} {drawing}><dgm:ptLst><dgm:pt modelId="0" type="doc"/>
    <dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt>
    <dgm:pt modelId="2"><dgm:t><a:p><a:r><a:t>Build</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst>
    <dgm:cxnLst><dgm:cxn modelId="8" srcId="0" destId="1" srcOrd="0"/>
    <dgm:cxn modelId="9" srcId="1" destId="2" srcOrd="0"/></dgm:cxnLst></dgm:dataModel>"""
    frame = f"""<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="90" name="d"/></p:nvGraphicFramePr>
    <a:graphic {drawing}><a:graphicData><dgm:relIds {space}
    xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:dm="rId90"/></a:graphicData>
    </a:graphic></p:graphicFrame></p:spTree>"""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relations = (
        f'<Relationship Id="rId90" Type="{kind}/diagramData" Target="../diagrams/data1.xml"/>'
        f'<Relationship Id="rId91" Type="{kind}/comments" Target="../comments/comment1.xml"/></Relationships>'
    )
    comment = (
        '<p:cmLst xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"><p:cm><p:text>fix this</p:text>'
        "</p:cm></p:cmLst>"
    )
    rewrite(
        deck,
        {
            "ppt/slides/slide1.xml": lambda data: data.replace(b"</p:spTree>", frame.encode()),
            "ppt/slides/_rels/slide1.xml.rels": lambda data: data.replace(b"</Relationships>", relations.encode()),
            "ppt/diagrams/data1.xml": model.encode(),
            "ppt/comments/comment1.xml": comment.encode(),
        },
    )
    extract = read_file(deck)
    assert extract.faults == ()
    assert "[diagram]\n- Plan\n  - Build\n[end of diagram]" in extract.text
    assert "[comment: fix this]" in extract.text


def test_many_slides_are_bounded(deck: Path) -> None:
    extract = read_file(deck, ReadLimits(max_pages=1))
    assert extract.faults == ("slides 2-3 were not read: the limit for this file was reached",)
    assert "=== slide 1: Results ===" in extract.text


def test_text_that_is_not_seen_is_marked(tmp_path: Path) -> None:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])

    def box(left: float, top: float, text: str, *, white: bool = True) -> None:
        run = (
            slide.shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(1)).text_frame.paragraphs[0].add_run()
        )
        run.text = text
        if white:
            run.font.color.rgb = RGBColor(255, 255, 255)

    box(1, 1, "white on white")
    box(-5, 1, "beside", white=False)
    slide.shapes.add_shape(1, Inches(4), Inches(4), Inches(3), Inches(2))
    box(4.5, 4.2, "white on blue")
    box(7, 1, "plain", white=False)
    path = tmp_path / "hidden.pptx"
    presentation.save(str(path))
    extract = read_file(path)
    assert "[hidden text: white on white]\n[off the slide: beside]\nwhite on blue\nplain" in extract.text
    assert len(extract.notes) == 2
