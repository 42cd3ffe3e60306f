"""What a video of a text shows one after the other: a title and scenes, each with its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_gta.tools.printable_text import printable, with_real_line_ends

_SCENE = re.compile(
    r"^(?:(?:scene|shot|slide|part|chapter|frame|szene|scène|escena)\s*#?\d+\s*[:.)\u2013-]?|\d{1,2}[.):]|[-*\u2022])\s*",
    re.IGNORECASE,
)
_TIMES = re.compile(
    r"\s*[\[(]\s*\d{1,3}(?::\d\d)?\s*s?\s*(?:-|\u2013|to)\s*\d{1,3}(?::\d\d)?\s*(?:s|sec|seconds)?\s*[\])]\s*[:\u2013-]?\s*",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^#{1,6}\s*(.+?)\s*#*$")
_MARKS = re.compile(r"(\*\*|__|`{1,3}|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w))")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_SENTENCE = re.compile(r"(?<=[.!?\u2026])[\"'\u201d\u2019)]*\s+(?=\S)|(?<=[\u3002\uff01\uff1f])")
_LONGEST_HEADING = 60


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture of the video.

    Attributes:
        heading: A few words above the text, or "".
        text: The words that are shown and spoken; "" when the heading is all.
    """

    heading: str
    text: str

    @property
    def spoken(self) -> str:
        """What a voice says."""
        if not self.heading:
            return self.text
        end = "" if self.heading[-1] in ".!?:\u3002" else "."
        return f"{self.heading}{end} {self.text}".strip()


def scenes_of(description: str) -> tuple[Scene, ...]:
    """Split a text into scenes: at its headings, numbered scenes, list items and paragraphs, else at its sentences.

    A short first line stands alone, as a title.
    """
    lines = [_plain(line) for line in printable(with_real_line_ends(description)).split("\n")]
    blocks: list[tuple[str, bool]] = []
    open_block = False
    for line, is_heading in lines:
        if not line:
            open_block = False
        elif is_heading or _SCENE.match(line) or not open_block:
            blocks.append((line, is_heading))
            open_block = not is_heading
        else:
            blocks[-1] = (f"{blocks[-1][0]} {line}", False)
    scenes: list[Scene] = []
    heading = ""
    for number, (block, is_heading) in enumerate(blocks):
        text = _TIMES.sub(" ", _SCENE.sub("", block)).strip()
        if not text:
            continue
        is_title = number == 0 and len(blocks) > 1 and len(text) <= _LONGEST_HEADING and text[-1] not in ".!?:,;"
        if is_heading or is_title:
            if heading:
                scenes.append(Scene(heading, ""))
            heading = text.rstrip(":")
            if is_title and not is_heading:
                scenes.append(Scene(heading, ""))
                heading = ""
            continue
        own, text = _own_heading(text)
        if heading and own:
            scenes.append(Scene(heading, ""))
            heading = ""
        scenes.append(Scene(heading or own, text))
        heading = ""
    if heading:
        scenes.append(Scene(heading, ""))
    if len(scenes) == 1 and len(sentences(scenes[0].text)) > 1:
        first, *rest = sentences(scenes[0].text)
        scenes = [Scene(scenes[0].heading, first), *(Scene("", sentence) for sentence in rest)]
    return tuple(scenes)


def merged(scenes: Sequence[Scene], most: int) -> tuple[Scene, ...]:
    """Join the shortest neighbours until there are at most `most` scenes; no word is lost."""
    kept = list(scenes)
    while len(kept) > max(1, most):
        at = min(range(len(kept) - 1), key=lambda n: len(kept[n].spoken) + len(kept[n + 1].spoken))
        first, second = kept[at], kept[at + 1]
        if not first.text and not second.heading:
            joined = Scene(first.heading, second.text)
        else:
            joined = Scene(first.heading, f"{first.text} {second.spoken}".strip())
        kept[at : at + 2] = [joined]
    return tuple(kept)


def sentences(text: str) -> list[str]:
    """Split a text into sentences."""
    return [part.strip() for part in _SENTENCE.split(text) if part and part.strip()]


def _plain(line: str) -> tuple[str, bool]:
    """Return a line without marks of markdown, and whether it is a heading."""
    line = line.strip()
    found = _HEADING.match(line)
    bold = re.fullmatch(r"(\*\*|__)([^*_]{1,60})\1:?", line)
    if found or bold:
        line = found[1] if found else bold[2] if bold else line
    if re.fullmatch(r"[-=_*]{3,}", line):
        return "", False
    return _MARKS.sub("", _LINK.sub(r"\1", line)).strip(), bool(found or bold)


def _own_heading(text: str) -> tuple[str, str]:
    """Split "Opening: A sunrise over the city." at its colon."""
    head, colon, rest = text.partition(": ")
    if colon and rest.strip() and 1 < len(head) <= 40 and len(head.split()) <= 6 and "." not in head:
        return head.strip(), rest.strip()
    return "", text
