"""Which tasks have finished work: all that listing a run's tests has to know of it, so it imports next to nothing."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_gta.agents.specification import AgentSpecError
from pytest_gta.benchmark.eval_pack import PackError, read_pack

FINAL = "final.txt"
FILES = "files"


def available_ids(folder: Path) -> tuple[str, ...]:
    """Return the ids that have recorded outputs, sorted: subfolders with a ``final.txt`` or a ``files`` folder.

    Raises:
        AgentSpecError: When the folder does not exist or holds no outputs.
    """
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "there is no such folder"
        raise AgentSpecError(f"--gta-agent=outputs:{folder}: {what}; give the folder that holds <task id>/{FINAL}")
    found = tuple(sorted(entry.name for entry in folder.iterdir() if _has_outputs(entry)))
    if found:
        return found
    below = sorted(e.name for e in folder.iterdir() if e.is_dir() and any(_has_outputs(x) for x in e.iterdir()))
    hint = f"did you mean outputs:{folder / below[0]}?" if below else f"expected <task id>/{FINAL} in it"
    raise AgentSpecError(f"--gta-agent=outputs:{folder}: holds no recorded outputs; {hint}")


def _has_outputs(entry: Path) -> bool:
    if entry.name.startswith(".") or not entry.is_dir():
        return False
    return os.path.lexists(entry / FINAL) or (entry / FILES).is_dir()


def packed_ids(file: Path) -> tuple[str, ...]:
    """Return the ids of a pack's tasks.

    Raises:
        AgentSpecError: When it is not a usable pack.
    """
    try:
        return tuple(read_pack(file))
    except PackError as error:
        raise AgentSpecError(f"--gta-agent=pack: {error}") from None
