"""Pictures are opened upright and safely; boxes are read as models write them and kept inside the picture."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from pytest_gta.tools.picture_input import flattened, open_picture, prepare, read_box, save, store
from pytest_gta.tools.tool import ToolFault


@pytest.mark.parametrize(
    ("text", "corners"),
    [
        ("(10, 20, 110, 90)", (10, 20, 110, 90)),
        ("[10,20,110,90]", (10, 20, 110, 90)),
        ("10 20 110 90", (10, 20, 110, 90)),
        ("x1=10, y1=20, x2=110, y2=90", (10, 20, 110, 90)),
        ("10-20-110-90", (10, 20, 110, 90)),
        ([10, 20, 110, 90], (10, 20, 110, 90)),
        ("[[10, 20], [110, 90]]", (10, 20, 110, 90)),
        ({"x1": 10, "y1": 20, "x2": 110, "y2": 90}, (10, 20, 110, 90)),
        ('{"y2": 90, "y1": 20, "x2": 110, "x1": 10}', (10, 20, 110, 90)),
        ({"x": 10, "y": 20, "width": 100, "height": 70}, (10, 20, 110, 90)),
        ("(10.4, 19.6, 110.2, 90)", (10, 20, 110, 90)),
    ],
)
def test_a_box_is_read_as_models_write_it(text: object, corners: tuple[int, ...]) -> None:
    box = read_box(text, 200, 100)
    assert box.corners == corners and not box.remark


@pytest.mark.parametrize(
    ("text", "corners", "remark"),
    [
        ("(110, 90, 10, 20)", (10, 20, 110, 90), "in order"),
        ("(-5, 20, 500, 90)", (0, 20, 200, 90), "cut to the picture"),
        ("(0.1, 0.2, 0.5, 0.9)", (20, 20, 100, 90), "parts of width and height"),
    ],
)
def test_what_was_put_right_is_said(text: str, corners: tuple[int, ...], remark: str) -> None:
    box = read_box(text, 200, 100)
    assert box.corners == corners and remark in box.remark and str(corners) in box.remark


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(10, 20, 30)", "holds 3 numbers"),
        ("left half", "holds 0 numbers"),
        ("(300, 10, 400, 50)", "outside the picture: the picture has 200 x 100"),
        ("(10, 10, 10, 50)", "is empty"),
        ("(1e99, 2, 3, 4)", "numbers"),
        ({"x": "a", "y": 1, "width": 2, "height": 3}, "no number"),
    ],
)
def test_what_is_no_box_is_refused(text: object, words: str) -> None:
    with pytest.raises(ToolFault, match=words):
        read_box(text, 200, 100)


def test_a_picture_is_turned_upright(tmp_path: Path) -> None:
    picture = Image.new("RGB", (40, 20), "white")
    picture.putpixel((0, 0), (255, 0, 0))
    exif = Image.Exif()
    exif[0x0112] = 6  # shown turned a quarter clockwise
    picture.save(tmp_path / "turned.png", exif=exif)
    opened = open_picture(str(tmp_path / "turned.png"))
    assert opened.size == (20, 40) and opened.getpixel((19, 0)) == (255, 0, 0)


def test_what_is_no_picture_is_said(tmp_path: Path) -> None:
    (tmp_path / "notes.png").write_text("just words")
    (tmp_path / "draw.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    Image.new("RGB", (300, 300)).save(tmp_path / "half.png")
    (tmp_path / "half.png").write_bytes((tmp_path / "half.png").read_bytes()[:120])
    for name, words in (("notes.png", "no picture"), ("draw.svg", "SVG"), ("half.png", "damaged")):
        with pytest.raises(ToolFault, match=words):
            open_picture(str(tmp_path / name))


def test_too_many_pixels_are_not_decoded(tmp_path: Path) -> None:
    Image.new("1", (20_000, 20_000)).save(tmp_path / "vast.png")
    with pytest.raises(ToolFault, match="20000 x 20000 pixels"):
        open_picture(str(tmp_path / "vast.png"))


def test_what_is_transparent_is_white_and_16_bits_become_8() -> None:
    clear = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    assert flattened(clear).getpixel((1, 1)) == (255, 255, 255)
    deep = Image.new("I;16", (4, 4), 32768)
    value = flattened(deep).getpixel((1, 1))
    assert isinstance(value, tuple) and 125 <= value[0] <= 130


def test_a_part_is_made_ready_for_a_model(tmp_path: Path) -> None:
    picture = Image.new("RGB", (3000, 1000), "white")
    picture.paste((0, 0, 255), (100, 100, 120, 130))
    picture.save(tmp_path / "wide.png")
    part = prepare(str(tmp_path / "wide.png"), "(100, 100, 120, 130)")
    assert (part["width"], part["height"], part["remark"]) == (20, 30, "")
    with Image.open(io.BytesIO(base64.b64decode(part["data"]))) as sent:
        assert sent.size == (64, 96) and sent.getpixel((30, 50)) == (0, 0, 255)
    whole = prepare(str(tmp_path / "wide.png"))
    with Image.open(io.BytesIO(base64.b64decode(whole["data"]))) as sent:
        assert sent.size == (2048, 683) and whole["media_type"] == "image/png"


def test_a_picture_is_saved_as_its_suffix_says(tmp_path: Path) -> None:
    clear = Image.new("RGBA", (8, 8), (0, 128, 0, 0))
    for name, form, mode in (("a.jpg", "JPEG", "RGB"), ("a.png", "PNG", "RGBA"), ("a.webp", "WEBP", "RGBA")):
        save(clear, str(tmp_path / name))
        with Image.open(tmp_path / name) as opened:
            assert (opened.format, opened.mode) == (form, mode)


def test_what_an_endpoint_answers_is_stored_only_when_it_is_a_picture(tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.new("RGB", (12, 8), "teal").save(out, "WEBP")
    target = str(tmp_path / "made.png")
    assert store(base64.b64encode(out.getvalue()).decode(), target) == {"width": 12, "height": 8}
    with Image.open(target) as opened:
        assert opened.format == "PNG"
    with pytest.raises(ToolFault, match="no picture"):
        store(base64.b64encode(b"<html>").decode(), target)
