"""A `Document` written as a Word file."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

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
from pytest_gta.tools.picture_sources import LoadedPicture, PictureSources
from pytest_gta.tools.word_numbering import WordNumbering
from pytest_gta.tools.word_styles import ACCENT, AFTER_SHADING, colour, element, prepare_styles, shading
from pytest_gta.tools.writing_direction import is_right_to_left

_PIXEL = 9525
"""EMU a pixel has at 96 pixels an inch."""
_CHECKED = {True: "☑\t", False: "☐\t"}


def write_word(target: Path, document: Document, pictures: PictureSources, *, title: str = "") -> None:
    """Write a document as docx: A4, real heading, list, table, quote and caption styles, page numbers.

    Images given and not placed by the text follow at the end, each with its file name as caption; a picture that
    cannot be had leaves a bracketed remark, and a note in `pictures.notes`.

    Args:
        target: The file to write.
        document: What to write.
        pictures: Where its pictures come from.
        title: For the file's properties; the document's own title by default.

    Raises:
        OSError: The file cannot be written.
    """
    writer = _WordWriter(pictures)
    writer.blocks(document.blocks)
    for name in pictures.unplaced(tuple(document.picture_sources())):
        if pictures.find(name):
            writer.blocks((PictureBlock(name, Path(name).stem),))
    writer.save(target, document.title or title)


class _WordWriter:
    def __init__(self, pictures: PictureSources) -> None:
        import docx
        from docx.shared import Mm

        self._pictures = pictures
        self._document = docx.Document()
        section = self._document.sections[0]
        section.page_width, section.page_height = Mm(210), Mm(297)
        section.left_margin = section.right_margin = Mm(25)
        section.top_margin = section.bottom_margin = Mm(22)
        self._width = int(section.page_width - section.left_margin - section.right_margin)
        self._height = int(section.page_height - section.top_margin - section.bottom_margin)
        self._numbering = WordNumbering(self._document)
        self._bookmarks: dict[str, int] = {}
        prepare_styles(self._document)
        _page_number(section.footer.paragraphs[0])

    def save(self, target: Path, title: str) -> None:
        properties = self._document.core_properties
        properties.title, properties.author, properties.comments = title[:250], "", ""
        # The library's template carries the year it was made in.
        properties.created = properties.modified = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
        if not self._document.element.body.xpath("w:p | w:tbl"):
            self._document.add_paragraph()
        self._document.save(str(target))

    def blocks(self, blocks: Sequence[Block], *, container: Any = None, level: int = -1, quoted: bool = False) -> None:
        container = container if container is not None else self._document
        for block in blocks:
            self._block(block, container, level, quoted)

    def _block(self, block: Block, container: Any, level: int, quoted: bool) -> None:
        if isinstance(block, Heading):
            paragraph = container.add_heading("", level=min(block.level, 9))
            self._write(paragraph, block.content)
            self._bookmark(paragraph, plain(block.content))
        elif isinstance(block, Paragraph):
            style = "Quote" if quoted else "List Continue" if level >= 0 else None
            paragraph = container.add_paragraph(style=style)
            if level >= 0 and not quoted:
                _indent(paragraph, level + 1)
            self._write(paragraph, block.content)
        elif isinstance(block, ListBlock):
            self._list(block, container, level + 1, quoted)
        elif isinstance(block, Table):
            self._table(block, container)
        elif isinstance(block, CodeBlock):
            _code(container.add_paragraph(style="Code"), block.text)
        elif isinstance(block, Quote):
            self.blocks(block.blocks, container=container, level=level, quoted=True)
        elif isinstance(block, PictureBlock):
            self._picture(block, container, level)
        elif isinstance(block, Rule):
            _bottom_line(container.add_paragraph())
        elif isinstance(block, PageBreak):
            container.add_page_break()

    def _list(self, block: ListBlock, container: Any, level: int, quoted: bool) -> None:
        number = self._numbering.new_list(ordered=block.ordered, start=block.start, level=min(level, 8))
        name = ("List Number" if block.ordered else "List Bullet") + (f" {level + 1}" if 0 < level < 3 else "")
        for item in block.items:
            first = item.blocks[0] if item.blocks else None
            paragraph = container.add_paragraph(style=name if level < 3 else "List Paragraph")
            if item.checked is None:
                self._numbering.apply(paragraph, number, level)
            else:
                _task(paragraph, level)
                paragraph.add_run(_CHECKED[item.checked])
            rest = item.blocks
            if isinstance(first, Paragraph):
                self._write(paragraph, first.content)
                rest = item.blocks[1:]
            self.blocks(rest, container=container, level=level, quoted=quoted)

    def _table(self, block: Table, container: Any) -> None:
        from docx.enum.table import WD_TABLE_ALIGNMENT
        from docx.enum.text import WD_ALIGN_PARAGRAPH
        from docx.shared import Pt

        has_header = any(plain(cell).strip() for cell in block.header)
        rows = (block.header, *block.rows) if has_header or not block.rows else block.rows
        table = container.add_table(rows=0, cols=len(block.header))
        table.style, table.alignment, table.autofit = "Table Grid", WD_TABLE_ALIGNMENT.CENTER, False
        _linecolour(table, "BFBFBF")
        columns = len(block.header)
        size = 10 if columns <= 6 else 8.5 if columns <= 9 else 7
        shares = column_shares([[plain(cell) for cell in row] for row in rows], self._width / 12700 / (size * 0.56))
        widths = [int(share * self._width) for share in shares]
        for column, width in zip(table.columns, widths, strict=True):
            column.width = width
        text_style = self._document.styles["Table Text"].style_id
        for index, row in enumerate(rows):
            written = table.add_row()
            _keep_row_together(written)
            if index == 0 and has_header:
                _repeat_as_header(written)
            for cell, content, width, alignment in zip(written.cells, row, widths, block.alignments, strict=True):
                cell.width = width
                paragraph = cell.paragraphs[0]
                # By its id: looking the style up by name in every cell takes most of a long table's time.
                paragraph._p.style = text_style
                paragraph.alignment = getattr(WD_ALIGN_PARAGRAPH, alignment.upper())
                self._write(paragraph, content, bold=index == 0 and has_header, room=width * 9 // 10)
                if columns > 6:
                    for run in paragraph.runs:
                        run.font.size = Pt(size)
                if index == 0 and has_header:
                    _shade(cell, ACCENT)
                    for run in paragraph.runs:
                        run.font.color.rgb = colour("FFFFFF")
                elif index % 2 == 0:
                    _shade(cell, "F2F5FA")
        container.add_paragraph(style="Table Text")

    def _picture(self, block: PictureBlock, container: Any, level: int) -> None:
        from docx.enum.text import WD_ALIGN_PARAGRAPH

        loaded = self._pictures.find(block.source)
        paragraph = container.add_paragraph()
        if level < 0:
            paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
        else:
            _indent(paragraph, level + 1)
        if loaded is None:
            run = paragraph.add_run(f"[picture not available: {block.alt or block.source}]")
            run.italic = True
            return
        paragraph.paragraph_format.keep_with_next = bool(block.alt)
        self._place(paragraph, loaded, block.alt, self._width * (9 if level < 0 else 7) // 10, self._height // 2)
        if block.alt:
            caption = container.add_paragraph(block.alt, style="Caption")
            caption.alignment = WD_ALIGN_PARAGRAPH.CENTER if level < 0 else None

    def _place(self, paragraph: Any, loaded: LoadedPicture, alt: str, width: int, height: int) -> None:
        wide, high = loaded.size_within(width, height, per_pixel=_PIXEL)
        placed = paragraph.add_run().add_picture(io.BytesIO(loaded.data), width=int(wide), height=int(high))
        placed._inline.docPr.set("descr", alt or Path(loaded.name).stem)

    def _write(self, paragraph: Any, content: Sequence[Inline], *, bold: bool = False, room: int = 0) -> None:
        right_to_left = is_right_to_left(plain(content))
        if right_to_left:
            _set_right_to_left(paragraph)
        for part in content:
            if isinstance(part, LineBreak):
                paragraph.add_run().add_break()
            elif isinstance(part, InlinePicture):
                loaded = self._pictures.find(part.source)
                if loaded is None:
                    paragraph.add_run(f"[picture not available: {part.alt or part.source}]").italic = True
                else:
                    self._place(paragraph, loaded, part.alt, room or self._width, self._height // 4)
            else:
                self._text(paragraph, part, bold=bold, right_to_left=right_to_left)

    def _text(self, paragraph: Any, part: Text, *, bold: bool, right_to_left: bool) -> None:
        run = paragraph.add_run(part.text)
        if part.bold or bold:
            run.bold = True
        run.italic = part.italic or None
        run.underline = part.underline or None
        run.font.strike = part.strike or None
        if part.raised or part.lowered:
            # The two are one setting of the file: the one set last wins.
            run.font.subscript = part.lowered or None
            run.font.superscript = part.raised or run.font.superscript
        if part.code:
            run.style = "Inline Code"
        if right_to_left:
            run.font.rtl = True
        if part.link:
            self._link(paragraph, run, part.link)

    def _link(self, paragraph: Any, run: Any, address: str) -> None:
        from docx.opc.constants import RELATIONSHIP_TYPE
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn

        link = OxmlElement("w:hyperlink")
        if address.startswith("#"):
            link.set(qn("w:anchor"), _bookmark_name(address[1:]))
        else:
            link.set(qn("r:id"), paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
        run.style = "Hyperlink"
        paragraph._p.append(link)
        link.append(run._r)

    def _bookmark(self, paragraph: Any, heading: str) -> None:
        """Let ``#heading-slug`` links find the heading."""
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn

        name = _bookmark_name(heading_slug(heading))
        if name in self._bookmarks:
            return
        self._bookmarks[name] = len(self._bookmarks)
        for tag in ("w:bookmarkStart", "w:bookmarkEnd"):
            mark = OxmlElement(tag)
            mark.set(qn("w:id"), str(self._bookmarks[name]))
            if tag == "w:bookmarkStart":
                mark.set(qn("w:name"), name)
            paragraph._p.append(mark)


def _bookmark_name(slug: str) -> str:
    return ("h_" + re.sub(r"\W", "_", slug))[:40]


def _code(paragraph: Any, text: str) -> None:
    for index, line in enumerate(text.split("\n")):
        run = paragraph.add_run()
        if index:
            run.add_break()
        run.add_text(line)


def _indent(paragraph: Any, level: int) -> None:
    from docx.shared import Twips

    paragraph.paragraph_format.left_indent = Twips(360 * (level + 1))


def _task(paragraph: Any, level: int) -> None:
    """Let the box of a task stand where the mark of a list would."""
    from docx.shared import Twips

    paragraph.style = "List Paragraph"
    paragraph.paragraph_format.left_indent = Twips(360 * (level + 2))
    paragraph.paragraph_format.first_line_indent = Twips(-360)
    paragraph.paragraph_format.space_after = Twips(60)


def _shade(cell: Any, colour: str) -> None:
    cell._tc.get_or_add_tcPr().append(shading(colour))


def _linecolour(table: Any, colour: str) -> None:
    borders = element("w:tblBorders")
    for side in ("top", "left", "bottom", "right", "insideH", "insideV"):
        borders.append(element(f"w:{side}", val="single", sz="4", space="0", color=colour))
    # Word refuses a file whose properties stand in another order than the standard's.
    table._tbl.tblPr.insert_element_before(borders, "w:shd", "w:tblLayout", "w:tblCellMar", "w:tblLook")


def _keep_row_together(row: Any) -> None:
    row._tr.get_or_add_trPr().append(element("w:cantSplit"))


def _repeat_as_header(row: Any) -> None:
    row._tr.get_or_add_trPr().append(element("w:tblHeader"))


def _bottom_line(paragraph: Any) -> None:
    borders = element("w:pBdr")
    borders.append(element("w:bottom", val="single", sz="6", space="1", color="A6A6A6"))
    paragraph._p.get_or_add_pPr().insert_element_before(borders, "w:shd", *AFTER_SHADING)


def _set_right_to_left(paragraph: Any) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    properties = paragraph._p.get_or_add_pPr()
    properties.insert_element_before(element("w:bidi"), *AFTER_SHADING)
    if paragraph.alignment == WD_ALIGN_PARAGRAPH.LEFT:
        # In a right-to-left paragraph "left" is the side lines start from, i.e. the right.
        paragraph.alignment = None


def _page_number(paragraph: Any) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
    for piece in ("PAGE", " / ", "NUMPAGES"):
        if piece == " / ":
            paragraph.add_run(piece)
            continue
        field = element("w:fldSimple", instr=piece)
        field.append(paragraph.add_run("1")._r)
        paragraph._p.append(field)
