"""How much room text takes on a slide, so that it can be given a size that fits, or be continued on the next."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from pytest_gta.tools.document_tree import Inline, Inlines, Text, plain
from pytest_gta.tools.slide_outline import Line

LEADING = 1.22
"""Height of a line, in sizes of its font."""
_NARROW = frozenset("iljtfrI.,:;'|!()[] ")
_BROAD = frozenset("mwMW@%&")


def text_width(text: str, size: float) -> float:
    """Return the estimated width of a text in points: a little more than the usual fonts take."""
    ems = 0.0
    for char in text:
        if unicodedata.combining(char):
            continue
        if unicodedata.east_asian_width(char) in "WF":
            ems += 1.05
        elif char in _NARROW:
            ems += 0.34
        elif char in _BROAD:
            ems += 0.92
        else:
            ems += 0.66 if char.isupper() or char.isdigit() else 0.57
    return ems * size


def line_count(text: str, size: float, width: float) -> int:
    """Return into how many lines a text is broken at a width in points."""
    lines, used = 1, 0.0
    for word in re.findall(r"\S+\s*", text):
        wide = text_width(word, size)
        bare = text_width(word.rstrip(), size)
        if used + bare <= width:
            used += wide
            continue
        breakable = any(unicodedata.east_asian_width(char) in "WF" for char in word)
        if breakable or bare > width:
            total = used + wide if breakable else wide
            lines += int(total // width) if breakable else int(bare // width) + (1 if used else 0)
            used = total % width
        else:
            lines += 1
            used = wide
    return lines


def level_size(size: float, level: int) -> float:
    """Return the size of a paragraph at a level when the outermost has `size`."""
    return max(size - 2 * level, 11, size * 0.6)


def line_height(line: Line, size: float, width: float) -> float:
    """Return the height of a paragraph in points, with the space after it."""
    own = level_size(size, line.level)
    indent = (line.level + (1 if line.mark != "none" else 0)) * own * 1.3
    wraps = 1.12 if any(isinstance(part, Text) and part.code for part in line.content) else 1.0
    return line_count(plain(line.content), own * wraps, max(width - indent, 40)) * own * LEADING + own * 0.35


def text_height(lines: Sequence[Line], size: float, width: float) -> float:
    """Return the height of some paragraphs in points."""
    return sum(line_height(line, size, width) for line in lines)


def fitting_size(lines: Sequence[Line], width: float, height: float, sizes: Sequence[float]) -> float | None:
    """Return the largest of `sizes` (largest first) at which the paragraphs fit; None when none does."""
    return next((size for size in sizes if text_height(lines, size, width) <= height), None)


def split_lines(lines: Sequence[Line], size: float, width: float, height: float) -> list[list[Line]]:
    """Split paragraphs into groups that each fit; one too long for a group of its own is split between sentences."""
    groups: list[list[Line]] = [[]]
    used = 0.0
    waiting = list(lines)
    while waiting:
        line = waiting.pop(0)
        needed = line_height(line, size, width)
        if used + needed <= height:
            groups[-1].append(line)
            used += needed
            continue
        if needed > height:
            first, rest = _halved(line)
            if rest is not None:
                waiting[:0] = [first, rest]
                continue
        if groups[-1]:
            # A line that only introduces those below it goes with them.
            carried = [groups[-1].pop()] if len(groups[-1]) > 1 and groups[-1][-1].level < line.level else []
            groups.append(carried)
            used = text_height(carried, size, width)
        groups[-1].append(line)
        used += needed
    return groups


def _halved(line: Line) -> tuple[Line, Line | None]:
    text = plain(line.content)
    middle = len(text) // 2
    ends = [found.end() for found in re.finditer("[.!?;]\\s+|[\u3002\uff01\uff1f\uff1b]", text)] or [
        f.end() for f in re.finditer(r"\s+", text)
    ]
    ends = [end for end in ends if 0 < end < len(text)] or ([middle] if len(text) > 40 else [])
    if not ends:
        return line, None
    at = min(ends, key=lambda end: abs(end - middle))
    first, rest = _cut(line.content, at)
    return replace(line, content=first), replace(
        line, content=rest, mark="none" if line.mark == "number" else line.mark
    )


def _cut(content: Inlines, at: int) -> tuple[Inlines, Inlines]:
    first: list[Inline] = []
    rest: list[Inline] = []
    for part in content:
        if not isinstance(part, Text):
            (first if at > 0 else rest).append(part)
            continue
        if at >= len(part.text):
            first.append(part)
        elif at <= 0:
            rest.append(part)
        else:
            first.append(replace(part, text=part.text[:at]))
            rest.append(replace(part, text=part.text[at:]))
        at -= len(part.text)
    return tuple(first), tuple(rest)
