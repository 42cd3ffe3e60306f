"""The look of a deck: 16:9 pages, colours, and where title and text stand. Lengths are in points."""

from __future__ import annotations

import copy
import re
from typing import Any

WIDTH, HEIGHT = 960.0, 540.0
LEFT, RIGHT = 48.0, 912.0
TITLE = (LEFT, 24.0, RIGHT - LEFT, 66.0)
"""Left, top, width, height."""
BODY = (LEFT, 110.0, RIGHT - LEFT, 386.0)
NAVY, BLUE, GREY, WHITE = "1F3864", "2E75B6", "595959", "FFFFFF"
_ACCENTS = (NAVY, BLUE, "C55A11", "548235", "7F6000", "7030A0")
_TITLE_SLIDE, _CONTENT, _SECTION, _TWO_COLUMNS, _TITLE_ONLY = 0, 1, 2, 3, 5

LAYOUTS = {
    "title": _TITLE_SLIDE,
    "section": _SECTION,
    "content": _CONTENT,
    "columns": _TWO_COLUMNS,
    "bare": _TITLE_ONLY,
}
"""Numbers of the template's layouts, by what they are for."""


def new_deck() -> Any:
    """Return an empty python-pptx presentation in this look."""
    from pptx import Presentation
    from pptx.util import Pt

    deck = Presentation()
    wider = WIDTH / (deck.slide_width / 12700)
    deck.slide_width, deck.slide_height = Pt(WIDTH), Pt(HEIGHT)
    master = deck.slide_master
    for shape in [shape for owner in (master, *deck.slide_layouts) for shape in owner.placeholders]:
        if shape.element.xpath("p:spPr/a:xfrm"):
            shape.left, shape.width = int(shape.left * wider), int(shape.width * wider)
    _set_accents(master)
    for shape in master.placeholders:
        if shape.placeholder_format.type == 1:  # the title
            place(shape, TITLE)
        elif shape.placeholder_format.type == 2:  # the body
            place(shape, BODY)
    _style_title(master)
    _content_look(deck)
    for number in (_TITLE_SLIDE, _SECTION):
        layout = deck.slide_layouts[number]
        layout.background.fill.solid()
        layout.background.fill.fore_color.rgb = colour(NAVY)
        for properties in layout.element.xpath(".//a:defRPr[@cap]"):
            del properties.attrib["cap"]
    return deck


def place(shape: Any, box: tuple[float, float, float, float]) -> None:
    """Move a shape to a box: left, top, width, height."""
    from pptx.util import Pt

    shape.left, shape.top, shape.width, shape.height = (Pt(value) for value in box)


def colour(value: str) -> Any:
    """Return a colour from its six hexadecimal digits."""
    from pptx.dml.color import RGBColor

    return RGBColor.from_string(value)  # type: ignore[no-untyped-call]


def add_slide_number(slide: Any) -> None:
    """Show the slide's number at its foot; the library leaves that placeholder out."""
    found = next((s for s in slide.slide_layout.placeholders if s.placeholder_format.type == 13), None)
    if found is not None:
        number = copy.deepcopy(found._element)
        number.nvSpPr.cNvPr.set("id", str(1 + max(shape.shape_id for shape in (*slide.shapes, found))))
        slide.shapes._spTree.append(number)


def _content_look(deck: Any) -> None:
    """Give the layouts for content a title at the left with a line under it."""
    for number in (_CONTENT, _TWO_COLUMNS, _TITLE_ONLY):
        layout = deck.slide_layouts[number]
        for shape in layout.placeholders:
            if shape.placeholder_format.type == 1:
                place(shape, TITLE)
            elif shape.placeholder_format.type == 13:
                place(shape, (RIGHT - 120, 504, 120, 24))
        _add_line(layout)


def _add_line(layout: Any) -> None:
    """Draw the accent line; layouts have no method to add a shape, so it is moved there from a slide's tree."""
    from pptx.oxml import parse_xml

    left, top, width = (int(value * 12700) for value in (LEFT + 7, 94, 72))
    xml = (
        '<p:sp xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
        '<p:nvSpPr><p:cNvPr id="900" name="Accent line"/><p:cNvSpPr/><p:nvPr userDrawn="1"/></p:nvSpPr>'
        f'<p:spPr><a:xfrm><a:off x="{left}" y="{top}"/><a:ext cx="{width}" cy="38100"/></a:xfrm>'
        f'<a:prstGeom prst="rect"><a:avLst/></a:prstGeom>'
        f'<a:solidFill><a:srgbClr val="{BLUE}"/></a:solidFill><a:ln><a:noFill/></a:ln></p:spPr>'
        "<p:txBody><a:bodyPr/><a:lstStyle/><a:p/></p:txBody></p:sp>"
    )
    layout.shapes._spTree.append(parse_xml(xml))


def _set_accents(master: Any) -> None:
    from pptx.opc.constants import RELATIONSHIP_TYPE

    theme = master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
    text = theme.blob.decode("utf-8")
    for number, value in enumerate(_ACCENTS, start=1):
        text = re.sub(
            rf"(<a:accent{number}>).*?(</a:accent{number}>)",
            rf'\g<1><a:srgbClr val="{value}"/>\g<2>',
            text,
            flags=re.DOTALL,
        )
    # The library has no setter for a part it does not parse.
    theme._blob = text.encode("utf-8")


def _style_title(master: Any) -> None:
    from pptx.oxml.ns import qn

    for level in master.element.xpath("p:txStyles/p:titleStyle/a:lvl1pPr"):
        level.set("algn", "l")
    for properties in master.element.xpath("p:txStyles/p:titleStyle/a:lvl1pPr/a:defRPr"):
        properties.set("sz", "3000")
        properties.set("b", "1")
        for fill in properties.findall(qn("a:solidFill")):
            fill.clear()
            fill.append(fill.makeelement(qn("a:srgbClr"), {"val": NAVY}))
