"""Office files for the tests: made by the libraries, then changed part by part where a library cannot."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from PIL import Image

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def png(colour: str = "red", size: tuple[int, int] = (300, 200)) -> bytes:
    """A one-coloured PNG."""
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def rewrite(path: Path, parts: Mapping[str, bytes | Callable[[bytes], bytes] | None]) -> Path:
    """Replace parts of a zip package: new bytes, a change of the old ones, or None to leave the part out."""
    with zipfile.ZipFile(path) as old:
        kept = {name: old.read(name) for name in old.namelist()}
    for name, change in parts.items():
        if change is None:
            kept.pop(name)
        else:
            kept[name] = change(kept[name]) if callable(change) else change
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in kept.items():
            new.writestr(name, data)
    return path


def with_broken_checksum(path: Path, name: str) -> Path:
    """Flip a byte in the middle of the packed data of one part, which must be stored unpacked to stay readable."""
    with zipfile.ZipFile(path) as old:
        kept = {info: old.read(info) for info in old.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as new:
        for part, data in kept.items():
            new.writestr(part, data)
    with zipfile.ZipFile(path) as stored:
        info = stored.getinfo(name)
    data = bytearray(path.read_bytes())
    at = info.header_offset + 30 + len(name) + info.file_size // 2
    data[at] ^= 1
    path.write_bytes(data)
    return path


def marked_encrypted(path: Path) -> Path:
    """Set the flag that says a member is encrypted, in both headers of each member."""
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(signature)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(signature, at + 4)
    path.write_bytes(data)
    return path
