"""DrawBox and AddText: a box with a label, or text, put into a picture; the result is a file of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_gta.tools.font_files import lacking
from pytest_gta.tools.picture_input import SUFFIXES, open_picture, read_box, save
from pytest_gta.tools.picture_text import PictureFonts, PictureText
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool, ToolFault

if TYPE_CHECKING:
    from PIL.Image import Image

PRELOAD = ("PIL.Image", "PIL.ImageDraw", "PIL.ImageFont", "reportlab.pdfbase.ttfonts")

RED = (255, 0, 0)
_FILL_ALPHA = 64
_LEAST_LETTERS = 10
"""Pixels."""
_MOST_LETTERS = 2_000

_IMAGE = ToolParameter("image", "image", "The picture.", example="resources/photo.png")
_OUTPUT_DIR = ToolParameter(
    "output_dir", "text", "Folder of the workspace to write to; the workspace itself unless given.", optional=True
)


def _filename(usual: str) -> ToolParameter:
    return ToolParameter(
        "filename", "text", f"Name of the new file (.png, .jpg, .webp); {usual} unless given.", optional=True
    )


DRAW_BOX = Tool(
    ToolSpec(
        "DrawBox",
        "operation",
        "Draws a red box, with a label above it if wanted, into a copy of a picture and returns the new file's path.",
        (
            _IMAGE,
            ToolParameter(
                "bbox",
                "text",
                'The box, "(x1, y1, x2, y2)" in pixels: left, top, right, bottom.',
                example="(40, 60, 200, 180)",
                lists=True,
            ),
            ToolParameter("annotation", "text", "Label for the box.", optional=True),
            _OUTPUT_DIR,
            _filename("<image>_with_box.png"),
        ),
    ),
    "pytest_gta.tools.picture_marks:draw_box",
    reads=("image",),
    writes=".png",
    writes_also=SUFFIXES,
    writes_as="{image}_with_box",
)
ADD_TEXT = Tool(
    ToolSpec(
        "AddText",
        "operation",
        "Writes text into a copy of a picture and returns the new file's path. Any script this machine has a font for.",
        (
            _IMAGE,
            ToolParameter("text", "text", "The text; it may have several lines.", example="For sale"),
            ToolParameter(
                "position",
                "text",
                'Where: "(x, y)" in pixels, the left bottom corner of the text; or two letters, l, m or r (left, '
                'middle, right) and t, m or b (top, middle, bottom), such as "mt".',
                example="mt",
                lists=True,
            ),
            ToolParameter(
                "color",
                "text",
                "A colour: a name such as navy, or #rrggbb.",
                optional=True,
                default="red",
            ),
            _OUTPUT_DIR,
            _filename("<image>_with_text.png"),
        ),
    ),
    "pytest_gta.tools.picture_marks:add_text",
    reads=("image",),
    writes=".png",
    writes_also=SUFFIXES,
    writes_as="{image}_with_text",
)
TOOLS = (DRAW_BOX, ADD_TEXT)

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+(?:\.\d*)?|\.\d+)")
_ACROSS = {"l": "l", "left": "l", "r": "r", "right": "r"}
_DOWN = {"t": "t", "top": "t", "upper": "t", "b": "b", "bottom": "b", "lower": "b"}
_MIDDLE = ("m", "middle", "center", "centre", "c", "mid")


def draw_box(image: str, bbox: Any, target: str, annotation: str = "") -> dict[str, Any]:
    """Draw a box into a copy of a picture.

    Args:
        image: The picture.
        bbox: The box, as a model wrote it.
        target: The new file.
        annotation: What to write above it.

    Raises:
        ToolFault: There is no such picture or box.
    """
    from PIL import Image, ImageDraw

    picture = _drawable(open_picture(image))
    box = read_box(bbox, picture.width, picture.height)
    left, top, right, bottom = box.corners
    over = Image.new("RGBA", picture.size, (0, 0, 0, 0))
    thickness = max(1, min(round(min(picture.size) / 150), (right - left) // 2, (bottom - top) // 2))
    ImageDraw.Draw(over).rectangle(
        (left, top, right - 1, bottom - 1), fill=(*RED, _FILL_ALPHA), outline=(*RED, 255), width=thickness
    )
    picture.alpha_composite(over)
    remarks = [box.remark] if box.remark else []
    label = annotation.strip()
    if label:
        text = _fitting(label, _letter_size(picture), picture.width, remarks)
        above = top - text.height - thickness
        # A box at the upper edge has its label inside.
        y = above if above >= 0 else min(top + thickness, max(0, picture.height - text.height))
        x = max(0, min(left, picture.width - text.width))
        text.draw(picture, x, y, RED, halo="white")
        remarks += _missing(text)
    _save(picture, target, image)
    return _result(f"Drew the box {box.corners} and saved {target}.", target, remarks)


def add_text(image: str, text: str, position: Any, target: str, color: str = "red") -> dict[str, Any]:
    """Write text into a copy of a picture.

    Args:
        image: The picture.
        text: The text.
        position: Where, as a model wrote it.
        target: The new file.
        color: Any colour Pillow knows.

    Raises:
        ToolFault: There is no such picture, place or colour.
    """
    picture = _drawable(open_picture(image))
    colour = _colour(color)
    if not text.strip():
        raise ToolFault("the text is empty")
    place = read_position(position)
    margin = picture.width // 20
    remarks: list[str] = []
    room = picture.width - (2 * margin if isinstance(place, str) else 0)
    written = _fitting(text, _letter_size(picture), room, remarks)
    if isinstance(place, str):
        across = {"l": margin, "m": (picture.width - written.width) // 2, "r": picture.width - margin - written.width}
        down = {"t": margin, "m": (picture.height - written.height) // 2, "b": picture.height - margin - written.height}
        x, y = across[place[0]], down[place[1]]
    else:
        x, y = round(place[0]), round(place[1]) - written.height
    inside = max(0, min(x, picture.width - written.width)), max(0, min(y, picture.height - written.height))
    if inside != (x, y) and not isinstance(place, str):
        remarks.append(
            f"[At the place given part of the text would lie outside the picture of {picture.width} x {picture.height} "
            "pixels; it was moved inside.]"
        )
    written.draw(picture, *inside, colour)
    _save(picture, target, image)
    return _result(f"Wrote the text and saved {target}.", target, [*remarks, *_missing(written)])


def read_position(position: Any) -> str | tuple[float, float]:
    """Read a place as a model wrote it: two letters, across and down, or a point.

    Raises:
        ToolFault: It is neither.
    """
    text = str(position).strip().strip("\"'`").lower()
    words = re.findall(r"[a-z]+", text)
    if not re.search(r"\d", text):
        letters = words[0] if len(words) == 1 else ""
        if len(letters) == 2 and letters not in _MIDDLE:
            words = list(letters)
        found = _anchor(words)
        if found:
            return found
    else:
        numbers = [float(number) for number in _NUMBER.findall(text)]
        if len(numbers) == 2 and all(abs(number) < 1e6 for number in numbers):
            return numbers[0], numbers[1]
    raise ToolFault(
        f'the position {str(position)[:60]!r} is none: write a point, such as "(40, 60)", or two letters, one of l, m, '
        'r and one of t, m, b, such as "mt" for middle top'
    )


def _anchor(words: list[str]) -> str:
    if not 1 <= len(words) <= 2 or any(word not in (*_ACROSS, *_DOWN, *_MIDDLE) for word in words):
        return ""
    across = [_ACROSS[word] for word in words if word in _ACROSS]
    down = [_DOWN[word] for word in words if word in _DOWN]
    if len(across) > 1 or len(down) > 1:
        return ""
    return (across[0] if across else "m") + (down[0] if down else "m")


def _drawable(picture: Image) -> Image:
    from pytest_gta.tools.picture_input import flattened

    see_through = picture.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in picture.info
    return picture.convert("RGBA") if see_through else flattened(picture).convert("RGBA")


def _save(picture: Image, target: str, image: str) -> None:
    """Write the result; without an alpha channel unless something is transparent."""
    opaque = picture.getchannel("A").getextrema()[0] == 255
    try:
        save(picture.convert("RGB") if opaque else picture, target)
    except OSError as error:
        raise ToolFault(f"{target} cannot be written: {error.strerror or error}") from None


def _letter_size(picture: Image) -> int:
    return max(_LEAST_LETTERS, round(picture.height / 336 * 18))


def _fitting(text: str, size: int, room: int, remarks: list[str]) -> PictureText:
    """Return the text at a size, broken into lines to fit a width; smaller when a word alone is wider."""
    if len(text) > _MOST_LETTERS:
        raise ToolFault(f"the text has {len(text):,} characters, too many for a picture: {_MOST_LETTERS:,} at most")
    fonts = PictureFonts()
    written = PictureText(text, size, fonts)
    if written.width > room:
        lines = [part for line in text.splitlines() for part in _broken(line, size, room, fonts)]
        remarks.append(f"[The text was broken into {len(lines)} lines to fit the picture.]" if len(lines) > 1 else "")
        text, wanted = "\n".join(lines), size
        written = PictureText(text, size, fonts)
        while written.width > room and size > _LEAST_LETTERS:
            size = max(_LEAST_LETTERS, min(size - 1, int(size * room / written.width)))
            written = PictureText(text, size, fonts)
        if size != wanted:
            remarks.append(f"[The letters are {size} pixels high instead of {wanted}, to fit the picture.]")
        if written.width > room:
            remarks.append("[A part of the text is wider than the picture and is cut off.]")
    return written


def _broken(line: str, size: int, room: int, fonts: PictureFonts) -> list[str]:
    lines: list[str] = []
    for word in line.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and PictureText(longer, size, fonts).width <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines or [""]


def _missing(text: PictureText) -> list[str]:
    return [f"[{lacking(text.missing)}]"] if text.missing else []


def _colour(name: str) -> Any:
    from PIL import ImageColor

    try:
        return ImageColor.getrgb(name.strip().lower())
    except ValueError:
        raise ToolFault(f"{name[:40]!r} is no colour: write a name such as red or navy, or #rrggbb") from None


def _result(text: str, target: str, remarks: list[str]) -> dict[str, Any]:
    return {"text": "\n".join([text, *filter(None, remarks)]), "files": [target]}
