"""The parts of a written document: blocks of inline text, as the Word, PDF and web writers take them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """A run of text in one style.

    Attributes:
        text: The characters; no line ends.
        bold: And the other styles, each on or off.
        link: The address it links to (``https:``, ``mailto:``, or ``#heading-slug``), or "".
    """

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    underline: bool = False
    code: bool = False
    raised: bool = False
    lowered: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class LineBreak:
    """A line end inside a paragraph."""


@dataclass(frozen=True, slots=True)
class InlinePicture:
    """A picture, inside a table cell or heading; elsewhere pictures are blocks.

    Attributes:
        source: A path as the text names it, or ``{{image_2}}`` for the second of the images given beside the text.
        alt: What it shows, in words.
    """

    source: str
    alt: str = ""


Inline = Text | LineBreak | InlinePicture
Inlines = tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 to 6."""

    level: int
    content: Inlines


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of text."""

    content: Inlines


@dataclass(frozen=True, slots=True)
class PictureBlock:
    """A picture on a line of its own; `alt` is its caption."""

    source: str
    alt: str = ""


@dataclass(frozen=True, slots=True)
class ListItem:
    """An item of a list: blocks, the first of them usually a paragraph. `checked` is None unless it is a task."""

    blocks: tuple[Block, ...]
    checked: bool | None = None


@dataclass(frozen=True, slots=True)
class ListBlock:
    """A bulleted or numbered list; a list inside an item is a level deeper."""

    ordered: bool
    items: tuple[ListItem, ...]
    start: int = 1


@dataclass(frozen=True, slots=True)
class Table:
    """A table with one header row.

    Attributes:
        header: A cell a column; may be all empty.
        rows: As many cells a row as the header has.
        alignments: ``left``, ``center`` or ``right`` a column.
    """

    header: tuple[Inlines, ...]
    rows: tuple[tuple[Inlines, ...], ...]
    alignments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Preformatted text, its line ends kept."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """Quoted blocks."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal line."""


@dataclass(frozen=True, slots=True)
class PageBreak:
    """The start of a new page."""


Block = Heading | Paragraph | PictureBlock | ListBlock | Table | CodeBlock | Quote | Rule | PageBreak


@dataclass(frozen=True, slots=True)
class Document:
    """A whole document.

    Attributes:
        blocks: Its blocks in order.
        title: From its front matter or its first heading; "" when it has neither.
    """

    blocks: tuple[Block, ...]
    title: str = ""

    def texts(self) -> Iterator[str]:
        """Yield all text of the document, run by run."""
        yield self.title
        yield from _block_texts(self.blocks)

    def picture_sources(self) -> Iterator[str]:
        """Yield the source of every picture, in order."""
        yield from _sources(self.blocks)


def plain(content: Sequence[Inline]) -> str:
    """Return inline text without its styles."""
    return "".join(
        part.text if isinstance(part, Text) else " " if isinstance(part, LineBreak) else part.alt for part in content
    )


def heading_slug(heading: str) -> str:
    """Return the name a heading goes by in links: lower case, words joined by hyphens."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading.strip().lower()))


def _inline_groups(block: Block) -> Iterator[Inlines]:
    if isinstance(block, Heading | Paragraph):
        yield block.content
    elif isinstance(block, Table):
        for row in (block.header, *block.rows):
            yield from row


def _children(block: Block) -> Iterator[Block]:
    if isinstance(block, Quote):
        yield from block.blocks
    elif isinstance(block, ListBlock):
        for item in block.items:
            yield from item.blocks


def _block_texts(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, CodeBlock):
            yield block.text
        elif isinstance(block, PictureBlock):
            yield block.alt
        for group in _inline_groups(block):
            yield plain(group)
        yield from _block_texts(tuple(_children(block)))


def _sources(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, PictureBlock):
            yield block.source
        for group in _inline_groups(block):
            yield from (part.source for part in group if isinstance(part, InlinePicture))
        yield from _sources(tuple(_children(block)))
