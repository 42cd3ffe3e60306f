"""A download that is not finished: the bytes so far, and of which file on which server they are.

    <file>.part        the bytes
    <file>.part.json   where they are from; without it nothing can be added to them

It is only ever added to, so a process that is killed loses nothing that was written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from pytest_gta.benchmark.run_directory import write_atomic


@dataclass(frozen=True, slots=True)
class Origin:
    """The file on the server that the bytes are of.

    Attributes:
        url: Its address, without what may be secret in it.
        total: Its size in bytes; None when the server did not say.
        etag: Its ``ETag``, "" when the server gave none.
        last_modified: Its ``Last-Modified``, "" when the server gave none.
    """

    url: str
    total: int | None
    etag: str = ""
    last_modified: str = ""

    @property
    def validator(self) -> str:
        """What to ask with whether the file is still the same; "" when the server gave nothing fit for that."""
        return self.last_modified if not self.etag or self.etag.startswith("W/") else self.etag


class PartialFile:
    """What has come of a file.

    Args:
        target: The name that the whole file will have.
    """

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(f"{target.name}.part")
        self._origin = target.with_name(f"{target.name}.part.json")

    @property
    def size(self) -> int:
        """Bytes so far."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def origin(self, url: str) -> Origin | None:
        """Return what the bytes are of, None when they are not of the file at `url` or that is not known."""
        try:
            origin = Origin(**json.loads(self._origin.read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return origin if origin.url == url else None

    def is_whole(self, url: str) -> bool:
        """Whether all bytes of the file at `url` are there."""
        origin = self.origin(url)
        return origin is not None and origin.total is not None and origin.total == self.size

    def begin(self, origin: Origin) -> None:
        """Start from the first byte."""
        self._origin.unlink(missing_ok=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(b"")
        write_atomic(self._origin, json.dumps(asdict(origin)))

    def ended(self, origin: Origin) -> None:
        """Record the size that only the end of the file has told."""
        write_atomic(self._origin, json.dumps(asdict(origin)))

    @contextmanager
    def appending(self) -> Iterator[BinaryIO]:
        """Open it for further bytes; they are on disk when this ends."""
        with self.path.open("ab") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())

    def begins_with(self, beginning: bytes) -> bool:
        """Whether the bytes so far agree with how such a file begins."""
        with self.path.open("rb") as file:
            there = file.read(len(beginning))
        return beginning.startswith(there)

    def discard(self) -> None:
        """Throw it away."""
        self._origin.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)

    def become(self, target: Path) -> None:
        """Give the whole file its name, in the place of what had it."""
        self.path.replace(target)
        self._origin.unlink(missing_ok=True)
