"""Archives: the list of what is inside, and the members that can be read, one level deep."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable
from dataclasses import replace
from typing import IO, Any, BinaryIO, cast

from pytest_gta.benchmark.damage import DAMAGE
from pytest_gta.formats.package import damage, open_zip
from pytest_gta.formats.reading import PictureCandidate, Reading, Source, Unreadable
from pytest_gta.formats.wording import one_line

_MOST_LISTED = 500
_MOST_MEMBERS = 20_000
_MOST_READ = 20
_MOST_MEMBER_BYTES = 32 * 1024 * 1024
_MOST_MEMBER_CHARS = 200_000
_BOMB_RATIO = 200
_OPENERS: dict[bytes, Callable[[Any], Any]] = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}
_DAMAGE = (*DAMAGE, tarfile.TarError)


class _Counted(io.RawIOBase):
    """A stream that stops after so many bytes: what is packed may be endless."""

    def __init__(self, inner: IO[bytes], most: int) -> None:
        self._inner, self._left = inner, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        if self._left <= 0:
            raise Unreadable("it unpacks to more than is read of an archive")
        data = self._inner.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)


def read(source: Source, reading: Reading) -> None:
    """List an archive and read its members of known kinds.

    Raises:
        Unreadable: When its list cannot be read.
    """
    head = source.data(8)
    if head.startswith(b"PK"):
        _read_zip(source, reading)
        return
    source.stream.seek(0)
    opener = next((opener for magic, opener in _OPENERS.items() if head.startswith(magic)), None)
    unpacked = cast("IO[bytes]", opener(source.stream) if opener else source.stream)
    counted = cast("BinaryIO", io.BufferedReader(_Counted(unpacked, reading.limits.max_unpacked_bytes)))
    inner_name = source.name.rsplit(".", 1)[0]
    if opener is None or source.suffix == "tgz" or inner_name.lower().endswith(".tar"):
        _read_tar(counted, reading)
    else:
        _read_single(counted, inner_name, reading)


def _read_zip(source: Source, reading: Reading) -> None:
    archive = open_zip(source.stream)
    members = [info for info in archive.infolist() if not info.is_dir()]
    unpacked = sum(info.file_size for info in members)
    reading.facts["files inside"] = len(members)
    reading.facts["bytes unpacked"] = unpacked
    locked = [info for info in members if info.flag_bits & 1]
    if locked:
        reading.fault(f"{len(locked)} of {len(members)} members are encrypted and need a password")
    _list([(i.filename, i.file_size, " (encrypted)" if i.flag_bits & 1 else "") for i in members], reading)
    if unpacked > reading.limits.max_unpacked_bytes or unpacked > _BOMB_RATIO * source.size + 10_000_000:
        reading.fault(f"its members are not opened: {source.size:,} bytes would unpack to {unpacked:,}")
        return
    read_count = 0
    for info in members:
        if info.flag_bits & 1 or _is_clutter(info.filename):
            continue
        if read_count >= _MOST_READ or reading.full or reading.expired:
            reading.fault(f"only the first {read_count} members are shown, the others are listed")
            break
        read_count += 1
        try:
            with archive.open(info) as member:
                _read_member(info.filename, member, reading)
        except _DAMAGE as error:
            reading.fault(f"member {one_line(info.filename)} is damaged ({damage(error)})")


def _read_tar(stream: BinaryIO, reading: Reading) -> None:
    listed: list[tuple[str, int, str]] = []
    later: list[tuple[str, bytes]] = []
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for info in archive:
                if len(listed) >= _MOST_MEMBERS or reading.expired:
                    reading.fault(f"only its first {len(listed):,} members were looked at")
                    break
                if info.isdir():
                    continue
                listed.append((info.name, info.size, "" if info.isfile() else " (link or special file, not followed)"))
                if info.isfile() and len(later) < _MOST_READ and not _is_clutter(info.name):
                    member = archive.extractfile(info)
                    later.append((info.name, member.read(_MOST_MEMBER_BYTES + 1) if member is not None else b""))
    except _DAMAGE as error:
        reading.fault(f"the archive is damaged after {len(listed)} members ({damage(error)})")
    except Unreadable as fault:
        reading.fault(f"the archive was not read to its end: {fault}")
    reading.facts["files inside"] = len(listed)
    _list(listed, reading)
    for name, data in later:
        _read_member(name, io.BytesIO(data), reading)
    if len(listed) > len(later):
        reading.fault(f"only {len(later)} of {len(listed)} members are shown, the others are listed")


def _read_single(stream: BinaryIO, name: str, reading: Reading) -> None:
    try:
        _read_member(name, stream, reading)
    except _DAMAGE as error:
        raise Unreadable(f"it is damaged ({damage(error)})") from None


def _read_member(name: str, stream: IO[bytes], reading: Reading) -> None:
    from pytest_gta.formats.read import read_source

    label = one_line(name)
    data = stream.read(_MOST_MEMBER_BYTES + 1)
    if len(data) > _MOST_MEMBER_BYTES:
        reading.fault(f"member {label} is larger than the {_MOST_MEMBER_BYTES:,} bytes that are read of one")
        return
    limits = replace(reading.limits, offset=0, max_chars=_MOST_MEMBER_CHARS)
    extract = read_source(Source(name.rsplit("/", 1)[-1], io.BytesIO(data), len(data)), limits, nested=True)
    facts = ", ".join(f"{key}: {value}" for key, value in extract.facts.items())
    reading.add(f"\n=== member {label} ({len(data):,} bytes{', ' + facts if facts else ''}) ===\n{extract.text}")
    for fault in extract.faults:
        reading.fault(f"member {label}: {fault}")
    for note in extract.notes:
        reading.note(f"member {label}: {note}")
    for picture in extract.pictures:
        where = f"{label} {picture.where}".strip()
        placed = replace(picture, where=where)
        reading.candidates.append(PictureCandidate(where, lambda placed=placed: placed))  # type: ignore[misc]


def _list(members: list[tuple[str, int, str]], reading: Reading) -> None:
    lines = [f"{size:>12,}  {one_line(name, 300)}{remark}" for name, size, remark in members[:_MOST_LISTED]]
    reading.add("[files inside, size in bytes]\n" + "\n".join(lines))
    if len(members) > _MOST_LISTED:
        reading.fault(f"{len(members) - _MOST_LISTED:,} of {len(members):,} members are not listed")


def _is_clutter(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return (
        any(part in ("__MACOSX", ".git", "node_modules", "__pycache__") for part in parts) or parts[-1] == ".DS_Store"
    )
