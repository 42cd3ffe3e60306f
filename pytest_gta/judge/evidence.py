"""What the judge is shown of a task's result: facts of every file, text and pictures within a budget, cuts marked.

Built once a task, from the files that were collected as deliverables. What an agent program keeps for itself (its own
logs, caches, version control, links) is sorted out when deliverables are collected and appears here by name only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_gta.benchmark.results import DeliverableRecord
from pytest_gta.benchmark.task import Brief
from pytest_gta.formats.wording import clean, one_line, plural
from pytest_gta.judge.exhibits import PicturePart, ShownFile, TextPart, show
from pytest_gta.judge.file_selection import FileToRead, read_files
from pytest_gta.judge.reading_files import Caller
from pytest_gta.judge.search import SEARCH_VERSION, SourceText
from pytest_gta.judge.shown import Content
from pytest_gta.workspace.deliverables import Deliverables
from pytest_gta.workspace.workspace import PathRefused, Workspace

if TYPE_CHECKING:
    from pytest_gta.judge.drawing import Drawer

__all__ = ["Evidence", "EvidenceBudget", "PicturePart", "TextPart", "build_evidence"]

_INPUT_SHARE = 4
_INPUT_PICTURES = 2
_LINE_ROOM, _BRIEF_LINE_ROOM = 240, 130
_SMALL = 8_000
_RENDERED = ("word", "slides", "sheets", "web")
_MOST_LISTED = 200
_MOST_NOTE = 700
_SMALLEST_SEARCH = 1_000


@dataclass(frozen=True, slots=True)
class EvidenceBudget:
    """How much of a task's files is shown; shared between the files so that small ones are whole and large ones alike.

    Attributes:
        characters: Characters of text over all files, about; four of them are some one token of a model.
        leaf_characters: Characters of passages that one leaf is shown in addition, found by the words of its
            requirement, when not everything fits.
        pictures: Pictures over all files; 0 for a judge that takes none.
        picture_px: Longest side of a picture, in pixels.
        files: Files that are opened. Of more than that, the ones that request and answer name come first.
        file_seconds: Time for reading one file.
        total_seconds: Time for reading all files; those left then are listed unread.
    """

    characters: int = 240_000
    leaf_characters: int = 8_000
    pictures: int = 24
    picture_px: int = 1_200
    files: int = 200
    file_seconds: float = 60.0
    total_seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a judge is shown, in order, and how much of each file that is.

    Attributes:
        parts: A manifest, then for each file its text and its pictures; deliverables first, then inputs.
        files: One record a deliverable, and one for each thing that was not taken.
        digest: SHA-256 over all that the judge would see: request, answer, parts, records, and the
            texts that leaves may be shown more of.
        note: What is not shown, in one line; "" when everything is.
        sources: The whole texts of the longer files, to be searched where not all of them is shown.
        leaf_characters: Characters of passages from them that one leaf may be shown.
        contents: What each delivered file holds, to be compared with what is shown; empty when that is not known.
    """

    parts: tuple[TextPart | PicturePart, ...]
    files: tuple[DeliverableRecord, ...]
    digest: str
    note: str = field(default="")
    sources: tuple[SourceText, ...] = field(default=(), repr=False)
    leaf_characters: int = 0
    contents: tuple[Content, ...] = field(default=(), repr=False)


def build_evidence(
    brief: Brief,
    final_answer: str,
    workspace: Workspace,
    deliverables: Deliverables,
    *,
    process: Caller,
    budget: EvidenceBudget | None = None,
    drawer: Drawer | None = None,
) -> Evidence:
    """Read what was delivered, and what was given, and choose what of it is shown.

    Deliverables come first and may take the whole budget. Of what is left then, inputs take at most a quarter of all
    text and half of all pictures: what is asked about a video or a scan is often its timing or its detail.

    Args:
        brief: The task.
        final_answer: The agent's last message: files it names are preferred when there are very many.
        workspace: The task's folder.
        deliverables: What was collected from it.
        process: The confined process that reads the files; it must be allowed to read the workspace.
        budget: How much is shown.
        drawer: Draws deliverables; `process` must be allowed to read its folder. None to draw nothing.
    """
    budget = budget or EvidenceBudget()
    wanted = [
        FileToRead("deliverable", f.path, workspace.root / f.path, f.bytes, f.media_type, f.sha256)
        for f in deliverables.files
    ]
    mentions = f"{brief.request}\n{final_answer}"
    read = read_files(wanted, mentions, process, budget.files, budget.pictures, budget, drawer=drawer)
    is_small = budget.characters < _SMALL
    line_room = _BRIEF_LINE_ROOM if is_small else _LINE_ROOM
    room = max(budget.characters - line_room * (len(wanted) + 1), budget.characters // 3)
    shown = show(read.files, room, budget.pictures)
    characters_left = room - sum(len(file.text) for file in shown)
    pictures_left = budget.pictures - sum(len(file.pictures) for file in shown)
    inputs, absent = _inputs(brief, workspace)
    given: list[ShownFile] = []
    if inputs:
        most = min(pictures_left, budget.pictures // _INPUT_PICTURES)
        read_inputs = read_files(inputs, mentions, process, budget.files, most, budget, started=read.started)
        given = show(read_inputs.files, min(characters_left, room // _INPUT_SHARE), budget.pictures)
    records = tuple(file.record for file in shown) + tuple(
        DeliverableRecord(
            path=clean(item.path), bytes=0, sha256=None, media_type="", evidence="not_taken", note=clean(item.reason)
        )
        for item in deliverables.not_taken
    )
    manifest = _manifest(shown, given, absent, deliverables, brief=is_small)
    parts: list[TextPart | PicturePart] = [TextPart(manifest)]
    for number, file in enumerate(shown, 1):
        parts.extend(file.parts(f"deliverable {number} of {len(shown)}"))
    for number, file in enumerate(given, 1):
        parts.extend(file.parts(f"input {number} of {len(given)}, given to the agent, not made by it"))
    # A judge that is shown little reads slowly as well: passages must stay few against the rest.
    leaf_characters = min(budget.leaf_characters, budget.characters // 10)
    searched = leaf_characters >= _SMALLEST_SEARCH
    texts = [SourceText(f.path, f.extract.text) for f in (*shown, *given) if len(f.extract.text) > _SMALLEST_SEARCH]
    hidden = [SourceText(f.path, f.extract.text) for f in (*shown, *given) if len(f.text) < len(f.extract.text)]
    return Evidence(
        parts=tuple(parts),
        files=records,
        digest=_digest(brief, final_answer, parts, records, hidden if searched else (), leaf_characters),
        note=_note(shown, given),
        sources=tuple(texts) if searched else (),
        leaf_characters=leaf_characters if searched else 0,
        contents=tuple(file.content for file in shown),
    )


def _inputs(brief: Brief, workspace: Workspace) -> tuple[list[FileToRead], list[str]]:
    """Return the inputs that are there, and the names of those that are not."""
    found: list[FileToRead] = []
    absent: list[str] = []
    for path in brief.inputs:
        try:
            real = workspace.resolve(path)
            found.append(FileToRead("input", path, real, real.stat().st_size, "", None))
        except (PathRefused, OSError):
            absent.append(path)
    return found, absent


def _manifest(
    shown: Sequence[ShownFile],
    given: Sequence[ShownFile],
    absent: Sequence[str],
    deliverables: Deliverables,
    *,
    brief: bool,
) -> str:
    lines = [f"FILES DELIVERED: {len(shown)}"]
    lines.extend(file.manifest_line(brief) for file in shown[:_MOST_LISTED])
    if not shown:
        lines.append("(none)")
    if len(shown) > _MOST_LISTED:
        lines.append(f"... and {plural(len(shown) - _MOST_LISTED, 'more file')}")
    if not brief and any(file.extract.kind in _RENDERED and not file.drawn for file in shown):
        what = "Where no picture says (drawn), Word, PowerPoint, Excel and HTML files are given as text and embedded "
        lines.append(f"({what}pictures.)")
    if given or absent:
        lines.append("INPUTS, given to the agent (not deliverables):")
        lines.extend(file.manifest_line(brief) for file in given[:_MOST_LISTED])
        lines.extend(f"- {one_line(path)}: absent here, cannot be shown" for path in absent[:_MOST_LISTED])
    if deliverables.not_taken:
        lines.append("LEFT IN THE WORKSPACE, not taken as deliverables:")
        lines.extend(f"- {one_line(i.path)}: {one_line(i.reason)}" for i in deliverables.not_taken[:_MOST_LISTED])
        if len(deliverables.not_taken) > _MOST_LISTED:
            lines.append(f"... and {len(deliverables.not_taken) - _MOST_LISTED:,} more")
    return "\n".join(lines)


def _note(shown: Sequence[ShownFile], given: Sequence[ShownFile]) -> str:
    """Name the files that are not shown whole; why not is in the record of each."""
    said = []
    for evidence, words in (("partial", "shown in part"), ("none", "content not shown")):
        names = [one_line(file.path, 80) for file in shown if file.record.evidence == evidence]
        if names:
            said.append(f"{words}: {', '.join(names)}")
    cut_inputs = sum(file.record.evidence != "full" for file in given)
    if cut_inputs:
        said.append(f"{plural(cut_inputs, 'input')} of {len(given)} not shown whole")
    return one_line("; ".join(said), _MOST_NOTE)


def _digest(
    brief: Brief,
    final_answer: str,
    parts: Sequence[TextPart | PicturePart],
    records: Sequence[DeliverableRecord],
    hidden: Sequence[SourceText],
    leaf_characters: int,
) -> str:
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, TextPart):
            seen = ["text", part.text]
        else:
            # A drawn picture counts by what it was drawn from: two drawings of one file may differ in a pixel.
            content = part.depends_on or hashlib.sha256(part.data).hexdigest()
            seen = ["picture", part.label, *([] if part.depends_on else [part.media_type]), content]
        digest.update(json.dumps(seen).encode() + b"\n")
    rest = [brief.request, list(brief.inputs), clean(final_answer), [r.model_dump() for r in records]]
    digest.update(json.dumps(rest).encode())
    if hidden:
        # What is not among the parts may reach a leaf all the same.
        digest.update(json.dumps([SEARCH_VERSION, leaf_characters]).encode())
        for source in hidden:
            digest.update(hashlib.sha256(source.text.encode("utf-8", "surrogatepass")).digest())
    return digest.hexdigest()
