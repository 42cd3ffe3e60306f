"""The zip a dataset comes in, mistrusted: what it holds is looked at before anything is read or unpacked."""

from __future__ import annotations

import shutil
import stat
import tempfile
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pytest_gta.benchmark.damage import DAMAGE
from pytest_gta.benchmark.task_record import safe_relative
from pytest_gta.datasets.sources import FetchError

BEGINNING = b"PK\x03\x04"
"""How a zip that holds something begins."""

_CHUNK = 1 << 20
_MOST_IN_MEMORY = 256 << 20


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What no dataset needs.

    Attributes:
        files: Files at most.
        bytes: Bytes, unpacked, at most.
        ratio: How many times its own size an archive may unpack to, when it unpacks to more than `ratio_from` bytes.
        ratio_from: Bytes up to which the ratio is not looked at.
    """

    files: int = 100_000
    bytes: int = 100 << 30
    ratio: int = 30
    ratio_from: int = 1 << 30


@dataclass(frozen=True, slots=True)
class Contents:
    """What an archive holds.

    Attributes:
        root: The folder in it that the dataset lies in, with a slash at its end; "" for none.
        files: Number of files of the dataset.
        bytes: Their size, unpacked.
    """

    root: str
    files: int
    bytes: int


def look_into(path: Path, index: str, limits: ArchiveLimits = ArchiveLimits()) -> Contents:
    """Check an archive by its directory, and return what it holds.

    Args:
        path: The zip.
        index: The file that tells where in it the dataset lies.
        limits: What is too much.

    Raises:
        FetchError: When it is not a whole zip, holds what no dataset holds (links, names that lead out of a folder,
            encrypted or overlapping files, two names for one file), is too large, or has no index.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except DAMAGE as error:
        raise FetchError(f"{path.name} is not a whole zip ({error})") from None
    for member in members:
        if reason := _unsafe(member):
            raise FetchError(f"{path.name} holds {member.filename[:120]!r}, {reason}; nothing of it was used")
    if two := _same_place(members):
        raise FetchError(f"{path.name} has two files for one name, {two[:120]!r}; nothing of it was used")
    _check_sizes(path, members, limits)
    roots = {m.filename.removesuffix(index) for m in members if PurePosixPath(m.filename).name == index}
    if not roots:
        raise FetchError(f"{path.name} holds no {index}, so it is another archive than was asked for")
    root = min(roots, key=lambda folder: (folder.count("/"), folder))
    inside = [member for member in members if member.filename.startswith(root) and not member.is_dir()]
    return Contents(root, len(inside), sum(member.file_size for member in inside))


def read_member(path: Path, name: str) -> bytes:
    """Return one file of a checked archive.

    Raises:
        FetchError: When it is damaged, or larger than any index.
    """
    with zipfile.ZipFile(path) as archive:
        member = archive.getinfo(name)
        if member.file_size > _MOST_IN_MEMORY:
            raise FetchError(f"{name} in the archive has {member.file_size:,} bytes, too many to be read at once")
        return b"".join(_chunks(archive, member))


def read_through(path: Path, on_progress: Callable[[int, int | None], None]) -> None:
    """Read every file in the archive, which compares it with the sum that the archive has of it.

    Raises:
        FetchError: When one is damaged.
    """
    with zipfile.ZipFile(path) as archive:
        total, done = sum(member.file_size for member in archive.infolist()), 0
        for member in archive.infolist():
            for chunk in _chunks(archive, member):
                done += len(chunk)
                on_progress(done, total)


def unpack(path: Path, contents: Contents, target: Path, on_progress: Callable[[int, int | None], None]) -> None:
    """Unpack the dataset of a checked archive into a new folder, which is there whole or not at all.

    No other process may do the same at the same time.

    Raises:
        FetchError: When a file is damaged or larger than the archive says, or there is no room.
    """
    prefix = f".{target.name}.unpacking-"
    for left in target.parent.glob(f"{prefix}*"):  # by a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=prefix))
    try:
        with zipfile.ZipFile(path) as archive:
            done = 0
            for member in archive.infolist():
                if member.is_dir() or not member.filename.startswith(contents.root):
                    continue
                place = scratch / member.filename.removeprefix(contents.root)
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("xb") as out:
                    for chunk in _chunks(archive, member):
                        done += len(chunk)
                        if done > contents.bytes:
                            raise FetchError(f"{path.name} unpacks to more than it says; nothing of it was used")
                        out.write(chunk)
                        on_progress(done, contents.bytes)
        scratch.chmod(0o755)
        scratch.rename(target)
    except OSError as error:
        raise FetchError(f"{target} cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _chunks(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    try:
        with archive.open(member) as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    except DAMAGE as error:
        raise FetchError(f"{member.filename[:120]!r} in the archive is damaged ({error})") from None


def _unsafe(member: zipfile.ZipInfo) -> str:
    name = member.orig_filename  # as it is written there: `filename` ends at a NUL
    if safe_relative(name.rstrip("/")) is None or "\\" in name:
        return "a name that leads out of its folder"
    mode = member.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "a link or a special file"
    if member.flag_bits & 0x1:
        return "which is encrypted"
    return ""


def _same_place(members: list[zipfile.ZipInfo]) -> str:
    """Return a name that two files would share where upper and lower case or forms of a letter are one; "" for none."""
    files: set[str] = set()
    folders: set[str] = set()
    for member in members:
        key = unicodedata.normalize("NFC", member.filename).casefold().rstrip("/")
        parents = [str(parent) for parent in PurePosixPath(key).parents if str(parent) != "."]
        if member.is_dir():
            folders.update((key, *parents))
        else:
            if key in files:
                return member.filename
            files.add(key)
            folders.update(parents)
    return next(iter(sorted(files & folders)), "")


def _check_sizes(path: Path, members: list[zipfile.ZipInfo], limits: ArchiveLimits) -> None:
    size = path.stat().st_size
    unpacked = sum(member.file_size for member in members)
    if len(members) > limits.files:
        raise FetchError(
            f"{path.name} holds {len(members):,} files, more than {limits.files:,}; nothing of it was used"
        )
    if sum(member.compress_size for member in members) > size:
        raise FetchError(f"{path.name} holds files that overlap, as no honest zip does; nothing of it was used")
    if unpacked > limits.bytes or (unpacked > limits.ratio_from and unpacked > limits.ratio * size):
        raise FetchError(f"{path.name} of {size:,} bytes unpacks to {unpacked:,}; nothing of it was used")
