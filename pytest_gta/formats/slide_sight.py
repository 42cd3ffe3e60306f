"""What of a slide cannot be seen: shapes beside it, text in the colour of its ground."""

from __future__ import annotations

from pytest_gta.formats.markup import Element, attribute, child, children, descendants, local
from pytest_gta.formats.package import Package
from pytest_gta.formats.reading import Unreadable

_FILLS = ("solidFill", "gradFill", "blipFill", "pattFill")
_SMALLEST_TEXT = 300
_Box = tuple[int, int, int, int]


class SlideSight:
    """Judges whether shapes of one slide are seen.

    Args:
        package: The deck.
        part: The slide's part.
        root: The slide.
        width: Of the slide, in EMU.
        height: Of the slide, in EMU.
    """

    def __init__(self, package: Package, part: str, root: Element, width: int, height: int) -> None:
        self._size = (width, height)
        self._is_white = _has_white_ground(package, part, root)
        tree = child(root, "cSld", "spTree")
        shapes = list(tree) if tree is not None else []
        self._filled = [(shape, box) for shape in shapes if _is_filled(shape) and (box := _box(shape)) is not None]

    def hidden(self, shape: Element) -> str:
        """Return why a shape's text is not seen, as ``off the slide`` or ``hidden text``; "" when it is seen."""
        properties = next((e for holder in shape for e in children(holder, "cNvPr")), None)
        if properties is not None and properties.get("hidden") in ("1", "true"):
            return "hidden text"
        box = _box(shape)
        if box is not None and self._is_beside(box):
            return "off the slide"
        if local(shape) == "sp" and _has_unseen_runs(shape, self._may_hide_white(shape, box)):
            return "hidden text"
        return ""

    def _is_beside(self, box: _Box) -> bool:
        left, top, right, bottom = box
        width, height = self._size
        return width > 0 and (right <= 0 or bottom <= 0 or left >= width or top >= height)

    def _may_hide_white(self, shape: Element, box: _Box | None) -> bool:
        if not self._is_white or _is_filled(shape):
            return False
        if box is None:
            # It stands where the layout puts it; without its place nothing can be said of what lies under it.
            return not self._filled
        x, y = (box[0] + box[2]) // 2, (box[1] + box[3]) // 2
        return not any(
            other is not shape and left <= x <= right and top <= y <= bottom
            for other, (left, top, right, bottom) in self._filled
        )


def _has_unseen_runs(shape: Element, white_is_unseen: bool) -> bool:
    """Whether every run with text is white on white, or too small to be read."""
    runs = [run for run in descendants(shape, "r") if "".join(run.itertext()).strip()]
    return bool(runs) and all(_is_unseen(child(run, "rPr"), white_is_unseen) for run in runs)


def _is_unseen(properties: Element | None, white_is_unseen: bool) -> bool:
    size = attribute(properties, "sz")
    if size.isdigit() and int(size) <= _SMALLEST_TEXT:
        return True
    colour = attribute(child(properties, "solidFill", "srgbClr"), "val")
    return white_is_unseen and _is_nearly_white(colour)


def _is_nearly_white(colour: str) -> bool:
    try:
        return len(colour) == 6 and min(bytes.fromhex(colour)) >= 0xF2
    except ValueError:
        return False


def _is_filled(shape: Element) -> bool:
    if local(shape) in ("pic", "graphicFrame", "grpSp"):
        return True
    properties = child(shape, "spPr")
    if properties is not None:
        for fill in properties:
            if local(fill) == "noFill":
                return False
            if local(fill) in _FILLS:
                return not _is_nearly_white(attribute(child(fill, "srgbClr"), "val"))
    return attribute(child(shape, "style", "fillRef"), "idx", "0") != "0"


def _box(shape: Element) -> _Box | None:
    place = child(shape, "spPr", "xfrm")
    place = place if place is not None else child(shape, "grpSpPr", "xfrm")
    place = place if place is not None else child(shape, "xfrm")
    start, size = child(place, "off"), child(place, "ext")
    if start is None or size is None:
        return None
    try:
        x, y = int(start.get("x", "0")), int(start.get("y", "0"))
        return x, y, x + int(size.get("cx", "0")), y + int(size.get("cy", "0"))
    except ValueError:
        return None


def _has_white_ground(package: Package, part: str, root: Element) -> bool:
    """Whether the ground is surely white: nothing but the master paints it, and the theme's light colour is white."""
    if child(root, "cSld", "bg") is not None:
        return False
    try:
        for layout in package.related(part, "slideLayout"):
            sheet = package.xml(layout)
            if child(sheet, "cSld", "bg") is not None or _paints(sheet):
                return False
            for master in package.related(layout, "slideMaster"):
                return _is_white_master(package, master)
    except Unreadable:
        return False
    return False


def _is_white_master(package: Package, part: str) -> bool:
    root = package.xml(part)
    scheme = attribute(child(root, "cSld", "bg", "bgRef", "schemeClr"), "val")
    name = attribute(child(root, "clrMap"), scheme, scheme)
    if (child(root, "cSld", "bg") is not None and not scheme) or _paints(root):
        return False
    for theme in package.related(part, "theme"):
        light = next(descendants(package.xml(theme), name or "lt1"), None)
        colour = next(iter(light), None) if light is not None else None
        return _is_nearly_white(attribute(colour, "lastClr") or attribute(colour, "val"))
    return False


def _paints(sheet: Element) -> bool:
    """Whether a layout or master has pictures or filled shapes, which may lie under the text."""
    tree = child(sheet, "cSld", "spTree")
    return tree is not None and any(_is_filled(shape) for shape in tree if local(shape) in ("sp", "pic", "grpSp"))
