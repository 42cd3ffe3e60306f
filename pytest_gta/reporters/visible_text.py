"""Text of a stranger, shown as it is: nothing in it hides, reorders or breaks what stands around it."""

from __future__ import annotations

import re

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
"""Characters that would hide, reorder or break what stands around them."""


def visible(text: str) -> str:
    """Return text with what cannot be seen made visible: control bytes as ``␛``, other signs by their code point."""
    return _INVISIBLE.sub(_named, text.replace("\r\n", "\n"))


def _named(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\u2039U+{code:04X}\u203a"
