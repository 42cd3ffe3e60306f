"""How much of the delivered files the parts of a prompt show: counted in what is sent, not in what was meant to be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_gta.benchmark.coverage import Coverage
from pytest_gta.formats.extract import Extract
from pytest_gta.judge.excerpts import Span
from pytest_gta.judge.search import Passage

_NOUNS = {"pdf": "page", "slides": "slide", "sheets": "sheet"}
"""Kinds whose text is marked page by page, and what a page of them is called."""

_DRAWN = re.compile(r"^(?:page|slide|sheet) (\d+)\b")
_WITHOUT_TEXT = "[a picture, no text in the file]"


@dataclass(frozen=True, slots=True)
class Content:
    """What a delivered file holds that can be shown.

    Attributes:
        path: What the judge calls it.
        characters: Length of the text that was read.
        hollow: Whether there is nothing in it that could be shown, as in an empty file.
        pages: How many pages, slides or sheets it has; 0 where that is not known.
        stretches: Where in the text each of them starts and ends; a page that is a mere picture has an empty one. None
            where the text does not tell its pages.
    """

    path: str
    characters: int
    hollow: bool = False
    pages: int = 0
    stretches: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """What one part of a prompt shows of one file.

    Attributes:
        path: The file.
        spans: Which of its text.
        pictures: How many pictures.
        page: Which page the picture is of, from 1; 0 when that is not known.
    """

    path: str
    spans: tuple[Span, ...] = ()
    pictures: int = 0
    page: int = 0


def content_of(path: str, extract: Extract, *, whole: bool, drawn_pages: int = 0) -> Content:
    """Return what a file holds.

    Args:
        path: What the judge calls it.
        extract: What was read of it.
        whole: Whether text, pictures and facts are all there is to it.
        drawn_pages: Its pages as a renderer drew them; 0 without one.
    """
    noun = _NOUNS.get(extract.kind, "")
    pages = extract.facts.get(f"{noun}s") if noun else drawn_pages
    count = pages if isinstance(pages, int) else 0
    stretches = tuple(_stretches(extract.text, noun, count)) if noun else ()
    hollow = whole and not extract.text and not extract.pictures
    return Content(path, len(extract.text), hollow, count, stretches)


def page_of(kind: str, where: str) -> int:
    """Return which page of a file a picture is of, from 1; 0 when its place does not tell.

    Args:
        kind: The file's family.
        where: As of `Picture.where`. A picture stored in a sheet is named by the sheet, which may be called ``3``.
    """
    found = _DRAWN.match(where) if kind != "sheets" or where.endswith("(drawn)") else None
    return int(found.group(1)) if found else 0


def coverage(contents: Sequence[Content], shown: Iterable[Shown], passages: Sequence[Passage] = ()) -> Coverage:
    """Count what is shown of the files.

    Args:
        contents: The delivered files.
        shown: What the parts of the prompt show.
        passages: What one leaf is shown in addition.
    """
    spans: dict[str, list[tuple[int, int]]] = {content.path: [] for content in contents}
    pictured: dict[str, list[int]] = {content.path: [] for content in contents}
    for part in shown:
        if part.path in spans:
            spans[part.path] += [(span.start, span.start + span.length) for span in part.spans]
            pictured[part.path] += [part.page] * part.pictures
    chosen = [passage for passage in passages if passage.name in spans]
    for passage in chosen:
        spans[passage.name].append((passage.start, passage.start + len(passage.text)))
    texts = {path: _joined(ranges) for path, ranges in spans.items()}
    lengths = {path: sum(end - start for start, end in ranges) for path, ranges in texts.items()}
    return Coverage(
        files=len(contents),
        files_shown=sum(bool(lengths[c.path] or pictured[c.path] or c.hollow) for c in contents),
        pages=sum(content.pages for content in contents),
        pages_shown=sum(_pages_shown(c, texts[c.path], lengths[c.path], pictured[c.path]) for c in contents),
        characters=sum(content.characters for content in contents),
        characters_shown=sum(lengths.values()),
        pictures_shown=sum(len(pages) for pages in pictured.values()),
        passages=len(chosen),
    )


def _pages_shown(content: Content, text: Sequence[tuple[int, int]], length: int, pictured: Iterable[int]) -> int:
    seen = {page for page in pictured if 0 < page <= content.pages}
    if not content.stretches:
        # A document's text does not tell where its pages end: only the whole of it is all of them.
        return content.pages if content.characters and length == content.characters else len(seen)
    for number, (start, end) in enumerate(content.stretches, 1):
        if start < end and any(left < end and right > start for left, right in text):
            seen.add(number)
    return min(len(seen), content.pages)


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def _stretches(text: str, noun: str, count: int) -> Iterable[tuple[int, int]]:
    """Yield where the text of each page is, with the line that marks it: a slide's title is there."""
    marks: list[re.Match[str]] = []
    for mark in re.finditer(rf"^=== {noun} (.+) ===$", text, re.MULTILINE):
        # A page's own text may hold what looks like the mark of another.
        if noun == "sheet" or re.match(rf"{len(marks) + 1}\b", mark.group(1)):
            marks.append(mark)
        if len(marks) == count:
            break
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        yield mark.start(), mark.start() if _WITHOUT_TEXT in mark.group(1) else end
