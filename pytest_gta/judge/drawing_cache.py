"""Drawings kept by content, so that judging the same files again starts no renderer.

A drawing's key covers what was drawn and with what (`pytest_gta.judge.drawing.Drawer`), so an entry is never out of
date. Any number of processes may share a directory. Entries are moved into place whole; one that is damaged is a miss.
When they take more than their room, those that were not used for longest are removed. It may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_gta.benchmark.run_directory import write_atomic

FOLDER = "drawings"
"""Where in the cache of verdicts drawings are."""
MOST_BYTES = 1024**3
"""Bytes of all entries together; about a thousand files as drawn."""

_KEPT = 0.8
_MOST_FILES, _MOST_SITE_BYTES = 500, 64 * 1024**2


class DrawingCache:
    """A directory of drawings.

    Args:
        root: The directory; created with the first entry.
        most_bytes: What all entries may take; older ones make room, once in a process, at its first new entry.
    """

    def __init__(self, root: Path, most_bytes: int = MOST_BYTES) -> None:
        self.root = root
        self._most_bytes = most_bytes
        self._tidied = False

    def get(self, key: str) -> Any:
        """Return the JSON value that was kept under `key`; None when there is none, or it was damaged."""
        path = self._path(key)
        try:
            digest, _, text = path.read_text("utf-8").partition("\n")
            if digest != hashlib.sha256(text.encode()).hexdigest():
                return None
            value = json.loads(text)
        except (OSError, ValueError):
            return None
        with suppress(OSError):
            os.utime(path)
        return value

    def put(self, key: str, value: Any) -> None:
        """Keep a drawing as a JSON value. A directory that cannot be written to costs the entry only."""
        text = json.dumps(value)
        with suppress(OSError):
            write_atomic(self._path(key), f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}")
            if not self._tidied:
                self._tidied = True
                self._make_room()

    def _make_room(self) -> None:
        entries = sorted(self._entries())
        total = sum(size for _, size, _ in entries)
        if total <= self._most_bytes:
            return
        for _, size, path in entries:
            path.unlink(missing_ok=True)
            total -= size
            if total <= self._most_bytes * _KEPT:
                return

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """Yield when each entry was last used, its size and its file, the leavings of killed writers included."""
        for path in self.root.glob("*/*"):
            with suppress(OSError):
                found = path.stat()
                yield found.st_mtime, found.st_size, path

    def _path(self, key: str) -> Path:
        return self.root / key[:2] / f"{key}.json"


def site_digest(site: Path) -> str:
    """Return a digest of all files that a web page may take from the folder it lies in; "" when there are too many.

    Raises:
        OSError: When one of them cannot be read.
    """
    found = {path: path.lstat() for path in islice(site.rglob("*"), _MOST_FILES + 1)}
    if len(found) > _MOST_FILES or sum(status.st_size for status in found.values()) > _MOST_SITE_BYTES:
        return ""
    digest = hashlib.sha256()
    for path in sorted(found):
        if stat.S_ISLNK(found[path].st_mode):
            content = str(path.readlink())
        elif stat.S_ISREG(found[path].st_mode):
            with path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").hexdigest()
        else:
            continue
        digest.update(json.dumps([str(path.relative_to(site)), content]).encode())
    return digest.hexdigest()
