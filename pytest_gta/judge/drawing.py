"""Deliverables drawn as a person would see them, by the programs that this machine has for it.

Everything is made in a folder of its own, never beside the files. What cannot be drawn is said in a plain note, and the
file is shown as it would be without any renderer.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pytest_gta.formats.browser import picture_page
from pytest_gta.formats.extract import Extract, Picture
from pytest_gta.formats.office import document_to_pdf
from pytest_gta.formats.renderers import Renderer, Renderers
from pytest_gta.formats.wording import clean, one_line, plural, spans
from pytest_gta.judge.drawing_cache import DrawingCache, site_digest
from pytest_gta.judge.reading_files import Caller
from pytest_gta.workspace.confined_process import ConfinedError
from pytest_gta.workspace.confined_program import ProgramFailed

DRAWING_VERSION = "3"
"""Raised when the same file is drawn differently by the same program."""

_NOUNS = {"word": "page", "slides": "slide", "sheets": "sheet", "web": ""}
_PICTURING_S = 30.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """What came of drawing a file.

    Attributes:
        pictures: Of its pages, slides, sheets or screens; none when it could not be drawn.
        source: What they depend on, as a digest: the same file, program and size give the same one.
        note: What the judge should know of them, or why there are none.
        pages: How many pages, slides or sheets there are, pictured or not; 0 for a web page.
        whole: Whether it was drawn to its end; a page that was still loading may look otherwise the next time.
    """

    pictures: tuple[Picture, ...]
    source: str
    note: str
    pages: int = 0
    whole: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON value."""
        pictures = [picture.to_json() for picture in self.pictures]
        return {"pictures": pictures, "source": self.source, "note": self.note, "pages": self.pages}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return the drawing that `to_json` gave."""
        pictures = tuple(Picture.from_json(picture) for picture in value["pictures"])
        return cls(pictures, str(value["source"]), str(value["note"]), int(value["pages"]))


class Drawer:
    """Draws the files of one task; use as a context manager.

    Args:
        renderers: The programs there are.
        site: The folder a web page may take other files from: the task's workspace.
        seconds: Time for one file.
        cache: Drawings of earlier runs; None to always draw.
    """

    def __init__(
        self, renderers: Renderers, site: Path, seconds: float = 45.0, cache: DrawingCache | None = None
    ) -> None:
        self._renderers, self._site, self._seconds = renderers, site.resolve(), seconds
        self._cache = cache
        self.folder = Path(tempfile.mkdtemp(prefix="pytest-gta-")).resolve()
        """Where drawings are made; the process that reads files must be allowed to read it."""
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the drawings' folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def draws(self, family: str) -> bool:
        """Whether there is a program for a family of files."""
        return self._renderers.for_family(family) is not None

    def draw(self, place: Path, extract: Extract, process: Caller, *, most: int, longest_px: int) -> Drawing:
        """Draw a file.

        Args:
            place: The file.
            extract: What was read of it.
            process: Where the renderer's output is read.
            most: How many pictures at most.
            longest_px: Longest side of a picture.
        """
        program = self._renderers.for_family(extract.kind)
        if program is None or most <= 0:
            return Drawing((), "", "")
        self._count += 1
        folder = self.folder / str(self._count)
        try:
            depends_on = [
                DRAWING_VERSION,
                program.name,
                program.version,
                _sha256(place),
                extract.kind,
                most,
                longest_px,
            ]
            source = _digest(depends_on)
            key = self._key(source, place, extract)
            if key and self._cache is not None and (kept := self._cache.get(key)) is not None:
                return Drawing.from_json(kept)
            folder.mkdir()
            draw = self._page if extract.kind == "web" else self._document
            drawing = replace(draw(program, place, extract, process, folder, most, longest_px), source=source)
        except (ProgramFailed, ConfinedError, OSError, ValueError, KeyError) as fault:
            return Drawing((), "", f"not drawn: {_reason(fault)}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if key and self._cache is not None and drawing.whole:
            self._cache.put(key, drawing.to_json())
        return drawing

    def _key(self, source: str, place: Path, extract: Extract) -> str:
        """Return under what a drawing is kept: all that the renderer is given. "" when it is not worth to find out."""
        if self._cache is None:
            return ""
        if extract.kind != "web":
            return _digest([source, place.suffix.lower()])
        around = self._around
        return around and _digest([source, os.path.relpath(place.resolve(), self._site), around])

    @cached_property
    def _around(self) -> str:
        """What a page may take styles, scripts and pictures from; nothing works there any more."""
        try:
            return site_digest(self._site)
        except OSError:
            return ""

    def _document(
        self, program: Renderer, place: Path, extract: Extract, process: Caller, folder: Path, most: int, px: int
    ) -> Drawing:
        made = document_to_pdf(
            program.binary,
            place,
            extract.kind,
            folder,
            confined=self._renderers.confined,
            seconds=self._seconds,
        )
        wish = {"path": str(made), "most": most, "longest_px": px}
        found = process.call("pytest_gta.formats.drawn_pages:pdf_pictures", wish, _PICTURING_S)
        count, shown = int(found["pages"]), [int(number) for number in found["shown"]]
        noun = _NOUNS[extract.kind]
        if extract.kind == "slides" and count != extract.facts.get("slides"):
            noun = "page"
        pictures = tuple(_drawn(value, f"{noun} {value['where']}") for value in found["pictures"])
        note = f"drawn by {program.name}"
        if len(shown) < count:
            note += f": {noun}{'' if len(shown) == 1 else 's'} {spans(shown)} of {count}"
        return Drawing(pictures, "", note, count)

    def _page(
        self, program: Renderer, place: Path, extract: Extract, process: Caller, folder: Path, most: int, px: int
    ) -> Drawing:
        page = picture_page(
            program.binary,
            place.resolve(),
            folder,
            site=self._site,
            confined=self._renderers.confined,
            most=most,
            longest_px=px,
            seconds=self._seconds,
            phone="adapts to screen width" in extract.facts,
        )
        files = [*page.files, *([page.phone] if page.phone else [])]
        wish = {"paths": [str(file) for _, file in files], "longest_px": px}
        found = process.call("pytest_gta.formats.drawn_pages:file_pictures", wish, _PICTURING_S)
        pictures = tuple(_drawn(value, where) for value, (where, _) in zip(found, files, strict=True))
        note = f"drawn by {program.name}, {page.height:,} pixels high"
        if len(page.files) < page.pieces:
            note += f", {len(page.files)} of {plural(page.pieces, 'part')}"
        if page.not_loaded:
            hosts = ", ".join(one_line(clean(host), 40) for host in page.not_loaded[:3])
            note += f"; what it takes from the web was not loaded, which is no fault of it ({hosts})"
        return Drawing(pictures, "", note, whole=page.loaded)


def _drawn(value: Any, where: str) -> Picture:
    return replace(Picture.from_json(value), where=f"{where} (drawn)")


def _reason(fault: Exception) -> str:
    if isinstance(fault, ConfinedError):
        return "what the renderer made could not be pictured"
    if isinstance(fault, OSError):
        return one_line(fault.strerror or type(fault).__name__, 100)
    return one_line(str(fault), 160)


def _digest(values: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
