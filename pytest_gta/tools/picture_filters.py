"""Classical picture filters: what an instruction in words asks for, done by arithmetic on pixels, without a model."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_gta.tools.picture_input import flattened, open_picture, save
from pytest_gta.tools.tool import ToolFault

if TYPE_CHECKING:
    from PIL.Image import Image

_MOST_SIDE = 2000
"""Pixels; larger pictures are made smaller first."""


def preload(function: str, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the libraries a call needs, to import once."""
    return ("numpy", "PIL.Image", "PIL.ImageFilter", "PIL.ImageOps", "PIL.ImageEnhance")


def apply_words(image: str, instruction: str, target: str) -> dict[str, Any]:
    """Change a picture by the filters that an instruction names.

    Args:
        image: The picture.
        instruction: What a model wrote, in English.
        target: The new file.

    Returns:
        ``filters``: names of those applied, in order; ``words``: the words they were understood from; ``size``.

    Raises:
        ToolFault: No word of it names a filter, or it is no picture.
    """
    if importlib.util.find_spec("numpy") is None:
        raise ToolFault("it needs numpy, which is not installed here: pip install 'pytest-gta[tools]'")
    chosen = filters_for(instruction)
    if not chosen:
        raise ToolFault(
            f"{instruction[:80]!r} names none of the filters there are: {', '.join(f.name for f in FILTERS)}"
        )
    picture = flattened(open_picture(image))
    picture.thumbnail((_MOST_SIDE, _MOST_SIDE))
    for entry, _ in chosen:
        picture = entry.apply(picture)
    save(picture, target)
    return {
        "filters": [entry.name for entry, _ in chosen],
        "words": [word for _, word in chosen],
        "size": f"{picture.width} x {picture.height}",
    }


@dataclass(frozen=True, slots=True)
class PictureFilter:
    """A filter.

    Attributes:
        name: What it is called.
        words: Pattern of the words that ask for it.
        apply: What does it, RGB to RGB.
    """

    name: str
    words: re.Pattern[str]
    apply: Callable[[Image], Image]


def filters_for(instruction: str) -> list[tuple[PictureFilter, str]]:
    """Return the filters an instruction names, in the order of the table, each with the word that named it."""
    text = instruction.lower()
    found = [(entry, match[0]) for entry in FILTERS if (match := entry.words.search(text)) and not _denied(text, match)]
    names = {entry.name for entry, _ in found}
    # "Pencil sketch in black and white" means one thing, and a sketch of a sketch nothing.
    replaced = {
        "grey": {"pencil sketch", "charcoal"},
        "pencil sketch": {"charcoal", "coloured pencil"},
        "warm": {"sepia"},
    }
    return [(entry, word) for entry, word in found if not names & replaced.get(entry.name, set())]


def _denied(text: str, match: re.Match[str]) -> bool:
    return re.search(r"\b(?:not|no|don't|without|avoid|never|less)\b[\w\s]{0,12}$", text[: match.start()]) is not None


# -- the filters ------------------------------------------------------------------------------------------------------


def _grey(picture: Image) -> Image:
    return picture.convert("L").convert("RGB")


def _sepia(picture: Image) -> Image:
    grey = picture.convert("L")
    from PIL import ImageOps

    return ImageOps.colorize(grey, black=(38, 22, 10), mid=(148, 110, 72), white=(255, 240, 210))


def _sketch(picture: Image) -> Image:
    """Pencil on paper: each grey value against its blurred surroundings, which leaves lines and shading."""
    return _dodged(picture.convert("L")).convert("RGB")


def _coloured_pencil(picture: Image) -> Image:
    from PIL import ImageChops, ImageEnhance

    lines = _dodged(picture.convert("L")).convert("RGB")
    pale = ImageEnhance.Brightness(ImageEnhance.Color(picture).enhance(1.1)).enhance(1.25)
    return ImageChops.multiply(lines, pale)


def _charcoal(picture: Image) -> Image:
    from PIL import ImageFilter, ImageOps

    grey = picture.convert("L").filter(ImageFilter.GaussianBlur(1))
    # The filter takes the outermost pixels for edges.
    inner = grey.filter(ImageFilter.FIND_EDGES).crop((1, 1, max(2, grey.width - 1), max(2, grey.height - 1)))
    edges = inner.resize(grey.size)
    dark = ImageOps.autocontrast(edges.filter(ImageFilter.MaxFilter(3)), cutoff=(0, 1))
    return ImageOps.invert(dark).filter(ImageFilter.GaussianBlur(0.7)).convert("RGB")


def _oil(picture: Image) -> Image:
    """Oil-like: dabs of one colour along the shapes, strong colours."""
    from PIL import ImageEnhance, ImageFilter

    size = max(3, round(min(picture.size) / 110)) | 1
    return ImageEnhance.Color(picture.filter(ImageFilter.ModeFilter(min(size, 9)))).enhance(1.35)


def _watercolour(picture: Image) -> Image:
    """Watercolour-like: flat washes with soft rims, pale, edges darker where paint gathers."""
    from PIL import ImageChops, ImageEnhance, ImageFilter

    wash = picture
    for _ in range(3):
        wash = wash.filter(ImageFilter.MedianFilter(5))
    wash = ImageEnhance.Brightness(ImageEnhance.Color(wash).enhance(1.25)).enhance(1.12)
    return ImageChops.multiply(wash, _rims(picture, strength=0.35))


def _comic(picture: Image) -> Image:
    """Comic or cartoon: few colours, black outlines."""
    from PIL import ImageChops, ImageEnhance, ImageFilter, ImageOps

    flat = picture.filter(ImageFilter.MedianFilter(5)).filter(ImageFilter.MedianFilter(5))
    flat = ImageEnhance.Color(ImageOps.posterize(flat, 3)).enhance(1.5)
    return ImageChops.multiply(flat, _rims(picture, strength=1.0))


def _pop_art(picture: Image) -> Image:
    from PIL import ImageEnhance, ImageOps

    return ImageEnhance.Color(ImageOps.posterize(ImageOps.autocontrast(picture, cutoff=2), 2)).enhance(3.0)


def _pixels(picture: Image) -> Image:
    from PIL import Image

    side = max(2, round(max(picture.size) / 80))
    small = picture.resize((max(1, picture.width // side), max(1, picture.height // side)), Image.Resampling.BOX)
    return small.resize(picture.size, Image.Resampling.NEAREST)


def _mosaic(picture: Image) -> Image:
    """Tiles with joints between them."""
    import numpy as np
    from PIL import Image

    pixels = np.asarray(_pixels(picture)).copy()
    side = max(2, round(max(picture.size) / 80))
    pixels[::side] = pixels[::side] // 2
    pixels[:, ::side] = pixels[:, ::side] // 2
    return Image.fromarray(pixels)


def _emboss(picture: Image) -> Image:
    from PIL import ImageFilter

    return picture.convert("L").filter(ImageFilter.EMBOSS).convert("RGB")


def _negative(picture: Image) -> Image:
    from PIL import ImageOps

    return ImageOps.invert(picture)


def _blur(picture: Image) -> Image:
    from PIL import ImageFilter

    return picture.filter(ImageFilter.GaussianBlur(max(2, min(picture.size) / 100)))


def _sharpen(picture: Image) -> Image:
    from PIL import ImageFilter

    return picture.filter(ImageFilter.UnsharpMask(radius=2, percent=150, threshold=2))


def _vintage(picture: Image) -> Image:
    """Faded, warm, darker towards the corners."""
    from PIL import ImageEnhance

    faded = ImageEnhance.Contrast(ImageEnhance.Color(picture).enhance(0.6)).enhance(0.85)
    return _vignette(_shifted(faded, 1.08, 1.0, 0.82), 0.45)


def _warm(picture: Image) -> Image:
    return _shifted(picture, 1.12, 1.02, 0.85)


def _cool(picture: Image) -> Image:
    return _shifted(picture, 0.86, 1.0, 1.14)


def _night(picture: Image) -> Image:
    from PIL import ImageEnhance

    return ImageEnhance.Brightness(_shifted(picture, 0.7, 0.85, 1.2)).enhance(0.45)


def _brighter(picture: Image) -> Image:
    from PIL import ImageEnhance

    return ImageEnhance.Brightness(picture).enhance(1.35)


def _darker(picture: Image) -> Image:
    from PIL import ImageEnhance

    return ImageEnhance.Brightness(picture).enhance(0.65)


def _vivid(picture: Image) -> Image:
    from PIL import ImageEnhance

    return ImageEnhance.Contrast(ImageEnhance.Color(picture).enhance(1.7)).enhance(1.1)


def _contrast(picture: Image) -> Image:
    from PIL import ImageEnhance

    return ImageEnhance.Contrast(picture).enhance(1.5)


def _dodged(grey: Image) -> Image:
    import numpy as np
    from PIL import Image, ImageFilter

    values = np.asarray(grey, dtype=np.float32)
    around = np.asarray(grey.filter(ImageFilter.GaussianBlur(max(3, min(grey.size) / 60))), dtype=np.float32)
    drawn = np.clip(values * 255.0 / np.maximum(around, 1.0), 0, 255)
    # Darker than the quotient alone gives, for lines that can be seen.
    return Image.fromarray((255.0 * (drawn / 255.0) ** 2).astype(np.uint8))


def _rims(picture: Image, *, strength: float) -> Image:
    """Return a white picture with dark lines where shapes end."""
    import numpy as np
    from PIL import Image, ImageFilter

    grey = picture.convert("L").filter(ImageFilter.MedianFilter(5)).filter(ImageFilter.GaussianBlur(1))
    values = np.asarray(grey, dtype=np.float32)
    slope = np.hypot(*np.gradient(values)) if min(values.shape) > 1 else np.zeros_like(values)
    edge = np.clip((slope - 6.0) / 14.0, 0, 1) * strength
    return Image.fromarray((255 * (1 - edge)).astype(np.uint8)).convert("RGB")


def _shifted(picture: Image, red: float, green: float, blue: float) -> Image:
    from PIL import Image

    bands = [
        band.point([min(255, round(value * factor)) for value in range(256)])
        for band, factor in zip(picture.split(), (red, green, blue), strict=True)
    ]
    return Image.merge("RGB", bands)


def _vignette(picture: Image, strength: float) -> Image:
    import numpy as np
    from PIL import Image

    y, x = np.ogrid[-1 : 1 : picture.height * 1j, -1 : 1 : picture.width * 1j]
    light = 1 - strength * np.clip((x**2 + y**2) / 2, 0, 1)
    return Image.fromarray((np.asarray(picture) * light[:, :, None]).astype(np.uint8))


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b")


FILTERS = (
    PictureFilter("oil-like", _words(r"oil(?:[ -]?paint\w*)?|van gogh|impressionis\w+|brush ?strokes?"), _oil),
    PictureFilter("watercolour-like", _words(r"water ?-?colou?rs?|aquarelle?"), _watercolour),
    PictureFilter(
        "comic",
        _words(r"comics?|cartoon\w*|anime|manga|ghibli|illustration|cel[ -]shad\w+|animat\w+|graphic novel"),
        _comic,
    ),
    PictureFilter("pop art", _words(r"pop[ -]?art|warhol|poster\w*"), _pop_art),
    PictureFilter("pencil sketch", _words(r"pencil|sketch\w*|line[ -](?:art|drawing)|drawing"), _sketch),
    PictureFilter(
        "coloured pencil", _words(r"(?:colou?r(?:ed)?[ -]pencils?|colou?r(?:ed)? sketch|crayons?)"), _coloured_pencil
    ),
    PictureFilter("charcoal", _words(r"charcoal|ink(?: drawing)?|etching|engraving"), _charcoal),
    PictureFilter("pixels", _words(r"pixel\w*|8[ -]?bit|retro game"), _pixels),
    PictureFilter("mosaic", _words(r"mosaics?|tiles?|stained glass"), _mosaic),
    PictureFilter("emboss", _words(r"emboss\w*|relief|engraved stone"), _emboss),
    PictureFilter("sepia", _words(r"sepia"), _sepia),
    PictureFilter(
        "vintage", _words(r"vintage|retro(?! game)|old[ -](?:photo\w*|fashioned|film)|antique|nostalgi\w+"), _vintage
    ),
    PictureFilter(
        "grey",
        _words(r"black[ -](?:and|&|n)[ -]white|b&w|grey(?:scale)?|gray(?:scale)?|monochrome|desaturated?"),
        _grey,
    ),
    PictureFilter("negative", _words(r"negative|invert(?:ed)?"), _negative),
    PictureFilter("night", _words(r"night(?:time)?|moonlight"), _night),
    PictureFilter("warm", _words(r"warm(?:er)?|sunset|golden hour|autumn\w*"), _warm),
    PictureFilter("cool", _words(r"cool(?:er)?|cold(?:er)?|winter\w*|blu(?:ish|er)"), _cool),
    PictureFilter("vivid", _words(r"vivid|vibrant|saturated?|colou?rful"), _vivid),
    PictureFilter("contrast", _words(r"contrast\w*|dramatic"), _contrast),
    PictureFilter("brighter", _words(r"bright(?:er|en)?|lighter|lighten"), _brighter),
    PictureFilter("darker", _words(r"dark(?:er|en)?"), _darker),
    PictureFilter("blur", _words(r"blur(?:red|ry)?|soft(?:er|en)? focus|dreamy"), _blur),
    PictureFilter("sharpen", _words(r"sharp(?:er|en)?|crisp"), _sharpen),
)
"""In the order they are applied: what makes the style first, then colours, light and focus."""
