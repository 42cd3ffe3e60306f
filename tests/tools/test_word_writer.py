"""Word files, read back with python-docx."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.oxml.ns import qn

from pytest_gta.tools.markdown_document import parse_markdown, parse_plain
from pytest_gta.tools.picture_sources import PictureSources
from pytest_gta.tools.word_writer import write_word

Make = Callable[..., Path]


def write(folder: Path, text: str, names: Sequence[str] = ()) -> tuple[Any, list[str]]:
    pictures = PictureSources(names, lambda name: folder / name)
    write_word(folder / "out.docx", parse_markdown(text), pictures, title="fallback")
    return docx.Document(str(folder / "out.docx")), pictures.notes


def test_headings_are_real_headings_of_their_level(tmp_path: Path) -> None:
    document, _ = write(tmp_path, "# One\n\n## Two\n\n### Three\n\n###### Six\n\ntext")
    styles = [(p.style.name, p.text) for p in document.paragraphs]
    assert styles == [
        ("Heading 1", "One"),
        ("Heading 2", "Two"),
        ("Heading 3", "Three"),
        ("Heading 6", "Six"),
        ("Normal", "text"),
    ]
    assert document.core_properties.title == "One"


def test_table_cells_header_row_and_alignment(tmp_path: Path) -> None:
    document, _ = write(tmp_path, "| Region | Revenue |\n|---|--:|\n| North | 1,234 |\n| **South** | 5 |")
    (table,) = document.tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["Region", "Revenue"],
        ["North", "1,234"],
        ["South", "5"],
    ]
    assert table.rows[0]._tr.xpath("w:trPr/w:tblHeader")
    assert not table.rows[1]._tr.xpath("w:trPr/w:tblHeader")
    assert table.rows[0].cells[0].paragraphs[0].runs[0].bold
    assert table.rows[2].cells[0].paragraphs[0].runs[0].bold
    assert table.rows[1].cells[1].paragraphs[0].alignment == 2
    width = sum(column.width for column in table.columns)
    section = document.sections[0]
    assert width <= section.page_width - section.left_margin - section.right_margin


def test_links_go_where_they_say(tmp_path: Path) -> None:
    document, _ = write(tmp_path, "See [the site](https://x.org/?a=1&b=2) and [below](#results).\n\n# Results")
    (first, second) = document.element.body.xpath(".//w:hyperlink")
    target = document.part.rels[first.get(qn("r:id"))]
    assert target.target_ref == "https://x.org/?a=1&b=2" and target.is_external
    names = [mark.get(qn("w:name")) for mark in document.element.body.xpath(".//w:bookmarkStart")]
    assert second.get(qn("w:anchor")) in names


def test_nested_lists_have_real_numbering(tmp_path: Path) -> None:
    document, _ = write(tmp_path, "1. a\n   - b\n     - c\n2. d\n\ntext\n\n5. five\n6. six")
    numbering = document.part.numbering_part.element
    seen = []
    for paragraph in document.paragraphs:
        found = paragraph._p.xpath("w:pPr/w:numPr")
        if not found:
            continue
        number, level = found[0].numId.val, found[0].ilvl.val
        abstract = numbering.xpath(f"w:num[@w:numId='{number}']/w:abstractNumId/@w:val")[0]
        kind = numbering.xpath(f"w:abstractNum[@w:abstractNumId='{abstract}']/w:lvl[@w:ilvl='{level}']/w:numFmt/@w:val")
        start = numbering.xpath(f"w:abstractNum[@w:abstractNumId='{abstract}']/w:lvl[@w:ilvl='{level}']/w:start/@w:val")
        seen.append((paragraph.text, level, kind[0], start[0]))
    assert seen == [
        ("a", 0, "decimal", "1"),
        ("b", 1, "bullet", "1"),
        ("c", 2, "bullet", "1"),
        ("d", 0, "decimal", "1"),
        ("five", 0, "decimal", "5"),
        ("six", 0, "decimal", "5"),
    ]
    numbers = {p._p.xpath("w:pPr/w:numPr")[0].numId.val for p in document.paragraphs if p.text in ("a", "five")}
    assert len(numbers) == 2, "a second list must not count on"


def test_abstract_definitions_stand_before_instances(tmp_path: Path) -> None:
    document, _ = write(tmp_path, "- a\n\ntext\n\n1. b")
    tags = [child.tag.split("}")[1] for child in document.part.numbering_part.element]
    assert tags.index("num") > max(index for index, tag in enumerate(tags) if tag == "abstractNum")


def test_inline_styles(tmp_path: Path) -> None:
    document, _ = write(tmp_path, "a **b** *c* ~~d~~ `e` x<sup>2</sup> H<sub>2</sub>")
    runs = {run.text: run for run in document.paragraphs[0].runs}
    assert runs["b"].bold and runs["c"].italic and runs["d"].font.strike
    assert runs["e"].style.name == "Inline Code"
    scripts = [run for run in document.paragraphs[0].runs if run.text == "2"]
    assert scripts[0].font.superscript and not scripts[0].font.subscript
    assert scripts[1].font.subscript and not scripts[1].font.superscript


def test_tasks_have_a_box_and_no_mark_besides(tmp_path: Path) -> None:
    document, _ = write(tmp_path, "- [x] done\n- [ ] open\n- plain")
    assert [p.text for p in document.paragraphs] == ["\u2611\tdone", "\u2610\topen", "plain"]
    assert [bool(p._p.xpath("w:pPr/w:numPr")) for p in document.paragraphs] == [False, False, True]


def test_tables_of_many_columns_have_smaller_text(tmp_path: Path) -> None:
    header = "| " + " | ".join(f"Column {n}" for n in range(10)) + " |\n|" + "---|" * 10
    document, _ = write(tmp_path, header + "\n| " + " | ".join("x" * 3 for _ in range(10)) + " |")
    assert document.tables[0].cell(1, 0).paragraphs[0].runs[0].font.size.pt == 7


def test_quotes_and_code(tmp_path: Path) -> None:
    document, _ = write(tmp_path, "> said\n\n```\nif x:\n    y\n```")
    assert [(p.style.name, p.text) for p in document.paragraphs] == [("Quote", "said"), ("Code", "if x:\n    y")]


def test_pictures_where_the_text_says_and_the_rest_at_the_end(tmp_path: Path, picture: Make) -> None:
    for name, width in (("a.png", 300), ("b.png", 5000), ("c.png", 50)):
        picture(name, width, 100)
    document, notes = write(tmp_path, "first\n\n{{image_2}}\n\nlast\n\n![Cap](a.png)", ["c.png", "b.png", "a.png"])
    order = [
        "picture" if p._p.xpath(".//pic:pic") else p.text
        for p in document.paragraphs
        if p.text or p._p.xpath(".//pic:pic")
    ]
    assert order == ["first", "picture", "last", "picture", "Cap", "picture", "c"]
    room = document.sections[0].page_width - document.sections[0].left_margin - document.sections[0].right_margin
    assert all(shape.width <= room for shape in document.inline_shapes)
    assert document.inline_shapes[0].width / document.inline_shapes[0].height == pytest.approx(50, rel=0.01)
    assert document.inline_shapes[1].width == 300 * 9525
    assert document.inline_shapes[1]._inline.docPr.get("descr") == "Cap"
    assert notes == []


def test_a_missing_picture_leaves_a_remark(tmp_path: Path) -> None:
    document, notes = write(tmp_path, "![The plan](plan.png)\n\n{{image_1}}")
    assert document.paragraphs[0].text == "[picture not available: The plan]"
    assert len(notes) == 2 and "'plan.png'" in notes[0]


def test_pictures_in_table_cells_fit_their_cell(tmp_path: Path, picture: Make) -> None:
    picture("a.png", 4000, 400)
    document, _ = write(tmp_path, "| x | y |\n|---|---|\n| ![a](a.png) | text |")
    (shape,) = document.inline_shapes if len(document.inline_shapes) else [None]
    cell = document.tables[0].rows[1].cells[0]
    extent = cell._tc.xpath(".//wp:extent/@cx")
    assert int(extent[0]) <= cell.width
    assert shape is None or shape.width == int(extent[0])


def test_right_to_left_paragraphs_are_marked(tmp_path: Path) -> None:
    document, _ = write(tmp_path, "مرحبا **بالعالم**\n\nhello")
    assert document.paragraphs[0]._p.xpath("w:pPr/w:bidi")
    assert all(run.font.rtl for run in document.paragraphs[0].runs)
    assert not document.paragraphs[1]._p.xpath("w:pPr/w:bidi")


def test_any_script_and_hostile_characters_survive(tmp_path: Path) -> None:
    document, _ = write(tmp_path, "中文 العربية 😀 a\x00b\x1bc\ud800d \ufffe <x> & y")
    assert document.paragraphs[0].text == "中文 العربية 😀 abc\ufffdd  <x> & y"


def test_page_numbers_and_fonts_for_east_asia(tmp_path: Path) -> None:
    write(tmp_path, "x")
    with zipfile.ZipFile(tmp_path / "out.docx") as package:
        footer = "".join(package.read(name).decode() for name in package.namelist() if name.startswith("word/footer"))
        styles = package.read("word/styles.xml").decode()
    assert 'w:instr="PAGE"' in footer and 'w:instr="NUMPAGES"' in footer
    assert 'w:eastAsia="Microsoft YaHei"' in styles


def test_page_break(tmp_path: Path) -> None:
    document, _ = write(tmp_path, "a\n\n<!-- pagebreak -->\n\nb")
    assert document.element.body.xpath(".//w:br[@w:type='page']")


def test_nothing_to_write_is_still_a_document(tmp_path: Path) -> None:
    write_word(tmp_path / "e.docx", parse_plain("\n\n"), PictureSources([], Path))
    assert [p.text for p in docx.Document(str(tmp_path / "e.docx")).paragraphs] == [""]


def test_properties_are_not_the_templates(tmp_path: Path) -> None:
    document, _ = write(tmp_path, "no heading")
    properties = document.core_properties
    assert properties.title == "fallback" and properties.author == "" and properties.created.year >= 2026


ORDER = {
    "pPr": "pStyle keepNext keepLines pageBreakBefore widowControl numPr pBdr shd tabs bidi spacing ind "
    "contextualSpacing jc outlineLvl rPr",
    "tblPr": "tblStyle tblpPr bidiVisual tblW jc tblInd tblBorders shd tblLayout tblCellMar tblLook",
    "tcPr": "tcW gridSpan vMerge tcBorders shd noWrap tcMar vAlign",
    "rPr": "rStyle rFonts b bCs i iCs strike color sz szCs u shd vertAlign rtl cs lang",
}


def test_properties_stand_in_the_order_word_wants(tmp_path: Path) -> None:
    text = (
        "# H\n\n**b** ~~s~~ `c` x<sup>2</sup> <u>u</u>\n\n- [x] t\n- u\n\n> q\n\n---\n\n"
        "```\ncode\n```\n\n| a |\n|--:|\n| שלום |\n"
    )
    document, _ = write(tmp_path, text + "\nשלום **x**\n")  # noqa: RUF001
    for root in (document.element, document.styles.element):
        for name, order in ORDER.items():
            for properties in root.iter(qn(f"w:{name}")):
                tags = [child.tag.split("}")[1] for child in properties]
                places = [order.split().index(tag) for tag in tags if tag in order.split()]
                assert places == sorted(places), (name, tags)
