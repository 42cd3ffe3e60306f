"""File kinds: the short names (``pdf``, ``pptx``, ``video``) by which tasks are selected and results are grouped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

_BY_SUFFIX: dict[str, str] = {
    **{s: s for s in ("pdf", "docx", "pptx", "xlsx", "csv", "html", "json", "zip")},
    **{s: "image" for s in ("png", "jpg", "jpeg", "gif", "bmp", "webp", "svg", "tif", "tiff")},
    **{s: "audio" for s in ("wav", "mp3", "m4a", "ogg", "flac", "aac", "opus")},
    **{s: "video" for s in ("mp4", "mov", "webm", "avi", "mkv", "m4v")},
    **{s: "code" for s in ("py", "js", "ts", "css", "java", "c", "cpp", "h", "go", "rs", "r", "sql", "sh", "ipynb")},
    "htm": "html",
    "md": "markdown",
    "markdown": "markdown",
    "txt": "text",
    "doc": "docx",
    "ppt": "pptx",
    "xls": "xlsx",
    "xlsm": "xlsx",
    "tsv": "csv",
    "yaml": "text",
    "yml": "text",
    "xml": "text",
}

_WORDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("pdf", r"\bpdfs?\b"),
        ("docx", r"\bdocx\b|\bword (?:document|report|file)\b"),
        ("pptx", r"\bpptx?\b|\bpower ?point\b|\bslide ?(?:deck|show|s)\b|\bpresentation (?:deck|slides)\b"),
        ("xlsx", r"\bxlsx?\b|\bexcel\b|\bspreadsheets?\b|\bworkbook\b"),
        ("csv", r"\bcsvs?\b"),
        ("html", r"\bhtml5?\b|\bweb ?(?:page|site)s?\b"),
        ("json", r"\bjson\b"),
        ("markdown", r"\bmarkdown\b"),
        ("image", r"\b(?:png|jpe?g|svg)s?\b|\b(?:image|picture|poster|logo|infographic|illustration)s?\b"),
        ("audio", r"\b(?:wav|mp3|audio|voice-?over|podcast)\b"),
        ("video", r"\b(?:mp4|videos?)\b"),
    )
)


def kind_of(name: str) -> str:
    """Return the kind of a file by its suffix, ``other`` for one that is not known."""
    return _BY_SUFFIX.get(PurePosixPath(name).suffix.lower().lstrip("."), "other")


def file_kinds(request: str, inputs: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds a task asks for or gives, sorted: the words of its request and the suffixes of its inputs."""
    asked = {kind for kind, pattern in _WORDS if pattern.search(request)}
    given = {kind_of(name) for name in inputs} - {"other"}
    return tuple(sorted(asked | given))
