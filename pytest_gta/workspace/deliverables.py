"""What an agent left: every file that is not an input, and a reason for each thing that is not taken.

Nothing is followed. Folders are opened one inside the other by descriptor and without following links, so that no link
swapped in while looking leads outside. A hard link is taken only when all its names lie in the workspace: its other
name could be any file of the host.
"""

from __future__ import annotations

import hashlib
import mimetypes
import os
import re
import stat
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_gta.workspace.workspace import Workspace

MAX_ENTRIES = 100_000
MAX_DEPTH = 40
MAX_BYTES = 2 * 1024**3

_CACHES = frozenset(("node_modules", "__pycache__", "site-packages", "bower_components", "__MACOSX"))
_SYSTEM_FILES = frozenset(("Thumbs.db", "desktop.ini"))
_LOGS = re.compile(
    r"^(?:(?:agent|chat|conversation|session|message|tool)[-_ ]?(?:history|log|trace|transcript|messages)"
    r"|history|trajectory|messages|agent)\.(?:jsonl?|log|ndjson|traj)$",
    re.IGNORECASE,
)
"""What agent programs call the record they keep of themselves, in the workspace's top folder."""


@dataclass(frozen=True, slots=True)
class Deliverable:
    """A file the agent made.

    Attributes:
        path: Relative to the workspace, as the agent named it.
        bytes: Size.
        sha256: Digest of the content.
        media_type: By content where that is certain, else by suffix.
    """

    path: str
    bytes: int
    sha256: str
    media_type: str


@dataclass(frozen=True, slots=True)
class NotTaken:
    """Something in the workspace that is not a deliverable.

    Attributes:
        path: Relative to the workspace; a folder, listed once for all it holds, ends in ``/``.
        reason: Why, as a clause.
    """

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Deliverables:
    """What an agent left, both lists in the order of paths."""

    files: tuple[Deliverable, ...] = ()
    not_taken: tuple[NotTaken, ...] = ()


def collect(workspace: Workspace) -> Deliverables:
    """Return what an agent left in a workspace; see `Workspace.deliverables`."""
    walk = _Walk(frozenset(workspace.inputs), workspace.request)
    root = os.open(workspace.root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        walk.enter(root, "", 0)
        taken = [_take(root, found, walk.names[found.inode]) for found in walk.found]
    finally:
        os.close(root)
    files = [item for item in taken if isinstance(item, Deliverable)]
    rest = [item for item in taken if isinstance(item, NotTaken)] + walk.left
    rest += [NotTaken(path, reason) for path, reason in workspace.changed_inputs()]
    rest += [NotTaken(path, "an input that the dataset does not hold") for path in workspace.missing]
    return Deliverables(
        tuple(sorted(files, key=lambda item: item.path)), tuple(sorted(rest, key=lambda item: (item.path, item.reason)))
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """A regular file met on the way: its path, its inode (device, number) and how many names that has."""

    path: str
    inode: tuple[int, int]
    links: int


class _Walk:
    """One look through a workspace, bounded in entries and depth."""

    def __init__(self, inputs: frozenset[str], request: str) -> None:
        self.found: list[_Found] = []
        self.left: list[NotTaken] = []
        self._inputs = inputs
        self._request = request.lower()
        self._entries = 0
        self.names: Counter[tuple[int, int]] = Counter()

    def enter(self, folder: int, prefix: str, depth: int) -> None:
        """Look through an open folder, in the order of names."""
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            self.left.append(NotTaken(prefix or "./", f"a folder that cannot be read ({error.strerror})"))
            return
        for name in names:
            if self._entries >= MAX_ENTRIES:
                if self._entries == MAX_ENTRIES:
                    self._entries += 1
                    self.left.append(NotTaken(prefix or "./", f"more than {MAX_ENTRIES:,} entries; the rest is left"))
                return
            self._entries += 1
            self._look_at(folder, name, prefix + name, depth)

    def _look_at(self, folder: int, name: str, path: str, depth: int) -> None:
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return  # gone since it was listed
        mode = status.st_mode
        if stat.S_ISDIR(mode):
            if reason := _why_not_folder(name, depth):
                self.left.append(NotTaken(_printable(path) + "/", reason))
            else:
                self._descend(folder, name, path, depth)
            return
        if not stat.S_ISREG(mode):
            self.left.append(NotTaken(_printable(path), _special(mode)))
            return
        inode = (status.st_dev, status.st_ino)
        self.names[inode] += 1
        if path in self._inputs:
            return
        if reason := self._why_not_file(name, path, status.st_size):
            self.left.append(NotTaken(_printable(path), reason))
        else:
            self.found.append(_Found(path, inode, status.st_nlink))

    def _descend(self, folder: int, name: str, path: str, depth: int) -> None:
        try:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        except OSError as error:
            self.left.append(NotTaken(_printable(path) + "/", f"a folder that cannot be opened ({error.strerror})"))
            return
        try:
            if _exists_in(inner, "pyvenv.cfg"):
                self.left.append(NotTaken(_printable(path) + "/", "a Python environment"))
            else:
                self.enter(inner, path + "/", depth + 1)
        finally:
            os.close(inner)

    def _why_not_file(self, name: str, path: str, size: int) -> str:
        if _printable(path) != path:
            return "its name is not valid UTF-8"
        if name.startswith("."):
            return "a hidden file"
        if name in _SYSTEM_FILES or name.startswith("~$"):
            return "a file of the desktop or office program"
        if "/" not in path and _LOGS.match(name) and name.lower() not in self._request:
            return "an agent's own record, by its name, which the request does not mention"
        if size > MAX_BYTES:
            return f"larger than {MAX_BYTES // 1024**3} GiB ({size:,} bytes)"
        return ""


def _why_not_folder(name: str, depth: int) -> str:
    if name.startswith("."):
        return "a hidden folder"
    if name in _CACHES:
        return "a folder of caches or installed packages"
    if depth >= MAX_DEPTH:
        return f"nested more than {MAX_DEPTH} folders deep"
    return ""


def _special(mode: int) -> str:
    kinds = (
        (stat.S_ISLNK, "a link"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((f"{words}, not a file of its own" for test, words in kinds if test(mode)), "a special file")


def _exists_in(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def _printable(path: str) -> str:
    """Return a path that can be written as UTF-8: bytes that are not are shown as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _take(root: int, found: _Found, names: int) -> Deliverable | NotTaken:
    """Read one file for its digest, without following a link anywhere on its path."""
    if found.links > names:
        return NotTaken(found.path, "a hard link to a file outside what is delivered")
    try:
        fd = _open_beneath(root, found.path)
    except OSError as error:
        return NotTaken(found.path, f"cannot be read ({error.strerror})")
    with os.fdopen(fd, "rb") as source:
        status = os.fstat(source.fileno())
        if not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) != found.inode:
            return NotTaken(found.path, "it was replaced while it was looked at")
        head = source.read(512)
        source.seek(0)
        digest = hashlib.file_digest(source, "sha256").hexdigest()
        return Deliverable(found.path, source.tell(), digest, media_type_of(found.path, head))


def _open_beneath(root: int, path: str) -> int:
    """Open a file below an open folder, each folder on the way by its own descriptor."""
    *folders, name = path.split("/")
    at = root
    try:
        for folder in folders:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            if at != root:
                os.close(at)
            at = inner
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    finally:
        if at != root:
            os.close(at)


# -- media types ------------------------------------------------------------------------------------------------------

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"%PDF-", "application/pdf"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"BM", "image/bmp"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AVI ", "video/x-msvideo"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"OggS", "audio/ogg"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
)
_OFFICE = "application/vnd.openxmlformats-officedocument"
_BY_SUFFIX = {
    ".docx": f"{_OFFICE}.wordprocessingml.document",
    ".pptx": f"{_OFFICE}.presentationml.presentation",
    ".xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".json": "application/json",
    ".ipynb": "application/x-ipynb+json",
    ".svg": "image/svg+xml",
    ".py": "text/x-python",
    ".js": "text/javascript",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
_ZIPPED = frozenset((".docx", ".pptx", ".xlsx", ".odt", ".ods", ".odp", ".epub", ".jar"))


def media_type_of(name: str, head: bytes) -> str:
    """Return the media type of a file.

    Args:
        name: Its name; the suffix decides where the content does not.
        head: Its first bytes, 512 are plenty.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _by_suffix(suffix) if suffix in _ZIPPED else "application/zip"
    for offset, magic, media_type in _MAGIC:
        if head.startswith(magic, offset):
            return media_type
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "application/octet-stream"
    known = _by_suffix(suffix)
    binary = known.startswith(("image/", "audio/", "video/")) and known != "image/svg+xml"
    return "text/plain" if binary or suffix in _ZIPPED or known == "application/pdf" else known or "text/plain"


def _by_suffix(suffix: str) -> str:
    # An own table of types: the system's files differ from machine to machine.
    return _BY_SUFFIX.get(suffix) or mimetypes.MimeTypes(filenames=()).guess_type(f"x{suffix}")[0] or ""
