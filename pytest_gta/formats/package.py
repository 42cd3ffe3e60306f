"""The zip package that docx, pptx and xlsx files are: parts, their relations and properties, read within bounds."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, BinaryIO
from urllib.parse import unquote

from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.markup import Element, children, local, parse
from pytest_gta.formats.pictures import embedded
from pytest_gta.formats.reading import PictureCandidate, Reading, Unreadable

DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)
"""What reading a zip, or a part of one, raises when it is damaged."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A link from one part to another, or to an address outside (`external`)."""

    type: str
    target: str
    external: bool


class Package:
    """An Office file opened as a package.

    Raises:
        Unreadable: When it is no zip, is cut short, is encrypted, or unpacks to more than the limits allow.
    """

    def __init__(self, stream: BinaryIO, limits: ReadLimits) -> None:
        self._limits = limits
        self._zip = open_zip(stream)
        self._left = limits.max_unpacked_bytes
        infos = self._zip.infolist()
        if any(info.flag_bits & 1 for info in infos):
            raise Unreadable("its parts are encrypted; it needs a password")
        self._names = {_key(info.filename): info.filename for info in infos}
        self._relations: dict[str, dict[str, Relation]] = {}

    def __contains__(self, name: str) -> bool:
        return _key(name) in self._names

    def names(self, prefix: str = "") -> list[str]:
        """Return the names of the parts that start with `prefix`, sorted."""
        return sorted(name for key, name in self._names.items() if key.startswith(prefix.lower()))

    def key(self, name: str) -> str:
        """Return a text that is equal for parts of equal content; "" when there is no such part."""
        real = self._names.get(_key(name))
        if real is None:
            return ""
        info = self._zip.getinfo(real)
        return f"{info.CRC:08x}:{info.file_size}"

    def picture(self, name: str, where: str) -> PictureCandidate:
        """Return a picture part as a candidate to be shown."""
        return embedded(name, where, lambda: self.read(name), self._limits, self.key(name))

    def read(self, name: str) -> bytes:
        """Return a part as a whole.

        Raises:
            Unreadable: When it is missing, damaged or too large.
        """
        most = self._limits.max_part_bytes
        try:
            with self.open(name) as part:
                data = part.read(most + 1)
        except DAMAGE as error:
            raise Unreadable(f"part {name} is damaged ({damage(error)})") from None
        if len(data) > most:
            raise Unreadable(f"part {name} unpacks to more than {most:,} bytes")
        return data

    def open(self, name: str) -> IO[bytes]:
        """Open a part for reading as a stream.

        Raises:
            Unreadable: When there is no such part, or it cannot be opened.
        """
        real = self._names.get(_key(name))
        if real is None:
            raise Unreadable(f"part {name} is missing")
        if self._zip.getinfo(real).file_size > self._left:
            raise Unreadable(f"part {name} unpacks to more than the {self._left:,} bytes left for this file")
        try:
            opened = self._zip.open(real)
            self._left -= self._zip.getinfo(real).file_size
            return opened
        except DAMAGE as error:
            raise Unreadable(f"part {name} is damaged ({damage(error)})") from None

    def xml(self, name: str) -> Element:
        """Return the root element of a part.

        Raises:
            Unreadable: When the part cannot be read or is not XML.
        """
        data = self.read(name)
        try:
            return parse(data)
        except Unreadable as fault:
            raise Unreadable(f"part {name}: {fault}") from None

    def relations(self, part: str) -> dict[str, Relation]:
        """Return the relations of a part by id; none when they are missing or damaged."""
        if part not in self._relations:
            self._relations[part] = self._read_relations(part)
        return self._relations[part]

    def related(self, part: str, kind: str) -> list[str]:
        """Return the parts inside that a part points at by relations whose type ends in ``/kind``."""
        return [r.target for r in self.relations(part).values() if r.type.endswith("/" + kind) and not r.external]

    def _read_relations(self, part: str) -> dict[str, Relation]:
        folder, name = posixpath.split(part)
        where = posixpath.join(folder, "_rels", name + ".rels")
        if where not in self:
            return {}
        try:
            root = self.xml(where)
        except Unreadable:
            return {}
        found = {}
        for element in children(root, "Relationship"):
            target = element.get("Target", "")
            external = element.get("TargetMode", "") == "External"
            if not external:
                target = posixpath.normpath(posixpath.join("/" + folder, unquote(target))).lstrip("/")
            found[element.get("Id", "")] = Relation(element.get("Type", ""), target, external)
        return found

    def add_properties(self, reading: Reading) -> None:
        """Add the document's own properties (title, author, ...) as one line of text."""
        said = []
        for part in ("docProps/core.xml", "docProps/custom.xml"):
            if part not in self:
                continue
            try:
                root = self.xml(part)
            except Unreadable as fault:
                reading.fault(str(fault))
                continue
            for element in root:
                value = " ".join("".join(element.itertext()).split())
                name = element.get("name") or local(element)
                if value and name not in ("revision", "lastModifiedBy", "modified", "created", "lastPrinted"):
                    said.append(f"{name}: {value}")
        if said:
            reading.add(f"[document properties: {'; '.join(said)}]")


def open_zip(stream: BinaryIO) -> zipfile.ZipFile:
    """Open a zip file.

    Raises:
        Unreadable: When it is none, or is cut short.
    """
    stream.seek(0)
    try:
        return zipfile.ZipFile(stream)
    except DAMAGE as error:
        stream.seek(0)
        if stream.read(4) == b"PK\x03\x04":
            raise Unreadable(
                "the file is incomplete or damaged: the directory at the end of the zip is missing"
            ) from None
        raise Unreadable(f"it is not a zip package ({damage(error)})") from None


def damage(error: BaseException) -> str:
    """Return what is wrong with a zip, in plain words."""
    text = (str(error).splitlines() or [""])[0]
    if isinstance(error, zlib.error):
        return "its packed data is damaged"
    if "CRC" in text:
        return "its checksum is wrong"
    if isinstance(error, EOFError) or "truncated" in text:
        return "it is cut short"
    return text[:120] or type(error).__name__


def _key(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()
