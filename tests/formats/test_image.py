from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

from PIL import Image, PngImagePlugin

from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.read import read_file
from tests.formats.office import png


def pixels(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def test_small_image_is_passed_on_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(png("red", (640, 480)))
    extract = read_file(path)
    assert (extract.kind, extract.media_type, extract.faults) == ("image", "image/png", ())
    assert extract.facts["pixels"] == "640 x 480"
    assert extract.pictures[0].data == path.read_bytes()
    assert extract.notes == ("every pixel has the same colour, #ff0000",)


def test_large_image_is_sized_for_a_model(tmp_path: Path) -> None:
    path = tmp_path / "big.jpg"
    Image.effect_noise((3_000, 1_500), 50).save(path)
    extract = read_file(path)
    assert extract.facts["pixels"] == "3000 x 1500"
    assert (extract.pictures[0].width, extract.pictures[0].height) == (1_200, 600)
    assert pixels(extract.pictures[0].data).size == (1_200, 600)


def test_exif_orientation_is_applied(tmp_path: Path) -> None:
    path = tmp_path / "turned.jpg"
    image = Image.new("RGB", (400, 200), "white")
    image.paste("black", (0, 0, 200, 200))
    exif = Image.Exif()
    exif[0x0112] = 6
    image.save(path, exif=exif)
    extract = read_file(path)
    assert extract.facts["pixels"] == "200 x 400"
    shown = pixels(extract.pictures[0].data)
    assert shown.size == (200, 400)
    assert shown.getpixel((100, 50)) < (60, 60, 60)
    assert shown.getpixel((100, 350)) > (200, 200, 200)


def test_transparent_ground_becomes_white_or_grey_under_pale_drawing(tmp_path: Path) -> None:
    for name, ink, corner in (
        ("dark.png", (0, 0, 0, 255), (255, 255, 255)),
        ("pale.png", (255, 255, 255, 255), (96, 96, 96)),
    ):
        image = Image.new("RGBA", (400, 400), (0, 0, 0, 0))
        image.paste(ink, (100, 100, 300, 300))
        image.save(tmp_path / name)
        shown = pixels(read_file(tmp_path / name).pictures[0].data)
        assert all(abs(a - b) < 12 for a, b in zip(shown.getpixel((10, 10)), corner, strict=True))
        assert all(abs(a - b) < 12 for a, b in zip(shown.getpixel((200, 200)), ink[:3], strict=True))


def test_animation_says_what_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.gif"
    frames = [Image.new("RGB", (300, 300), colour) for colour in ("red", "green", "blue")]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=100)
    extract = read_file(path)
    assert extract.facts["frames"] == 3
    assert extract.faults == ("it has 3 frames, of which the first is shown",)
    assert pixels(extract.pictures[0].data).getpixel((5, 5))[0] > 200


def test_decompression_bomb_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    for size in (12_000, 60_000):
        header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
        path = tmp_path / f"bomb{size}.png"
        path.write_bytes(
            b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", header)
            + chunk(b"IDAT", zlib.compress(b"\0" * 10**6))
            + chunk(b"IEND", b"")
        )
        extract = read_file(path)
        assert extract.pictures == ()
        assert len(extract.faults) == 1
        assert "50,000,000" in extract.faults[0]


def test_truncated_image(tmp_path: Path) -> None:
    path = tmp_path / "cut.jpg"
    Image.effect_noise((600, 600), 50).save(path)
    path.write_bytes(path.read_bytes()[:4_000])
    extract = read_file(path)
    assert extract.pictures == ()
    assert extract.faults[0].startswith("JPEG image: the image is damaged or incomplete")


def test_sixteen_bits_cmyk_and_palette(tmp_path: Path) -> None:
    Image.new("I;16", (300, 300), 40_000).save(tmp_path / "deep.png")
    Image.new("CMYK", (300, 300), (0, 255, 255, 0)).save(tmp_path / "print.jpg")
    Image.new("P", (300, 300), 0).save(tmp_path / "palette.png")
    deep, cmyk, palette = (read_file(tmp_path / name) for name in ("deep.png", "print.jpg", "palette.png"))
    assert abs(pixels(deep.pictures[0].data).getpixel((5, 5))[0] - 155) < 8
    assert pixels(cmyk.pictures[0].data).getpixel((5, 5))[0] > 200
    assert palette.faults == ()


def test_text_stored_in_an_image_is_shown(tmp_path: Path) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("parameters", "a cat, oil painting")
    path = tmp_path / "made.png"
    Image.new("RGB", (300, 300)).save(path, pnginfo=info)
    assert "[stored in the image, parameters: a cat, oil painting]" in read_file(path).text


def test_svg_is_words_and_source(tmp_path: Path) -> None:
    path = tmp_path / "d.svg"
    path.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="20">'
        "<rect/><text>Hello <tspan>there</tspan></text></svg>"
    )
    extract = read_file(path)
    assert (extract.kind, extract.media_type) == ("image", "image/svg+xml")
    assert "Hello there" in extract.text
    assert "<rect/>" in extract.text
    assert extract.facts["elements"] == "1 rect, 1 text"
    assert extract.faults == ("the drawing is given as its source, not as a picture",)


def test_no_pictures_wanted(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(png())
    extract = read_file(path, ReadLimits(max_pictures=0))
    assert extract.pictures == ()
    assert extract.facts["pixels"] == "300 x 200"
