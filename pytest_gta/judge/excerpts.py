"""Which part of a text is shown when not all of it fits: beginning, end, and passages spread evenly between."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PART = re.compile(r"^=== .+ ===$", re.MULTILINE)
_MARK_ROOM = 90
_PASSAGE = 1_600
_SNAP = 300
_SMALLEST = 400


def fair_shares(sizes: Sequence[int], total: int) -> list[int]:
    """Share `total` among wishes: small ones are met in full, the large ones get equal parts of the rest.

    Returns:
        For each size the share, never more than the size; their sum is at most `total`.
    """
    shares = [0] * len(sizes)
    left = max(total, 0)
    waiting = sorted(range(len(sizes)), key=lambda index: sizes[index])
    for position, index in enumerate(waiting):
        shares[index] = min(sizes[index], left // (len(waiting) - position))
        left -= shares[index]
    return shares


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of shown text, and where it stands in the text that it was taken from.

    Attributes:
        at: Where it starts in what is shown.
        start: Where it starts in the whole text.
        length: Characters.
    """

    at: int
    start: int
    length: int


def excerpt(text: str, room: int) -> tuple[str, int]:
    """Return the text, or passages of it that take about `room` characters, and how many characters are not shown.

    Each gap is marked in place, e.g. ``[... 12,340 characters not shown, going on in: page 17 ...]``. Passages start at
    the beginning of a page, slide or sheet where one is near, else at a line.
    """
    shown, spans = excerpt_spans(text, room)
    return shown, len(text) - sum(span.length for span in spans)


def excerpt_spans(text: str, room: int) -> tuple[str, tuple[Span, ...]]:
    """Return what `excerpt` does, with where in the text each piece of it stands."""
    if len(text) <= room:
        return text, (Span(0, 0, len(text)),) if text else ()
    ranges = [(0, max(room - _MARK_ROOM // 2, 0))] if room < _SMALLEST else _ranges(text, room)
    pieces: list[str] = []
    spans: list[Span] = []
    at = length = 0
    for start, end in (*ranges, (len(text), len(text))):
        gap = _gap(text, at, start) if start > at else ""
        pieces += [gap, text[start:end]]
        if end > start:
            spans.append(Span(length + len(gap), start, end - start))
        length += len(gap) + end - start
        at = end
    return "".join(pieces), tuple(spans)


def spans_through(outer: Sequence[Span], inner: Sequence[Span]) -> tuple[Span, ...]:
    """Return what an excerpt of an excerpt shows of the whole text.

    Args:
        outer: Where the pieces of the second excerpt stand in the first.
        inner: Where the pieces of the first stand in the whole text.
    """
    found = []
    for piece in outer:
        for span in inner:
            start = max(piece.start, span.at)
            end = min(piece.start + piece.length, span.at + span.length)
            if end > start:
                found.append(Span(piece.at + start - piece.start, span.start + start - span.at, end - start))
    return tuple(found)


def _ranges(text: str, room: int) -> list[tuple[int, int]]:
    """Choose what is shown: a third for the beginning, a sixth for the end, the rest in passages between."""
    head, tail = room // 3, room // 6
    between = room - head - tail
    count = max(1, min(16, between // _PASSAGE))
    length = max(between // count - _MARK_ROOM, 80)
    starts = [match.start() for match in _PART.finditer(text)]
    chosen = [(0, _line_end(text, head))]
    last = _line_start(text, len(text) - tail)
    middle = last - head
    for index in range(count):
        # The centre of the index-th of equal stretches of the middle.
        wish = head + round(middle * (index + 0.5) / count - length / 2)
        chosen.append(_passage(text, wish, length, starts))
    chosen.append((last, len(text)))
    return _joined(chosen, len(text))


def _passage(text: str, wish: int, length: int, starts: list[int]) -> tuple[int, int]:
    near = min(starts, key=lambda start: abs(start - wish), default=None)
    start = near if near is not None and abs(near - wish) <= length else _line_start(text, max(wish, 0))
    return start, _line_end(text, start + length)


def _joined(ranges: list[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted((max(a, 0), min(b, size)) for a, b in ranges):
        # A gap shorter than the line that would mark it is not worth leaving out.
        if joined and start <= joined[-1][1] + _MARK_ROOM // 2:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        elif end > start:
            joined.append((start, end))
    return joined


def _line_start(text: str, at: int) -> int:
    """Return the start of the next line, if one starts soon; else the place itself."""
    found = text.find("\n", max(at - 1, 0), at + _SNAP)
    return found + 1 if found >= 0 else at


def _line_end(text: str, at: int) -> int:
    """Return the end of a line shortly before a place, if one ends there; else the place itself."""
    if at >= len(text):
        return len(text)
    found = text.rfind("\n", max(at - _SNAP, 0), at)
    return found + 1 if found >= 0 else at


def _gap(text: str, start: int, end: int) -> str:
    part = ""
    if end < len(text):
        marks = list(_PART.finditer(text, 0, end + 1))
        if marks and not text.startswith("=== ", end):
            part = f", going on in: {marks[-1].group(0).strip('= ')[:60]}"
    return f"\n[... {end - start:,} characters not shown{part} ...]\n"
