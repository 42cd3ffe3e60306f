"""In which form pictures go to a model: by what they show."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from pytest_gta.formats.drawn_pages import file_pictures
from pytest_gta.formats.extract import Picture
from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.pictures import decode, encode


def photograph(size: tuple[int, int]) -> Image.Image:
    """Soft shapes of many colours with some grain."""
    draw = random.Random(3)
    small = Image.new("RGB", (size[0] // 8, size[1] // 8))
    small.putdata([tuple(draw.randrange(256) for _ in range(3)) for _ in range(small.width * small.height)])
    soft = small.filter(ImageFilter.GaussianBlur(1)).resize(size, Image.Resampling.BICUBIC)
    grain = Image.frombytes("L", size, bytes(draw.randrange(8) for _ in range(size[0] * size[1])))
    return ImageChops.add(soft, Image.merge("RGB", (grain, grain, grain)))


def page(size: tuple[int, int] = (850, 1_100)) -> Image.Image:
    image = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    for line in range(0, size[1] - 20, 18):
        pen.text(
            (40, line), f"Line {line} of a report about the usual matters of the year, {line * 7} in all.", "black"
        )
    return image


def png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def worst(picture: Picture, original: Image.Image) -> float:
    """Return the share of pixels that are off by more than 16 of 255 in some colour."""
    shown = Image.open(io.BytesIO(picture.data)).convert("RGB")
    bands = ImageChops.difference(shown, original).split()
    counts = ImageChops.lighter(bands[0], ImageChops.lighter(bands[1], bands[2])).histogram()
    return sum(counts[17:]) / sum(counts)


def test_text_is_a_png_and_a_photograph_a_jpeg() -> None:
    assert encode(page(), "page 1").media_type == "image/png"
    photo = encode(photograph((640, 480)), "")
    assert (photo.media_type, photo.width, photo.height) == ("image/jpeg", 640, 480)


def test_a_page_with_a_small_photograph_stays_sharp_and_small() -> None:
    mixed = page()
    mixed.paste(photograph((120, 90)), (600, 100))
    assert mixed.getcolors(4_096) is None
    picture = encode(mixed, "page 1")
    jpeg = io.BytesIO()
    mixed.save(jpeg, "JPEG", quality=82)
    assert picture.media_type == "image/png"
    assert len(picture.data) < len(jpeg.getvalue())
    assert worst(picture, mixed) < 0.02


def test_a_page_that_is_mostly_a_photograph_is_a_jpeg() -> None:
    mixed = page()
    mixed.paste(photograph((800, 800)), (20, 100))
    assert encode(mixed, "page 1").media_type == "image/jpeg"


def test_a_photograph_stored_without_loss_is_sent_as_a_jpeg_that_looks_the_same() -> None:
    original = photograph((320, 320))
    data = png(original)
    assert 60_000 < len(data) < 300_000
    decoded = decode(data, "", ReadLimits())
    assert (decoded.format, decoded.width, decoded.picture.media_type) == ("PNG", 320, "image/jpeg")
    assert len(decoded.picture.data) < len(data) / 2
    assert worst(decoded.picture, original) < 0.01


@pytest.mark.parametrize("image", [page((400, 300)), photograph((64, 64))], ids=["text", "small"])
def test_what_would_gain_little_is_sent_as_it_is(image: Image.Image) -> None:
    data = png(image)
    assert decode(data, "", ReadLimits()).picture.data == data
    assert decode(data, "", ReadLimits(), anew=True).picture.media_type == "image/png"


def test_what_a_browser_drew_is_stored_smaller(tmp_path: Path) -> None:
    drawn = page()
    (tmp_path / "piece.png").write_bytes(png(drawn))
    (found,) = file_pictures([str(tmp_path / "piece.png")], 1_200)
    picture = Picture.from_json(found)
    assert len(picture.data) < (tmp_path / "piece.png").stat().st_size
    assert worst(picture, drawn) == 0
