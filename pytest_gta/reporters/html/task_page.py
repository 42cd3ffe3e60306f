"""One task of the report: everything that is known of it, cut to the bytes it may take."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import quote

from pytest_gta.benchmark.results import DeliverableRecord, TaskResult
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.benchmark.usage import Tokens
from pytest_gta.reporters.attention import nodes
from pytest_gta.reporters.html.failures import Failures, FailureView
from pytest_gta.reporters.html.opinions import Opinions, opinions
from pytest_gta.reporters.html.previews import Preview, Previews, file_of, folder_of
from pytest_gta.reporters.html.room import Cut, fit, size
from pytest_gta.reporters.html.second_attempt import SecondView, second_view
from pytest_gta.reporters.html.steps import Excerpt, Step, read_excerpt
from pytest_gta.reporters.wording import count, duration, money, quantity, shown_to_judge

_PLAYED: dict[str, Literal["audio", "video"]] = {
    **dict.fromkeys((".mp3", ".wav", ".ogg", ".m4a", ".flac", ".opus", ".aac"), "audio"),
    **dict.fromkeys((".mp4", ".webm", ".mov", ".m4v"), "video"),
}
_OPENED = frozenset((*_PLAYED, ".pdf", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".txt", ".csv", ".tsv", ".md",
                     ".json", ".docx", ".pptx", ".xlsx", ".zip"))  # fmt: skip
"""Files the page links to: none that a browser would run."""

SHARES = {"rubric": 0.45, "request": 0.2, "answer": 0.2, "second": 0.3, "files": 0.6, "transcript": 1.0}
"""The part of the room left over by what comes before that each part of a task may take."""
MOST = {"request": 16_000, "answer": 16_000, "transcript": 60_000, "step": 6_000, "text": 3_000}
_PICTURES = 0.75
"""The part of the files' room that pictures may take; text has the rest."""
_NODE_BYTES, _STEP_BYTES, _FILE_BYTES = 420, 160, 420
_TIGHT = 600
"""Bytes of a node below which single judges' reasons are left out."""


@dataclass(frozen=True, slots=True)
class NodeView:
    """A checkpoint as it is shown; its children come after it, until `closes` lists end.

    Attributes:
        id: Its id.
        is_leaf: Whether a judge scored it.
        state: ``reached``, ``below`` or ``open``.
        score: Points, None without a score.
        status: What is known, in words, when it has no score of a judge.
        bounds: What the score could be, when it has none.
        weight: Its share among its siblings.
        lost: Points of the root score it lost.
        requirement: What is asked for.
        reason: What the judge said.
        unseen: What the judge was not shown.
        shown: How much of the delivered files it was shown, "" when that is not known.
        cached: Whether the verdict was reused.
        opinions: What its score was made of, when judges or answers were several.
        failure: Why it was lost, by the run's diagnosis.
        children: The nodes below.
    """

    id: str
    is_leaf: bool
    state: str
    score: float | None
    status: str
    bounds: tuple[float, float]
    weight: float
    lost: float | None
    requirement: Cut
    reason: Cut
    unseen: Cut
    shown: str
    cached: bool
    opinions: Opinions | None
    failure: FailureView | None
    children: list[NodeView] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FileView:
    """A deliverable as it is shown.

    Attributes:
        record: What is known of it.
        note: Why the judge did not see all of it.
        preview: What it holds.
        text: The beginning of its text, cut.
        page: The markup of a web page, or "" where there is no room.
        link: Its address relative to the page, or "".
        player: How it is played, or "".
    """

    record: DeliverableRecord
    note: Cut
    preview: Preview
    text: Cut
    page: str
    link: str
    player: str


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task as it is shown; see the fields' types."""

    request: Cut
    answer: Cut
    rubric: list[NodeView]
    files: list[FileView]
    not_taken: list[FileView]
    head: list[tuple[Step, Cut]]
    tail: list[tuple[Step, Cut]]
    transcript: Excerpt
    transcript_link: str
    facts: list[tuple[str, str]]
    notes: list[Cut]
    second: SecondView | None
    failure: FailureView | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where the page will be, for links from it to the run's files, and what else the run has.

    Attributes:
        run: The run.
        folder: The folder of the page.
        failures: Where the failures of the run come from.
    """

    run: RunDirectory
    folder: Path
    failures: Failures

    def link(self, path: Path) -> str:
        """Return a file's address relative to the page, "" when the run is not below the page's folder."""
        relative = os.path.relpath(path, self.folder)
        if relative.startswith("..") or Path(relative).is_absolute():
            return ""
        return quote(PurePosixPath(relative).as_posix(), errors="surrogateescape")


def task_view(
    task: TaskResult, threshold: float, place: Place, previews: Previews, room: int, request: str = ""
) -> TaskView:
    """Return what is shown of a task.

    Args:
        task: The task.
        threshold: Points from which a leaf succeeds.
        place: Where the page will be.
        previews: What was found in deliverables.
        room: Bytes it may take in the page, about.
        request: What the user asked for; the transcript tells when it is "".
    """
    folder = folder_of(place.run, task.run_key)
    excerpt = read_excerpt(folder.transcript if folder else None)
    left = room
    rubric, spent = _rubric(task, threshold, int(left * SHARES["rubric"]), place.failures)
    left -= spent
    asked = fit(request or excerpt.request, min(MOST["request"], int(left * SHARES["request"])))
    answer = fit(
        task.agent.final_answer if task.agent else "", min(MOST["answer"], int(left * SHARES["answer"])), tail=0.3
    )
    left -= _size(asked) + _size(answer)
    again = place.link(folder.after_feedback.transcript) if folder else ""
    second, spent = second_view(task, threshold, int(left * SHARES["second"]), again)
    left -= spent
    files, spent = _files(task, place, previews, int(left * SHARES["files"]))
    left -= spent
    head, tail = _steps(excerpt, min(MOST["transcript"], int(left * SHARES["transcript"])))
    return TaskView(
        request=asked,
        answer=answer,
        rubric=rubric,
        files=[file for file in files if file.record.evidence != "not_taken"],
        not_taken=[file for file in files if file.record.evidence == "not_taken"],
        head=head,
        tail=tail,
        transcript=excerpt,
        transcript_link=place.link(folder.transcript) if folder and excerpt.bytes else "",
        facts=_facts(task),
        notes=[fit(note, 600) for note in task.notes[:20]],
        second=second,
        failure=place.failures.of(task.run_key),
    )


def _size(*cuts: Cut) -> int:
    return sum(size(cut.head) + size(cut.tail) for cut in cuts)


def _rubric(task: TaskResult, threshold: float, room: int, failures: Failures) -> tuple[list[NodeView], int]:
    found = list(nodes(task.checkpoints))
    each = max(200, room // max(1, len(found)) - _NODE_BYTES)
    tops: list[NodeView] = []
    open_nodes: list[NodeView] = []
    spent, slack = 0, 0
    for node in found:
        checkpoint = node.checkpoint
        may = each + slack
        requirement = fit(checkpoint.requirements, min(6_000, may // 2))
        reason = fit(checkpoint.analysis, max(80, min(8_000, may - _size(requirement))))
        unseen = fit(checkpoint.evidence_note, 400)
        shown = shown_to_judge(checkpoint.coverage)
        several = opinions(checkpoint) if may > _TIGHT else None
        failure = None if checkpoint.checkpoints else failures.of(task.run_key, checkpoint.id)
        state = "open" if checkpoint.score is None else "reached" if checkpoint.score >= threshold else "below"
        view = NodeView(
            id=checkpoint.id,
            is_leaf=not checkpoint.checkpoints,
            state=state,
            score=checkpoint.score,
            status="" if checkpoint.status == "scored" else checkpoint.status.replace("_", " "),
            bounds=checkpoint.bounds,
            weight=checkpoint.weight,
            lost=node.lost,
            requirement=requirement,
            reason=reason,
            unseen=unseen,
            shown=shown,
            cached=checkpoint.cached,
            opinions=several,
            failure=failure,
        )
        del open_nodes[node.depth :]
        (open_nodes[-1].children if open_nodes else tops).append(view)
        open_nodes.append(view)
        further = (*(several.texts if several else ()), *((failure.reason, failure.quote) if failure else ()))
        used = _size(requirement, reason, unseen, *further) + size(shown)
        slack = max(0, may - used)
        spent += used + _NODE_BYTES
    return tops, spent


def _files(task: TaskResult, place: Place, previews: Previews, room: int) -> tuple[list[FileView], int]:
    views: list[FileView] = []
    records = task.deliverables
    found = [previews.get((task.run_key, record.path), Preview()) for record in records]
    spent = 0
    kept: set[int] = set()
    for number in sorted(range(len(found)), key=lambda n: len(found[n].picture)):
        if spent + len(found[number].picture) <= room * _PICTURES:
            kept.add(number)
            spent += len(found[number].picture)
    for number, (record, preview) in enumerate(zip(records, found, strict=True)):
        may = (room - spent) // (len(records) - number) - _FILE_BYTES
        view = _file(task, record, place, preview if number in kept else replace(preview, picture=""), may)
        views.append(view)
        spent += _FILE_BYTES + _size(view.note, view.text) + size(view.page) + _table_size(view.preview)
    return views, spent


def _table_size(preview: Preview) -> int:
    return sum(size(cell) + 10 for row in preview.rows for cell in row)


def _file(task: TaskResult, record: DeliverableRecord, place: Place, preview: Preview, room: int) -> FileView:
    if _table_size(preview) > room:
        preview = replace(preview, rows=(), text="\n".join("\t".join(row) for row in preview.rows))
    most = MOST["text"] if not preview.picture else MOST["text"] // 2
    text = fit(preview.text, min(most, room // 2)) if preview.text and room > 200 else Cut("")
    page = preview.page if size(preview.page) <= room - _size(text) else ""
    suffix = PurePosixPath(record.path).suffix.lower()
    lies = file_of(place.run, task.run_key, record.path) if suffix in _OPENED and record.sha256 else None
    link = place.link(lies) if lies else ""
    player = _PLAYED.get(suffix, "") if link and suffix in _PLAYED else ""
    return FileView(record, fit(record.note, 400), preview, text, page, link, player)


def _steps(excerpt: Excerpt, room: int) -> tuple[list[tuple[Step, Cut]], list[tuple[Step, Cut]]]:
    head, tail = list(excerpt.head), list(excerpt.tail)
    while (len(head) + len(tail)) * (_STEP_BYTES + 120) > room and len(head) + len(tail) > 2:
        (head if len(head) >= len(tail) else tail).pop(-1 if len(head) >= len(tail) else 0)
    left = room
    shown: list[tuple[Step, Cut]] = []
    steps: Sequence[Step] = [*head, *tail]
    for number, step in enumerate(steps):
        may = left // (len(steps) - number) - _STEP_BYTES
        cut = fit(step.text, max(80, min(MOST["step"], may)), tail=0.3)
        left -= _size(cut) + _STEP_BYTES
        shown.append((step, cut))
    return shown[: len(head)], shown[len(head) :]


def _facts(task: TaskResult) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if agent := task.agent:
        tokens = agent.usage.tokens
        found += [
            ("Agent", agent.label),
            ("Ended", agent.stop_reason.value.replace("_", " ") + (f": {agent.stop_detail}" * bool(agent.stop_detail))),
            ("Turns", f"{agent.turns:,}" if agent.turns else "unknown"),
            ("Tool calls", f"{agent.tool_calls:,}, {count(agent.tool_errors, 'error')}"),
            ("Time", duration(agent.wall_s)),
            ("Tokens", _tokens(agent.usage.tokens) if agent.usage.calls or tokens.input else "unknown"),
            ("Cost", money(agent.usage.cost_usd).removeprefix("cost ")),
        ]
    judge = task.judge
    if judge.usage.calls or judge.cached_leaves:
        reused = f", {count(judge.cached_leaves, 'leaf')} reused" if judge.cached_leaves else ""
        found += [
            ("Judge calls", f"{judge.usage.calls:,}{reused}"),
            ("Judge tokens", _tokens(judge.usage.tokens)),
            ("Judge cost", money(judge.usage.cost_usd).removeprefix("cost ")),
        ]
    found.append(("Test", task.nodeid))
    return [(name, fit(value, 700).head) for name, value in found if value]


def _tokens(tokens: Tokens) -> str:
    cached = f" ({quantity(tokens.cached)} cached)" if tokens.cached else ""
    return f"{quantity(tokens.input)} in{cached}, {quantity(tokens.output)} out"
