"""The pictures of a slideshow: cards with a heading and text, and pictures with a caption that slowly draw nearer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from pytest_gta.tools.storyboard import Scene
from pytest_gta.tools.text_picture import LEADING, Colour, Lettering, TextPainter

Pixels = np.ndarray[Any, Any]

_GROUNDS: tuple[tuple[Colour, Colour, Colour], ...] = (
    ((18, 32, 60), (32, 66, 110), (255, 183, 77)),
    ((20, 54, 58), (30, 96, 92), (255, 214, 102)),
    ((52, 27, 66), (96, 48, 104), (129, 212, 250)),
    ((66, 32, 28), (122, 60, 44), (255, 224, 130)),
    ((28, 44, 32), (52, 92, 60), (255, 171, 145)),
)
"""Upper and lower colour of a card and the colour of its ornaments."""
_TEXT: Colour = (246, 248, 252)
_SMALLEST_PX = 8
_NEARER = 0.08


class Card:
    """One scene as a picture of a slideshow.

    Attributes:
        cut: Whether not all of its text had room.
    """

    def __init__(self, scene: Scene, number: int, size: tuple[int, int], painter: TextPainter) -> None:
        """Draw a scene's heading and text on a ground of its own."""
        self.size = size
        self.cut = False
        top, bottom, self.accent = _GROUNDS[number % len(_GROUNDS)]
        self._painter = painter
        picture = _gradient(size, top, bottom)
        self._write(picture, scene)
        self._pixels = np.asarray(picture)

    def at(self, share: float) -> Pixels:
        """Return the picture, as (height, width, 3), at a share of its time."""
        return self._pixels

    def _write(self, picture: Image.Image, scene: Scene) -> None:
        width, height = self.size
        left, upper = max(4, round(width * 0.08)), max(4, round(height * 0.09))
        room = (width - 2 * left, height - 2 * upper)
        draw = ImageDraw.Draw(picture)
        if not scene.text or not scene.heading:
            text, bold = scene.text or scene.heading, not scene.text
            layer = self._fitted(text, room, 0.15 if bold else 0.1, bold, "center")
            at = ((width - layer.width) // 2, (height - layer.height) // 2)
            picture.paste(layer, at, layer)
            line = max(2, height // 120)
            y = min(height - line - 1, at[1] + layer.height + max(3, height // 40))
            draw.rectangle((width // 2 - width // 12, y, width // 2 + width // 12, y + line), fill=self.accent)
            return
        head = self._fitted(scene.heading, (room[0], round(room[1] * 0.3)), 0.085, True, "left")
        picture.paste(head, (left, upper), head)
        line = max(2, height // 120)
        y = upper + head.height + max(2, height // 60)
        draw.rectangle((left, y, left + width // 8, y + line), fill=self.accent)
        y += line + max(3, height // 25)
        body = self._fitted(scene.text, (room[0], max(_SMALLEST_PX, height - upper - y)), 0.095, False, "left")
        picture.paste(body, (left, y), body)

    def _fitted(self, text: str, room: tuple[int, int], share: float, bold: bool, align: str) -> Image.Image:
        """Return text in the largest letters it has room in, shortened when it has none at all."""
        short = min(self.size[1], self.size[0] * 3 // 4)
        lettering = Lettering(max(_SMALLEST_PX, round(short * share)), _TEXT, bold=bold)
        least = max(_SMALLEST_PX, round(short * 0.03))
        while True:
            lines = self._painter.wrapped(text, lettering, room[0])
            most = max(1, int(room[1] // (lettering.size * LEADING)))
            if len(lines) <= most:
                break
            if lettering.size <= least:
                self.cut = True
                lines = [*lines[: most - 1], lines[most - 1].rstrip(" ,;:") + "\u2026"]
                break
            lettering = replace(lettering, size=max(least, int(lettering.size * 0.92)))
        return self._painter.painted(lines, lettering, align)


class PictureCard(Card):
    """A scene with a picture made for it, its text below."""

    def __init__(
        self, scene: Scene, number: int, size: tuple[int, int], painter: TextPainter, picture: Image.Image
    ) -> None:
        """Lay a scene's words over a picture."""
        self._source = _filling(picture.convert("RGB"), size)
        self._caption: Image.Image | None = None
        super().__init__(scene, number, size, painter)

    def _write(self, picture: Image.Image, scene: Scene) -> None:
        width, height = self.size
        text = scene.spoken if scene.text else scene.heading
        margin = max(3, round(height * 0.03))
        layer = self._fitted(text, (width - 4 * margin, round(height * 0.28)), 0.06, False, "center")
        strip = Image.new("RGBA", (width, layer.height + 2 * margin), (0, 0, 0, 150))
        strip.alpha_composite(layer, ((width - layer.width) // 2, margin))
        self._caption = strip

    def at(self, share: float) -> Pixels:
        """Return the picture at a share of its time: it draws nearer."""
        width, height = self._source.size
        by = 1 - _NEARER * share
        left, top = width * (1 - by) / 2, height * (1 - by) / 2
        box = (left, top, left + width * by, top + height * by)
        frame = self._source.resize(self.size, Image.Resampling.BILINEAR, box=box)
        if self._caption is not None:
            frame.paste(self._caption, (0, self.size[1] - self._caption.height), self._caption)
        return np.asarray(frame)


def pushed(one: Pixels, other: Pixels, share: float) -> Pixels:
    """Return a picture on its way out to the left and the next one behind it; either can be read all the while."""
    width = one.shape[1]
    # Slow at both ends.
    gone = round(width * share * share * (3 - 2 * share))
    return np.concatenate((one[:, gone:], other[:, :gone]), axis=1)


def with_progress(picture: Pixels, share: float, colour: Colour) -> Pixels:
    """Return a picture with a line at its lower edge that tells how much of the video has gone by."""
    height, width = picture.shape[:2]
    marked = picture.copy()
    marked[height - max(2, height // 90) :, : max(1, round(width * share))] = colour
    return marked


def _gradient(size: tuple[int, int], top: Colour, bottom: Colour) -> Image.Image:
    steps = np.linspace(0, 1, size[1])[:, None, None]
    column = np.array(top) * (1 - steps) + np.array(bottom) * steps
    return Image.fromarray(np.broadcast_to(column, (size[1], size[0], 3)).astype(np.uint8), "RGB")


def _filling(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return a picture that fills a size and a little more, cut at its longer sides."""
    scale = max(size[0] / picture.width, size[1] / picture.height) * (1 + _NEARER)
    large = picture.resize(
        (max(1, round(picture.width * scale)), max(1, round(picture.height * scale))), Image.Resampling.LANCZOS
    )
    width, height = round(size[0] * (1 + _NEARER)), round(size[1] * (1 + _NEARER))
    left, top = (large.width - width) // 2, (large.height - height) // 2
    return large.crop((left, top, left + width, top + height))
