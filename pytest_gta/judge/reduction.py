"""Evidence made smaller, for an endpoint that does not take all of it. Every cut is marked where it was made."""

from __future__ import annotations

from dataclasses import replace

from pytest_gta.judge.evidence import Evidence, PicturePart, TextPart
from pytest_gta.judge.excerpts import excerpt_spans, fair_shares, spans_through


def has_pictures(evidence: Evidence) -> bool:
    """Whether there is a picture among the parts."""
    return any(isinstance(part, PicturePart) for part in evidence.parts)


def without_pictures(evidence: Evidence) -> Evidence:
    """Return the evidence with each picture replaced by a line that says it is not shown."""
    parts = tuple(
        TextPart(f"[picture not shown: {part.label}]") if isinstance(part, PicturePart) else part
        for part in evidence.parts
    )
    return replace(evidence, parts=parts)


def half_of(evidence: Evidence) -> Evidence:
    """Return about half of the evidence: passages of the longest texts, and every second picture.

    Texts share the room fairly: short ones stay whole, long ones are cut to one common length.
    """
    sizes = [len(part.text) for part in evidence.parts if isinstance(part, TextPart)]
    shares = iter(fair_shares(sizes, sum(sizes) // 2))
    parts: list[TextPart | PicturePart] = []
    pictures = 0
    for part in evidence.parts:
        if isinstance(part, TextPart):
            parts.append(_cut(part, next(shares)))
            continue
        pictures += 1
        parts.append(part if pictures % 2 == 0 else TextPart(f"[picture left out for length: {part.label}]"))
    return replace(evidence, parts=tuple(parts))


def _cut(part: TextPart, room: int) -> TextPart:
    text, pieces = excerpt_spans(part.text, room)
    shown = part.shown and replace(part.shown, spans=spans_through(pieces, part.shown.spans))
    return TextPart(text, shown)
