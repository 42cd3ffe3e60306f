"""Evidence made smaller, for an endpoint that does not take all of it. Every cut is marked where it was made."""

from __future__ import annotations

from dataclasses import replace

from pytest_gta.judge.evidence import Evidence, PicturePart, TextPart

_MARK_LENGTH = 60
"""Characters that a mark takes, about."""


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
    """Return about half of the evidence: the longest texts cut in their middle, every second picture left out.

    Texts share the room fairly: a short one stays whole, long ones are cut to one common length.
    """
    sizes = [len(part.text) for part in evidence.parts if isinstance(part, TextPart)]
    limit = _common_limit(sizes, sum(sizes) // 2)
    parts: list[TextPart | PicturePart] = []
    pictures = 0
    for part in evidence.parts:
        if isinstance(part, TextPart):
            parts.append(TextPart(shortened(part.text, limit)))
            continue
        pictures += 1
        parts.append(part if pictures % 2 == 0 else TextPart(f"[picture left out for length: {part.label}]"))
    return replace(evidence, parts=tuple(parts))


def shortened(text: str, limit: int) -> str:
    """Return a text of at most about `limit` characters: its beginning (two thirds), its end, and what is missing."""
    if len(text) <= limit:
        return text
    kept = max(limit - _MARK_LENGTH, 0)
    head = kept * 2 // 3
    tail = kept - head
    missing = len(text) - kept
    return (
        f"{text[:head]}\n[... {missing} of {len(text)} characters left out for length ...]\n{text[len(text) - tail :]}"
    )


def _common_limit(sizes: list[int], room: int) -> int:
    """Return the length L for which the sum of min(size, L) is at most `room`."""
    left, waiting = room, len(sizes)
    for size in sorted(sizes):
        if size > left // waiting:
            return left // waiting
        left -= size
        waiting -= 1
    return max(sizes, default=0)
