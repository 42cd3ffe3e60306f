"""Text as a picture with a clear ground, in any script that a font of this machine has, to lay over a frame."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from pytest_gta.tools.font_files import FontFile, FontFolders, lacking
from pytest_gta.tools.writing_direction import (
    can_order,
    drawn_order,
    has_right_to_left,
    is_right_to_left,
    joined_letters,
)

Colour = tuple[int, int, int]

LEADING = 1.25
"""Height of a line, in sizes of its font."""
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\x00-\x08\x0b-\x1f]")


@dataclass(frozen=True, slots=True)
class Lettering:
    """How text looks.

    Attributes:
        size: Height of the font in pixels.
        colour: Red, green, blue.
        face: ``sans``, ``serif`` or ``mono``.
        bold: Whether it is bold.
        slanted: Whether it is oblique.
        outline: Width of the line around each letter in pixels, black or white, whichever stands out.
    """

    size: int
    colour: Colour = (255, 255, 255)
    face: str = "sans"
    bold: bool = False
    slanted: bool = False
    outline: int = 0


class TextPainter:
    """Draws text.

    Attributes:
        missing: Characters that no font here has; they were drawn as boxes.
    """

    def __init__(self, fonts: FontFolders | None = None) -> None:
        """Draw with the fonts in `fonts`, or those of this machine."""
        self._fonts = fonts or FontFolders()
        self._files: dict[tuple[str, bool, bool], FontFile | None] = {}
        self._others: dict[str, FontFile | None] = {}
        self._faces: dict[tuple[str, int, bool], Any] = {}
        self.missing: set[str] = set()

    def wrapped(self, text: str, lettering: Lettering, width: float) -> list[str]:
        """Break text into lines that are no wider than `width` pixels."""
        lines: list[str] = []
        for paragraph in _INVISIBLE.sub("", text.replace("\t", "    ")).split("\n"):
            line = ""
            for piece in _pieces(paragraph):
                if self.width(line + piece.rstrip(), lettering) <= width:
                    line += piece
                    continue
                if line.strip():
                    lines.append(line.rstrip())
                line = piece
                while self.width(line.rstrip(), lettering) > width and len(line.rstrip()) > 1:
                    fits = next(
                        n for n in range(len(line), 0, -1) if n == 1 or self.width(line[:n], lettering) <= width
                    )
                    lines.append(line[:fits])
                    line = line[fits:]
            lines.append(line.rstrip())
        return lines

    def width(self, line: str, lettering: Lettering) -> float:
        """Return the width of a line in pixels."""
        return sum(float(face.getlength(run)) for run, face in self._runs(line, lettering)) + 2 * lettering.outline

    def painted(self, lines: Sequence[str], lettering: Lettering, align: str = "left") -> Image.Image:
        """Return lines as an RGBA picture that is just large enough.

        Args:
            lines: The text, broken into lines.
            lettering: How it looks.
            align: ``left``, ``center`` or ``right``; a line that runs right to left turns left into right.
        """
        edge = lettering.outline
        widths = [self.width(line, lettering) for line in lines]
        width = max(1, round(max(widths, default=1)) + 2 * edge)
        step = lettering.size * LEADING
        height = max(1, round(step * len(lines)) + 2 * edge)
        picture = Image.new("RGBA", (width, height), (0, 0, 0, 0))
        draw = ImageDraw.Draw(picture)
        light = sum(lettering.colour) > 382
        around = (0, 0, 0, 255) if light else (255, 255, 255, 255)
        for number, (line, wide) in enumerate(zip(lines, widths, strict=True)):
            side = "right" if align == "left" and is_right_to_left(line) else align
            room = width - wide
            x = edge + {"left": 0.0, "center": room / 2, "right": room}[side]
            base = edge + step * number + lettering.size
            for run, face in self._runs(line, lettering):
                draw.text(
                    (x, base),
                    run,
                    fill=(*lettering.colour, 255),
                    font=face,
                    anchor="ls",
                    stroke_width=edge,
                    stroke_fill=around,
                )
                x += float(face.getlength(run))
        return picture

    def remark(self) -> str:
        """Say which characters had no font; "" when all had one."""
        return lacking(self.missing) if self.missing else ""

    # -- fonts -------------------------------------------------------------------------------------------------------

    def _runs(self, line: str, lettering: Lettering) -> Iterator[tuple[str, Any]]:
        """Split a line into the parts that each have one font."""
        main = self._main(lettering)
        if main is None:
            if line:
                yield line, self._default(lettering.size)
            return
        ordered = has_right_to_left(line) and can_order()
        if ordered:
            # Ordered here, over all fonts of the line: the drawing library would order each run alone.
            drawn = drawn_order(joined_letters(line), right_to_left=is_right_to_left(line))
            line = "".join(char for char, _ in drawn)
        fonts = [self._font(char, main) for char in line]
        if has_right_to_left(line) and not ordered:
            fonts = [max(fonts, key=lambda font: sum(ord(char) in font.glyphs for char in line))] * len(line)
            self.missing |= {char for char in line if not char.isspace() and ord(char) not in fonts[0].glyphs}
        start = 0
        for at in range(1, len(line) + 1):
            if at == len(line) or fonts[at] is not fonts[start]:
                yield line[start:at], self._face(fonts[start], lettering.size, ordered=ordered)
                start = at

    def _font(self, char: str, main: FontFile) -> FontFile:
        if ord(char) in main.glyphs or char.isspace() or unicodedata.combining(char):
            return main
        if char not in self._others:
            self._others[char] = self._fonts.with_characters(char)
        found = self._others[char]
        if found is None:
            self.missing.add(char)
        return found or main

    def _main(self, lettering: Lettering) -> FontFile | None:
        key = (lettering.face, lettering.bold, lettering.slanted)
        if key not in self._files:
            family = {"sans": "DejaVuSans", "serif": "DejaVuSerif", "mono": "DejaVuSansMono"}[lettering.face]
            lean = "Italic" if lettering.face == "serif" else "Oblique"
            style = ("Bold" if lettering.bold else "") + (lean if lettering.slanted else "")
            names = [f"{family}-{style}"] if style else []
            names += [family, "DejaVuSans"]
            found = next((font for name in names if (font := self._fonts.named(name))), None)
            self._files[key] = found or self._fonts.with_characters("abcdefghijklmnopqrstuvwxyzABC0123456789.,")
        return self._files[key]

    def _face(self, font: FontFile, size: int, *, ordered: bool) -> Any:
        key = (str(font.path), size, ordered)
        if key not in self._faces:
            layout = ImageFont.Layout.BASIC if ordered else None
            self._faces[key] = ImageFont.truetype(key[0], size, index=font.index, layout_engine=layout)
        return self._faces[key]

    def _default(self, size: int) -> Any:
        key = ("", size, False)
        if key not in self._faces:
            self._faces[key] = ImageFont.load_default(size)
        return self._faces[key]


def _pieces(paragraph: str) -> Iterator[str]:
    """Split where a line may end: after blanks, and around characters of scripts that are written without them."""
    for word in re.findall(r"\s*\S+\s*|\s+", paragraph):
        part = ""
        for char in word:
            if unicodedata.east_asian_width(char) in "WF" and not unicodedata.category(char).startswith("P"):
                if part:
                    yield part
                part = char
            else:
                part += char
        if part:
            yield part
