"""The encoding of text that is no Unicode, by what its letters would be: also of a few words, as in a small table."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterable

_EAST_ASIAN = ("gb18030", "big5", "cp949", "cp932", "euc_jp")
_COMMON = {
    "gb18030": ((0xB0A1, 0xD7F9),),
    "big5": ((0xA440, 0xC67E),),
    "cp949": ((0xB0A1, 0xC8FE),),
    "cp932": ((0x829F, 0x8396), (0x889F, 0x9872)),
    "euc_jp": ((0xA4A1, 0xA5F6), (0xB0A1, 0xCFD3)),
}
"""Codes of the characters that each standard put first because they are the ones in use."""
_LEAST_COMMON = 0.8
_KOREAN = frozenset(
    "이다의가에는을로하고한지기를은자시서사리도나어그대아스인일제정해수부전동보상구과주원성장비용여소마들무화트조국내안유중개있것라만"
    "면생계위회공적경신연우당관미실선치물방발분세간거산모문오영업등금액김울매출날짜역름년월명호번품목격합결요습니까예각학교점표입"
)
"""The syllables that most Korean is of."""
_WESTERN = frozenset("ÄÖÜßäöüÀÂÇÈÉÊËÎÏÔŒÙàâçèéêëîïôœùÁÍÓÚÑáíóúñÅÆØåæø")
_SIGNS = frozenset(
    "«»\u2018\u2019\u201c\u201d\u201e\u201a\u2013\u2014\u2026\u2022\u20ac£§°©®\u2122·±²³¼½¾\u00d7¡¿ºª\u00a0"
)
_OPENING = frozenset("«\u2018\u201c\u201e\u201a¡¿")
_FEW = 40
"""Bytes beyond ASCII that are too few for statistics of letters."""


def encoding_of(sample: bytes) -> str:
    """Return the name of the encoding that text most likely is in; ``cp1252`` where nothing speaks for another."""
    from charset_normalizer import from_bytes

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = from_bytes(sample).best()
    guessed = best.encoding if best is not None else "cp1252"
    wide = sum(byte >= 0x80 for byte in sample)
    if guessed in ("gbk", "gb2312", "big5hkscs", "johab", "euc_kr", "shift_jis", *_EAST_ASIAN) or (
        guessed.startswith(("euc_jis", "shift_jis", "iso2022"))
    ):
        return _most_common_letters(sample) or guessed
    return "cp1252" if wide < _FEW and _is_western(sample) else guessed


def _most_common_letters(sample: bytes) -> str | None:
    """Return the East Asian encoding in which the text is of characters in use; None when it is in none."""
    shares = {encoding: _share_in_use(sample, encoding) for encoding in _EAST_ASIAN}
    best = max(_EAST_ASIAN, key=lambda encoding: shares[encoding])
    if shares["cp949"] == shares[best]:
        # All the codes of Korean syllables are common Chinese characters too.
        syllables = [char for char in sample.decode("cp949", "ignore") if "가" <= char <= "힣"]
        if sum(char in _KOREAN for char in syllables) * 3 >= len(syllables):
            best = "cp949"
    return best if shares[best] >= _LEAST_COMMON else None


def _share_in_use(sample: bytes, encoding: str) -> float:
    """Return which part of the characters beyond ASCII are common ones in an encoding; 0 when it cannot be that."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError as error:
        if error.start < len(sample) - 4:
            return 0.0
        text = sample[: error.start].decode(encoding)  # a sample may end within a character
    letters = [char for char in text if ord(char) >= 0x80 and unicodedata.category(char)[0] in "LC"]
    codes: Iterable[int] = (int.from_bytes(char.encode(encoding), "big") for char in letters)
    common = sum(any(first <= code <= last for first, last in _COMMON[encoding]) for code in codes)
    return common / len(letters) if letters else 0.0


def _is_western(sample: bytes) -> bool:
    """Return whether text is of letters and signs of Western Europe, each where it may stand."""
    text = sample.decode("cp1252", "replace")
    for found in re.finditer(r"[^\x00-\x7f]", text):
        char, after = found[0], text[found.end() : found.end() + 1]
        if char in _SIGNS:
            if after.isalpha() and char not in _OPENING and char not in "\u2019\u2013\u2014°\u00a0":
                return False
        elif char not in _WESTERN:
            return False
    return True
