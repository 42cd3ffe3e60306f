"""Pictures of what a renderer made: pages of a PDF, or picture files. Runs where files are read, confined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.formats.extract import Picture
from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.pictures import decode, encode
from pytest_gta.formats.reading import Unreadable
from pytest_gta.formats.wording import spread

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_LARGE_POINTS = 1_150
"""A page larger than this is hard to read as one picture, and is shown in parts as well."""
_HOPELESS_POINTS, _HOPELESS_SHAPE = 5_000, 4.0
"""Of a longer page, or a large one so many times longer than wide, one picture tells nothing."""
_LARGEST_SCALE = 2.0
_MOST_PARTS = 60


@dataclass(frozen=True, slots=True)
class _View:
    """A page, or a part of it: left, top, width, height in points from the upper left corner."""

    where: str
    page: int
    box: tuple[float, float, float, float]


def pdf_pictures(path: str, most: int, longest_px: int) -> dict[str, Any]:
    """Picture a PDF's pages, spread over it; of pages as large as a whole sheet, parts that can be read as well.

    Args:
        path: The PDF.
        most: How many pictures at most.
        longest_px: Longest side of a picture.

    Returns:
        ``pages``: how many there are; ``shown``: the numbers of those that are pictured; ``pictures``.
    """
    import pypdfium2

    document = pypdfium2.PdfDocument(Path(path).read_bytes())
    views = _chosen(document, most)
    pictures = [_picture(document, view, longest_px).to_json() for view in views]
    return {"pages": len(document), "shown": sorted({view.page for view in views}), "pictures": pictures}


def file_pictures(paths: Sequence[str], longest_px: int) -> list[dict[str, Any]]:
    """Read picture files, each made small enough.

    Raises:
        ValueError: When one is not a picture.
    """
    limits = ReadLimits(max_picture_px=longest_px)
    try:
        # As a browser stores them they are several times larger than they need to be.
        return [decode(Path(path).read_bytes(), "", limits, anew=True).picture.to_json() for path in paths]
    except Unreadable as fault:
        raise ValueError(str(fault)) from None


def _chosen(document: PdfDocument, most: int) -> list[_View]:
    """Choose whole pages first, then parts of the large ones."""
    whole: list[_View] = []
    parts: list[_View] = []
    for index in range(len(document)):
        page = document[index]
        width, height = page.get_size()
        page.close()
        name = f"{index + 1}"
        longest, shortest = max(width, height), max(min(width, height), 1.0)
        if longest <= _LARGE_POINTS:
            whole.append(_View(name, index + 1, (0, 0, width, height)))
            continue
        pieces = list(_pieces(name, index + 1, width, height))
        if longest > _HOPELESS_POINTS or longest / shortest > _HOPELESS_SHAPE:
            whole.append(pieces.pop(0))
        else:
            whole.append(_View(name, index + 1, (0, 0, width, height)))
        if len(parts) < 10 * _MOST_PARTS:
            parts.extend(pieces)
    first = [whole[index] for index in spread(len(whole), most)]
    rest = [parts[index] for index in spread(len(parts), max(most - len(first), 0))]
    return sorted([*first, *rest], key=lambda view: (view.page, view.box[1], view.box[0], -view.box[2]))


def _pieces(name: str, page: int, width: float, height: float) -> list[_View]:
    across, down = int(-(-width // _LARGE_POINTS)), int(-(-height // _LARGE_POINTS))
    wide, tall = width / across, height / down
    found = []
    for row in range(down):
        for column in range(across):
            where = f"{name}, part {row * across + column + 1} of {across * down}"
            found.append(_View(where, page, (column * wide, row * tall, wide, tall)))
            if len(found) == _MOST_PARTS:
                return found
    return found


def _picture(document: PdfDocument, view: _View, longest_px: int) -> Picture:
    page = document[view.page - 1]
    width, height = page.get_size()
    left, top, wide, tall = view.box
    scale = min(longest_px / max(wide, tall, 1.0), _LARGEST_SCALE)
    crop = (left, max(height - top - tall, 0.0), max(width - left - wide, 0.0), top)
    image = page.render(scale=scale, crop=crop, rev_byteorder=True, prefer_bgrx=False).to_pil()
    page.close()
    return encode(image.convert("RGB"), view.where)
