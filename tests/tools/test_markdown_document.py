"""Markdown as models write it, parsed into a tree."""

from __future__ import annotations

import pytest

from pytest_gta.tools.document_tree import (
    CodeBlock,
    Heading,
    LineBreak,
    ListBlock,
    PageBreak,
    Paragraph,
    PictureBlock,
    Quote,
    Rule,
    Table,
    Text,
    heading_slug,
    plain,
)
from pytest_gta.tools.markdown_document import looks_like_markdown, parse_markdown, parse_plain
from pytest_gta.tools.printable_text import printable, with_real_line_ends


def test_blocks_of_every_kind_in_order() -> None:
    text = "# A\n\npara\n\n- x\n\n> q\n\n```py\ncode\n```\n\n| a | b |\n|--|--:|\n| 1 | 2 |\n\n---\n\n![c](p.png)\n"
    kinds = [type(block) for block in parse_markdown(text).blocks]
    assert kinds == [Heading, Paragraph, ListBlock, Quote, CodeBlock, Table, Rule, PictureBlock]


def test_heading_levels_and_title() -> None:
    document = parse_markdown("## Second\n\n# First\n\n###### Six")
    assert [(block.level, plain(block.content)) for block in document.blocks if isinstance(block, Heading)] == [
        (2, "Second"),
        (1, "First"),
        (6, "Six"),
    ]
    assert document.title == "Second"


def test_front_matter_gives_the_title_and_is_not_shown() -> None:
    document = parse_markdown('---\ntitle: "My report"\nauthor: me\n---\n\nText')
    assert document.title == "My report"
    assert document.blocks == (Paragraph((Text("Text"),)),)


def test_inline_styles() -> None:
    (block,) = parse_markdown("a **b** *c* ~~d~~ `e` [f](https://x.org/?a=1&b=2)").blocks
    assert isinstance(block, Paragraph)
    assert Text("b", bold=True) in block.content
    assert Text("c", italic=True) in block.content
    assert Text("d", strike=True) in block.content
    assert Text("e", code=True) in block.content
    assert Text("f", link="https://x.org/?a=1&b=2") in block.content


@pytest.mark.parametrize(
    "text",
    ["**重点：**这是内容", "这是**“重点”**内容", "他说**你好！**然后走了", "注意**（一）**项"],  # noqa: RUF001
)
def test_bold_beside_chinese_punctuation(text: str) -> None:
    (block,) = parse_markdown(text).blocks
    assert isinstance(block, Paragraph)
    assert "*" not in plain(block.content)
    assert any(isinstance(part, Text) and part.bold for part in block.content)


def test_underscores_inside_words_and_lone_asterisks_stay() -> None:
    (block,) = parse_markdown("snake_case_name and 3 * 4 * 5").blocks
    assert isinstance(block, Paragraph)
    assert block.content == (Text("snake_case_name and 3 * 4 * 5"),)


def test_nested_lists_with_numbers_tasks_and_continuation() -> None:
    (block,) = parse_markdown("3. three\n   - inner\n     1. deep\n\n   more\n4. [x] done").blocks
    assert isinstance(block, ListBlock) and block.ordered and block.start == 3
    first = block.items[0].blocks
    assert isinstance(first[1], ListBlock) and not first[1].ordered
    inner = first[1].items[0].blocks[1]
    assert isinstance(inner, ListBlock) and inner.ordered
    assert first[2] == Paragraph((Text("more"),))
    assert block.items[1].checked is True
    assert plain(block.items[1].blocks[0].content) == "done"  # type: ignore[union-attr]


def test_bullet_signs_are_lists() -> None:
    (block,) = parse_markdown("• one\n• two\n  • deeper").blocks
    assert isinstance(block, ListBlock)
    assert [plain(item.blocks[0].content) for item in block.items] == ["one", "two"]  # type: ignore[union-attr]


def test_table_cells_alignment_and_breaks() -> None:
    (table,) = parse_markdown("| a | b | c |\n|:--|:-:|--:|\n| 1<br>2 | **x** | ![p](q.png) |\n| short |\n").blocks
    assert isinstance(table, Table)
    assert table.alignments == ("left", "center", "right")
    assert table.rows[0][0] == (Text("1"), LineBreak(), Text("2"))
    assert [len(row) for row in table.rows] == [3, 3]


def test_single_line_ends_are_kept_unless_wrapped_by_hand() -> None:
    (address,) = parse_markdown("Name: A\nDate: B").blocks
    assert address == Paragraph((Text("Name: A"), LineBreak(), Text("Date: B")))
    wrapped = "This is a paragraph that an editor has broken at seventy characters or so\nand that goes on."
    (joined,) = parse_markdown(wrapped).blocks
    assert plain(joined.content) == wrapped.replace("\n", " ")  # type: ignore[union-attr]


def test_placeholders_become_pictures_but_not_in_code() -> None:
    document = parse_markdown("before {{image_2}} after\n\n`{{image_1}}`\n\n```\n{{image_1}}\n```\n\n![x]({{image_3}})")
    assert list(document.picture_sources()) == ["{{image_2}}", "{{image_3}}"]
    assert document.blocks[1] == PictureBlock("{{image_2}}")


def test_html_that_models_use_and_text_that_only_looks_like_it() -> None:
    (block,) = parse_markdown("H<sub>2</sub>O <b>bold</b> List<int> <!-- no --> x<sup>2</sup>").blocks
    assert isinstance(block, Paragraph)
    assert plain(block.content) == "H2O bold List<int>  x2"
    assert Text("2", lowered=True) in block.content and Text("2", raised=True) in block.content


@pytest.mark.parametrize(
    "mark", ["<!-- pagebreak -->", "\\newpage", '<div style="page-break-after: always"></div>', "[pagebreak]"]
)
def test_page_breaks(mark: str) -> None:
    assert [type(block) for block in parse_markdown(f"a\n\n{mark}\n\nb").blocks] == [Paragraph, PageBreak, Paragraph]


def test_an_outer_markdown_fence_is_taken_off_and_inner_fences_stay() -> None:
    document = parse_markdown("```markdown\n# T\n\n~~~\nx\n~~~\n```")
    assert document.title == "T"
    assert document.blocks[1] == CodeBlock("x")


def test_escaped_line_ends_are_line_ends() -> None:
    assert with_real_line_ends("# T\\n\\n- a\\n- b") == "# T\n\n- a\n- b"
    assert with_real_line_ends("C:\\new folder") == "C:\\new folder"
    assert with_real_line_ends("a\nprint('\\n\\n')") == "a\nprint('\\n\\n')"


def test_control_characters_and_lone_surrogates_go() -> None:
    assert printable("a\x00b\x1b[1mc\ufffe\ud83d\r\nd\x0b") == "ab[1mc\ufffd\nd"
    assert printable("\ud83d\ude00") == "😀"


def test_deep_nesting_ends() -> None:
    depth = 60
    text = "\n".join("  " * level + f"- level {level}" for level in range(depth)) + "\n" + "> " * 200 + "x"
    assert "level 30" in " ".join(parse_markdown(text).texts())


def test_plain_text_is_literal() -> None:
    document = parse_plain("# not a heading\nline two\n\n**stars** {{image_1}}")
    assert document.blocks[0] == Paragraph((Text("# not a heading"), LineBreak(), Text("line two")))
    assert document.blocks[2] == PictureBlock("{{image_1}}")
    assert "**stars** " in "".join(document.texts())


@pytest.mark.parametrize(
    ("text", "marks"),
    [("# T", True), ("a\n- b", True), ("| a |\n", True), ("x **y** z", True), ("plain - text 3*4*5", False)],
)
def test_looks_like_markdown(text: str, marks: bool) -> None:
    assert looks_like_markdown(text) is marks


def test_heading_slugs() -> None:
    assert heading_slug("  2.1 Results & Outlook! ") == "21-results-outlook"


def test_html_tables_are_tables() -> None:
    html = (
        "<table><thead><tr><th>A</th><th>B</th></tr></thead>"
        "<tbody><tr><td>1<br>2</td><td><b>x</b> y</td></tr><tr><td colspan=2>both</td></tr></tbody></table>"
    )
    (table,) = parse_markdown(html).blocks
    assert isinstance(table, Table)
    assert [plain(cell) for cell in table.header] == ["A", "B"]
    assert table.rows[0] == ((Text("1"), LineBreak(), Text("2")), (Text("x", bold=True), Text(" y")))
    assert [plain(cell) for cell in table.rows[1]] == ["both", ""]


def test_broken_html_tables_end() -> None:
    (table,) = parse_markdown("<table><tr><td>a<td>b<tr><td>c").blocks
    assert isinstance(table, Table)
    assert [[plain(cell) for cell in row] for row in table.rows] == [["a", "b"], ["c", ""]]


def links_of(text: str) -> list[tuple[str, str]]:
    (block,) = parse_markdown(text).blocks
    assert isinstance(block, Paragraph)
    return [(part.text, part.link) for part in block.content if isinstance(part, Text) and part.link]


def test_bare_addresses_are_links_and_others_stay() -> None:
    text = "See https://a.org/x_y_z?q=1&r=2. (https://b.org) and https://c.org/A_(b), https://d.org/页"
    assert links_of(text) == [
        ("https://a.org/x_y_z?q=1&r=2", "https://a.org/x_y_z?q=1&r=2"),
        ("https://c.org/A_(b)", "https://c.org/A_(b)"),
        ("https://d.org/", "https://d.org/"),
    ]
    assert links_of("[at https://x.org now](https://y.org) <https://z.org> `https://code.org`") == [
        ("at https://x.org now", "https://y.org"),
        ("https://z.org", "https://z.org"),
    ]


def test_footnotes_are_numbered_and_listed_at_the_end() -> None:
    text = "One[^b], two[^a], one again[^b], `[^a]`, [^none].\n\n[^a]: The **A**\n    goes on.\n[^b]: B.\n\nLast."
    first, last, rule, notes = parse_markdown(text).blocks
    assert isinstance(first, Paragraph) and isinstance(last, Paragraph) and isinstance(rule, Rule)
    assert plain(first.content) == "One1, two2, one again1, [^a], [^none]." and plain(last.content) == "Last."
    assert [part.text for part in first.content if isinstance(part, Text) and part.raised] == ["1", "2", "1"]
    assert isinstance(notes, ListBlock) and notes.ordered
    assert [plain(block.content) for item in notes.items for block in item.blocks if isinstance(block, Paragraph)] == [
        "B.",
        "The A goes on.",
    ]
