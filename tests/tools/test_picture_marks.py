"""Boxes and text land where they were asked for, in a new file, in any script there is a font for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from pytest_gta.tools.font_files import FontFolders
from pytest_gta.tools.picture_marks import add_text, draw_box, read_position
from pytest_gta.tools.picture_text import PictureFonts, PictureText
from pytest_gta.tools.tool import ToolFault
from pytest_gta.tools.toolbox import Toolbox
from tests.tools.pictures import saved

RED = (255, 0, 0)


@pytest.fixture
def white(tmp_path: Path) -> str:
    return str(saved(Image.new("RGB", (336, 336), "white"), tmp_path / "white.png"))


def opened(path: Path | str) -> Image.Image:
    with Image.open(path) as picture:
        picture.load()
        return picture


def inked(path: Path | str) -> tuple[int, int, int, int]:
    """The box of everything that is not white."""
    picture = opened(path).convert("RGB")
    box = ImageChops.difference(picture, Image.new("RGB", picture.size, "white")).getbbox()
    assert box is not None
    return box


def test_a_box_has_a_red_edge_and_a_light_red_inside(toolbox: Toolbox) -> None:
    root = toolbox.workspace.root
    saved(Image.new("RGB", (300, 200), "white"), root / "photo.png")
    answer = toolbox.call("DrawBox", {"image": "photo.png", "bbox": "(40, 60, 200, 180)"})
    assert not answer.is_error and answer.files == ("photo_with_box.png",)
    drawn = opened(root / "photo_with_box.png")
    assert drawn.mode == "RGB" and drawn.size == (300, 200)
    for corner in ((40, 60), (199, 60), (40, 179), (199, 179), (120, 60), (40, 120)):
        assert drawn.getpixel(corner) == RED
    assert drawn.getpixel((120, 120)) == (255, 191, 191)
    for outside in ((39, 60), (200, 60), (40, 180), (120, 59)):
        assert drawn.getpixel(outside) == (255, 255, 255)
    assert opened(root / "photo.png").getcolors() == [(60_000, (255, 255, 255))]


def test_results_take_no_file_s_place_and_go_where_they_were_asked_to(toolbox: Toolbox) -> None:
    saved(Image.new("RGB", (300, 200), "white"), toolbox.workspace.root / "own.png")
    names = [toolbox.call("DrawBox", {"image": "own.png", "bbox": [1, 2, 30, 40]}).files for _ in range(2)]
    assert names == [("own_with_box.png",), ("own_with_box_2.png",)]
    arguments = {"image": "own.png", "bbox": "(1, 2, 30, 40)", "output_dir": "marked", "filename": "first.jpg"}
    assert toolbox.call("DrawBox", arguments).files == ("marked/first.jpg",)
    assert opened(toolbox.workspace.root / "marked" / "first.jpg").format == "JPEG"


def test_a_label_stands_above_the_box_or_inside_at_the_upper_edge(white: str, tmp_path: Path) -> None:
    target = str(tmp_path / "out.png")
    draw_box(white, "(100, 100, 200, 200)", target, "cat")
    left, top, _, bottom = inked(target)
    assert 97 <= left <= 102 and 75 <= top < 96 and bottom == 200
    draw_box(white, "(100, 0, 200, 200)", target, "cat")
    plain = str(tmp_path / "plain.png")
    draw_box(white, "(100, 0, 200, 200)", plain)
    changed = ImageChops.difference(opened(target), opened(plain)).getbbox()
    assert changed is not None and changed[1] >= 2 and changed[3] < 30


def test_a_box_beyond_the_picture_is_cut_and_said(white: str, tmp_path: Path) -> None:
    answer = draw_box(white, "(-50, -50, 100, 5000)", str(tmp_path / "out.png"))
    assert "cut to the picture: the picture has 336 x 336 pixels" in answer["text"]
    assert opened(tmp_path / "out.png").getpixel((0, 335)) == RED
    with pytest.raises(ToolFault, match="outside the picture"):
        draw_box(white, "(400, 400, 500, 500)", str(tmp_path / "no.png"))
    assert not (tmp_path / "no.png").exists()


def test_what_is_transparent_stays_so(tmp_path: Path) -> None:
    clear = str(saved(Image.new("RGBA", (100, 100), (0, 0, 0, 0)), tmp_path / "clear.png"))
    draw_box(clear, "(10, 10, 50, 50)", str(tmp_path / "out.png"))
    drawn = opened(tmp_path / "out.png")
    assert drawn.getpixel((90, 90)) == (0, 0, 0, 0) and drawn.getpixel((10, 10)) == (255, 0, 0, 255)


@pytest.mark.parametrize(
    ("position", "across", "down"),
    [("lt", "l", "t"), ("mt", "m", "t"), ("rb", "r", "b"), ("mm", "m", "m"), ("bottom right", "r", "b")],
)
def test_text_stands_at_its_anchor(white: str, tmp_path: Path, position: str, across: str, down: str) -> None:
    target = str(tmp_path / "out.png")
    add_text(white, "HIH", position, target, color="black")
    left, top, right, bottom = inked(target)
    margin = 336 // 20
    where = {"l": abs(left - margin), "m": abs((left + right) / 2 - 168), "r": abs(336 - right - margin)}
    height = {"t": abs(top - margin), "m": abs((top + bottom) / 2 - 168), "b": abs(336 - bottom - margin)}
    assert where[across] <= 3 and height[down] <= 6
    assert 10 <= bottom - top <= 16  # capitals of letters 18 pixels high


def test_text_stands_on_its_point_in_its_colour(white: str, tmp_path: Path) -> None:
    target = str(tmp_path / "out.png")
    add_text(white, "HIH", "(50, 200)", target, color="#0000ff")
    left, _, _, bottom = inked(target)
    assert abs(left - 50) <= 3 and abs(bottom - 200) <= 6
    colours = {colour for _, colour in opened(target).getcolors(100_000) or []}
    assert (0, 0, 255) in colours


def test_text_that_would_lie_outside_is_moved_inside_and_long_text_broken(white: str, tmp_path: Path) -> None:
    target = str(tmp_path / "out.png")
    answer = add_text(white, "Hello", "(330, 10)", target)
    assert "moved inside" in answer["text"] and inked(target)[2] <= 336
    answer = add_text(white, "A sentence that is much too long for one line of this picture", "mt", target)
    assert "broken into 2 lines" in answer["text"] and inked(target)[2] <= 336 - 10
    answer = add_text(white, "W" * 40, "mt", target)
    assert re.search(r"letters are 1\d pixels high instead of 18", answer["text"]) and inked(target)[2] <= 336


@pytest.mark.parametrize(
    ("position", "read"),
    [
        ("lt", "lt"),
        ("tl", "lt"),
        ("MT", "mt"),
        ("tm", "mt"),
        ("lm", "lm"),
        ("center", "mm"),
        ("top", "mt"),
        ("top-left", "lt"),
        ("(12, 34)", (12.0, 34.0)),
        ([12, 34], (12.0, 34.0)),
        ("x=12 y=34.5", (12.0, 34.5)),
    ],
)
def test_positions_are_read(position: object, read: object) -> None:
    assert read_position(position) == read


@pytest.mark.parametrize("position", ["", "somewhere", "lr", "(1, 2, 3)", "x1", "lt mt rb", "ll"])
def test_what_is_no_position_is_refused(position: str) -> None:
    with pytest.raises(ToolFault, match='such as "mt"'):
        read_position(position)


def test_what_is_no_colour_and_no_text_is_refused(white: str, tmp_path: Path) -> None:
    with pytest.raises(ToolFault, match="no colour"):
        add_text(white, "x", "mt", str(tmp_path / "out.png"), color="reddish")
    with pytest.raises(ToolFault, match="empty"):
        add_text(white, "  ", "mt", str(tmp_path / "out.png"))


def test_scripts_without_a_font_are_named() -> None:
    none = PictureFonts(FontFolders([]))
    written = PictureText("Ab \u4f60", 20, none)
    assert written.missing == {"\u4f60"} and written.width > 20


def test_other_scripts_are_drawn_where_a_font_has_them(white: str, tmp_path: Path) -> None:
    target = str(tmp_path / "out.png")
    text = "Привет, Ελλάδα, שלום"
    if PictureText(text, 18).missing:
        pytest.skip("no font here has these scripts")
    assert "No font" not in add_text(white, text, "mm", target)["text"]
    assert inked(target)[2] - inked(target)[0] > 150


def test_hebrew_runs_from_right_to_left() -> None:
    both, last = PictureText("\u05e9\u05dd", 40), PictureText("\u05dd", 40)
    if both.missing:
        pytest.skip("no font here has Hebrew")
    drawn = [Image.new("RGB", (120, 60), "white") for _ in range(2)]
    both.draw(drawn[0], 0, 0, "black")
    last.draw(drawn[1], 0, 0, "black")
    part = (0, 0, last.width - 2, 60)
    assert drawn[0].crop(part).tobytes() == drawn[1].crop(part).tobytes()


def test_lines_stand_below_each_other(white: str, tmp_path: Path) -> None:
    one, two = str(tmp_path / "one.png"), str(tmp_path / "two.png")
    add_text(white, "HIH", "lt", one)
    add_text(white, "HIH\nHIH", "lt", two)
    assert 20 <= inked(two)[3] - inked(one)[3] <= 25 and inked(two)[1] == inked(one)[1]
