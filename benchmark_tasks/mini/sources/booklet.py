"""PDF documents with headings, paragraphs and tables, the same bytes in every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a section."""

    text: str


@dataclass(frozen=True, slots=True)
class NewPage:
    """The end of a page."""


Grid = Sequence[Sequence[str]]
"""A table; the first row is its head."""
Block = str | Heading | NewPage | Grid
"""A text is a paragraph and may use reportlab's inline markup (``<b>``)."""


def write_booklet(path: Path, title: str, subtitle: str, blocks: Sequence[Block], *, paper: str = "A5") -> None:
    """Write a document with `title` on its first page and numbered pages.

    Args:
        path: The PDF; its folder is made.
        title: Set large on the first page, repeated in the footers.
        subtitle: A line below the title.
        blocks: The contents in order.
        paper: ``A4`` or ``A5``.
    """
    from reportlab.lib import colors, pagesizes
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

    styles = getSampleStyleSheet()
    size = {"A4": pagesizes.A4, "A5": pagesizes.A5}[paper]
    look = TableStyle(
        [
            ("GRID", (0, 0), (-1, -1), 0.5, colors.grey),
            ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#dfe8ee")),
            ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold"),
            ("FONTSIZE", (0, 0), (-1, -1), 8.5 if paper == "A5" else 9.5),
        ]
    )
    flow: list[Any] = [Paragraph(title, styles["Title"]), Paragraph(subtitle, styles["Normal"]), Spacer(1, 10)]
    for block in blocks:
        if isinstance(block, str):
            flow += [Paragraph(block, styles["BodyText"]), Spacer(1, 4)]
        elif isinstance(block, Heading):
            flow.append(Paragraph(block.text, styles["Heading2"]))
        elif isinstance(block, NewPage):
            flow.append(PageBreak())
        else:
            flow += [Table([list(row) for row in block], hAlign="LEFT", style=look), Spacer(1, 8)]

    def footer(canvas: Any, document: Any) -> None:
        canvas.setFont("Helvetica", 9)
        canvas.drawCentredString(size[0] / 2, 24, f"{title} - page {document.page}")

    path.parent.mkdir(parents=True, exist_ok=True)
    side = 34 if paper == "A5" else 64
    document = SimpleDocTemplate(
        str(path),
        pagesize=size,
        title=title,
        invariant=1,
        leftMargin=side,
        rightMargin=side,
        topMargin=40,
        bottomMargin=48,
    )
    document.build(flow, onFirstPage=footer, onLaterPages=footer)


def write_scan(path: Path, pages: Sequence[Any]) -> None:
    """Write pictures of pages as a PDF without a text layer, the way a scanner does.

    Args:
        path: The PDF; its folder is made.
        pages: Pillow images, taken at 120 dots an inch.
    """
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    path.parent.mkdir(parents=True, exist_ok=True)
    canvas = Canvas(str(path), invariant=1)
    for page in pages:
        size = (page.width * 0.6, page.height * 0.6)
        canvas.setPageSize(size)
        packed = BytesIO()
        page.save(packed, "JPEG", quality=55)
        canvas.drawImage(ImageReader(packed), 0, 0, *size)
        canvas.showPage()
    canvas.save()
