"""The transcript of a task for the report: its first and last steps, found without reading what lies between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEAD_BYTES, TAIL_BYTES, LINE_BYTES = 192 * 1024, 192 * 1024, 384 * 1024
HEAD_STEPS, TAIL_STEPS = 14, 10

_NAMES = {
    "system": "System",
    "user": "User",
    "assistant": "Model",
    "tool_call": "Tool call",
    "tool_result": "Tool result",
    "wait": "Waiting",
    "note": "Note",
    "end": "End",
}


@dataclass(frozen=True, slots=True)
class Step:
    """A step, as it is shown.

    Attributes:
        kind: As the transcript has it.
        title: Who does what.
        text: What was said.
        is_error: Whether a tool failed.
    """

    kind: str
    title: str
    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A transcript's beginning and end.

    Attributes:
        head: First steps.
        tail: Last steps; none when the head is all of it.
        bytes: Size of the file.
        whole: Whether nothing lies between them.
    """

    head: tuple[Step, ...]
    tail: tuple[Step, ...]
    bytes: int
    whole: bool

    @property
    def request(self) -> str:
        """What the user asked for first, "" when that is not told."""
        return next((step.text for step in self.head if step.kind == "user"), "")


def read_excerpt(path: Path | None) -> Excerpt:
    """Read the beginning and the end of a transcript; one that is not there or not readable has no steps."""
    if path is None:
        return Excerpt((), (), 0, True)
    try:
        with path.open("rb") as stream:
            total = stream.seek(0, 2)
            stream.seek(0)
            head = list(_head(stream))
            after = stream.tell()
            if after >= total:
                return Excerpt(tuple(head), (), total, True)
            start = max(after, total - TAIL_BYTES)
            stream.seek(start)
            lines = stream.read(total - start).split(b"\n")
    except OSError:
        return Excerpt((), (), 0, True)
    if start > after:
        lines = lines[1:]  # its beginning is cut off
    found = [step for line in lines[-TAIL_STEPS - 1 :] if (step := _step(line)) is not None]
    whole = start == after and len([line for line in lines if line]) <= len(found)
    return Excerpt(tuple(head), tuple(found), total, whole)


def _head(stream: Any) -> Iterator[Step]:
    steps = 0
    while steps < HEAD_STEPS and stream.tell() < HEAD_BYTES:
        line = stream.readline(LINE_BYTES)
        if not line.endswith(b"\n") and len(line) == LINE_BYTES:
            return
        if not line:
            return
        if (step := _step(line)) is not None:
            steps += 1
            yield step


def _step(line: bytes) -> Step | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    kind, name = str(value.get("kind", "")), str(value.get("name", ""))
    title = " ".join(filter(None, (_NAMES.get(kind, kind), name)))
    if turn := value.get("turn"):
        title += f", turn {turn}"
    took = value.get("wall_s")
    if isinstance(took, int | float) and took >= 0.1:
        title += f", {took:.1f} s"
    return Step(kind, title, str(value.get("text", "")), value.get("is_error") is True)
