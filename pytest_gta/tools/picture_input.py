"""The pictures that tools look at: opened upright, cut to the box a model wrote, sized for a model that sees."""

from __future__ import annotations

import base64
import io
import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.tools.tool import ToolFault

if TYPE_CHECKING:
    from PIL.Image import Image

PRELOAD = ("PIL.Image", "PIL.PngImagePlugin", "PIL.JpegImagePlugin", "PIL.ImageOps")

MOST_PIXELS = 100_000_000
"""Of a picture that is opened."""
_MOST_SIDE = 2048
"""Pixels; what vision models make of a larger picture is no better."""
_LEAST_SIDE = 64
"""Pixels; a smaller cut-out is enlarged, for models turn down or misread tiny pictures."""
_LOSSLESS_PIXELS = 1_500_000

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_CORNERS = ("x1", "y1", "x2", "y2")
_BOX_FORM = '"(x1, y1, x2, y2)" in pixels, the left top corner and the right bottom one, such as "(40, 60, 200, 180)"'


@dataclass(frozen=True, slots=True)
class Box:
    """A part of a picture, in pixels; the right and bottom edges are not part of it.

    Attributes:
        left: Column of its left edge.
        top: Row of its top edge.
        right: Column after its last.
        bottom: Row after its last.
        remark: What was put right, "" for nothing.
    """

    left: int
    top: int
    right: int
    bottom: int
    remark: str = ""

    @property
    def corners(self) -> tuple[int, int, int, int]:
        """Left, top, right, bottom."""
        return self.left, self.top, self.right, self.bottom


def open_picture(path: str) -> Image:
    """Open a picture file, turned upright as its EXIF orientation says; the first frame of an animated one.

    Raises:
        ToolFault: It cannot be decoded.
    """
    return open_pages(path, most=1)[0]


def open_pages(path: str, *, most: int) -> list[Image]:
    """Open the pages of a picture file, as scanners put several into one, each turned upright.

    Args:
        path: The file.
        most: Pages at most. Of an animated picture the first frame is its only page.

    Raises:
        ToolFault: It cannot be decoded.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None  # checked below, with words of our own
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(path) as opened:
                pages = []
                for number in range(min(most, page_count(opened))):
                    opened.seek(number)
                    if opened.width * opened.height > MOST_PIXELS:
                        size = f"{opened.width} x {opened.height}"
                        raise ToolFault(f"{path} has {size} pixels, more than the {MOST_PIXELS:,} that are opened")
                    opened.load()
                    pages.append(ImageOps.exif_transpose(opened))
                return pages
        except ToolFault:
            raise
        except UnidentifiedImageError:
            kind = (
                "an SVG drawing, not a picture; give a PNG or JPEG" if _is_svg(path) else "no picture of a known kind"
            )
            raise ToolFault(f"{path} is {kind}") from None
        except Exception as error:
            # A decoder may raise anything at all on damaged data.
            raise ToolFault(f"{path} is damaged or incomplete ({type(error).__name__}: {error})") from None


def page_count(picture: Image) -> int:
    """Return how many pages an open picture file has."""
    return int(getattr(picture, "n_frames", 1)) if picture.format == "TIFF" else 1


def flattened(picture: Image) -> Image:
    """Return a picture as RGB, what is transparent in it as white."""
    from PIL import Image

    if picture.mode == "RGB":
        return picture
    if picture.mode.startswith(("I", "F")):
        return _in_eight_bits(picture).convert("RGB")
    if "A" in picture.mode or "a" in picture.mode or "transparency" in picture.info:
        over = picture.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", over.size, "white"), over).convert("RGB")
    return picture.convert("RGB")


def read_box(text: Any, width: int, height: int) -> Box:
    """Read a box as a model wrote it, and keep it inside the picture.

    Args:
        text: Text with four numbers, a list of them, or an object with x1, y1, x2, y2.
        width: Of the picture, pixels.
        height: Of the picture, pixels.

    Raises:
        ToolFault: There are not four numbers, or nothing of the box lies in the picture.
    """
    x1, y1, x2, y2 = numbers = _four_numbers(text)
    remarks = []
    if all(0 <= n <= 1 for n in numbers) and any(n != int(n) for n in numbers):
        x1, y1, x2, y2 = x1 * width, y1 * height, x2 * width, y2 * height
        remarks.append("its numbers were taken as parts of width and height")
    if x2 < x1 or y2 < y1:
        x1, x2, y1, y2 = min(x1, x2), max(x1, x2), min(y1, y2), max(y1, y2)
        remarks.append("its corners were put in order")
    whole = [round(n) for n in (x1, y1, x2, y2)]
    inside = [min(max(n, 0), most) for n, most in zip(whole, (width, height, width, height), strict=True)]
    size = f"the picture has {width} x {height} pixels"
    if inside[0] >= inside[2] or inside[1] >= inside[3]:
        empty = whole[0] >= whole[2] or whole[1] >= whole[3]
        raise ToolFault(
            f"the box ({', '.join(map(str, whole))}) {'is empty' if empty else 'lies outside the picture'}: {size}; "
            f"write {_BOX_FORM}"
        )
    if inside != whole:
        remarks.append(f"it was cut to the picture: {size}")
    corners = f"({', '.join(map(str, inside))})"
    remark = f"[The box used is {corners}: {'; '.join(remarks)}.]" if remarks else ""
    return Box(inside[0], inside[1], inside[2], inside[3], remark)


def prepare(image: str, bbox: Any = None) -> dict[str, Any]:
    """Make a picture ready for a vision model; what a broker tool calls in the confined process.

    Args:
        image: The file.
        bbox: The part that is wanted; all of it when None or "".

    Returns:
        ``data`` (base64), ``media_type``, ``width`` and ``height`` of the part in the file's pixels, ``remark``.
    """
    picture = open_picture(image)
    remark = ""
    if bbox not in (None, "", [], {}):
        box = read_box(bbox, picture.width, picture.height)
        picture, remark = picture.crop(box.corners), box.remark
    width, height = picture.size
    data, media_type = encoded(_sized(flattened(picture)))
    return {
        "data": base64.b64encode(data).decode("ascii"),
        "media_type": media_type,
        "width": width,
        "height": height,
        "remark": remark,
    }


def encoded(picture: Image) -> tuple[bytes, str]:
    """Return an RGB picture as a file and its media type: PNG, or JPEG for a large one."""
    out = io.BytesIO()
    if picture.width * picture.height <= _LOSSLESS_PIXELS:
        picture.save(out, "PNG")
        return out.getvalue(), "image/png"
    picture.save(out, "JPEG", quality=90, subsampling=0)
    return out.getvalue(), "image/jpeg"


def as_png(image: str) -> str:
    """Return a picture upright as a PNG, in base64, at most 2048 pixels a side."""
    out = io.BytesIO()
    _sized(flattened(open_picture(image))).save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode("ascii")


def store(data: str, target: str) -> dict[str, Any]:
    """Write a picture an endpoint made to a file of the workspace, as that file's suffix says.

    Args:
        data: The picture's file, as base64.
        target: The file to write.

    Returns:
        ``width`` and ``height`` in pixels.

    Raises:
        ToolFault: It is no picture.
    """
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(base64.b64decode(data))) as opened:
                opened.load()
                save(opened, target)
                return {"width": opened.width, "height": opened.height}
    except Exception as error:
        # A decoder may raise anything at all on damaged data.
        raise ToolFault(f"what the image model answered is no picture ({type(error).__name__})") from None


def save(picture: Image, target: str) -> None:
    """Write a picture in the format of the target's suffix; without transparency where that has none."""
    suffix = Path(target).suffix.lower()
    if suffix in (".jpg", ".jpeg"):
        flattened(picture).save(target, "JPEG", quality=95, subsampling=0)
    elif suffix == ".bmp":
        flattened(picture).save(target, "BMP")
    elif suffix == ".webp":
        picture.convert("RGBA" if picture.has_transparency_data else "RGB").save(target, "WEBP", quality=95)
    else:
        kept = picture if picture.mode in ("RGB", "RGBA", "L", "LA", "1", "P") else picture.convert("RGB")
        kept.save(target, "PNG")


SUFFIXES = (".jpg", ".jpeg", ".bmp", ".webp")
"""What `save` can write besides ``.png``."""


def _four_numbers(text: Any) -> list[float]:
    value = text
    if isinstance(value, str) and value.strip().startswith(("{", "[")):
        try:
            value = json.loads(value)
        except ValueError:
            value = text
    if isinstance(value, Mapping):
        named = {str(name).lower(): number for name, number in value.items()}
        if all(name in named for name in _CORNERS):
            value = [named[name] for name in _CORNERS]
        elif all(name in named for name in ("x", "y", "width", "height")):
            return _four_numbers(
                f"{named['x']}, {named['y']}, {_sum(named['x'], named['width'])}, {_sum(named['y'], named['height'])}"
            )
    numbers = [float(found) for found in _NUMBER.findall(value if isinstance(value, str) else str(value))]
    if len(numbers) != 4 or any(abs(number) > 1e9 for number in numbers):
        raise ToolFault(f"the box {str(text)[:80]!r} holds {len(numbers)} numbers, and a box has 4: write {_BOX_FORM}")
    return numbers


def _sum(one: Any, other: Any) -> float:
    try:
        return float(one) + float(other)
    except (TypeError, ValueError):
        raise ToolFault(f"the box holds something that is no number; write {_BOX_FORM}") from None


def _sized(picture: Image) -> Image:
    from PIL import Image

    width, height = picture.size
    scale = min(1.0, _MOST_SIDE / max(width, height))
    if min(width, height) < _LEAST_SIDE:
        scale = min(_LEAST_SIDE / min(width, height), _MOST_SIDE / max(width, height))
    if scale == 1.0:
        return picture
    size = max(1, round(width * scale)), max(1, round(height * scale))
    return picture.resize(size, Image.Resampling.LANCZOS)


def _in_eight_bits(picture: Image) -> Image:
    """Return a picture of 16 or 32 bits a pixel in 8, its own range spread over them."""
    low, high = picture.getextrema()
    assert isinstance(low, int | float) and isinstance(high, int | float)
    top = 65535.0 if picture.mode.startswith("I") and 255 < high <= 65535 and low >= 0 else float(high)
    bottom = 0.0 if low >= 0 else float(low)
    scale = 255.0 / (top - bottom) if top > bottom and (top > 255 or bottom < 0) else 1.0
    return picture.convert("F").point(lambda value: value * scale - bottom * scale).convert("L")


def _is_svg(path: str) -> bool:
    with Path(path).open("rb") as file:
        return b"<svg" in file.read(2048).lower()
