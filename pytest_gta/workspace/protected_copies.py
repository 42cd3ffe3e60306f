"""Copies of files that must stay as they are, for machines that cannot make them read-only."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

_Stamp = tuple[int, int, int, int]


class ProtectedCopies:
    """Copies of files and folders, to notice a change and undo it.

    Args:
        paths: What to protect; the files are copied now.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="pytest-gta-")
        self._paths = paths
        self._files: dict[str, tuple[_Stamp, Path]] = {}
        for number, path in enumerate(sorted(_files(paths))):
            copy = Path(self._folder.name) / str(number)
            shutil.copyfile(path, copy)
            self._files[path] = (_stamp(path), copy)

    def put_back(self) -> list[str]:
        """Undo every change and return the names of the files it was made to."""
        changed = []
        for path, (stamp, copy) in self._files.items():
            with contextlib.suppress(OSError):
                if _stamp(path) == stamp:
                    continue
            changed.append(Path(path).name)
            _restore(Path(path), copy)
            self._files[path] = (_stamp(path), copy)
        for path in sorted(set(_files(self._paths)) - set(self._files)):
            changed.append(Path(path).name)
            with contextlib.suppress(OSError):
                Path(path).parent.chmod(0o755)
                Path(path).unlink()
        return changed

    def close(self) -> None:
        """Remove the copies."""
        self._folder.cleanup()


def _restore(path: Path, copy: Path) -> None:
    """Put a copy in the place of a file, whatever has been put there or on the way to it."""
    for folder in reversed(path.parents):
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            folder.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(path.parent.stat().st_mode)
    path.parent.chmod(0o755)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    shutil.copyfile(copy, path)
    path.chmod(0o444)
    path.parent.chmod(mode & ~0o222 if mode & 0o222 == 0 else mode)


def _files(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        if not Path(path).is_dir():
            yield path
        for folder, _, names in os.walk(path):
            yield from (f"{folder}/{name}" for name in names)


def _stamp(path: str) -> _Stamp:
    """What changes when a file is written to or replaced; the time of the last change cannot be set back."""
    status = os.lstat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
