"""Text that any file format can hold: what models write, without the characters that break XML and PDF."""

from __future__ import annotations

import re

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Return the text with line ends as ``\n``, surrogate pairs joined, and without control characters.

    A lone surrogate, which no file can hold, becomes U+FFFD, the mark for a broken character.
    """
    if _SURROGATE.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n\n")
    return _FORBIDDEN.sub("", text)


def with_real_line_ends(text: str) -> str:
    r"""Return the text with ``\n`` written as two characters turned into line ends, when that is what was meant.

    A model that escapes its argument twice sends one long line; a text that has real line ends is left alone, as is
    one with a single ``\n`` (which may be part of a Windows path).
    """
    if "\n" in text.strip() or text.count("\\n") < 2:
        return text
    return text.replace("\\r\\n", "\n").replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
