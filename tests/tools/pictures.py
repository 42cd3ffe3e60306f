"""Pictures for tests, drawn with the font that comes with matplotlib or the system."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw, ImageFont


def font(size: int) -> ImageFont.FreeTypeFont:
    from matplotlib import get_data_path

    return ImageFont.truetype(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf", size)


def written(
    *lines: tuple[tuple[int, int], str], size: tuple[int, int] = (640, 240), letters: int = 28, colour: str = "black"
) -> Image.Image:
    """A white picture with text at given left top corners."""
    picture = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(picture)
    for place, text in lines:
        draw.text(place, text, fill=colour, font=font(letters))
    return picture


def saved(picture: Image.Image, path: Path, **options: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, **options)
    return path
