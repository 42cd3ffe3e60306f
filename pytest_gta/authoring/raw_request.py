"""What a task is made from: a person's raw request and the input files it comes with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_gta.benchmark.regular_file import size_of_regular
from pytest_gta.formats.extract import Extract
from pytest_gta.judge.reading_files import Caller, read_confined
from pytest_gta.workspace.deliverables import MAX_BYTES

MATERIAL_CHARACTERS = 24_000
"""How much of the input files a model is shown, in all."""

_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class InputFile:
    """An input file of the task to be.

    Attributes:
        path: Where it is now.
        sha256: Digest of its bytes.
        bytes: Its size.
    """

    path: Path
    sha256: str
    bytes: int

    @property
    def name(self) -> str:
        """Its name, which is its place in the task as well."""
        return self.path.name


@dataclass(frozen=True, slots=True)
class RawRequest:
    """What a task is made from.

    Attributes:
        text: The request as it was found: a message, a forum post.
        files: Its input files.
    """

    text: str
    files: tuple[InputFile, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the input files."""
        return tuple(file.name for file in self.files)

    def key(self, *further: str) -> str:
        """Return a digest of the request, its files and what else decides what a model makes of them."""
        parts = [self.text, [(file.name, file.sha256) for file in self.files], *further]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def input_file(path: Path) -> InputFile:
    """Return a file as an input.

    Raises:
        OSError: When it cannot be read, is no regular file, or is larger than a deliverable may be.
    """
    size = size_of_regular(path, MAX_BYTES)
    with path.open("rb") as source:
        digest = hashlib.file_digest(source, "sha256").hexdigest()
    return InputFile(path.absolute(), digest, size)


def text_of_file(path: Path, process: Caller) -> str:
    """Return the text of a document that holds a request, of a web page what is seen; "" when there is none in it."""
    from pytest_gta.formats.web import PAGE_SOURCE

    return _read(path, process).text.partition(PAGE_SOURCE)[0].strip()


def shown_inputs(files: Sequence[InputFile], process: Caller) -> Iterator[tuple[str, str]]:
    """Yield each input file's name with what a model is told of it: measured facts, and text as far as there is room.

    Args:
        files: The files.
        process: Where they are read.
    """
    room = MATERIAL_CHARACTERS // max(1, len(files))
    for file in files:
        extract = _read(file.path, process)
        facts = ", ".join(f"{name}: {value}" for name, value in extract.facts.items())
        lines = [f"{extract.kind}, {file.bytes:,} bytes" + (f" ({facts})" if facts else ""), *extract.faults]
        text = extract.text.strip()
        cut = f"\n[cut: {len(text) - room:,} more characters]" if len(text) > room else ""
        yield file.name, "\n".join((*lines, "", text[:room] + cut)).strip()


def _read(path: Path, process: Caller) -> Extract:
    return read_confined(process, path, pictures=0, picture_px=1, seconds=_SECONDS)
