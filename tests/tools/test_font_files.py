"""Fonts of the machine: found, looked into, converted."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from pytest_gta.tools.font_files import FontFile, FontFolders, truetype_subset

matplotlib = pytest.importorskip("matplotlib")
DEJAVU = Path(matplotlib.get_data_path()) / "fonts" / "ttf"


def test_dejavu_is_found_where_matplotlib_is_installed() -> None:
    assert FontFolders().named("DejaVuSans") is not None


def test_the_font_that_has_the_characters_is_chosen() -> None:
    folders = FontFolders([DEJAVU])
    found = folders.with_characters("→✓")
    assert found is not None and found.path.stem == "DejaVuSans" and found.has("→✓ Я")
    assert folders.with_characters("\U0001f680") is None


def test_broken_and_foreign_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.ttf").write_bytes(b"no font at all")
    (tmp_path / "b.otf").write_bytes(b"OTTO" + bytes(200))
    (tmp_path / "c.ttc").write_bytes(b"")
    folders = FontFolders([tmp_path, tmp_path / "none"])
    assert [path.name for path in folders.files()] == ["a.ttf", "b.otf", "c.ttc"]
    assert folders.with_characters("a") is None and folders.named("a") is None


def test_a_font_with_postscript_outlines_is_converted(tmp_path: Path) -> None:
    builder = pytest.importorskip("fontTools.fontBuilder").FontBuilder(1000, isTTF=False)
    pen = pytest.importorskip("fontTools.pens.t2CharStringPen").T2CharStringPen(600, None)
    pen.moveTo((0, 0))
    pen.curveTo((0, 300), (300, 600), (600, 600))
    pen.lineTo((600, 0))
    pen.closePath()
    shape = pen.getCharString()
    builder.setupGlyphOrder([".notdef", "han"])
    builder.setupCharacterMap({0x4E2D: "han"})
    builder.setupCFF("Test", {}, {".notdef": shape, "han": shape}, {})
    builder.setupHorizontalMetrics({".notdef": (600, 0), "han": (600, 0)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupOS2()
    builder.setupPost()
    builder.setupNameTable({"familyName": "Test", "styleName": "Regular", "psName": "Test"})
    builder.save(tmp_path / "TestCJK-Regular.otf")
    font = FontFolders([tmp_path]).with_characters("中")
    assert isinstance(font, FontFile) and font.outlines == "cff"
    converted = io.BytesIO()
    truetype_subset(font, "中", converted)
    converted.seek(0)
    from reportlab.pdfbase.ttfonts import TTFontFile

    assert 0x4E2D in TTFontFile(converted).charToGlyph
