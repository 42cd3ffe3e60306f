"""Previews of the deliverables of a run: read in confined processes, fairly over the tasks, within time and bytes."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from pytest_gta.benchmark.results import DeliverableRecord, TaskResult
from pytest_gta.benchmark.run_directory import RunDirectory, TaskDirectory
from pytest_gta.workspace.confined_process import ConfinedError, ConfinedProcess, Limits
from pytest_gta.workspace.confinement import ConfinementUnavailable, choose_confinement
from pytest_gta.workspace.workspace import PathRefused, Workspace

TARGET = "pytest_gta.reporters.html.preview_reader:previews_json"
READERS = 2
BATCH = 6
FILE_SECONDS = 2.0
MOST_OF_A_TASK = 12
"""Files of one task that get a preview."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What is shown of a file besides its name.

    Attributes:
        picture: A picture as WebP in base64, or "".
        width: Of the picture, pixels.
        height: Of the picture, pixels.
        where: Where in the file the picture is, or "" for all of it.
        text: The beginning of its text.
        rows: The first rows of its table, the head first.
        page: The markup of a web page, without anything active.
        facts: What was measured, as words.
        fault: Why there is none of these, or "".
    """

    picture: str = ""
    width: int = 0
    height: int = 0
    where: str = ""
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    page: str = ""
    facts: tuple[str, ...] = ()
    fault: str = ""

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Preview:
        """Return the preview that a confined reader gave."""
        return cls(
            picture=str(value.get("picture", "")),
            width=int(value.get("width", 0)),
            height=int(value.get("height", 0)),
            where=str(value.get("where", "")),
            text=str(value.get("text", "")),
            rows=tuple(tuple(str(cell) for cell in row) for row in value.get("rows", ())),
            page=str(value.get("page", "")),
            facts=tuple(str(fact) for fact in value.get("facts", ())),
            fault=str(value.get("fault", "")),
        )


Previews = Mapping[tuple[str, str], Preview]
"""By run key and the deliverable's path."""


_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}")


def folder_of(run: RunDirectory, run_key: str) -> TaskDirectory | None:
    """Return the part of a run directory that belongs to a task, None for a name that could lead elsewhere."""
    return run.task(run_key) if _PLAIN_NAME.fullmatch(run_key) else None


def file_of(run: RunDirectory, run_key: str, path: str) -> Path | None:
    """Return where a deliverable lies, None when it is not there or its path leads elsewhere."""
    folder = folder_of(run, run_key)
    if folder is None:
        return None
    try:
        return Workspace.open(folder.workspace, ()).resolve(path)
    except (NotADirectoryError, PathRefused, OSError, ValueError):
        return None


def taken(result: TaskResult) -> list[DeliverableRecord]:
    """Return the deliverables that were taken, without those that are only listed."""
    return [file for file in result.deliverables if file.evidence != "not_taken"]


def read_previews(run: RunDirectory, tasks: Sequence[TaskResult], *, room: int, seconds: float) -> Previews:
    """Look into the deliverables of a run.

    The first file of every task comes before the second of any, so that what is too much is missing evenly.

    Args:
        run: The run.
        tasks: Its tasks.
        room: Bytes that all pictures and web pages may take.
        seconds: Time for all; files left then have no preview.
    """
    wanted = _wanted(run, tasks)
    if not wanted or seconds <= 0:
        return {}
    deadline = time.monotonic() + seconds
    try:
        confinement = choose_confinement()
    except ConfinementUnavailable as unavailable:
        fault = f"no preview: {unavailable}"
        return {key: Preview(fault=fault) for key, _ in wanted}
    share = max(1_500, room // len(wanted))
    arguments = {"picture_bytes": min(24_000, share * 3 // 4), "page_bytes": min(60_000, share * 3)}
    work = _Work(run.root / "tasks", [wanted[i : i + BATCH] for i in range(0, len(wanted), BATCH)], arguments)
    work.deadline = deadline
    with ThreadPoolExecutor(READERS, thread_name_prefix="gta-preview") as pool:
        for reader in [pool.submit(work.read, confinement) for _ in range(READERS)]:
            reader.result()
    late = Preview(fault="no preview: there was no time left to look into it")
    return {key: late for key, _ in wanted} | work.found


def _wanted(run: RunDirectory, tasks: Sequence[TaskResult]) -> list[tuple[tuple[str, str], Path]]:
    lists: list[list[tuple[tuple[str, str], Path]]] = []
    for task in tasks:
        places = ((record.path, file_of(run, task.run_key, record.path)) for record in taken(task)[:MOST_OF_A_TASK])
        lists.append([((task.run_key, path), place) for path, place in places if place is not None])
    rounds: Iterable[Iterable[tuple[tuple[str, str], Path] | None]] = zip_longest(*lists)
    return [item for item in chain.from_iterable(rounds) if item is not None]


class _Work:
    """Batches of files, taken one after the other by several readers."""

    def __init__(
        self,
        readable: Path,
        batches: Iterable[Sequence[tuple[tuple[str, str], Path]]],
        arguments: Mapping[str, Any],
    ) -> None:
        self.found: dict[tuple[str, str], Preview] = {}
        self.deadline = 0.0
        self._readable, self._arguments = readable, arguments
        self._batches, self._lock = iter(batches), threading.Lock()

    def read(self, confinement: Any) -> None:
        """Read batches until none or no time is left."""
        with ConfinedProcess(confinement, readable=[self._readable], limits=Limits(memory_bytes=1024**3)) as process:
            while (batch := self._next()) is not None:
                if not self._read_batch(process, batch) and len(batch) > 1:
                    for item in batch:  # one of them was too much; the others are read all the same
                        self._read_batch(process, [item])

    def _next(self) -> Sequence[tuple[tuple[str, str], Path]] | None:
        with self._lock:
            return next(self._batches, None) if time.monotonic() < self.deadline else None

    def _read_batch(self, process: ConfinedProcess, batch: Sequence[tuple[tuple[str, str], Path]]) -> bool:
        left = self.deadline - time.monotonic()
        if left <= 0:
            return True
        arguments = {**self._arguments, "paths": [str(path) for _, path in batch], "seconds": FILE_SECONDS}
        try:
            values = process.call(TARGET, arguments, min(left, FILE_SECONDS * len(batch)) + 0.5)
            found = {key: Preview.of(value) for (key, _), value in zip(batch, values, strict=True)}
        except ConfinementUnavailable as unavailable:
            found = {key: Preview(fault=f"no preview: {unavailable}") for key, _ in batch}
        except (ConfinedError, ValueError, TypeError, AttributeError):
            found = {key: Preview(fault="no preview: the file is too much for its reader") for key, _ in batch}
            self.found |= found
            return False
        self.found |= found
        return True
