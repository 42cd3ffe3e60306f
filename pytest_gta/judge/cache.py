"""Verdicts kept by content, so that judging the same thing again costs nothing.

A verdict's key covers all it depends on (`pytest_gta.judge.judge.Judge.key`), so an entry is never out of date: another
evidence, judge or prompt is another key. Thresholds and weights are no part of it: they change sums, not verdicts.
Any number of processes may share a directory. Entries are moved into place whole; one that cannot be read is a miss.
"""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from pytest_gta.benchmark.results import LeafStatus, Verdict
from pytest_gta.benchmark.run_directory import write_atomic
from pytest_gta.benchmark.usage import Usage


class VerdictCache:
    """A directory of verdicts.

    Args:
        root: The directory; created with the first entry.
        reads: Whether entries are looked up. False to judge everything anew and keep what comes of it.
    """

    def __init__(self, root: Path, *, reads: bool = True) -> None:
        self.root = root
        self.reads = reads

    def get(self, key: str, leaf_id: str) -> Verdict | None:
        """Return the verdict kept under `key` as one of leaf `leaf_id`, marked as cached; None when there is none."""
        if not self.reads:
            return None
        try:
            verdict = Verdict.model_validate_json(self._path(key).read_bytes())
        except (OSError, ValidationError):
            return None
        if verdict.key != key or verdict.status is not LeafStatus.SCORED:
            return None
        return reused(verdict, leaf_id)

    def put(self, verdict: Verdict) -> None:
        """Keep a verdict a judge gave. Anything else (errors, refusals, reused verdicts) is not kept.

        A directory that cannot be written to costs the entry, not the verdict.
        """
        if verdict.status is not LeafStatus.SCORED or verdict.cached or not verdict.key:
            return
        try:
            write_atomic(self._path(verdict.key), verdict.model_dump_json())
        except OSError:
            return

    def _path(self, key: str) -> Path:
        return self.root / key[:2] / f"{key}.json"


def fault_of(root: Path) -> str:
    """Return why a cache cannot be used to the full, as a clause such as ``it cannot be written``; "" when it can be.

    Nothing is made: a run that judges nothing leaves no folder behind.
    """
    place = root
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        return "it is not a folder" if place == root else f"{place} is not a folder"
    if place == root and not os.access(root, os.R_OK | os.X_OK):
        return "it cannot be read"
    return "" if os.access(place, os.W_OK | os.X_OK) else "it cannot be written"


def reused(verdict: Verdict, leaf_id: str) -> Verdict:
    """Return a verdict as one that took no call: the fresh one field by field, but cached and with no usage."""
    return verdict.model_copy(update={"leaf_id": leaf_id, "cached": True, "usage": Usage()})
