"""Text that is safe to show, within a number of bytes: what a page of bounded size is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import escape

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
"""Characters that would hide, reorder or break what stands around them."""


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


def visible(text: str) -> str:
    """Return text with what cannot be seen made visible: control bytes as ``␛``, other signs by their code point."""
    return _INVISIBLE.sub(_named, text.replace("\r\n", "\n"))


def _named(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\u2039U+{code:04X}\u203a"


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
