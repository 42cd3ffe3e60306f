"""Reads any file: tells what it is by its content, and hands it to the family that knows it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_gta.formats.extract import Extract, Picture
from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.reading import Reading, Source, Unreadable
from pytest_gta.formats.sniff import FileType, family_of_name, sniff

PRELOAD = ("lxml.etree", "PIL.Image", "PIL.JpegImagePlugin", "PIL.PngImagePlugin")
"""What a process that forks for each file should import beforehand: what nearly every kind needs, and no more."""

_UNKNOWN = "application/octet-stream"
_NAMES = {
    "word": "Word document",
    "slides": "PowerPoint deck",
    "sheets": "spreadsheet",
    "pdf": "PDF document",
    "web": "web page",
    "text": "text file",
    "image": "image",
    "audio": "audio file",
    "video": "video",
    "archive": "archive",
}


def read_file(path: Path, limits: ReadLimits | None = None) -> Extract:
    """Read a file of any kind.

    Never raises for what a file is or holds: one that cannot be read is an extract whose faults say why.

    Args:
        path: The file. Links are followed; whether it may be read is the caller's concern.
        limits: Bounds; generous ones by default. `offset` and `max_chars` page through a long text.
    """
    limits = limits or ReadLimits()
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            return read_source(Source(path.name, stream, size, path.parent), limits)
    except OSError as error:
        fault = f"the file cannot be opened: {error.strerror or type(error).__name__}"
        return Extract(kind="other", media_type=_UNKNOWN, faults=(fault,))


def read_file_json(path: str, limits: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read a file for a caller in another process: `read_file` with JSON on both sides.

    Args:
        path: The file.
        limits: Fields of `ReadLimits` that differ from its defaults.

    Raises:
        TypeError: When `limits` names a field that does not exist.
    """
    return read_file(Path(path), ReadLimits(**(limits or {}))).to_json()


def read_source(source: Source, limits: ReadLimits, *, nested: bool = False) -> Extract:
    """Read an opened file; `nested` says that it is a member of an archive, whose own archives are not opened."""
    if source.size == 0:
        return _refused(source, "the file is empty (0 bytes)")
    if source.size > limits.max_bytes:
        return _refused(source, f"the file has {source.size:,} bytes, more than the {limits.max_bytes:,} that are read")
    found = sniff(source)
    reading = Reading(limits)
    _compare_with_name(source, found, reading)
    if found.refusal:
        reading.fault(f"{found.name}: {found.refusal}")
        return reading.extract(found.family, found.media_type, ())
    if found.family == "other" or (nested and found.family == "archive"):
        reading.fault(f"{found.name}: nothing is known to read it with")
        return reading.extract("other" if found.family == "other" else "archive", found.media_type, ())
    try:
        importlib.import_module(f"pytest_gta.formats.{found.family}").read(source, reading)
    except Unreadable as fault:
        reading.fault(f"{found.name}: {fault}")
    except RecursionError:
        reading.fault(f"{found.name}: it is nested too deeply to be read to its end")
    except Exception as error:
        # A parsing library may raise anything at all on damaged content; whatever it is, it is the file's fault.
        what = (str(error).splitlines() or [""])[0][:160] or type(error).__name__
        reading.fault(f"{found.name}: it is damaged, reading stopped ({what})")
    return reading.extract(found.family, found.media_type, _pictures(reading))


def _pictures(reading: Reading) -> tuple[Picture, ...]:
    if not reading.candidates:
        return ()
    from pytest_gta.formats.pictures import choose

    return choose(reading)


def _compare_with_name(source: Source, found: FileType, reading: Reading) -> None:
    promised = family_of_name(source.suffix)
    if promised and promised != found.family and not found.refusal:
        reading.note(f"its name ends in .{source.suffix} ({_NAMES[promised]}), but by its content it is a {found.name}")


def _refused(source: Source, reason: str) -> Extract:
    return Extract(kind=family_of_name(source.suffix) or "other", media_type=_UNKNOWN, faults=(reason,))
