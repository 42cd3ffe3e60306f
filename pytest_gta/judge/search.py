"""Passages of long texts that matter to one requirement, found by its words (BM25).

Used when a task's files do not fit the evidence budget: all leaves are shown the same excerpts, and each leaf in
addition what its own requirement asks for, wherever in the files that stands.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_gta.formats.wording import one_line

SEARCH_VERSION = "1"
"""Part of every key of evidence that is searched. Raise it when another passage may be found for the same words."""

PASSAGE = 900
"""Characters of a passage, at most."""

MOST_CHARACTERS = 6_000_000
"""Characters that are searched; of longer texts only their beginnings."""

_K, _B = 1.5, 0.75
_COMMON = 0.4
_LEAST = 0.2
"""Of the best passage's score; one that matches less only shares a word or two."""
_PART = re.compile(r"^=== (.+) ===$", re.MULTILINE)
_THOUSANDS = re.compile(r"(?<=\d)[,\u2009\u202f](?=\d{3}(?!\d))")
_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("edly", ""), ("ed", ""), ("es", ""), ("ly", ""), ("s", ""))
_STEM = 3


@dataclass(frozen=True, slots=True)
class SourceText:
    """The whole text of a file.

    Attributes:
        name: What the judge calls it.
        text: All that was read of it.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a text.

    Attributes:
        name: The file.
        where: Which page, slide or sheet, or which characters.
        text: The piece itself, as it stands in the file.
        start: At which character of the file's text it starts.
    """

    name: str
    where: str
    text: str
    start: int = 0


class PassageIndex:
    """The passages of some texts, ready to be searched.

    Args:
        sources: The texts. Of more than `MOST_CHARACTERS` the later ones are not searched to their end.
    """

    def __init__(self, sources: Sequence[SourceText]) -> None:
        self._passages: list[Passage] = []
        self._places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []
        left = MOST_CHARACTERS
        for source in sources:
            for passage in _passages(source.name, source.text[:left]):
                counts = Counter(words(passage.text))
                for word, count in counts.items():
                    self._places[word].append((len(self._passages), count))
                self._passages.append(passage)
                self._lengths.append(max(counts.total(), 1))
            left = max(left - len(source.text), 0)
        self._average = sum(self._lengths) / max(len(self._lengths), 1)

    def best(self, question: str, room: int, shown: str = "") -> tuple[Passage, ...]:
        """Return the passages that match best, in the order of the texts.

        Args:
            question: Words to look for.
            room: Characters for all of them.
            shown: Text that need not be shown again.
        """
        scores: dict[int, float] = defaultdict(float)
        for word in set(words(question)):
            places = self._places.get(word, ())
            if len(places) > max(len(self._passages) * _COMMON, 3):
                continue  # in nearly every passage, so that it tells none from another
            weight = math.log(1 + (len(self._passages) - len(places) + 0.5) / (len(places) + 0.5))
            for index, count in places:
                length = _K * (1 - _B + _B * self._lengths[index] / self._average)
                scores[index] += weight * count * (_K + 1) / (count + length)
        least = _LEAST * max(scores.values(), default=0.0)
        chosen: list[int] = []
        for index in sorted(scores, key=lambda index: (-scores[index], index)):
            size = len(self._passages[index].text)
            if scores[index] < least:
                break
            if size > room:
                if room < PASSAGE // 2:
                    break
                continue
            if self._passages[index].text in shown:
                continue
            chosen.append(index)
            room -= size
        return tuple(self._passages[index] for index in sorted(chosen))


def words(text: str) -> Iterator[str]:
    """Yield what is compared: words without case and endings, numbers without their commas, pairs of CJK characters."""
    plain = _THOUSANDS.sub("", unicodedata.normalize("NFKC", text).casefold())
    for word in _WORD.findall(plain):
        if word.isascii():
            yield _stem(word)
            continue
        at = 0
        for run in _CJK.finditer(word):
            if run.start() > at:
                yield word[at : run.start()]
            characters = run.group()
            if len(characters) == 1:
                yield characters
            yield from (characters[i : i + 2] for i in range(len(characters) - 1))
            at = run.end()
        if at < len(word):
            yield word[at:]


def _stem(word: str) -> str:
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word[: len(word) - len(ending)] + instead
    return word


def _passages(name: str, text: str) -> Iterator[Passage]:
    """Yield the pieces of a text: none reaches over the end of a page, slide or sheet."""
    marks = [*_PART.finditer(text)]
    starts = [0, *(mark.start() for mark in marks), len(text)]
    names = ["", *(one_line(mark.group(1), 80) for mark in marks)]
    for part, start, end in zip(names, starts, starts[1:], strict=False):
        for left, right in _pieces(text, start, end):
            if text[left:right].strip():
                yield Passage(name, part or f"characters {left + 1:,}-{right:,}", text[left:right], left)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where pieces of at most `PASSAGE` characters start and end: at blank lines, else lines, else blanks."""
    while end - start > PASSAGE:
        cut = -1
        for separator in ("\n\n", "\n", ". ", " "):
            cut = text.rfind(separator, start + PASSAGE // 3, start + PASSAGE)
            if cut >= 0:
                cut += len(separator)
                break
        cut = cut if cut > start else start + PASSAGE
        yield start, cut
        start = cut
    if end > start:
        yield start, end
