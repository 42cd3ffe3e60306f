"""Pages made of what models write."""

from __future__ import annotations

from pathlib import Path

import lxml.html
import pytest

from pytest_gta.tools.html_writer import taken_from_fence, write_html

PAGE = "<!DOCTYPE html>\n<html><head><title>T</title></head><body><p>x</p></body></html>"


def write(folder: Path, text: str, name: str = "page.html") -> tuple[str, list[str]]:
    lines = write_html(folder / name, text)
    return (folder / name).read_bytes().decode("utf-8"), lines


@pytest.mark.parametrize(
    "text",
    [
        PAGE,
        f"```html\n{PAGE}\n```",
        f"```\n{PAGE}\n```",
        f"Here is the page:\n\n```html\n{PAGE}\n```\n\nEnjoy!",
        f"~~~~html\n{PAGE}\n~~~~",
        f"```html\n{PAGE}",
    ],
)
def test_a_whole_page_is_kept_with_or_without_its_fence(tmp_path: Path, text: str) -> None:
    page, lines = write(tmp_path, text)
    assert page.replace('\n<meta charset="utf-8">', "").strip() == PAGE
    assert lines[0].startswith("A whole page")


def test_inner_fences_do_not_cut_the_page() -> None:
    inner = "<pre>\n```js\nlet a = 1;\n```\n</pre>\n<script>const s = `${1}`;</script>\n<p>end</p>"
    assert taken_from_fence(f"```html\n{inner}\n```\nThat is all.") == inner + "\n"
    bare = "<pre>\n```\ncode\n```\n</pre>\n<p>end</p>"
    assert "<p>end</p>" in taken_from_fence(f"```html\n{bare}\n```")
    assert taken_from_fence(bare) == bare + "\n"


def test_a_fragment_becomes_a_page(tmp_path: Path) -> None:
    page, _ = write(tmp_path, "<style>p{color:red}</style>\n<h1>Plan &amp; more</h1><p>中文</p>")
    tree = lxml.html.fromstring(page)
    assert page.startswith("<!DOCTYPE html>")
    assert tree.xpath("//meta/@charset") == ["utf-8"] and tree.xpath("//meta[@name='viewport']")
    assert tree.xpath("//title/text()") == ["Plan & more"] and tree.get("lang") == "zh"
    assert tree.xpath("//head/style/text()") == ["p{color:red}"], "its own style, and not ours besides"


def test_markdown_becomes_a_page(tmp_path: Path) -> None:
    page, lines = write(tmp_path, "# Report\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n- x\n- y")
    tree = lxml.html.fromstring(page)
    assert [cell.text for cell in tree.xpath("//td")] == ["1", "2"] and len(tree.xpath("//li")) == 2
    assert tree.xpath("//title/text()") == ["Report"] and "Markdown" in lines[0]


def test_plain_text_keeps_the_file_name_as_title(tmp_path: Path) -> None:
    page, _ = write(tmp_path, "just words", "my_page.html")
    assert lxml.html.fromstring(page).xpath("//title/text()") == ["my page"]


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        ("style.css", "```css\nbody { color: red }\n```", "body { color: red }\n"),
        ("app.js", "let a = `x`;", "let a = `x`;\n"),
        ("logo.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>", "<svg xmlns='http://www.w3.org/2000/svg'/>\n"),
    ],
)
def test_files_of_a_page_are_written_as_given(tmp_path: Path, name: str, text: str, kept: str) -> None:
    assert write(tmp_path, text, name)[0] == kept


def test_another_charset_is_corrected(tmp_path: Path) -> None:
    page, _ = write(tmp_path, '<html><head><meta charset="gb2312"></head><body>中文</body></html>')
    assert '<meta charset="utf-8">' in page and "gb2312" not in page


def test_missing_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "here.png").write_bytes(b"x")
    text = '<img src="here.png"><img src="gone.png?v=1"><img src="data:image/png;base64,x"><script src="https://x.org/a.js">'
    _, lines = write(tmp_path, text)
    assert "gone.png" in lines[1] and "here.png" not in lines[1] and "x.org" not in lines[1]


def test_what_is_loaded_from_the_web_is_named(tmp_path: Path) -> None:
    page = (
        '<script src="https://cdn.example.org/chart.js"></script><link rel="stylesheet" href="//x.org/a.css">'
        '<link rel="preconnect" href="https://fonts.example.org"><a href="https://example.org/">x</a><img src="data:,">'
    )
    _, lines = write(tmp_path, page)
    assert len(lines) == 2
    assert lines[1].startswith("It loads from the web: https://cdn.example.org/chart.js, //x.org/a.css. Without")
    _, lines = write(tmp_path, '<a href="https://example.org/">link</a>')
    assert len(lines) == 1


def test_markdown_has_links_and_footnotes(tmp_path: Path) -> None:
    page, _ = write(tmp_path, "# T\n\nSee https://x.org[^1].\n\n[^1]: Note.")
    assert '<a href="https://x.org">https://x.org</a><sup>1</sup>.' in page and "<li>Note.</li>" in page


def test_hostile_characters(tmp_path: Path) -> None:
    page, _ = write(tmp_path, "<p>a\x00b\ud800</p>")
    assert "<p>ab\ufffd</p>" in page


def test_double_escaped_code_gets_its_lines(tmp_path: Path) -> None:
    assert write(tmp_path, "body {\\n color: red;\\n}", "s.css")[0] == "body {\n color: red;\n}\n"


def test_markup_that_stops_the_parser_is_still_written(tmp_path: Path) -> None:
    assert "<![x" in write(tmp_path, "<p>a</p><![x]><img src='gone.png'>")[0]
