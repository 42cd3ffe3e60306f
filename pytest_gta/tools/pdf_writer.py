"""A `Document` written as a PDF."""

from __future__ import annotations

import io
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_CENTER, TA_LEFT, TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    CondPageBreak,
    Flowable,
    Frame,
    HRFlowable,
    Image,
    Indenter,
    KeepTogether,
    PageTemplate,
    Spacer,
)
from reportlab.platypus import PageBreak as PdfPageBreak
from reportlab.platypus import Table as PdfTable

from pytest_gta.tools.column_widths import column_shares
from pytest_gta.tools.document_tree import (
    Block,
    CodeBlock,
    Document,
    Heading,
    Inline,
    InlinePicture,
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
from pytest_gta.tools.font_files import FontFolders
from pytest_gta.tools.pdf_fonts import PdfFonts
from pytest_gta.tools.pdf_paragraphs import ParagraphMaker
from pytest_gta.tools.picture_sources import LoadedPicture, PictureSources
from pytest_gta.tools.writing_direction import joined_letters, needs_shaping

_MARGIN = 62.0
_INDENT = 18.0
_TALLEST_ROW = A4[1] - 2 * _MARGIN - 120
"""Points; leaves room for a repeated header of several lines."""
_PER_PIXEL = 0.75
"""Points a pixel has at 96 pixels an inch."""
_ACCENT = HexColor("#1F3864")
_GREY = HexColor("#595959")
_LINE = HexColor("#BFBFBF")
_ALIGNMENTS = {"left": TA_LEFT, "center": TA_CENTER, "right": TA_RIGHT}
_BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=10.5, leading=15, spaceAfter=7)
_HEADINGS = tuple(
    ParagraphStyle(
        f"heading {level}",
        fontName="Helvetica-Bold",
        fontSize=size,
        leading=size * 1.25,
        spaceBefore=max(6, 20 - 3 * level),
        spaceAfter=6,
        textColor=_ACCENT,
        keepWithNext=1,
    )
    for level, size in enumerate((20, 16, 13, 11.5, 10.5, 10.5), start=1)
)
_CODE = ParagraphStyle(
    "code", _BODY, fontSize=9, leading=12, backColor=HexColor("#F3F3F3"), borderPadding=6, spaceBefore=8, spaceAfter=13
)
_CAPTION = ParagraphStyle("caption", _BODY, fontSize=9, leading=12, alignment=TA_CENTER, textColor=_GREY)
_QUOTE = ParagraphStyle("quote", _BODY, textColor=_GREY)


def write_pdf(
    target: Path, document: Document, pictures: PictureSources, *, title: str = "", folders: FontFolders | None = None
) -> tuple[int, list[str]]:
    """Write a document as PDF: A4, bookmarks for the headings, page numbers, title, any script.

    Images given and not placed by the text follow at the end, each with its file name as caption.

    Args:
        target: The file to write.
        document: What to write.
        pictures: Where its pictures come from.
        title: For the file's properties; the document's own title by default.
        folders: Where fonts are looked for; by default where the machine keeps them.

    Returns:
        The number of pages, and a sentence for each thing that is not as it should be: characters without a font,
        fonts not embedded, right-to-left text that could not be put in order.

    Raises:
        OSError: The file cannot be written.
    """
    characters = "".join(joined_letters(text) for text in document.texts())
    slugs = frozenset(heading_slug(plain(block.content)) for block in document.blocks if isinstance(block, Heading))
    with tempfile.TemporaryDirectory(prefix=".gta-", ignore_cleanup_errors=True) as workroom:
        fonts = PdfFonts(characters + title, Path(workroom), folders)
        maker = ParagraphMaker(fonts, slugs)
        writer = _PdfWriter(maker, pictures)
        story = [flowable for block in document.blocks for flowable in writer.block(block, 0)]
        for name in pictures.unplaced(tuple(document.picture_sources())):
            if pictures.find(name):
                story.extend(writer.block(PictureBlock(name, Path(name).stem), 0))
        shown = document.title or title
        template = _Template(str(target), title=shown, author="", subject="", creator="", pagesize=A4)
        template.build(story or [Spacer(1, 1)], canvasmaker=_NumberedCanvas)
    return template.page, _notes(fonts, maker, document)


def _notes(fonts: PdfFonts, maker: ParagraphMaker, document: Document) -> list[str]:
    notes = []
    if fonts.missing:
        shown = sorted(fonts.missing)[:20]
        named = ", ".join(f"{char} ({unicodedata.name(char, f'U+{ord(char):04X}').lower()})" for char in shown)
        more = f" and {len(fonts.missing) - len(shown)} more" if len(fonts.missing) > len(shown) else ""
        notes.append(
            "No font of this machine has these characters, which are named in brackets or shown as a box: "
            f"{named}{more}. Replace them, or have a font installed that has them (pip install 'pytest-gta[fonts]')."
        )
    if fonts.borrowed:
        notes.append(
            "Chinese, Japanese or Korean text uses the font of the program that shows the file, for none is installed "
            "here; most programs have one (to embed one: pip install 'pytest-gta[fonts]')."
        )
    if any(needs_shaping(text) for text in document.texts()):
        notes.append(
            "Letters of an Indic or South-East Asian script stand one by one in a PDF, not joined as they should be; "
            "a Word document (DocxFileGenerator) shows them correctly."
        )
    if maker.unordered:
        notes.append(
            "Right-to-left text is in the file but not in drawing order, for python-bidi and arabic-reshaper are not "
            "installed; a Word document (DocxFileGenerator) shows it correctly."
        )
    return notes


class _Template(BaseDocTemplate):  # type: ignore[misc]
    """A4 pages with one frame; every heading becomes a bookmark."""

    def __init__(self, filename: str, **properties: Any) -> None:
        super().__init__(filename, **properties, leftMargin=_MARGIN, rightMargin=_MARGIN)
        frame = Frame(_MARGIN, _MARGIN, A4[0] - 2 * _MARGIN, A4[1] - 2 * _MARGIN, 0, 0, 0, 0, id="page")
        self.addPageTemplates(PageTemplate("page", [frame]))
        self._depth = -1

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802 - the parent's name
        """Add a bookmark for a heading."""
        found = getattr(flowable, "gta_heading", None)
        if found is None:
            return
        level, text = found
        # A reader refuses an outline that goes down two steps at once.
        self._depth = min(level - 1, self._depth + 1)
        key = f"heading-{id(flowable)}"
        self.canv.bookmarkPage(key)
        self.canv.addOutlineEntry(text, key, self._depth, closed=False)


class _NumberedCanvas(Canvas):  # type: ignore[misc]
    """A canvas that knows how many pages there are when it writes the first one's number."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pages: list[dict[str, Any]] = []

    def showPage(self) -> None:  # noqa: N802 - the parent's name
        self._pages.append(dict(self.__dict__))
        self._startPage()

    def save(self) -> None:
        for number, page in enumerate(self._pages, start=1):
            self.__dict__.update(page)
            self.setFont("Helvetica", 9)
            self.setFillColor(_GREY)
            self.drawCentredString(A4[0] / 2, _MARGIN / 2, f"{number} / {len(self._pages)}")
            super().showPage()
        super().save()


class _PdfWriter:
    def __init__(self, maker: ParagraphMaker, pictures: PictureSources) -> None:
        self._maker = maker
        self._pictures = pictures
        self._slugs: set[str] = set()

    def block(self, block: Block, level: int, *, style: ParagraphStyle = _BODY) -> Iterator[Flowable]:
        """Yield a block's flowables; `level` is how deep it is in lists and quotes."""
        if isinstance(block, Heading):
            yield self._heading(block)
        elif isinstance(block, Paragraph):
            yield self._maker.make(block.content, style)
        elif isinstance(block, ListBlock):
            yield from self._list(block, level, style)
        elif isinstance(block, Table):
            yield from self._table(block, level)
        elif isinstance(block, CodeBlock):
            yield self._maker.make(_code_inlines(block.text), _CODE)
        elif isinstance(block, Quote):
            yield Indenter(_INDENT)
            for inner in block.blocks:
                yield from self.block(inner, level + 1, style=_QUOTE)
            yield Indenter(-_INDENT)
        elif isinstance(block, PictureBlock):
            yield from self._picture(block, level)
        elif isinstance(block, Rule):
            yield HRFlowable(width="100%", color=_LINE, spaceBefore=6, spaceAfter=10)
        elif isinstance(block, PageBreak):
            yield PdfPageBreak()

    def _heading(self, block: Heading) -> Flowable:
        text = plain(block.content)
        slug = heading_slug(text)
        anchor = f"<a name={quoteattr(slug)}/>" if slug and slug not in self._slugs else ""
        self._slugs.add(slug)
        flowable = self._maker.make(block.content, _HEADINGS[block.level - 1], before=anchor)
        flowable.gta_heading = (block.level, text)
        flowable.keepWithNext = 1
        return flowable

    def _list(self, block: ListBlock, level: int, style: ParagraphStyle) -> Iterator[Flowable]:
        item_style = ParagraphStyle(
            "item",
            style,
            leftIndent=_INDENT,
            bulletIndent=4,
            spaceAfter=3,
            bulletFontName=self._maker.bullet_font,
            bulletFontSize=10.5,
        )
        for number, item in enumerate(block.items, start=block.start):
            mark = f"{number}." if block.ordered else ("•", "\u2013", "·")[level % 3]
            if item.checked is not None:
                mark = "[x]" if item.checked else "[ ]"
            first = item.blocks[0] if item.blocks else Paragraph(())
            rest = item.blocks[1:]
            if isinstance(first, Paragraph):
                yield self._maker.make(first.content, item_style, bullet=mark)
            else:
                yield self._maker.make((), item_style, bullet=mark)
                rest = item.blocks
            if rest:
                yield Indenter(_INDENT)
                for inner in rest:
                    yield from self.block(inner, level + 1, style=style)
                yield Indenter(-_INDENT)
        yield Spacer(1, 4)

    def _table(self, block: Table, level: int) -> Iterator[Flowable]:
        has_header = any(plain(cell).strip() for cell in block.header)
        rows = (block.header, *block.rows) if has_header or not block.rows else block.rows
        columns = len(block.header)
        size = 9.0 if columns <= 6 else 7.5 if columns <= 10 else 6.0
        width = A4[0] - 2 * _MARGIN - level * _INDENT
        shares = column_shares([[plain(cell) for cell in row] for row in rows], width / (size * 0.54))
        widths = [share * width for share in shares]
        cells: list[list[list[Flowable]]] = []
        for index, row in enumerate(rows):
            header = has_header and index == 0
            written = [
                self._cell(content, size, alignment, header=header, room=column - 10)
                for content, alignment, column in zip(row, block.alignments, widths, strict=True)
            ]
            cells.extend(_page_sized(written, widths))
        table = PdfTable(cells, colWidths=widths, repeatRows=1 if has_header else 0, spaceBefore=4, spaceAfter=12)
        look: list[tuple[Any, ...]] = [
            ("GRID", (0, 0), (-1, -1), 0.5, _LINE),
            ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
            ("LEFTPADDING", (0, 0), (-1, -1), 5),
            ("RIGHTPADDING", (0, 0), (-1, -1), 5),
            ("TOPPADDING", (0, 0), (-1, -1), 3),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 4),
            ("ROWBACKGROUNDS", (0, 1 if has_header else 0), (-1, -1), [None, HexColor("#F2F5FA")]),
        ]
        if has_header:
            look.append(("BACKGROUND", (0, 0), (-1, 0), _ACCENT))
        table.setStyle(look)
        # A header row alone at the foot of a page helps nobody.
        yield CondPageBreak(60)
        yield table

    def _cell(
        self, content: Sequence[Inline], size: float, alignment: str, *, header: bool, room: float
    ) -> list[Flowable]:
        style = ParagraphStyle(
            "cell",
            fontName="Helvetica-Bold" if header else "Helvetica",
            fontSize=size,
            leading=size * 1.3,
            alignment=_ALIGNMENTS[alignment],
            textColor=HexColor("#FFFFFF") if header else HexColor("#000000"),
        )
        pieces: list[Flowable] = []
        run: list[Inline] = []
        for part in content:
            loaded = self._pictures.find(part.source) if isinstance(part, InlinePicture) else None
            if loaded:
                pieces.extend([self._maker.make(run, style)] if run else [])
                pieces.append(_image(loaded, room, 180))
                run = []
            else:
                run.append(part)
        return [*pieces, *([self._maker.make(run, style)] if run or not pieces else [])]

    def _picture(self, block: PictureBlock, level: int) -> Iterator[Flowable]:
        loaded = self._pictures.find(block.source)
        if loaded is None:
            yield self._maker.make((Text(f"[picture not available: {block.alt or block.source}]", italic=True),), _BODY)
            return
        room = A4[0] - 2 * _MARGIN - level * _INDENT
        image = _image(loaded, room * 0.92, (A4[1] - 2 * _MARGIN) * 0.5)
        caption = [self._maker.make((Text(block.alt, italic=True),), _CAPTION)] if block.alt else []
        yield KeepTogether([Spacer(1, 4), image, Spacer(1, 4), *caption, Spacer(1, 4)])


def _page_sized(row: list[list[Flowable]], widths: Sequence[float]) -> Iterator[list[list[Flowable]]]:
    """Split a row that no page can hold into several that one can."""
    left = [list(cell) for cell in row]
    while any(left):
        piece: list[list[Flowable]] = []
        for cell, width in zip(left, widths, strict=True):
            taken, used = list[Flowable](), 0.0
            while cell:
                height = cell[0].wrap(width - 10, _TALLEST_ROW)[1]
                if used + height <= _TALLEST_ROW:
                    taken.append(cell.pop(0))
                    used += height
                    continue
                halves = [] if taken else cell[0].split(width - 10, _TALLEST_ROW)
                if len(halves) > 1:
                    taken.append(halves[0])
                    cell[:1] = halves[1:]
                elif not taken:
                    taken.append(cell.pop(0))
                break
            piece.append(taken or [Spacer(1, 1)])
        yield piece


def _image(loaded: LoadedPicture, width: float, height: float) -> Flowable:
    wide, high = loaded.size_within(width, height, per_pixel=_PER_PIXEL)
    return Image(io.BytesIO(loaded.data), width=wide, height=high)


def _code_inlines(text: str) -> tuple[Inline, ...]:
    parts: list[Inline] = []
    for index, line in enumerate(text.expandtabs(4).split("\n")):
        if index:
            parts.append(LineBreak())
        indent = len(line) - len(line.lstrip(" "))
        # Spaces that may not be broken hold the indent; wrapping stays possible inside the line.
        parts.append(Text("\u00a0" * indent + line.lstrip(" "), code=True))
    return tuple(parts)
