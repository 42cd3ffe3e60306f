"""The transcript of an agent's run: one JSON object a line, on disk the moment it happened.

Every line has ``at`` (UTC, ISO 8601) and ``kind``; a field with an empty value is left out:

| kind          | fields                                                                                   |
|---------------|------------------------------------------------------------------------------------------|
| `system`      | `text`: what the agent's model is told first                                             |
| `user`        | `text`: a message to the model, the task's own or one of the loop                        |
| `assistant`   | `text`, `turn`, `usage`: what the model said; its tool calls follow                      |
| `tool_call`   | `name`, `text` (the arguments, raw), `call_id`, `turn`                                    |
| `tool_result` | `name`, `text`, `call_id`, `turn`, `files`, `wall_s`, `is_error`, `not_run`               |
| `wait`        | `text`: the endpoint made the agent wait                                                 |
| `note`        | `text`: anything else worth knowing (history trimmed, a traceback, a file not taken)     |
| `end`         | `name` (the stop reason), `text` (the final answer), `detail`, `turn` (turns), `usage`    |

A text longer than the limit keeps its beginning and its end, and ``full_length`` says how many characters it had.
Secrets are replaced before anything is written.
"""

from __future__ import annotations

import errno
import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from pytest_gta.benchmark.run_directory import NotWritten, append_line, read_lines
from pytest_gta.benchmark.usage import Usage
from pytest_gta.llm.redaction import redact

TEXT_LIMIT = 50_000
"""Characters of one text that a transcript keeps."""


class StepKind(StrEnum):
    """What a line of a transcript records."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    WAIT = "wait"
    NOTE = "note"
    END = "end"


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a transcript.

    Attributes:
        kind: What it records.
        at: When, UTC, ISO 8601 with milliseconds.
        text: The message, arguments or result.
        name: The tool, or how the run ended.
        call_id: Joins a tool result to its call.
        turn: The model turn it belongs to, counted from 1; 0 when unknown.
        files: Files a tool wrote, relative to the workspace.
        wall_s: Seconds a tool took.
        is_error: Whether a tool result is an error.
        not_run: Whether a call was answered without being run, because a limit of the task was reached.
        detail: One line on why a run ended.
        usage: What the model call (or the whole run) used.
        full_length: Characters `text` had, when it was cut.
    """

    kind: StepKind
    at: str = ""
    text: str = ""
    name: str = ""
    call_id: str = ""
    turn: int = 0
    files: tuple[str, ...] = ()
    wall_s: float | None = None
    is_error: bool = False
    not_run: bool = False
    detail: str = ""
    usage: dict[str, Any] | None = None
    full_length: int | None = None

    def to_json(self) -> str:
        """Return it as one line of ASCII JSON, without the fields that say nothing."""
        return json.dumps({name: value for name, value in asdict(self).items() if value or name == "at"})


@dataclass(frozen=True, slots=True)
class Counts:
    """What a transcript tells in numbers.

    Attributes:
        turns: Highest model turn.
        tool_calls: Calls that reached the tools, unknown tools and unreadable arguments included; calls that a limit
            kept from running are not among them.
        tool_errors: Those of them answered with an error, or never answered because the agent was ended meanwhile.
        not_run: Calls that a limit kept from running.
    """

    turns: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    not_run: int = 0


class Transcript:
    """Appends steps to a file; safe to use from several threads.

    Args:
        path: The file, created with the first step; None keeps nothing.
        secrets: Values that must not appear in it, besides those that look like keys.
        on_step: Called with each step, for whoever shows progress.
    """

    def __init__(
        self, path: Path | None, *, secrets: Iterable[str] = (), on_step: Callable[[Step], None] | None = None
    ) -> None:
        self.path = path
        self._secrets = tuple(secrets)
        self._on_step = on_step
        self._lock = threading.Lock()
        self._tally = _Tally()
        self._begun = False

    @property
    def counts(self) -> Counts:
        """Turns and tool calls of the steps added here (not of those that were in the file before)."""
        with self._lock:
            return self._tally.counts

    def add(
        self,
        kind: StepKind | str,
        text: str = "",
        *,
        name: str = "",
        call_id: str = "",
        turn: int = 0,
        files: Iterable[str] = (),
        wall_s: float | None = None,
        is_error: bool = False,
        not_run: bool = False,
        detail: str = "",
        usage: Usage | None = None,
    ) -> Step:
        """Write one step; it is on disk when this returns. See `Step` for the fields.

        Raises:
            NotWritten: When it cannot be, or the steps before it are gone: then so is the work that they tell of.
        """
        clean = redact(text, self._secrets)
        step = Step(
            kind=StepKind(kind),
            at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            text=shortened(clean, TEXT_LIMIT),
            name=redact(name, self._secrets)[:200],
            call_id=call_id[:200],
            turn=turn,
            files=tuple(files),
            wall_s=None if wall_s is None else round(wall_s, 3),
            is_error=is_error,
            not_run=not_run,
            detail=redact(detail, self._secrets),
            usage=None if usage is None else usage.model_dump(mode="json"),
            full_length=len(clean) if len(clean) > TEXT_LIMIT else None,
        )
        with self._lock:
            self._tally.add(step)
            if self.path is not None:
                if self._begun and not self.path.exists():
                    raise NotWritten(errno.ENOENT, "its folder was removed while the agent was at work", str(self.path))
                append_line(self.path, step.to_json())
                self._begun = True
        if self._on_step is not None:
            self._on_step(step)
        return step


def read_transcript(path: Path) -> tuple[Step, ...]:
    """Return the steps on disk in order; lines that are torn or not steps are skipped, a missing file has none."""
    known = {field.name for field in fields(Step)}
    steps = []
    for entry in read_lines(path):
        try:
            kind = StepKind(entry["kind"])
        except (KeyError, ValueError):
            continue
        given = {name: value for name, value in entry.items() if name in known}
        steps.append(Step(**{**given, "kind": kind, "files": tuple(entry.get("files") or ())}))
    return tuple(steps)


class _Tally:
    def __init__(self) -> None:
        self._turns = self._called = self._answered = self._errors = self._not_run = 0

    def add(self, step: Step) -> None:
        if step.kind is not StepKind.END:
            self._turns = max(self._turns, step.turn)
        if step.kind is StepKind.TOOL_CALL:
            self._called += 1
        elif step.kind is StepKind.TOOL_RESULT:
            self._answered += 1
            self._not_run += step.not_run
            self._errors += step.is_error and not step.not_run

    @property
    def counts(self) -> Counts:
        unanswered = max(0, self._called - self._answered)
        return Counts(self._turns, self._called - self._not_run, self._errors + unanswered, self._not_run)


def shortened(text: str, limit: int) -> str:
    """Return `text` in at most about `limit` characters: its beginning and end, and how much was left out."""
    if len(text) <= limit:
        return text
    tail = limit // 5
    return (
        f"{text[: limit - tail]}\n[... {len(text) - limit:,} of {len(text):,} characters left out ...]\n{text[-tail:]}"
    )
