"""Pictures for a model: decoded safely, oriented, flattened and sized; and which of many are kept."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from pytest_gta.formats.extract import Picture
from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.reading import PictureCandidate, Reading, Unreadable
from pytest_gta.formats.wording import spread

if TYPE_CHECKING:
    from PIL.Image import Image

_MOST_BYTES_UNCHANGED = 300_000
_SMALL_PX = 256
_FLAT_COLOURS = 4_096
_OTHER, _MOST_OTHER_PIXELS = 8, 0.03
"""How far off a pixel is seen, of 255; and how many may be."""
_SMALL_BYTES = 60_000
_PLAIN_MODES = ("RGB", "L", "1")
_MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg"}
_ORIENTATION = 0x0112
_SIDEWAYS = (5, 6, 7, 8)


@dataclass(frozen=True, slots=True)
class Decoded:
    """An image file, decoded.

    Attributes:
        picture: It, in a size and form a model can take.
        width: Pixels as shown, after turning it by its EXIF orientation.
        height: Pixels as shown.
        format: e.g. ``PNG``.
        mode: Pillow's word for its colours, e.g. ``RGBA``.
        frames: 1 unless it is animated (or has pages).
        texts: Descriptions stored in it, by name.
        single_colour: ``#rrggbb`` when all of it has one colour, else "".
    """

    picture: Picture
    width: int
    height: int
    format: str
    mode: str
    frames: int
    texts: dict[str, str]
    single_colour: str


def decode(content: bytes | BinaryIO, where: str, limits: ReadLimits, *, anew: bool = False) -> Decoded:
    """Decode an image and make a picture of it for a model.

    Args:
        content: The image file, as bytes or open for reading.
        where: Where it belongs.
        limits: Bounds on what is decoded, and the size of the picture.
        anew: Whether it is encoded again where its own bytes would do.

    Raises:
        Unreadable: When it is not an image Pillow can decode, is damaged, or has too many pixels.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    stream = io.BytesIO(content) if isinstance(content, bytes) else content
    stream.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            image: Image.Image = Image.open(stream)
            form, mode, size, frames = image.format or "?", image.mode, image.size, int(getattr(image, "n_frames", 1))
            _check_pixels(image, limits)
            texts = _texts(image)
            is_turned = image.getexif().get(_ORIENTATION, 1) not in (0, 1)
            if image.getexif().get(_ORIENTATION, 1) in _SIDEWAYS:
                size = (size[1], size[0])
            image.load()
            ImageOps.exif_transpose(image, in_place=True)
        except UnidentifiedImageError:
            raise Unreadable("it is not an image in a known format, or its start is damaged") from None
        except Image.DecompressionBombError:
            raise Unreadable(f"it has more than the {limits.max_image_px:,} pixels that are decoded") from None
        except Unreadable:
            raise
        except Exception as error:
            # A decoder may raise anything at all on damaged data.
            raise Unreadable(f"the image is damaged or incomplete ({_reason(error)})") from None
        small = _flatten(_shrink(image, limits.max_picture_px))
        colour = _single_colour(small)
    stays = form in _MEDIA_TYPES and mode in _PLAIN_MODES and "transparency" not in image.info
    unchanged = stays and not is_turned and frames == 1 and max(size) <= limits.max_picture_px
    if unchanged and not anew and (data := _bytes(stream, _MOST_BYTES_UNCHANGED)):
        smaller = _smaller(data, small, where) if form == "PNG" else None
        picture = smaller or Picture(where, _MEDIA_TYPES[form], data, *size)
    else:
        picture = encode(small, where)
    return Decoded(picture, *size, form, mode, frames, texts, colour)


def _bytes(stream: BinaryIO, most: int) -> bytes:
    """Return the whole content of a stream, nothing when it is longer than `most`."""
    stream.seek(0)
    data = stream.read(most + 1)
    return data if len(data) <= most else b""


def encode(image: Image, where: str) -> Picture:
    """Return an RGB or grey image as a picture.

    Text, charts and drawings become a PNG with a palette, which is sharper and a third of the size, a small photograph
    among them or not; photographs become a JPEG.
    """
    from PIL import Image as Pillow

    if max(image.size) <= _SMALL_PX:
        return _encoded(image, where, "PNG")
    palette = image.quantize(256, Pillow.Quantize.FASTOCTREE, dither=Pillow.Dither.NONE)
    if image.getcolors(_FLAT_COLOURS) is not None:
        return _encoded(palette, where, "PNG")
    jpeg = _encoded(image, where, "JPEG", quality=82)
    if _share_of_other_pixels(image, palette) > _MOST_OTHER_PIXELS:
        return jpeg
    png = _encoded(palette, where, "PNG")
    return png if len(png.data) < len(jpeg.data) else jpeg


def _encoded(image: Image, where: str, form: str, **settings: int) -> Picture:
    out = io.BytesIO()
    image.save(out, form, **settings)
    return Picture(where, _MEDIA_TYPES[form], out.getvalue(), *image.size)


def _share_of_other_pixels(image: Image, palette: Image) -> float:
    """Return the share of pixels that a palette shows visibly otherwise."""
    from PIL import ImageChops

    bands = ImageChops.difference(image.convert("RGB"), palette.convert("RGB")).split()
    counts = ImageChops.lighter(bands[0], ImageChops.lighter(bands[1], bands[2])).histogram()
    return sum(counts[_OTHER + 1 :]) / max(sum(counts), 1)


def _smaller(data: bytes, image: Image, where: str) -> Picture | None:
    """Return a photograph that is stored without loss as a JPEG that looks the same; None when it is no smaller."""
    if len(data) < _SMALL_BYTES or image.getcolors(_FLAT_COLOURS) is not None:
        return None
    jpeg = _encoded(image, where, "JPEG", quality=90, subsampling=0)
    return jpeg if len(jpeg.data) < len(data) // 2 else None


def embedded(name: str, where: str, read: Callable[[], bytes], limits: ReadLimits, key: str) -> PictureCandidate:
    """Return a candidate for a picture stored inside a document under `name`; `key` is equal for equal pictures."""

    def make() -> Picture:
        if name.lower().endswith((".emf", ".wmf", ".wdp", ".svg")):
            raise Unreadable(f"{where} is in the format {name.rsplit('.', 1)[-1].upper()}, which cannot be shown")
        try:
            return decode(read(), where, limits).picture
        except Unreadable as fault:
            raise Unreadable(f"{where}: {fault}") from None

    return PictureCandidate(where, make, key)


def choose(reading: Reading) -> tuple[Picture, ...]:
    """Make the pictures that fit the limits, spread over the file; the same picture is made once.

    What is left out for want of room, or cannot be shown, becomes a fault.
    """
    most = reading.limits.max_pictures
    seen: set[str] = set()
    distinct = []
    for candidate in reading.candidates:
        if candidate.key and candidate.key in seen:
            continue
        seen.add(candidate.key)
        distinct.append(candidate)
    if most <= 0 or not distinct:
        return ()
    made = []
    for index in spread(len(distinct), most):
        if reading.expired:
            reading.fault("the time for this file was over before all pictures were made")
            break
        try:
            picture = distinct[index].make()
        except Unreadable as fault:
            reading.fault(str(fault))
            continue
        made.append(picture)
    if len(distinct) > most:
        reading.fault(f"{len(made)} of {len(distinct)} pictures are included, spread over the file")
    return tuple(made)


def _check_pixels(image: Image, limits: ReadLimits) -> None:
    width, height = image.size
    if image.format == "JPEG":
        # A JPEG can be decoded at a fraction of its size; that is quicker, and large photographs stay readable.
        image.draft(None, (limits.max_picture_px, limits.max_picture_px))
    if image.size[0] * image.size[1] > limits.max_image_px:
        raise Unreadable(f"{width:,} x {height:,} pixels is more than the {limits.max_image_px:,} that are decoded")


def _shrink(image: Image, longest: int) -> Image:
    from PIL import Image as Pillow

    if image.mode.startswith("I") or image.mode == "F":
        image = _eight_bits(image)
    if image.mode in ("P", "PA"):
        image = image.convert("RGBA" if "transparency" in image.info or image.mode == "PA" else "RGB")
    elif image.mode not in ("RGB", "RGBA", "L", "LA", "CMYK"):
        image = image.convert("RGB")
    if max(image.size) > longest:
        scale = longest / max(image.size)
        size = (max(1, round(image.size[0] * scale)), max(1, round(image.size[1] * scale)))
        image = image.resize(size, Pillow.Resampling.BICUBIC, reducing_gap=2.0)
    return image


def _eight_bits(image: Image) -> Image:
    _low, high = (float(value) for value in image.convert("F").getextrema())  # type: ignore[arg-type]
    top = 65535.0 if image.mode.startswith("I") and high > 255 else max(high, 1.0)
    return image.convert("F").point(lambda value: value * (255.0 / top)).convert("L")


def _flatten(image: Image) -> Image:
    """Put an image that lets the ground through on white, or on grey when it is itself nearly white."""
    from PIL import Image as Pillow
    from PIL import ImageStat

    if image.mode not in ("RGBA", "LA"):
        return image if image.mode in ("RGB", "L") else image.convert("RGB")
    colours, alpha = image.convert("RGB"), image.getchannel("A")
    if alpha.getextrema() == (255, 255):
        return colours
    mask = alpha.point(lambda value: 255 if value > 40 else 0)
    visible = ImageStat.Stat(colours.convert("L"), mask)
    pale = visible.count[0] > 0 and visible.mean[0] > 225
    ground = Pillow.new("RGB", image.size, (96, 96, 96) if pale else (255, 255, 255))
    ground.paste(colours, mask=alpha)
    return ground


def _single_colour(image: Image) -> str:
    extrema = image.convert("RGB").getextrema()
    if any(not isinstance(band, tuple) or band[0] != band[1] for band in extrema):
        return ""
    return "#" + "".join(f"{int(band[0]):02x}" for band in extrema)  # type: ignore[index]


def _texts(image: Image) -> dict[str, str]:
    found = {}
    for name, value in image.info.items():
        if isinstance(value, str) and name not in ("icc_profile", "exif") and value.strip():
            found[str(name)] = value
    description = image.getexif().get(0x010E)
    if isinstance(description, str) and description.strip():
        found["description"] = description
    comment = image.info.get("comment")
    if isinstance(comment, bytes) and comment.strip():
        found["comment"] = comment.decode("utf-8", "replace")
    return found


def _reason(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:120] or type(error).__name__
