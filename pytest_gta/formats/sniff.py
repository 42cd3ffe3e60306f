"""What a file is, told by its content first and by its suffix second."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass

from pytest_gta.benchmark.damage import DAMAGE
from pytest_gta.formats.reading import Source

HEAD_BYTES = 8192

_OFFICE = "application/vnd.openxmlformats-officedocument."
_WORD, _SLIDES, _SHEETS = (
    _OFFICE + "wordprocessingml.document",
    _OFFICE + "presentationml.presentation",
    _OFFICE + "spreadsheetml.sheet",
)


@dataclass(frozen=True, slots=True)
class FileType:
    """What a file is.

    Attributes:
        family: The reader that takes it (see `Extract.kind`); ``other`` when none does.
        media_type: The media type.
        name: What people call it, e.g. ``Word document``.
        refusal: Why it cannot be read, as a clause, when that is clear from its type; else "".
    """

    family: str
    media_type: str
    name: str
    refusal: str = ""


_MAGIC: tuple[tuple[bytes, int, FileType], ...] = (
    (b"\x89PNG\r\n\x1a\n", 0, FileType("image", "image/png", "PNG image")),
    (b"\xff\xd8\xff", 0, FileType("image", "image/jpeg", "JPEG image")),
    (b"GIF8", 0, FileType("image", "image/gif", "GIF image")),
    (b"II*\x00", 0, FileType("image", "image/tiff", "TIFF image")),
    (b"MM\x00*", 0, FileType("image", "image/tiff", "TIFF image")),
    (b"\x00\x00\x01\x00", 0, FileType("image", "image/x-icon", "icon")),
    (b"fLaC", 0, FileType("audio", "audio/flac", "FLAC audio")),
    (b"OggS", 0, FileType("audio", "audio/ogg", "Ogg audio")),
    (b"ID3", 0, FileType("audio", "audio/mpeg", "MP3 audio")),
    (b"\x1aE\xdf\xa3", 0, FileType("video", "video/webm", "WebM or Matroska video")),
    (b"\x1f\x8b", 0, FileType("archive", "application/gzip", "gzip file")),
    (b"BZh", 0, FileType("archive", "application/x-bzip2", "bzip2 file")),
    (b"\xfd7zXZ\x00", 0, FileType("archive", "application/x-xz", "xz file")),
    (b"ustar", 257, FileType("archive", "application/x-tar", "tar archive")),
    (
        b"7z\xbc\xaf\x27\x1c",
        0,
        FileType("other", "application/x-7z-compressed", "7-Zip archive", "7-Zip archives are not opened"),
    ),
    (b"Rar!", 0, FileType("other", "application/vnd.rar", "RAR archive", "RAR archives are not opened")),
    (b"\x7fELF", 0, FileType("other", "application/x-executable", "program")),
    (b"SQLite format 3\x00", 0, FileType("other", "application/vnd.sqlite3", "SQLite database")),
)

_ZIP_MEMBERS: tuple[tuple[str, FileType], ...] = (
    ("word/document.xml", FileType("word", _WORD, "Word document")),
    ("ppt/presentation.xml", FileType("slides", _SLIDES, "PowerPoint deck")),
    ("xl/workbook.xml", FileType("sheets", _SHEETS, "Excel workbook")),
    ("xl/workbook.bin", FileType("sheets", "application/vnd.ms-excel.sheet.binary.macroenabled.12", "binary workbook")),
)
_ZIP_FOLDERS: tuple[tuple[str, FileType], ...] = (
    ("word/", _ZIP_MEMBERS[0][1]),
    ("ppt/", _ZIP_MEMBERS[1][1]),
    ("xl/", _ZIP_MEMBERS[2][1]),
)
_OPEN_DOCUMENT: dict[bytes, FileType] = {
    b"application/vnd.oasis.opendocument.spreadsheet": FileType(
        "sheets", "application/vnd.oasis.opendocument.spreadsheet", "OpenDocument spreadsheet"
    ),
}

_SUFFIX_FAMILY: dict[str, str] = {
    **dict.fromkeys(("docx", "docm", "dotx", "doc"), "word"),
    **dict.fromkeys(("pptx", "pptm", "ppsx", "ppt"), "slides"),
    **dict.fromkeys(("xlsx", "xlsm", "xls", "xlsb", "ods"), "sheets"),
    "pdf": "pdf",
    **dict.fromkeys(("html", "htm", "xhtml"), "web"),
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "bmp", "webp", "tif", "tiff", "ico", "svg", "avif"), "image"),
    **dict.fromkeys(("wav", "mp3", "m4a", "ogg", "flac", "aac", "opus"), "audio"),
    **dict.fromkeys(("mp4", "mov", "webm", "avi", "mkv", "m4v"), "video"),
    **dict.fromkeys(("zip", "tar", "gz", "tgz", "bz2", "xz"), "archive"),
}
_TEXT_TYPES: dict[str, str] = {
    "md": "text/markdown",
    "markdown": "text/markdown",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "ipynb": "application/x-ipynb+json",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "xml": "application/xml",
    "svg": "image/svg+xml",
    "py": "text/x-python",
    "js": "text/javascript",
    "css": "text/css",
    "rtf": "application/rtf",
    "tex": "text/x-tex",
    "srt": "application/x-subrip",
    "vtt": "text/vtt",
    "ics": "text/calendar",
    "eml": "message/rfc822",
}


def family_of_name(suffix: str) -> str:
    """Return the family that a suffix promises; ``text`` for a known kind of text, "" when it promises nothing."""
    return _SUFFIX_FAMILY.get(suffix) or ("text" if suffix in _TEXT_TYPES or suffix == "txt" else "")


def sniff(source: Source) -> FileType:
    """Return what a file is. Content decides; the suffix only tells kinds of text apart, and names what is damaged."""
    head = source.data(HEAD_BYTES)
    if _is_pdf(source, head):
        return FileType("pdf", "application/pdf", "PDF document")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _zip(source)
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _compound(source)
    if head.startswith(b"RIFF"):
        return _riff(head)
    if head[4:8] == b"ftyp":
        return _iso_media(head)
    if head.startswith(b"BM") and source.suffix == "bmp":
        return FileType("image", "image/bmp", "BMP image")
    if head[:1] == b"\xff" and len(head) > 1 and head[1] & 0xE0 == 0xE0 and head[:2] not in (b"\xff\xfe",):
        kind = "audio/aac" if head[1] & 0xF6 == 0xF0 else "audio/mpeg"
        return FileType("audio", kind, "MP3 audio" if kind == "audio/mpeg" else "AAC audio")
    for magic, at, found in _MAGIC:
        if head[at : at + len(magic)] == magic:
            return found
    if is_text(head):
        return _text(source, head)
    return FileType("other", "application/octet-stream", "file of unknown type")


def _is_pdf(source: Source, head: bytes) -> bool:
    """Whether a PDF begins here: at once, or, as readers let it, after some lines; a text may only speak of one."""
    found = head[:1024].lstrip().find(b"%PDF-")
    return found == 0 or (found > 0 and (source.suffix == "pdf" or not is_text(head)))


def is_text(head: bytes) -> bool:
    """Whether bytes look like text in some encoding."""
    if head.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return True
    if b"\x00" in head:
        # UTF-16 without a mark: every other byte of plain text is zero. Sparse zeros are stray bytes in a text.
        zeros = head.count(b"\x00")
        odd, even = head[1::2].count(b"\x00"), head[0::2].count(b"\x00")
        return (max(odd, even) > 0.7 * len(head) / 2 and min(odd, even) < 0.1 * zeros) or _mostly_printable(head)
    return _mostly_printable(head)


def _mostly_printable(head: bytes) -> bool:
    try:
        head.decode("utf-8")
        unusual = sum(byte < 32 and byte not in b"\t\n\r\x0c\x1b" for byte in head)
        return unusual <= max(2, 0.02 * len(head))
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and error.start > len(head) - 4:
            return True
    unusual = sum(byte < 32 and byte not in b"\t\n\r\x0c\x1b" for byte in head)
    return unusual <= 0.005 * len(head)


def _zip(source: Source) -> FileType:
    source.stream.seek(0)
    try:
        with zipfile.ZipFile(source.stream) as archive:
            names = {name.replace("\\", "/").lstrip("/").lower() for name in archive.namelist()}
            mimetype = archive.read("mimetype")[:100] if "mimetype" in names else b""
    except (*DAMAGE, KeyError):
        return _by_suffix(source, FileType("archive", "application/zip", "zip archive"))
    for name, found in _ZIP_MEMBERS:
        if name in names:
            return found
    for folder, found in _ZIP_FOLDERS:
        if "[content_types].xml" in names and any(name.startswith(folder) for name in names):
            return found
    if mimetype.strip() in _OPEN_DOCUMENT:
        return _OPEN_DOCUMENT[mimetype.strip()]
    if mimetype:
        kind = mimetype.decode("ascii", "replace").strip()
        return FileType("archive", kind, f"{kind.rsplit('.', 1)[-1]} package")
    return FileType("archive", "application/zip", "zip archive")


def _by_suffix(source: Source, otherwise: FileType) -> FileType:
    """Name a damaged package by its suffix, so that the fault speaks of a Word document and not of a zip."""
    family = family_of_name(source.suffix)
    return next((found for _, found in _ZIP_FOLDERS if found.family == family), otherwise)


def _compound(source: Source) -> FileType:
    """Tell apart what shares the container of Office before 2007."""
    data = source.data(4 * 1024 * 1024)

    def holds(name: str) -> bool:
        return name.encode("utf-16-le") in data

    if holds("EncryptedPackage"):
        family = family_of_name(source.suffix) or "other"
        return FileType(family, "application/x-ole-storage", "Office file", "it is encrypted and needs a password")
    if holds("WordDocument"):
        return FileType(
            "word", "application/msword", "Word 97-2003 document", "the old .doc format is not readable; .docx is"
        )
    if holds("PowerPoint Document"):
        return FileType(
            "slides",
            "application/vnd.ms-powerpoint",
            "PowerPoint 97-2003 deck",
            "the old .ppt format is not readable; .pptx is",
        )
    if holds("Workbook") or holds("Book"):
        return FileType("sheets", "application/vnd.ms-excel", "Excel 97-2003 workbook")
    return FileType("other", "application/x-ole-storage", "compound file", "its kind is not readable")


def _riff(head: bytes) -> FileType:
    form = head[8:12]
    if form == b"WAVE":
        return FileType("audio", "audio/wav", "WAV audio")
    if form == b"WEBP":
        return FileType("image", "image/webp", "WebP image")
    if form == b"AVI ":
        return FileType("video", "video/x-msvideo", "AVI video")
    return FileType("other", "application/octet-stream", "RIFF file")


def _iso_media(head: bytes) -> FileType:
    brand = head[8:12]
    if brand in (b"M4A ", b"M4B ", b"F4A "):
        return FileType("audio", "audio/mp4", "M4A audio")
    if brand in (b"avif", b"avis"):
        return FileType("image", "image/avif", "AVIF image")
    if brand in (b"heic", b"heix", b"mif1"):
        return FileType("image", "image/heic", "HEIC image", "HEIC images cannot be decoded; PNG and JPEG can")
    if brand == b"qt  ":
        return FileType("video", "video/quicktime", "QuickTime video")
    return FileType("video", "video/mp4", "MP4 video")


def _text(source: Source, head: bytes) -> FileType:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    suffix = source.suffix
    if suffix in ("html", "htm", "xhtml") or start.startswith((b"<!doctype html", b"<html")):
        return FileType("web", "text/html", "web page")
    if suffix == "svg" or start.startswith(b"<svg") or (start.startswith(b"<?xml") and b"<svg" in start[:2000]):
        return FileType("image", "image/svg+xml", "SVG drawing")
    if start.startswith(b"{\\rtf"):
        return FileType("text", "application/rtf", "rich text file")
    kind = _TEXT_TYPES.get(suffix, "text/plain")
    return FileType("text", kind, "text file" if suffix in ("", "txt", "md") else f"{suffix} file")
