"""Text that is safe to show, within a number of bytes: what a page of bounded size is made of."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import escape

from pytest_gta.reporters.visible_text import visible


@dataclass(frozen=True, slots=True)
class Cut:
    """A text, or its beginning and its end.

    Attributes:
        head: The whole text, or its beginning.
        tail: Its end; "" when the head is all that is shown.
        left_out: Characters between them (or after the head) that are not shown.
    """

    head: str
    tail: str = ""
    left_out: int = 0


def size(text: str) -> int:
    """Return the bytes a visible text takes in the page, escaped."""
    return len(str(escape(text)).encode("utf-8"))


def fit(text: str, most: int, *, tail: float = 0.0) -> Cut:
    """Return as much of a text as fits.

    Args:
        text: Any text; what is returned is `visible`.
        most: Bytes it may take in the page.
        tail: Share of them that is kept for its end.
    """
    most = max(most, 40)
    if len(text) <= most:
        whole = visible(text)
        if size(whole) <= most:
            return Cut(whole)
    for_tail = int(most * tail)
    head_length = _longest(text, most - for_tail)
    tail_length = _longest(text[head_length:], for_tail, from_end=True)
    return Cut(
        visible(text[:head_length]),
        visible(text[len(text) - tail_length :]) if tail_length else "",
        len(text) - head_length - tail_length,
    )


def _longest(text: str, most: int, *, from_end: bool = False) -> int:
    """Return how many characters of a text, from its beginning or its end, fit in so many bytes."""
    length = min(len(text), most)
    while length > 0:
        part = text[len(text) - length :] if from_end else text[:length]
        taken = size(visible(part))
        if taken <= most:
            return length
        length = min(int(length * most / taken), length - 1)
    return 0
