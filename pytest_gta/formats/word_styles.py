"""What styles and properties say of Word text: headings, lists, and what a reader cannot see."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pytest_gta.formats.markup import Element, attribute, child, children, descendants, local
from pytest_gta.formats.numbering import Numbering

_OFF = ("0", "false", "none", "off")
_HEADING = re.compile(r"^heading (\d)$")


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """What one style says: its name in lower case, what it is based on, its level, list, and whether it hides text."""

    name: str
    based_on: str
    outline: int | None
    list_id: str
    list_depth: int
    hidden: bool
    shaded: bool


@dataclass(slots=True)
class Styles:
    """What the styles and lists of a document say about its paragraphs."""

    by_id: dict[str, ParagraphStyle] = field(default_factory=dict)
    numbering: Numbering = field(default_factory=Numbering)

    @classmethod
    def of(cls, root: Element | None, numbering: Element | None) -> Styles:
        """Return the styles of a styles part and a numbering part; either may be missing."""
        styles = cls(numbering=Numbering.of(numbering))
        for element in children(root, "style") if root is not None else ():
            properties = child(element, "pPr")
            outline = attribute(child(properties, "outlineLvl"), "val")
            numbers = child(properties, "numPr")
            styles.by_id[attribute(element, "styleId")] = ParagraphStyle(
                attribute(child(element, "name"), "val").lower(),
                attribute(child(element, "basedOn"), "val"),
                int(outline) if outline.isdigit() else None,
                attribute(child(numbers, "numId"), "val"),
                int(attribute(child(numbers, "ilvl"), "val", "0") or 0),
                is_on(child(element, "rPr", "vanish")),
                any(is_shaded(shading) for shading in descendants(element, "shd")),
            )
        return styles

    def chain(self, style_id: str) -> list[ParagraphStyle]:
        """Return a style and those it is based on, nearest first."""
        found: list[ParagraphStyle] = []
        while style_id in self.by_id and len(found) < 12:
            found.append(self.by_id[style_id])
            style_id = found[-1].based_on
        return found

    def heading(self, style_id: str) -> int:
        """Return a paragraph style's heading level, 0 for none; a title is 1."""
        for style in self.chain(style_id):
            match = _HEADING.match(style.name)
            if match:
                return int(match.group(1))
            if style.name == "title":
                return 1
            if style.outline is not None and style.outline < 9:
                return style.outline + 1
        return 0


def is_on(switch: Element | None) -> bool:
    """Whether a property that may be given with or without a value is on."""
    return switch is not None and attribute(switch, "val", "1") not in _OFF


def is_shaded(shading: Element | None) -> bool:
    """Whether a shading gives a ground that is not white."""
    fill = attribute(shading, "fill").upper()
    return fill not in ("", "AUTO", "FFFFFF") or bool(attribute(shading, "themeFill"))


def is_unseen(properties: Element | None, shaded: bool) -> bool:
    """Whether a run is white on a ground that is not known to be dark, or too small to be seen."""
    if properties is None:
        return False
    size = attribute(child(properties, "sz"), "val")
    if size.isdigit() and int(size) <= 3:
        return True
    if shaded or not _is_nearly_white(attribute(child(properties, "color"), "val")):
        return False
    if is_shaded(child(properties, "shd")) or child(properties, "highlight") is not None:
        return False
    return not _on_dark_ground(properties)


def _is_nearly_white(colour: str) -> bool:
    try:
        return len(colour) == 6 and min(bytes.fromhex(colour)) >= 0xF2
    except ValueError:
        return False


def _on_dark_ground(properties: Element) -> bool:
    """Whether what holds a run may well be dark: a shaded cell, a styled table, a filled shape."""
    for holder in properties.iterancestors():
        name = local(holder)
        if name == "tc" and is_shaded(child(holder, "tcPr", "shd")):
            return True
        if name == "tbl":
            style = attribute(child(holder, "tblPr", "tblStyle"), "val").lower()
            if style not in ("", "tablegrid", "tablenormal", "table grid"):
                return True
        if name in ("wsp", "shape", "rect", "roundrect", "textbox"):
            return True
    return False
