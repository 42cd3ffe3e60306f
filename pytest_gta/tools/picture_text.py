"""Text drawn into pictures: any script this machine has a font for, lines, emoji, both directions."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from pytest_gta.tools.font_files import FontFile, FontFolders
from pytest_gta.tools.printable_text import printable
from pytest_gta.tools.writing_direction import (
    can_order,
    drawn_order,
    has_right_to_left,
    is_right_to_left,
    joined_letters,
)

if TYPE_CHECKING:
    from PIL import ImageFont
    from PIL.Image import Image

_BITMAP_SIZE = 109
"""The one size that a font of coloured emoji has."""
_LINE = 1.25
"""Distance of two lines, in letter sizes."""
_INVISIBLE = ("\ufe0e", "\ufe0f", "\u200d", "\u200b", "\u200e", "\u200f")

Font = Any


@dataclass(frozen=True, slots=True)
class _Run:
    """Neighbouring characters in one font; with a `coloured` one they are emoji."""

    text: str
    font: Font
    width: float
    coloured: bool = False


class PictureText:
    """Some lines of text at one size.

    Args:
        text: The text; the end of a line is kept.
        size: Letter size in pixels.
        fonts: Where fonts are looked for.

    Attributes:
        missing: Characters that no font here has; boxes stand for them.
        width: Pixels.
        height: Pixels.
        size: As given.
    """

    def __init__(self, text: str, size: int, fonts: PictureFonts | None = None) -> None:
        self.size = size
        self._fonts = fonts or PictureFonts()
        self.missing: set[str] = set()
        lines = printable(text).expandtabs(4).strip("\n").split("\n")
        self._right_to_left = [is_right_to_left(line) for line in lines]
        self._lines = [list(self._runs(line)) for line in lines]
        self._widths = [sum(run.width for run in line) for line in self._lines]
        self.width = round(max(self._widths, default=0.0))
        self.height = round(size * _LINE * (len(lines) - 1) + size * 1.2)

    def draw(self, picture: Image, left: float, top: float, colour: Any, *, halo: Any = None) -> None:
        """Draw it into a picture.

        Args:
            picture: An RGB or RGBA picture.
            left: Column of the left edge.
            top: Row of the upper edge.
            colour: Of the letters.
            halo: Colour around the letters, None for nothing.
        """
        from PIL import ImageDraw

        draw = ImageDraw.Draw(picture)
        stroke = max(1, round(self.size / 12)) if halo is not None else 0
        for number, (line, width, reversed_) in enumerate(
            zip(self._lines, self._widths, self._right_to_left, strict=True)
        ):
            at = left + (self.width - width if reversed_ else 0)
            baseline = top + self.size * (_LINE * number + 0.95)
            for run in line:
                if run.coloured:
                    self._draw_emoji(picture, run, round(at), round(baseline))
                else:
                    options = {"stroke_width": stroke, "stroke_fill": halo} if stroke else {}
                    draw.text((at, baseline), run.text, fill=colour, font=run.font, anchor="ls", **options)
                at += run.width

    def _runs(self, line: str) -> Iterator[_Run]:
        shown = line
        # Ordered here, over all fonts of a line: the drawing library would order each run alone, and is told not to.
        ordered = has_right_to_left(line) and can_order()
        if ordered:
            joined = joined_letters(line)
            shown = "".join(char for char, _ in drawn_order(joined, right_to_left=is_right_to_left(line)))
        text, font, coloured = "", None, False
        for char in shown:
            if char in _INVISIBLE:
                continue
            # A sign that is drawn over a letter stays with it.
            next_font, next_coloured = (
                (font, coloured)
                if text and unicodedata.combining(char)
                else self._fonts.for_character(char, self.size, self.missing, ordered=ordered)
            )
            if text and (next_font is not font or next_coloured):
                yield self._run(text, font, coloured)
                text = ""
            text, font, coloured = text + char, next_font, next_coloured
        if text:
            yield self._run(text, font, coloured)

    def _run(self, text: str, font: Font, coloured: bool) -> _Run:
        if coloured:
            return _Run(text, font, self.size * 1.2 * len(text), True)
        return _Run(text, font, font.getlength(text))

    def _draw_emoji(self, picture: Image, run: _Run, left: int, baseline: int) -> None:
        from PIL import Image, ImageDraw

        drawn = Image.new("RGBA", (136 * len(run.text), 128), (255, 255, 255, 0))
        ImageDraw.Draw(drawn).text((0, 0), run.text, font=run.font, embedded_color=True)
        side = max(1, round(self.size * 1.2))
        small = drawn.resize((side * len(run.text), side))
        picture.paste(small, (left, baseline - round(self.size)), small)


class PictureFonts:
    """Fonts to draw letters with: one for most, others for what it does not have."""

    def __init__(self, folders: FontFolders | None = None) -> None:
        """Look in some folders, or where this machine keeps fonts."""
        self._folders = folders or FontFolders()
        self._loaded: dict[tuple[str, int, int, bool], ImageFont.FreeTypeFont] = {}
        self._found: dict[str, FontFile | None] = {}
        self._usual = cache(self._find_usual)

    def for_character(self, char: str, size: int, missing: set[str], *, ordered: bool = False) -> tuple[Font, bool]:
        """Return a font at a size that has a character, and whether it is one of coloured emoji.

        A character that no font has is added to `missing`. An `ordered` text is drawn from left to right as it is.
        """
        usual = self._usual()
        if usual is not None and (usual.has(char) or not char.isprintable()):
            return self._load(usual, size, ordered), False
        if usual is None and char.isascii():
            return self._built_in(size), False
        if char >= "\U0001f000" and (emoji := self._folders.colour_emoji()):
            return self._coloured(str(emoji)), True
        if char not in self._found:
            found = self._folders.with_characters(char)
            self._found[char] = found if found and found.has(char) else None
        found = self._found[char]
        if found is not None:
            return self._load(found, size, ordered), False
        missing.add(char)
        return (self._load(usual, size, ordered) if usual is not None else self._built_in(size)), False

    def _find_usual(self) -> FontFile | None:
        return self._folders.named("DejaVuSans") or self._folders.with_characters("aeiounrst0123456789")

    def _load(self, font: FontFile, size: int, ordered: bool) -> Font:
        from PIL import ImageFont

        key = str(font.path), font.index, size, ordered
        layout = ImageFont.Layout.BASIC if ordered else None
        if key not in self._loaded:
            self._loaded[key] = ImageFont.truetype(str(font.path), size, index=font.index, layout_engine=layout)
        return self._loaded[key]

    def _coloured(self, path: str) -> Font:
        from PIL import ImageFont

        key = path, 0, _BITMAP_SIZE, False
        if key not in self._loaded:
            self._loaded[key] = ImageFont.truetype(path, _BITMAP_SIZE)
        return self._loaded[key]

    def _built_in(self, size: int) -> Font:
        from PIL import ImageFont

        key = "", 0, size, False
        if key not in self._loaded:
            self._loaded[key] = ImageFont.load_default(size)  # type: ignore[assignment]
        return self._loaded[key]
