"""Task 53: a rough film of a boat, to be cut to a teaser with a title, a cover and texts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, ImageDraw

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.drawing import centred, font
from benchmark_tasks.mini.sources.recording import film

FILM = "resources/video/53-harbour_raw.mp4"
SIZE = (640, 360)
RATE = 12
SECONDS = 10
SCENE = (2.5, 7.5)
TITLE = "Open Harbour Day - 14 June"
COVER_AT = 5.0


def make_inputs(folder: Path) -> None:
    """Write the film: a test card, the boat, a card again."""
    film(folder, FILM, _frames(), rate=RATE)


def frame(second: float) -> Image.Image:
    """Return the picture at a second of the film."""
    if second < SCENE[0]:
        return _card("SLATE 4  TAKE 2", f"starts in {SCENE[0] - second:.1f}")
    if second >= SCENE[1]:
        return _card("CUT", "end of take 2")
    part = (second - SCENE[0]) / (SCENE[1] - SCENE[0])
    image = Image.new("RGB", SIZE, "#bfe3f0")
    draw = ImageDraw.Draw(image)
    draw.ellipse((500, 40, 570, 110), fill="#f6d55c")
    draw.rectangle((0, 215, 640, 360), fill="#2f7f9e")
    draw.polygon([(0, 215), (0, 165), (90, 165), (90, 140), (110, 140), (110, 215)], fill="#8d8d86")
    draw.rectangle((92, 110, 108, 140), fill="#c0392b")
    x = 120 + 380 * part
    y = 232 + 4 * math.sin(second * 3)
    draw.polygon([(x - 60, y), (x + 60, y), (x + 42, y + 26), (x - 42, y + 26)], fill="#6b3e26")
    draw.line((x, y, x, y - 110), fill="#3b2414", width=4)
    draw.polygon([(x + 5, y - 108), (x + 5, y - 12), (x + 62, y - 12)], fill="#fbfbf4")
    draw.polygon([(x - 5, y - 96), (x - 5, y - 12), (x - 46, y - 12)], fill="#e8d9a8")
    for i in range(7):
        left = (i * 100 + 40 * second) % 700 - 40
        draw.arc((left, 290, left + 60, 310), 180, 360, fill="#8fc4d6", width=3)
    return image


def _card(line: str, small: str) -> Image.Image:
    image = Image.new("RGB", SIZE, "#111111")
    draw = ImageDraw.Draw(image)
    centred(draw, (320, 160), line, 54, "#eeeeee")
    centred(draw, (320, 225), small, 26, "#bbbbbb")
    draw.text((14, 330), "harbour_raw / camera A", font=font(16), fill="#888888")
    return image


def _frames() -> Iterator[Image.Image]:
    for number in range(SECONDS * RATE):
        yield frame(number / RATE)


def values() -> dict[str, Derived]:
    """Return what the rubric asks for: what the film was drawn from."""
    return {
        "start": Derived(SCENE[0], "second in which the first card ends"),
        "end": Derived(SCENE[1], "second in which the last card begins"),
        "length": Derived(SCENE[1] - SCENE[0], "end - start"),
        "width": Derived(SIZE[0], "picture of the film"),
        "height": Derived(SIZE[1], "picture of the film"),
    }
