"""How extracted text is put: characters that JSON and XML can carry, tables as markdown, one-line labels."""

from __future__ import annotations

import re
from collections.abc import Sequence

_UNSAFE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_SPACE = re.compile(r"[ \t\u00a0]+")
_BLANK_LINES = re.compile(r"\n{3,}")


def clean(text: str) -> str:
    """Return text that any JSON or XML can carry.

    Control bytes, lone surrogates and non-characters become the replacement character; line ends become line feeds.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n")
    return _UNSAFE.sub("\ufffd", text)


def one_line(text: str, most: int = 200) -> str:
    """Return text on one line, runs of white space as one space, at most `most` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def squeeze(text: str) -> str:
    """Return text without trailing blanks on its lines and without more than one empty line in a row."""
    return _BLANK_LINES.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip("\n")


def fold_spaces(text: str) -> str:
    """Return text with every run of blanks within a line as one blank."""
    return _SPACE.sub(" ", text)


def cell(text: str) -> str:
    """Return text fit for a cell of a markdown table: one line, bars escaped."""
    return " / ".join(part.strip() for part in text.split("\n") if part.strip()).replace("|", "\\|")


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a markdown table whose first row is the head; short rows are filled up, "" for no rows."""
    width = max((len(row) for row in rows), default=0)
    if width == 0:
        return ""
    filled = [[cell(text) for text in row] + [""] * (width - len(row)) for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in filled]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def plural(number: int, noun: str) -> str:
    """Return e.g. ``1 page`` or ``1,200 pages``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def spans(numbers: Sequence[int]) -> str:
    """Return rising numbers with runs joined: ``1, 3-5, 9``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def spread(count: int, most: int) -> list[int]:
    """Return at most `most` of the positions 0..count-1, evenly spread, the first and the last among them."""
    if most <= 0:
        return []
    if count <= most:
        return list(range(count))
    if most == 1:
        return [0]
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})
