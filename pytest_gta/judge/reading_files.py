"""Reads the files of a task in a confined process: whatever a file does to its reader costs that file alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from pytest_gta.formats.extract import Extract
from pytest_gta.formats.sniff import family_of_name
from pytest_gta.formats.wording import clean, one_line
from pytest_gta.workspace.confined_process import ConfinedError

TARGET = "pytest_gta.formats.read:read_file_json"

_RETRY_SHARE = 0.5
_STARTING_S = 2.0
_WENT_WRONG = {
    "timeout": "reading it took longer than {seconds:g} s",
    "memory": "reading it took more memory than is allowed",
    "crashed": "it crashed its reader",
    "disk": "reading it filled the disk",
}


class Caller(Protocol):
    """What runs a function elsewhere: a `ConfinedProcess`, or a double of it."""

    def call(self, target: str, kwargs: Mapping[str, Any], timeout_s: float) -> Any:
        """Run ``module:function`` with JSON arguments and return its JSON value, or raise `ConfinedError`."""


def read_confined(process: Caller, path: Path, *, pictures: int, picture_px: int, seconds: float) -> Extract:
    """Read a file in a confined process.

    A file that is too much for its reader is tried once more, for its text alone.

    Args:
        process: Where it is read.
        path: The file.
        pictures: Most pictures wanted.
        picture_px: Longest side of a picture.
        seconds: Time for the file. The reader itself stops a little earlier and keeps what it has by then.
    """
    wish: dict[str, float] = {"max_pictures": pictures, "max_picture_px": picture_px, "repeats": False}
    wish["max_seconds"] = max(seconds - _STARTING_S, 1.0)
    try:
        return _read(process, path, wish, seconds)
    except ConfinedError as error:
        first = _reason(error, seconds)
    again = seconds * _RETRY_SHARE
    wish |= {"max_pictures": 0, "details": False, "max_seconds": max(again - _STARTING_S, 1.0)}
    try:
        extract = _read(process, path, wish, again)
    except ConfinedError:
        kind = family_of_name(path.suffix.lower().lstrip(".")) or "other"
        return Extract(kind=kind, media_type="application/octet-stream", faults=(first,))
    return replace(extract, faults=(f"{first}; it was read again for its text alone", *extract.faults))


def _read(process: Caller, path: Path, limits: Mapping[str, Any], seconds: float) -> Extract:
    value = process.call(TARGET, {"path": str(path), "limits": dict(limits)}, seconds)
    return Extract.from_json(value)


def _reason(error: ConfinedError, seconds: float) -> str:
    known = _WENT_WRONG.get(error.kind)
    return known.format(seconds=seconds) if known else f"its reader failed ({one_line(clean(error.message), 160)})"
