"""File names in running text: which files a request asks for, which a requirement expects."""

from __future__ import annotations

import re

from pytest_gta.benchmark.kinds import KNOWN_SUFFIXES

_URL = re.compile(r"\b(?:https?|ftp)://\S+|\bwww\.\S+", re.IGNORECASE)
_SUFFIX = "|".join(sorted(KNOWN_SUFFIXES, key=len, reverse=True))
_NAME = re.compile(
    rf"(?<![\w./\\-])(?:[A-Za-z]:)?[/\\]*(?:[\w.-]+[/\\])*(?P<name>[\w-][\w.-]*\.(?:{_SUFFIX}))(?![\w-])",
    re.IGNORECASE,
)


def file_names(text: str) -> list[str]:
    """Return the names of files in a text, each once and without its folders, in order; addresses are left out."""
    return list(dict.fromkeys(match["name"] for match in _NAME.finditer(_URL.sub(" ", text))))
