"""File kinds: the short names (``pdf``, ``pptx``, ``video``) by which tasks are selected and results are grouped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

_BY_SUFFIX: dict[str, str] = {
    **{s: s for s in ("pdf", "docx", "pptx", "xlsx", "csv", "html", "json", "zip")},
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "bmp", "webp", "svg", "tif", "tiff"), "image"),
    **dict.fromkeys(("wav", "mp3", "m4a", "ogg", "flac", "aac", "opus"), "audio"),
    **dict.fromkeys(("mp4", "mov", "webm", "avi", "mkv", "m4v"), "video"),
    **dict.fromkeys(("py", "js", "ts", "css", "java", "c", "cpp", "h", "go", "rs", "r", "sql", "sh", "ipynb"), "code"),
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

KNOWN_SUFFIXES = frozenset(_BY_SUFFIX)
"""Suffixes that have a kind, in lower case and without the dot."""

_WORDS = re.compile(
    r"\b(?:"
    r"(?P<pdf>pdfs?)"
    r"|(?P<docx>docx|word (?:document|report|file))"
    r"|(?P<pptx>pptx?|power ?point|slide ?(?:deck|show|s)|presentation (?:deck|slides))"
    r"|(?P<xlsx>xlsx?|excel|spreadsheets?|workbook)"
    r"|(?P<csv>csvs?)"
    r"|(?P<html>html5?|web ?(?:page|site)s?)"
    r"|(?P<json>json)"
    r"|(?P<markdown>markdown)"
    r"|(?P<image>(?:png|jpe?g|svg)s?|(?:image|picture|poster|logo|infographic|illustration)s?)"
    r"|(?P<audio>wav|mp3|audio|voice-?over|podcast)"
    r"|(?P<video>mp4|videos?)"
    r")\b"
)
"""The words a request asks for a kind with, in lower case. One pattern: it is run over every request at collection."""


def kind_of(name: str) -> str:
    """Return the kind of a file by its suffix, ``other`` for one that is not known."""
    return _BY_SUFFIX.get(PurePosixPath(name).suffix.lower().lstrip("."), "other")


def file_kinds(request: str, inputs: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds a task asks for or gives, sorted: the words of its request and the suffixes of its inputs."""
    given = {kind_of(name) for name in inputs} - {"other"}
    return tuple(sorted(mentioned_kinds(request) | given))


def mentioned_kinds(text: str) -> set[str]:
    """Return the kinds of files a text speaks of."""
    return {str(match.lastgroup) for match in _WORDS.finditer(text.lower())}
