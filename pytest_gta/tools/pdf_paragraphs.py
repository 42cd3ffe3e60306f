"""Paragraphs of a PDF: inline text in the fonts it needs, in the direction it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from reportlab.lib.enums import TA_LEFT, TA_RIGHT
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import Flowable
from reportlab.platypus import Paragraph as PdfParagraph

from pytest_gta.tools.document_tree import Inline, InlinePicture, LineBreak, Text, plain
from pytest_gta.tools.pdf_fonts import PdfFonts
from pytest_gta.tools.writing_direction import (
    can_order,
    drawn_order,
    has_right_to_left,
    is_right_to_left,
    joined_letters,
)

_LINK_COLOUR = "#0563C1"


class ParagraphMaker:
    """Makes flowables of inline text.

    Attributes:
        unordered: Whether right-to-left text was met that could not be put in order, for want of the libraries.
    """

    def __init__(self, fonts: PdfFonts, anchors: frozenset[str] = frozenset()) -> None:
        """Use `fonts`; a link to ``#name`` works when `anchors` has the name."""
        self._fonts = fonts
        self._anchors = anchors
        self.unordered = False

    @property
    def bullet_font(self) -> str:
        """The font list marks are in."""
        return self._fonts.body

    def make(self, content: Sequence[Inline], style: ParagraphStyle, *, bullet: str = "", before: str = "") -> Flowable:
        """Return a paragraph of inline text; `bullet` hangs before it, `before` is markup to start with."""
        text = plain(content)
        if has_right_to_left(text):
            if can_order():
                marked = (Text(bullet + " "), *content) if bullet and is_right_to_left(text) else tuple(content)
                return _DirectedParagraph(self, marked, style, before, "" if marked != tuple(content) else bullet)
            self.unordered = True
        markup = before + self.markup(content, style)
        if self._fonts.has_wide(text):
            style = ParagraphStyle(style.name + "-wide", style, wordWrap="CJK")
        return PdfParagraph(markup, style, bulletText=bullet or None)

    def markup(self, content: Sequence[Inline], style: ParagraphStyle) -> str:
        """Return inline text in reportlab's markup."""
        parts = []
        for part in content:
            if isinstance(part, LineBreak):
                parts.append("<br/>")
            elif isinstance(part, InlinePicture):
                parts.append(escape(f"[{part.alt}]") if part.alt else "")
            else:
                parts.append(self._text(part, style))
        return "".join(parts)

    def width(self, char: str, part: Text, style: ParagraphStyle) -> float:
        """Return the width of one character in points."""
        width = 0.0
        for kind, font, text in self._runs(replace(part, text=char), style):
            width += stringWidth(text, font, style.fontSize) if kind == "font" else style.fontSize * 1.15
        return width

    def _runs(self, part: Text, style: ParagraphStyle) -> Any:
        return self._fonts.runs(
            part.text, bold=part.bold or "Bold" in style.fontName, italic=part.italic, mono=part.code
        )

    def _text(self, part: Text, style: ParagraphStyle) -> str:
        pieces = []
        for kind, font, text in self._runs(part, style):
            if kind == "picture":
                side = style.fontSize * 1.1
                pieces.append(
                    f'<img src={quoteattr(font)} width="{side:.1f}" height="{side:.1f}" valign="-{side / 6:.1f}"/>'
                )
                continue
            size = f' size="{style.fontSize * 0.92:.1f}"' if part.code else ""
            pieces.append(f'<font face="{font}"{size}>{_spaced(text)}</font>')
        markup = "".join(pieces)
        for wanted, tag in (
            (part.underline, "u"),
            (part.strike, "strike"),
            (part.raised, "super"),
            (part.lowered, "sub"),
        ):
            markup = f"<{tag}>{markup}</{tag}>" if wanted else markup
        if part.link.startswith("#") and part.link[1:] not in self._anchors:
            return markup
        return f'<a href={quoteattr(part.link)} color="{_LINK_COLOUR}"><u>{markup}</u></a>' if part.link else markup


def _spaced(text: str) -> str:
    # Leading and double spaces are what the author meant in code, and reportlab would drop them.
    return escape(text).replace("  ", "\u00a0 ")


class _DirectedParagraph(Flowable):  # type: ignore[misc]
    """A paragraph with right-to-left text: broken into lines in reading order, each line then put in drawing order."""

    def __init__(
        self, maker: ParagraphMaker, content: Sequence[Inline], style: ParagraphStyle, before: str, bullet: str
    ) -> None:
        super().__init__()
        self._maker = maker
        self._right_to_left = is_right_to_left(plain(content))
        self._content = [
            replace(part, text=joined_letters(part.text)) if isinstance(part, Text) else part for part in content
        ]
        self.style = style
        self._before, self._bullet = before, bullet
        self._drawn: PdfParagraph | None = None

    def wrap(self, available_width: float, available_height: float) -> tuple[float, float]:
        style, bullet = self.style, self._bullet
        if self._right_to_left:
            # The indent is on the side that lines start from.
            style = ParagraphStyle(
                style.name + "-rtl",
                style,
                alignment=TA_RIGHT if style.alignment == TA_LEFT else style.alignment,
                rightIndent=style.leftIndent,
                leftIndent=0,
                firstLineIndent=0,
            )
        room = available_width - style.leftIndent - style.rightIndent - 1
        lines = [self._maker.markup(self._ordered(line), style) for line in self._lines(room, style)]
        self._drawn = PdfParagraph(self._before + "<br/>".join(lines), style, bulletText=bullet or None)
        self.width, self.height = self._drawn.wrap(available_width, available_height)
        return self.width, self.height

    def draw(self) -> None:
        if self._drawn is not None:
            self._drawn.drawOn(self.canv, 0, 0)

    def split(self, available_width: float, available_height: float) -> list[Flowable]:
        self.wrap(available_width, available_height)
        return list(self._drawn.split(available_width, available_height)) if self._drawn is not None else []

    def getSpaceBefore(self) -> float:  # noqa: N802 - the parent's name
        return float(self.style.spaceBefore)

    def getSpaceAfter(self) -> float:  # noqa: N802 - the parent's name
        return float(self.style.spaceAfter)

    def _lines(self, room: float, style: ParagraphStyle) -> list[list[tuple[str, Text]]]:
        lines: list[list[tuple[str, Text]]] = [[]]
        used, word, word_width = 0.0, list[tuple[str, Text]](), 0.0
        for part in [*self._content, LineBreak()]:
            for char in part.text if isinstance(part, Text) else "\n":
                width = self._maker.width(char, part, style) if isinstance(part, Text) else 0.0
                if isinstance(part, Text):
                    word.append((char, part))
                    word_width += width
                if char not in " \n":
                    continue
                if used and used + word_width - (width if char == " " else 0) > room:
                    lines.append([])
                    used = 0.0
                lines[-1].extend(word)
                used += word_width
                word, word_width = [], 0.0
                if char == "\n":
                    lines.append([])
                    used = 0.0
        return lines[:-1]

    def _ordered(self, line: list[tuple[str, Text]]) -> list[Inline]:
        drawn = drawn_order("".join(char for char, _ in line).rstrip(), right_to_left=self._right_to_left)
        runs: list[Text] = []
        for char, place in drawn:
            style = replace(line[place][1], text="")
            if runs and replace(runs[-1], text="") == style:
                runs[-1] = replace(runs[-1], text=runs[-1].text + char)
            else:
                runs.append(replace(style, text=char))
        return list(runs)
