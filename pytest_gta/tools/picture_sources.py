"""The pictures that go into a document: found by name or place, turned into what Office and PDF files can hold."""

from __future__ import annotations

import io
import json
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

_PLACEHOLDER = re.compile(r"\{\{\s*image[_ ]?(\d+)\s*\}\}", re.IGNORECASE)
_KEPT_FORMATS = frozenset(("PNG", "JPEG"))
_MAX_SIDE = 3000
"""Pixels; a wider picture is scaled down, for a page shows no more of it."""
_MAX_PIXELS = 200_000_000

Resolve = Callable[[str], Path]
"""Gives the file a name stands for; raises `OSError` or `ValueError` with a plain reason when it may not be read."""


@dataclass(frozen=True, slots=True)
class LoadedPicture:
    """A picture ready to be placed.

    Attributes:
        name: The name it was asked for by.
        data: PNG or JPEG, upright.
        width: Pixels.
        height: Pixels.
    """

    name: str
    data: bytes = field(repr=False)
    width: int
    height: int

    def size_within(self, width: float, height: float, *, per_pixel: float) -> tuple[float, float]:
        """Return the size to show it in: its own at `per_pixel` units a pixel, or less to stay within the bounds."""
        scale = min(per_pixel, width / self.width, height / self.height)
        return self.width * scale, self.height * scale


class PictureSources:
    """Pictures of one document, loaded on first use.

    Attributes:
        notes: A sentence for each picture that could not be placed.
    """

    def __init__(self, names: Sequence[str], resolve: Resolve) -> None:
        """Take the images given beside the text, in order; `resolve` gives the file a name stands for."""
        self._names = tuple(names)
        self._resolve = resolve
        self._loaded: dict[str, LoadedPicture | None] = {}
        self.notes: list[str] = []

    def find(self, source: str) -> LoadedPicture | None:
        """Return the picture a text calls `source`: a path, a given image's base name, or ``{{image_2}}``.

        None when there is no such picture or it is no picture; a note then says why.
        """
        name = self._name_of(source)
        if name is None:
            return None
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def unplaced(self, used: Sequence[str]) -> list[str]:
        """Return the given images that none of the `used` sources stands for, in order."""
        placed = {self._name_of(source, silent=True) for source in used}
        return [name for name in dict.fromkeys(self._names) if name not in placed]

    def _name_of(self, source: str, *, silent: bool = False) -> str | None:
        placed = _PLACEHOLDER.fullmatch(source.strip())
        if placed:
            number = int(placed.group(1))
            if 1 <= number <= len(self._names):
                return self._names[number - 1]
            if not silent:
                given = f"{len(self._names)} image(s) were given" if self._names else "no image was given"
                self._note(f"{{{{image_{number}}}}} has no picture: {given} in image_paths.")
            return None
        if source in self._names:
            return source
        alike = [name for name in self._names if PurePosixPath(name).name == PurePosixPath(source).name]
        return alike[0] if alike else source

    def _load(self, name: str) -> LoadedPicture | None:
        if re.match(r"(?:https?|ftp|data):", name, re.IGNORECASE):
            shown = name if len(name) < 80 else name[:77] + "..."
            self._note(f"The picture {shown!r} was left out: only files of the workspace can be placed.")
            return None
        try:
            path = self._resolve(name)
            return load_picture(path, name)
        except FileNotFoundError:
            self._note(f"The picture {name!r} was left out: there is no such file.")
        except IsADirectoryError:
            self._note(f"The picture {name!r} was left out: it is a folder.")
        except (OSError, ValueError) as error:
            reason = str(error).rstrip(".")
            self._note(f"The picture {name!r} was left out: {reason}{'' if reason.endswith('?') else '.'}")
        return None

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def load_picture(path: Path, name: str) -> LoadedPicture:
    """Return a picture file as PNG or JPEG, upright and at most 3000 pixels a side.

    Raises:
        OSError: The file cannot be opened.
        ValueError: It is no picture of a known kind; the text says what was found.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    if path.suffix.lower() in (".svg", ".svgz"):
        raise ValueError("an SVG drawing cannot be placed; give a PNG or JPEG of it")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(path) as opened:
                if opened.width * opened.height > _MAX_PIXELS:
                    raise ValueError(f"{opened.width} x {opened.height} pixels are too many")
                kept = opened.format in _KEPT_FORMATS and opened.mode in ("RGB", "L", "RGBA", "P", "LA", "1")
                turned = ImageOps.exif_transpose(opened)
                if kept and turned.size == opened.size and max(opened.size) <= _MAX_SIDE and not _is_turned(opened):
                    return LoadedPicture(name, path.read_bytes(), opened.width, opened.height)
                return _encoded(turned, name, jpeg=opened.format == "JPEG")
        except UnidentifiedImageError:
            raise ValueError("it is not a picture of a known kind") from None
        except (SyntaxError, Image.DecompressionBombError, EOFError) as error:
            raise ValueError(f"it is damaged ({error})") from None


def split_image_paths(value: object, exists: Callable[[str], bool]) -> list[str]:
    """Return the names in an ``image_paths`` argument: a list, JSON text of one, or text with commas.

    The list may be of objects with a ``path``, or an object with a name for each placeholder. A comma belongs to a name
    when the file with that name exists.

    Raises:
        ValueError: Something else was given.
    """
    if value is None:
        return []
    if isinstance(value, str):
        text = value.strip()
        if text.startswith(("[", "{")):
            try:
                return split_image_paths(json.loads(text), exists)
            except ValueError:
                text = text.strip("[]{}")
        pieces = [piece.strip().strip("\"'") for piece in re.split(r"[,\n;]", text)]
        return [name for name in _rejoined(pieces, exists) if name]
    if isinstance(value, dict):
        value = [value] if "path" in value else list(value.values())
    if isinstance(value, list | tuple):
        value = [name.get("path", name) if isinstance(name, dict) else name for name in value]
    if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        return [name.strip() for name in value if name.strip()]
    raise ValueError('image_paths takes file names, e.g. ["chart.png", "photo.jpg"] or "chart.png, photo.jpg"')


def _rejoined(pieces: list[str], exists: Callable[[str], bool]) -> list[str]:
    names: list[str] = []
    at = 0
    while at < len(pieces):
        end = len(pieces) if len(pieces) < 50 else at + 1
        while end > at + 1 and not any(exists(glue.join(pieces[at:end])) for glue in (", ", ",")):
            end -= 1
        joined = [glue.join(pieces[at:end]) for glue in (", ", ",")]
        names.append(next((name for name in joined if exists(name)), joined[0]))
        at = end
    return names


def _is_turned(picture: Image.Image) -> bool:
    return bool(picture.getexif().get(0x0112, 1) != 1)


def _encoded(picture: Image.Image, name: str, *, jpeg: bool) -> LoadedPicture:
    picture.thumbnail((_MAX_SIDE, _MAX_SIDE))
    seen_through = picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info
    out = picture.convert("RGBA" if seen_through else "RGB")
    buffer = io.BytesIO()
    if jpeg and not seen_through:
        out.save(buffer, "JPEG", quality=90)
    else:
        out.save(buffer, "PNG")
    return LoadedPicture(name, buffer.getvalue(), out.width, out.height)
