"""One file as the judge sees it: how much of its text is shown, between which lines, and what is said of the rest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_gta.benchmark.results import DeliverableRecord
from pytest_gta.formats.extract import Extract, Picture
from pytest_gta.formats.wording import clean, one_line
from pytest_gta.judge.excerpts import Span, excerpt_spans, fair_shares
from pytest_gta.judge.file_selection import FileRead, FileToRead
from pytest_gta.judge.shown import Content, Shown, content_of, page_of

_MOST_NOTE = 500
_SHOWN = {"full": "shown whole", "partial": "shown in part", "none": "content not shown"}
_KINDS = {
    "word": "Word document",
    "slides": "PowerPoint deck",
    "sheets": "spreadsheet",
    "pdf": "PDF",
    "web": "web page",
    "text": "text",
    "image": "image",
    "audio": "sound",
    "video": "video",
    "archive": "archive",
    "other": "unknown kind",
}


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text shown to the judge.

    Attributes:
        text: The text.
        shown: What of a file it shows; None when it is of no file.
    """

    text: str
    shown: Shown | None = None


@dataclass(frozen=True, slots=True)
class PicturePart:
    """A picture shown to the judge.

    Attributes:
        label: What it is, e.g. ``picture: deck.pptx slide 3``.
        media_type: ``image/png`` or ``image/jpeg``.
        data: The encoded picture.
        depends_on: For a drawn picture, the digest of what it was drawn from and with; its bytes may differ from one
            drawing to the next. "" for a picture that is part of the file.
        shown: What of a file it shows; None when it is of no file.
    """

    label: str
    media_type: str
    data: bytes
    depends_on: str = ""
    shown: Shown | None = None


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file with the part of it that is shown.

    Attributes:
        path: As the agent or the request names it, fit to be printed.
        extract: What was read of it.
        text: The text that is shown.
        pictures: The pictures that are shown.
        record: Its line in the results.
        drawn: What its pictures depend on when a renderer made them, else "".
        drawn_pages: How many pages a renderer made of it, shown or not; 0 without one.
        spans: Where in the whole text the shown one stands.
    """

    path: str
    extract: Extract
    text: str
    pictures: tuple[Picture, ...]
    record: DeliverableRecord
    drawn: str = ""
    drawn_pages: int = 0
    spans: tuple[Span, ...] = ()

    @property
    def content(self) -> Content:
        """What it holds, to be compared with what is shown."""
        whole = self.record.evidence == "full" or not self.record.bytes
        return content_of(self.path, self.extract, whole=whole, drawn_pages=self.drawn_pages)

    def parts(self, role: str) -> list[TextPart | PicturePart]:
        """Return the parts for the judge: the text between two lines only this file can have, then the pictures."""
        mark = hashlib.sha256(f"{self.record.sha256}\0{self.path}\0{self.extract.text}".encode()).hexdigest()[:12]
        lines = [f"[begin of {role}: {self.path} | {mark}]"]
        lines.extend(f"(note: {note})" for note in self.extract.notes)
        lines.extend(f"(not shown: {fault})" for fault in self.extract.faults)
        spans: tuple[Span, ...] = ()
        if self.text:
            before = sum(len(line) + 1 for line in lines)
            spans = tuple(Span(before + span.at, span.start, span.length) for span in self.spans)
            lines.append(self.text)
        elif self.pictures:
            lines.append(
                "(no text; see the picture below)" if len(self.pictures) == 1 else "(no text; see the pictures)"
            )
        else:
            lines.append("(no text in it)" if self.record.evidence == "full" else "(no content that could be shown)")
        lines.append(f"[end of {self.path} | {mark}]")
        found: list[TextPart | PicturePart] = [TextPart("\n".join(lines), Shown(self.path, spans))]
        for picture in self.pictures:
            label = f"picture: {self.path} {picture.where}".strip()
            shown = Shown(self.path, pictures=1, page=page_of(self.extract.kind, picture.where))
            found.append(PicturePart(label, picture.media_type, picture.data, self.drawn, shown))
        return found

    def manifest_line(self, brief: bool = False) -> str:
        """Return one line: name, size, kind, measured facts, how much is shown; unless `brief`, why not all."""
        facts = ", ".join(f"{name}: {_number(value)}" for name, value in self.extract.facts.items())
        said = [f"{self.record.bytes:,} bytes", _KINDS.get(self.extract.kind, self.extract.kind)]
        said.extend(part for part in (facts, _SHOWN[self.record.evidence]) if part)
        line = f"- {self.path}: {'; '.join(said)}"
        if self.pictures:
            line += f" with {len(self.pictures)} picture{'s' if len(self.pictures) > 1 else ''}"
        return one_line(line + (f" ({self.record.note})" if self.record.note and not brief else ""), 900)


def show(files: Sequence[FileRead], room: int, pictures_in_all: int) -> list[ShownFile]:
    """Choose what is shown of each file.

    Args:
        files: The files as read.
        room: Characters of text for all of them.
        pictures_in_all: The pictures a judge takes at all; 0 says in the notes that it takes none.
    """
    shares = fair_shares([len(read.extract.text) for read in files], room)
    return [_shown(read, share, pictures_in_all) for read, share in zip(files, shares, strict=True)]


def _shown(read: FileRead, share: int, pictures_in_all: int) -> ShownFile:
    extract = read.extract
    text, spans = excerpt_spans(extract.text, share)
    left_out = len(extract.text) - sum(span.length for span in spans)
    cuts = list(extract.faults)
    if left_out:
        cuts.append(f"{left_out:,} of {len(extract.text):,} characters not shown")
    unseen = _unseen_pictures(read, pictures_in_all)
    if unseen:
        cuts.append(unseen)
    return ShownFile(
        path=one_line(read.file.path, 300),
        extract=extract,
        text=text,
        pictures=extract.pictures,
        record=_record(read.file, extract, text, cuts),
        drawn=read.drawn,
        drawn_pages=read.drawn_pages,
        spans=spans,
    )


def _record(file: FileToRead, extract: Extract, text: str, cuts: Sequence[str]) -> DeliverableRecord:
    if not cuts:
        evidence = "full"
    elif text.strip() or extract.pictures or extract.facts:
        evidence = "partial"
    else:
        evidence = "none"
    return DeliverableRecord(
        path=clean(file.path),
        bytes=file.bytes,
        sha256=file.sha256,
        media_type=_media_type(file, extract),
        evidence=evidence,
        note=one_line("; ".join([*cuts, *extract.notes]), _MOST_NOTE),
    )


def _media_type(file: FileToRead, extract: Extract) -> str:
    return (
        file.media_type if extract.media_type == "application/octet-stream" and file.media_type else extract.media_type
    )


def _unseen_pictures(read: FileRead, pictures_in_all: int) -> str:
    """Say that a file has something to look at, when none of it is shown."""
    extract = read.extract
    if read.pictures_allowed or extract.pictures or not extract.facts:
        return ""
    why = "this judge is shown no pictures" if pictures_in_all <= 0 else "the room for pictures is used up"
    if extract.kind == "image":
        return f"the image is not shown: {why}"
    if extract.kind == "pdf":
        return f"its pages are given as text only: {why}"
    if extract.facts.get("pictures") or extract.facts.get("inline images"):
        return f"its pictures are not shown: {why}"
    return ""


def _number(value: str | int | float) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
