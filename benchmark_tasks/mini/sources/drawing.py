"""Pictures drawn with Pillow: its built-in font, so that nothing depends on the fonts of a machine."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

Ink = str | tuple[int, int, int]


def font(size: float) -> ImageFont.FreeTypeFont:
    """Return Pillow's built-in font (Aileron, CC0; ASCII letters, digits and punctuation) in pixels."""
    found = ImageFont.load_default(size)
    if not isinstance(found, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType; install a binary wheel of Pillow")
    return found


def centred(draw: ImageDraw.ImageDraw, middle: tuple[float, float], text: str, size: float, ink: Ink) -> None:
    """Write `text` with its middle at a point."""
    draw.text(middle, text, font=font(size), fill=ink, anchor="mm")


def save_png(image: Image.Image, path: Path) -> None:
    """Save a picture as PNG, with few colours to keep it small."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
