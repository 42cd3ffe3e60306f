"""A file while it is being read: where it comes from, and what has been gathered from it so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pytest_gta.formats.extract import Extract, Fact, Picture
from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.wording import clean

_MOST_REMARKS = 40


class Unreadable(Exception):
    """The file, or one part of it, cannot be read. Its text is one plain clause without a full stop."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file's content, ready to be read.

    Attributes:
        name: Its file name, with the suffix.
        stream: The content, seekable, opened for reading bytes.
        size: Bytes.
        folder: The folder it lies in, or None for a member of an archive.
    """

    name: str
    stream: BinaryIO
    size: int
    folder: Path | None = None

    @property
    def suffix(self) -> str:
        """The suffix in lower case without its dot, "" when there is none."""
        return Path(self.name).suffix.lower().lstrip(".")

    def beginning(self, most: int, reading: Reading) -> bytes:
        """Return the content, at most `most` bytes of it; that there is more becomes a fault."""
        if self.size > most:
            reading.fault(f"only the first {most:,} of its {self.size:,} bytes were read")
        return self.data(most)

    def data(self, most: int | None = None) -> bytes:
        """Return the content from its start, at most `most` bytes of it."""
        self.stream.seek(0)
        return self.stream.read() if most is None else self.stream.read(most)


@dataclass(frozen=True, slots=True)
class PictureCandidate:
    """A picture that may be returned: where it is, and how to get it (which costs time and may raise `Unreadable`)."""

    where: str
    make: Callable[[], Picture]
    key: str = ""


class Reading:
    """Gathers what one file holds, within its limits.

    Attributes:
        limits: The bounds.
        facts: What was measured; shown in the order they are set.
        faults: What could not be read.
        notes: Remarks that took nothing away.
        candidates: Pictures found, in order.
    """

    def __init__(self, limits: ReadLimits) -> None:
        self.limits = limits
        self.facts: dict[str, Fact] = {}
        self.faults: list[str] = []
        self.notes: list[str] = []
        self.candidates: list[PictureCandidate] = []
        self._lines: list[str] = []
        self._chars = 0
        self._deadline = time.monotonic() + limits.max_seconds

    @property
    def full(self) -> bool:
        """Whether all the text that was asked for is there, so that reading on is of no use."""
        return self._chars > self.limits.offset + self.limits.max_chars

    @property
    def expired(self) -> bool:
        """Whether the time for this file is over."""
        return time.monotonic() > self._deadline

    @property
    def has_text(self) -> bool:
        """Whether any text was gathered."""
        return self._chars > 0

    def add(self, text: str) -> None:
        """Add a block of text, which starts on a line of its own."""
        if not self.full:
            # Of a very long block no more is kept than can be asked for.
            self._lines.append(text[: self.limits.offset + self.limits.max_chars + 1])
            self._chars += len(text) + 1

    def fault(self, sentence: str) -> None:
        """Say what could not be read; the same sentence is kept once."""
        if sentence not in self.faults:
            self.faults.append(sentence)

    def note(self, sentence: str) -> None:
        """Add a remark; the same sentence is kept once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def count(self, fact: str, by: int = 1) -> None:
        """Raise a counted fact."""
        self.facts[fact] = int(self.facts.get(fact, 0)) + by

    def extract(self, kind: str, media_type: str, pictures: tuple[Picture, ...]) -> Extract:
        """Return what was gathered, the text cut to the page that the limits ask for."""
        text = clean("\n".join(self._lines))
        offset, most = self.limits.offset, self.limits.max_chars
        if self.full or len(text) > offset + most:
            self.fault(f"the text after character {offset + most:,} is not included")
        elif offset and offset >= len(text):
            self.fault(f"the text ends at character {len(text):,}, before the place asked for ({offset:,})")
        facts = {clean(name): clean(v) if isinstance(v, str) else v for name, v in self.facts.items()}
        if text and not self.full:
            facts["characters"] = len(text)
        return Extract(
            kind=kind,
            media_type=media_type,
            facts=facts,
            text=text[offset : offset + most],
            pictures=pictures,
            faults=_bounded(self.faults),
            notes=_bounded(self.notes),
        )


def _bounded(remarks: list[str]) -> tuple[str, ...]:
    kept = [clean(remark)[:500] for remark in remarks[:_MOST_REMARKS]]
    if len(remarks) > _MOST_REMARKS:
        kept.append(f"and {len(remarks) - _MOST_REMARKS} more such remarks")
    return tuple(kept)
