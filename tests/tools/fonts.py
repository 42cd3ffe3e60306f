"""Fonts to draw with: matplotlib's, and ones made here, whose letters are all the same square."""

from __future__ import annotations

from pathlib import Path

import pytest


def dejavu() -> Path:
    """Return the folder of the fonts that matplotlib carries."""
    return Path(pytest.importorskip("matplotlib").get_data_path()) / "fonts" / "ttf"


def square_font(target: Path, characters: str) -> None:
    """Write a font that has some characters, each as a filled square of its full size."""
    builder = pytest.importorskip("fontTools.fontBuilder").FontBuilder(1000, isTTF=True)
    pen = pytest.importorskip("fontTools.pens.ttGlyphPen").TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 1000), (1000, 1000), (1000, 0)):
        pen.lineTo(corner)
    pen.closePath()
    square = pen.glyph()
    names = {ord(char): f"u{ord(char):X}" for char in characters}
    builder.setupGlyphOrder([".notdef", *names.values()])
    builder.setupCharacterMap(names)
    builder.setupGlyf(dict.fromkeys([".notdef", *names.values()], square))
    builder.setupHorizontalMetrics(dict.fromkeys([".notdef", *names.values()], (1000, 0)))
    builder.setupHorizontalHeader(ascent=1000, descent=0)
    builder.setupOS2(sTypoAscender=1000, usWinAscent=1000)
    builder.setupPost()
    builder.setupNameTable({"familyName": target.stem, "styleName": "Regular", "psName": target.stem})
    builder.save(target)
