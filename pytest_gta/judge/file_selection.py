"""Which files of a task are opened, and how many pictures each may bring."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_gta.formats.extract import Extract
from pytest_gta.formats.sniff import family_of_name
from pytest_gta.judge.reading_files import Caller, read_confined

if TYPE_CHECKING:
    from pytest_gta.judge.drawing import Drawer
    from pytest_gta.judge.evidence import EvidenceBudget

_WISHES = {"image": 1, "word": 12, "slides": 12, "sheets": 6, "web": 4, "archive": 8, "video": 8, "pdf": 24, "": 2}
# Those that bring a known or small number first; a PDF has a picture a page and takes what is left.
_ORDER = {"image": 0, "sheets": 1, "web": 1, "word": 2, "slides": 2, "archive": 3, "video": 3, "pdf": 4}


@dataclass(frozen=True, slots=True)
class FileToRead:
    """A file that may be shown.

    Attributes:
        role: ``deliverable`` or ``input``.
        path: As the agent or the request names it.
        place: Where it is on disk.
        bytes: Size.
        media_type: As collected; "" when not known yet.
        sha256: Digest of its content, None when not taken.
    """

    role: str
    path: str
    place: Path
    bytes: int
    media_type: str
    sha256: str | None

    @property
    def family(self) -> str:
        """The family its suffix promises, "" for none."""
        return family_of_name(self.place.suffix.lower().lstrip("."))


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file and what was read of it.

    Attributes:
        file: The file.
        extract: What it holds; without content and with a fault when it was not opened.
        pictures_allowed: How many pictures it might bring.
        drawn: What its pictures depend on when a renderer made them; "" when they are the file's own.
        drawn_pages: How many pages a renderer made of it; 0 without one.
    """

    file: FileToRead
    extract: Extract
    pictures_allowed: int
    drawn: str = ""
    drawn_pages: int = 0


@dataclass(frozen=True, slots=True)
class FilesRead:
    """All files in the order given, and when reading started (seconds of a monotonic clock)."""

    files: list[FileRead]
    started: float


def read_files(
    files: Sequence[FileToRead],
    mentions: str,
    process: Caller,
    most_files: int,
    pictures: int,
    budget: EvidenceBudget,
    *,
    started: float | None = None,
    drawer: Drawer | None = None,
) -> FilesRead:
    """Read files, each in a call of its own, and share the pictures among them.

    Args:
        files: What there is.
        mentions: Text in which important files are named.
        process: Where they are read.
        most_files: How many are opened.
        pictures: Pictures over all of them.
        budget: Bounds on time and on the size of pictures.
        started: When reading started, if it goes on from an earlier call.
        drawer: Draws those kinds of files it has a program for.
    """
    started = time.monotonic() if started is None else started
    opened = _chosen(files, mentions, most_files)
    order = sorted(opened, key=lambda index: (_ORDER.get(files[index].family, 1), index))
    waiting = [_wish(files[index]) for index in order]
    left = max(pictures, 0)
    found: dict[int, FileRead] = {}
    for position, index in enumerate(order):
        file = files[index]
        others = sum(1 for wish in waiting[position:] if wish)
        allowed = min(waiting[position], max(left // max(others, 1), 1), left)
        if time.monotonic() - started > budget.total_seconds:
            fault = "not opened: the time for reading this task's files was over"
            found[index] = FileRead(file, _unread(file, fault), 0)
            continue
        found[index] = _read(file, process, allowed, budget, drawer)
        left -= len(found[index].extract.pictures)
    for index, file in enumerate(files):
        if index not in found:
            found[index] = FileRead(file, _unread(file, f"not opened: of {len(files)} files {most_files} are"), 0)
    return FilesRead([found[index] for index in range(len(files))], started)


def _read(file: FileToRead, process: Caller, allowed: int, budget: EvidenceBudget, drawer: Drawer | None) -> FileRead:
    """Read a file with pictures of its pages where a renderer draws them, else with the pictures inside it."""

    def read(pictures: int) -> Extract:
        return read_confined(
            process, file.place, pictures=pictures, picture_px=budget.picture_px, seconds=budget.file_seconds
        )

    if drawer is None or not allowed or not drawer.draws(file.family):
        return FileRead(file, read(allowed), allowed)
    extract = read(0)
    if not drawer.draws(extract.kind) or not extract.facts:
        # Not what its name says, or nothing in it can be read.
        return FileRead(file, read(allowed), allowed)
    drawing = drawer.draw(file.place, extract, process, most=allowed, longest_px=budget.picture_px)
    if not drawing.pictures:
        extract = read(allowed)
    notes = tuple(note for note in (drawing.note, *extract.notes) if note)
    seen = replace(extract, pictures=drawing.pictures or extract.pictures, notes=notes)
    return FileRead(file, seen, allowed, drawing.source, drawing.pages)


def _chosen(files: Sequence[FileToRead], mentions: str, most: int) -> list[int]:
    """Return which files are opened: all, or those named by request and answer, then those nearest to the top."""
    if len(files) <= most:
        return list(range(len(files)))

    def rank(index: int) -> tuple[bool, int, int]:
        return (files[index].place.name not in mentions, files[index].path.count("/"), index)

    return sorted(sorted(range(len(files)), key=rank)[:most])


def _wish(file: FileToRead) -> int:
    if file.family == "text":
        return 4 if file.path.lower().endswith(".ipynb") else 0
    return _WISHES.get(file.family, 0)


def _unread(file: FileToRead, fault: str) -> Extract:
    return Extract(kind=file.family or "other", media_type=file.media_type, faults=(fault,))
