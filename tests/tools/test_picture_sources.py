"""Pictures found by name or place, and loaded as what a document can hold."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from pytest_gta.tools.picture_sources import PictureSources, load_picture, split_image_paths

Make = Callable[..., Path]


def test_by_placeholder_by_name_and_by_base_name(picture: Make, tmp_path: Path) -> None:
    picture("charts/a.png", 30, 20)
    picture("b.png", 10, 10)
    sources = PictureSources(["charts/a.png", "b.png"], lambda name: tmp_path / name)
    for source in ("{{image_1}}", "charts/a.png", "a.png", "{{ Image_1 }}"):
        found = sources.find(source)
        assert found is not None and (found.width, found.height) == (30, 20)
    assert sources.unplaced(["{{image_1}}"]) == ["b.png"]
    assert sources.notes == []


def test_what_cannot_be_placed_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "drawing.svg").write_text("<svg/>")
    sources = PictureSources(["gone.png"], lambda name: tmp_path / name)
    for source in ("{{image_1}}", "gone.png", "{{image_7}}", "text.png", "drawing.svg", "https://x.org/a.png"):
        assert sources.find(source) is None
    assert len(sources.notes) == 5
    assert "'gone.png' was left out: there is no such file" in sources.notes[0]
    assert "{{image_7}} has no picture: 1 image(s) were given" in sources.notes[1]
    assert "not a picture of a known kind" in sources.notes[2]
    assert "SVG" in sources.notes[3]


def test_webp_and_cmyk_become_what_office_reads(tmp_path: Path) -> None:
    Image.new("RGBA", (20, 10), (255, 0, 0, 128)).save(tmp_path / "a.webp")
    Image.new("CMYK", (20, 10)).save(tmp_path / "b.jpg")
    assert Image.open(io.BytesIO(load_picture(tmp_path / "a.webp", "a").data)).format == "PNG"
    assert Image.open(io.BytesIO(load_picture(tmp_path / "b.jpg", "b").data)).mode == "RGB"


def test_a_turned_photo_is_set_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (40, 20)).save(tmp_path / "p.jpg", exif=exif)
    loaded = load_picture(tmp_path / "p.jpg", "p.jpg")
    assert (loaded.width, loaded.height) == (20, 40)


def test_a_large_picture_is_scaled_down(tmp_path: Path) -> None:
    Image.new("L", (6000, 300)).save(tmp_path / "w.png")
    loaded = load_picture(tmp_path / "w.png", "w.png")
    assert (loaded.width, loaded.height) == (3000, 150)


def test_a_truncated_picture_is_refused_with_a_reason(tmp_path: Path) -> None:
    Image.effect_noise((300, 300), 50).save(tmp_path / "t.tiff")
    data = (tmp_path / "t.tiff").read_bytes()
    (tmp_path / "t.tiff").write_bytes(data[: len(data) // 2])
    sources = PictureSources([], lambda name: tmp_path / name)
    assert sources.find("t.tiff") is None
    assert "t.tiff" in sources.notes[0]


def test_size_within_keeps_proportions_and_never_enlarges() -> None:
    from pytest_gta.tools.picture_sources import LoadedPicture

    picture = LoadedPicture("p", b"", 400, 100)
    assert picture.size_within(1000, 1000, per_pixel=0.75) == (300, 75)
    assert picture.size_within(200, 1000, per_pixel=0.75) == (200, 50)
    assert picture.size_within(1000, 10, per_pixel=0.75) == (40, 10)


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("", []),
        (None, []),
        ("a.png, b.png", ["a.png", "b.png"]),
        ("a.png\nb.png", ["a.png", "b.png"]),
        ('["a.png", "b.png"]', ["a.png", "b.png"]),
        (["a, b.png", " c.png "], ["a, b.png", "c.png"]),
        ("x.png, Sales, 2026.png, y.png", ["x.png", "Sales, 2026.png", "y.png"]),
        ("'a.png'", ["a.png"]),
        ("[a.png, b.png]", ["a.png", "b.png"]),
    ],
)
def test_image_paths_in_the_shapes_models_use(value: object, names: list[str]) -> None:
    assert split_image_paths(value, {"Sales, 2026.png", "a.png"}.__contains__) == names


@pytest.mark.parametrize(
    "value",
    [
        [{"path": "a.png", "caption": "A"}, "b.png"],
        {"image_1": "a.png", "image_2": "b.png"},
        '{"image_1": "a.png", "image_2": "b.png"}',
        '[{"path": "a.png"}, {"path": "b.png"}]',
    ],
)
def test_image_paths_in_objects(value: object) -> None:
    assert split_image_paths(value, lambda name: False) == ["a.png", "b.png"]
    assert split_image_paths({"path": "a.png"}, lambda name: False) == ["a.png"]


def test_image_paths_of_another_type_are_refused_with_an_example() -> None:
    with pytest.raises(ValueError, match=r"chart\.png"):
        split_image_paths({"a": 1}, lambda name: False)
