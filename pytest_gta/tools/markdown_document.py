"""Markdown, or plain text, parsed into a `Document`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token

from pytest_gta.tools.bare_links import with_bare_links
from pytest_gta.tools.document_tree import (
    Block,
    CodeBlock,
    Document,
    Heading,
    Inline,
    InlinePicture,
    Inlines,
    LineBreak,
    ListBlock,
    ListItem,
    PageBreak,
    Paragraph,
    PictureBlock,
    Quote,
    Rule,
    Table,
    Text,
    plain,
)
from pytest_gta.tools.footnotes import with_notes_at_end
from pytest_gta.tools.html_tables import tables_in_html
from pytest_gta.tools.plain_formula import Formulas
from pytest_gta.tools.printable_text import printable, with_real_line_ends

_PLACEHOLDER = re.compile(r"\{\{\s*image[_ ]?(\d+)\s*\}\}", re.IGNORECASE)
_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
_TAG = re.compile(r"<\s*(/?)\s*([a-zA-Z][a-zA-Z0-9]*)\b([^<>]*?)/?\s*>|<!--.*?-->", re.DOTALL)
_STYLE_TAGS: dict[str, dict[str, Any]] = {
    "b": {"bold": True},
    "strong": {"bold": True},
    "i": {"italic": True},
    "em": {"italic": True},
    "s": {"strike": True},
    "del": {"strike": True},
    "strike": {"strike": True},
    "u": {"underline": True},
    "ins": {"underline": True},
    "code": {"code": True},
    "kbd": {"code": True},
    "sup": {"raised": True},
    "sub": {"lowered": True},
}
_DROPPED_TAGS = frozenset(("div", "p", "span", "center", "font", "a", "mark", "small", "big", "section", "article"))
_PAGE_BREAK = re.compile(r"^\s*(?:<!--\s*page[ -_]?break\s*-->|\\(?:pagebreak|newpage)|\[\[?pagebreak\]?\])\s*$", re.I)
_FRONT_MATTER = re.compile(r"\A---\n((?:[A-Za-z_-]+:.*\n)+)---\n")
_BULLET = re.compile(r"^([ \t]*)[•●▪‣◦○■]\s+", re.MULTILINE)
_TASK = re.compile(r"\[([ xX])\]\s+")
_STYLE_OF_TOKEN: dict[str, dict[str, Any]] = {"strong": {"bold": True}, "em": {"italic": True}, "s": {"strike": True}}


class _WideDelimiters(StateInline):
    """Emphasis marks beside Chinese, Japanese and Korean text.

    CommonMark wants a space between ``**`` after punctuation and the next word; these scripts have no such spaces, and
    what models write (bold label, full-width colon, text) would keep its asterisks.
    """

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N802, N803 - the parent's names
        end = start
        while end < self.posMax and self.src[end] == self.src[start]:
            end += 1
        before = self.src[start - 1] if start > 0 else " "
        after = self.src[end] if end < self.posMax else " "
        before_open = isWhiteSpace(ord(before)) or _is_punctuation(before) or _WIDE.match(before)
        after_open = isWhiteSpace(ord(after)) or _is_punctuation(after) or _WIDE.match(after)
        left = not isWhiteSpace(ord(after)) and bool(not _is_punctuation(after) or before_open)
        right = not isWhiteSpace(ord(before)) and bool(not _is_punctuation(before) or after_open)
        return Scanned(
            left and (canSplitWord or not right or _is_punctuation(before)),
            right and (canSplitWord or not left or _is_punctuation(after)),
            end - start,
        )


class _WideInline(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        state = _WideDelimiters(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


def _is_punctuation(char: str) -> bool:
    return isMdAsciiPunct(ord(char)) or isPunctChar(char)


def parse_markdown(text: str) -> Document:
    """Return the document that markdown text describes (CommonMark with tables and ~~strike~~).

    Beyond the standard: a whole text in one ``markdown`` fence is unwrapped, front matter gives the title, single line
    ends are kept unless the text is plainly wrapped by hand, ``{{image_1}}`` places a picture, a page-break comment
    starts a new page, a line may start with a bullet sign, and inline HTML that models use
    (``<br>``, ``<b>``, ``<img>``) is understood. Formulas between dollar signs are written out, footnotes are listed at
    the end and bare web addresses are links.
    """
    text, title = _take_front_matter(_unwrap(with_real_line_ends(printable(text))))
    formulas = Formulas()
    text = with_bare_links(formulas.take_out(with_notes_at_end(_BULLET.sub(r"\1- ", text))))
    # The parser drops what is nested deeper than its limit, which is 20 unless set.
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 100})
    parser.inline = _WideInline()
    parser.enable(["table", "strikethrough"])
    blocks = tuple(_Blocks(parser.parse(text), formulas).take_until(None))
    first = next((block for block in blocks if isinstance(block, Heading)), None)
    return Document(blocks, title or (plain(first.content).strip() if first else ""))


def parse_plain(text: str) -> Document:
    """Return text taken literally: paragraphs at blank lines, line ends kept, ``{{image_1}}`` places a picture."""
    text = with_real_line_ends(printable(text))
    blocks: list[Block] = []
    for part in re.split(r"\n\s*\n", text):
        content: list[Inline] = []
        for line in part.strip("\n").split("\n"):
            if content:
                content.append(LineBreak())
            content.extend(_placeholders(Text(line)))
        blocks.extend(_paragraphs(tuple(content)))
    return Document(tuple(blocks))


def looks_like_markdown(text: str) -> bool:
    """Return whether a text has the marks of markdown: headings, lists, tables, emphasis, links or fences."""
    return bool(
        re.search(
            r"^#{1,6} \S|^\s*[-*+] \S|^\s*\d+[.)] \S|^\s*\|.+\|\s*$|^```|\*\*[^*\n]+\*\*|\[[^\]\n]+\]\([^)\s]+\)",
            with_real_line_ends(text),
            re.MULTILINE,
        )
    )


def _unwrap(text: str) -> str:
    found = re.fullmatch(r"\s*(`{3,}|~{3,})(?:markdown|md)\s*\n(.*?)\n\1\s*", text, re.DOTALL | re.IGNORECASE)
    return found.group(2) if found else text


def _take_front_matter(text: str) -> tuple[str, str]:
    found = _FRONT_MATTER.match(text)
    if not found:
        return text, ""
    title = re.search(r"^title:\s*(.+)$", found.group(1), re.MULTILINE | re.IGNORECASE)
    return text[found.end() :], title.group(1).strip().strip("\"'") if title else ""


class _Blocks:
    """Walks the flat token list of markdown-it and gives blocks."""

    def __init__(self, tokens: Sequence[Token], formulas: Formulas) -> None:
        self._tokens = tokens
        self._formulas = formulas
        self._at = 0

    def take_until(self, closing: str | None) -> Iterator[Block]:
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if token.type == closing:
                return
            yield from self._block(token)

    def _block(self, token: Token) -> Iterator[Block]:
        if token.type == "heading_open":
            content = self._inline("heading_close")
            yield Heading(int(token.tag[1]), _strip(content))
        elif token.type == "paragraph_open":
            content = self._inline("paragraph_close")
            yield from [PageBreak()] if _PAGE_BREAK.match(plain(content)) else _paragraphs(content)
        elif token.type in ("fence", "code_block"):
            yield CodeBlock(token.content.rstrip("\n"), token.info.strip().split(" ")[0])
        elif token.type == "blockquote_open":
            yield Quote(tuple(self.take_until("blockquote_close")))
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            yield self._list(token)
        elif token.type == "table_open":
            yield self._table()
        elif token.type == "hr":
            yield Rule()
        elif token.type == "html_block":
            yield from _html_block(token.content)

    def _inline(self, closing: str) -> Inlines:
        content: Inlines = ()
        while (token := self._tokens[self._at]).type != closing:
            content += _inlines(token.children or [], token.content, self._formulas)
            self._at += 1
        self._at += 1
        return content

    def _list(self, opening: Token) -> ListBlock:
        closing = opening.type.replace("open", "close")
        items = []
        while (token := self._tokens[self._at]).type != closing:
            self._at += 1
            if token.type == "list_item_open":
                items.append(_task_item(tuple(self.take_until("list_item_close"))))
        self._at += 1
        return ListBlock(opening.type.startswith("ordered"), tuple(items), int(opening.attrs.get("start", 1)))

    def _table(self) -> Table:
        rows: list[tuple[Inlines, ...]] = []
        alignments: list[str] = []
        row: list[Inlines] = []
        while (token := self._tokens[self._at]).type != "table_close":
            self._at += 1
            if token.type == "tr_open":
                row = []
            elif token.type == "tr_close":
                rows.append(tuple(row))
            elif token.type in ("th_open", "td_open"):
                if token.type == "th_open":
                    found = re.search(r"left|center|right", str(token.attrs.get("style", "")))
                    alignments.append(found.group() if found else "left")
                row.append(_strip(self._inline(token.type.replace("open", "close"))))
        self._at += 1
        return Table(rows[0], tuple(rows[1:]), tuple(alignments))


def _inlines(tokens: Sequence[Token], source: str, formulas: Formulas) -> Inlines:
    soft_break = " " if _wrapped_by_hand(source) else "\n"
    style = Text("")
    stack: list[Text] = []
    parts: list[Inline] = []
    for token in tokens:
        name = token.type.rsplit("_", 1)[0]
        if token.type == "text":
            for run in formulas.put_back(replace(style, text=token.content)):
                parts.extend(_placeholders(run))
        elif token.type == "code_inline":
            parts.append(replace(style, text=token.content, code=True))
        elif token.type == "softbreak":
            parts.append(LineBreak() if soft_break == "\n" else replace(style, text=" "))
        elif token.type == "hardbreak":
            parts.append(LineBreak())
        elif token.type == "image":
            parts.append(InlinePicture(_address(str(token.attrs.get("src", ""))), token.content))
        elif token.type == "html_inline":
            style = _html_tag(token.content, style, stack, parts)
        elif token.type.endswith("_open"):
            stack.append(style)
            style = (
                replace(style, link=str(token.attrs.get("href", "")))
                if name == "link"
                else replace(style, **_STYLE_OF_TOKEN.get(name, {}))
            )
        elif token.type.endswith("_close") and stack:
            style = stack.pop()
    return _joined(parts)


def _address(source: str) -> str:
    from urllib.parse import unquote

    placed = _PLACEHOLDER.fullmatch(unquote(source))
    return f"{{{{image_{placed.group(1)}}}}}" if placed else unquote(source)


def _html_tag(tag: str, style: Text, stack: list[Text], parts: list[Inline]) -> Text:
    """Apply one HTML tag; what is not known HTML (``List<int>``) stays text."""
    found = _TAG.fullmatch(tag)
    name = (found.group(2) or "").lower() if found else ""
    if found and not name:  # a comment
        return style
    if name == "br":
        parts.append(LineBreak())
    elif name == "img" and found:
        attributes = dict(re.findall(r"([a-z]+)\s*=\s*[\"']([^\"']*)[\"']", found.group(3)))
        parts.append(InlinePicture(_address(attributes.get("src", "")), attributes.get("alt", "")))
    elif name in _STYLE_TAGS and found:
        if found.group(1):
            return stack.pop() if stack else Text("")
        stack.append(style)
        return replace(style, **_STYLE_TAGS[name])
    elif name not in _DROPPED_TAGS:
        parts.append(replace(style, text=tag))
    return style


def _html_block(html: str) -> Iterator[Block]:
    if _PAGE_BREAK.match(html) or re.match(
        r"\s*<div[^>]*page-break-(?:before|after)\s*:\s*always", html, re.IGNORECASE
    ):
        yield PageBreak()
        return
    if re.fullmatch(r"\s*<hr[^>]*>\s*", html, re.IGNORECASE):
        yield Rule()
        return
    if re.search(r"<table\b", html, re.IGNORECASE) and (tables := tables_in_html(html)):
        yield from tables
        return
    style, stack, parts, at = Text(""), [Text("")][:0], list[Inline](), 0
    for found in _TAG.finditer(html):
        _html_text(html[at : found.start()], style, parts)
        style = _html_tag(found.group(), style, stack, parts)
        at = found.end()
    _html_text(html[at:], style, parts)
    yield from _paragraphs(_joined(parts))


def _html_text(text: str, style: Text, parts: list[Inline]) -> None:
    from html import unescape

    for index, line in enumerate(text.split("\n")):
        if index and parts and not isinstance(parts[-1], LineBreak):
            parts.append(LineBreak())
        if line.strip():
            parts.extend(_placeholders(replace(style, text=unescape(line))))


def _placeholders(run: Text) -> list[Inline]:
    pieces = _PLACEHOLDER.split(run.text)
    return [
        InlinePicture(f"{{{{image_{int(piece)}}}}}") if index % 2 else replace(run, text=piece)
        for index, piece in enumerate(pieces)
        if index % 2 or piece
    ]


def _wrapped_by_hand(source: str) -> bool:
    """Return whether a paragraph's line ends only keep it within a width, rather than end lines that were meant."""
    lines = source.split("\n")
    return len(lines) > 1 and all(60 <= len(line) <= 120 for line in lines[:-1]) and len(lines[-1]) <= 120


def _joined(parts: Sequence[Inline]) -> Inlines:
    """Join neighbouring runs of one style."""
    joined: list[Inline] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Text) and isinstance(last, Text) and replace(last, text="") == replace(part, text=""):
            joined[-1] = replace(last, text=last.text + part.text)
        elif not (isinstance(part, Text) and not part.text):
            joined.append(part)
    return tuple(joined)


def _strip(content: Inlines) -> Inlines:
    """Drop line breaks and blank runs at both ends."""
    parts = list(content)
    for end in (0, -1):
        while parts and (
            isinstance(parts[end], LineBreak) or (isinstance(parts[end], Text) and not plain([parts[end]]).strip())
        ):
            parts.pop(end)
    return tuple(parts)


def _paragraphs(content: Inlines) -> Iterator[Block]:
    """Split a paragraph at its pictures, which become blocks."""
    run: list[Inline] = []
    for part in content:
        if isinstance(part, InlinePicture):
            if text := _strip(tuple(run)):
                yield Paragraph(text)
            run = []
            yield PictureBlock(part.source, part.alt)
        else:
            run.append(part)
    if text := _strip(tuple(run)):
        yield Paragraph(text)


def _task_item(blocks: tuple[Block, ...]) -> ListItem:
    first = blocks[0] if blocks else None
    if not isinstance(first, Paragraph) or not isinstance(first.content[0], Text):
        return ListItem(blocks)
    found = _TASK.match(first.content[0].text)
    if not found:
        return ListItem(blocks)
    rest = replace(first.content[0], text=first.content[0].text[found.end() :])
    return ListItem((Paragraph((rest, *first.content[1:])), *blocks[1:]), checked=found.group(1) != " ")
