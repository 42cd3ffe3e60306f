"""Text of a PDF page that is in the file and cannot be seen: drawn invisibly, or white with nothing behind it."""

from __future__ import annotations

import ctypes
from typing import Any

from pytest_gta.formats.wording import clean, one_line

_MOST_OBJECTS = 3_000
_INVISIBLE = 3
_NEARLY_WHITE = 0xF2
_MOST_QUOTED = 600
_Box = tuple[float, float, float, float]


def unseen_text(page: Any) -> str:
    """Return the text of a page that a reader of the page does not see, "" when there is none.

    A page that is a scan with its recognised words laid invisibly over it has none: a picture shows what they say.
    """
    from pypdfium2 import raw

    text_page = None
    grounds: list[_Box] = []
    found: list[str] = []
    try:
        for number, item in enumerate(page.get_objects(max_depth=3)):
            if number >= _MOST_OBJECTS:
                break
            if item.type != raw.FPDF_PAGEOBJ_TEXT:
                if item.type != raw.FPDF_PAGEOBJ_PATH or _is_dark_fill(item.raw):
                    grounds.append(item.get_bounds())
                continue
            if not _is_suspect(item.raw) or _lies_on(item.get_bounds(), grounds):
                continue
            text_page = text_page or page.get_textpage()
            found.append(_text(item.raw, text_page.raw))
    finally:
        if text_page is not None:
            text_page.close()
    return one_line(clean("".join(found)), _MOST_QUOTED)


def _is_suspect(item: Any) -> bool:
    from pypdfium2 import raw

    return raw.FPDFTextObj_GetTextRenderMode(item) == _INVISIBLE or _is_white(item)


def _colour(item: Any) -> tuple[int, int, int, int] | None:
    from pypdfium2 import raw

    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not raw.FPDFPageObj_GetFillColor(item, red, green, blue, alpha):
        return None
    return red.value, green.value, blue.value, alpha.value


def _is_white(item: Any) -> bool:
    colour = _colour(item)
    return colour is not None and (min(colour[:3]) >= _NEARLY_WHITE or colour[3] == 0)


def _is_dark_fill(item: Any) -> bool:
    """Whether a path is filled with something other than white: text on it may well be seen."""
    from pypdfium2 import raw

    mode, stroke = ctypes.c_int(), ctypes.c_int()
    if not raw.FPDFPath_GetDrawMode(item, mode, stroke) or mode.value == raw.FPDF_FILLMODE_NONE:
        return False
    return not _is_white(item)


def _lies_on(box: _Box, grounds: list[_Box]) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return any(left <= x <= right and bottom <= y <= top for left, bottom, right, top in grounds)


def _text(item: Any, text_page: Any) -> str:
    from pypdfium2 import raw

    size = raw.FPDFTextObj_GetText(item, text_page, None, 0)
    if size <= 2:
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    raw.FPDFTextObj_GetText(item, text_page, buffer, size)
    return bytes(buffer)[:-2].decode("utf-16-le", "replace") + " "
