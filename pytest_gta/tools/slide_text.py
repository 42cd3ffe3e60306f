"""Text on slides: paragraphs with their marks, runs in their styles, captions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_gta.tools.document_tree import Inlines, LineBreak, Text, plain
from pytest_gta.tools.slide_design import GREY, colour
from pytest_gta.tools.slide_outline import Line
from pytest_gta.tools.text_fit import fitting_size, level_size
from pytest_gta.tools.writing_direction import is_right_to_left

INSET = 7.2
"""Points a text frame keeps free at its sides."""

Box = tuple[float, float, float, float]
"""Left, top, width and height in points."""


def write_lines(frame: Any, lines: Sequence[Line], size: float, *, colour_of: str = "") -> None:
    """Write paragraphs into a text frame at a size in points; `colour_of` has six hexadecimal digits, or is ""."""
    from pptx.enum.text import MSO_AUTO_SIZE, PP_ALIGN
    from pptx.util import Pt

    frame.word_wrap = True
    # PowerPoint shrinks the text when someone adds to it.
    frame.auto_size = MSO_AUTO_SIZE.TEXT_TO_FIT_SHAPE
    for index, line in enumerate(lines):
        paragraph = frame.paragraphs[0] if index == 0 else frame.add_paragraph()
        own = level_size(size, line.level)
        _set_mark(paragraph, line, own)
        paragraph.space_before, paragraph.space_after = Pt(0), Pt(own * 0.35)
        if is_right_to_left(plain(line.content)):
            paragraph._p.get_or_add_pPr().set("rtl", "1")
            paragraph.alignment = PP_ALIGN.RIGHT
        write_runs(paragraph, line.content, own, colour_of)


def write_runs(paragraph: Any, content: Inlines, size: float, colour_of: str, *, bold: bool = False) -> None:
    """Write inline text into a paragraph at a size in points."""
    from pptx.util import Pt

    for part in content:
        if isinstance(part, LineBreak):
            paragraph.add_line_break()
        if not isinstance(part, Text):
            continue
        run = paragraph.add_run()
        run.text = part.text
        run.font.size = Pt(size)
        run.font.bold = True if part.bold or bold else None
        run.font.italic = part.italic or None
        run.font.underline = part.underline or None
        if part.strike:
            run.font._element.set("strike", "sngStrike")
        if part.raised or part.lowered:
            run.font._element.set("baseline", "30000" if part.raised else "-25000")
        if part.code:
            run.font.name = "Consolas"
        if colour_of:
            run.font.color.rgb = colour(colour_of)
        if part.link and not part.link.startswith("#"):
            run.hyperlink.address = part.link


def _set_mark(paragraph: Any, line: Line, size: float) -> None:
    properties = paragraph._p.get_or_add_pPr()
    paragraph.level = min(line.level, 4)
    step = size * 1.3 * 12700
    if line.mark == "none":
        properties.set("marL", str(int(step * line.level)))
        properties.set("indent", "0")
        properties.append(properties.makeelement(_a("buNone"), {}))
        return
    properties.set("marL", str(int(step * (line.level + 1))))
    properties.set("indent", str(-int(step)))
    if line.mark == "number":
        numbering = {"type": "arabicPeriod"} | ({"startAt": str(line.number)} if line.number != 1 else {})
        properties.append(properties.makeelement(_a("buFont"), {"typeface": "+mj-lt"}))
        properties.append(properties.makeelement(_a("buAutoNum"), numbering))
    else:
        properties.append(properties.makeelement(_a("buFont"), {"typeface": "Arial"}))
        properties.append(properties.makeelement(_a("buChar"), {"char": "•" if line.level % 2 == 0 else "\u2013"}))


def _a(tag: str) -> str:
    from pptx.oxml.ns import qn

    return str(qn(f"a:{tag}"))


def add_caption(slide: Any, caption: str, box: Box) -> None:
    """Write a picture's caption into a box of its own."""
    from pptx.enum.text import PP_ALIGN
    from pptx.util import Pt

    shape = slide.shapes.add_textbox(*(Pt(value) for value in box))
    frame = shape.text_frame
    frame.margin_top = frame.margin_bottom = 0
    size = fitting_size([Line((Text(caption),))], box[2] - 2 * INSET, box[3], (12.0, 11.0, 10.0, 9.0, 8.0)) or 7.0
    write_lines(frame, [Line((Text(caption, italic=True),))], size, colour_of=GREY)
    frame.paragraphs[0].alignment = PP_ALIGN.CENTER
    frame.paragraphs[0].space_after = Pt(0)
