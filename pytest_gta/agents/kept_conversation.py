"""A model's conversation on disk, beside its transcript: so that it can go on with it after its work was judged.

Unlike the transcript it holds every message whole, as it is sent; secrets are replaced all the same.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_gta.agents.history import History, Picture
from pytest_gta.benchmark.run_directory import write_atomic
from pytest_gta.llm.redaction import redact

FILE = "conversation.json"


def keep(history: History, folder: Path) -> None:
    """Write a conversation down.

    Raises:
        NotWritten: When it cannot be.
    """
    write_atomic(folder / FILE, json.dumps(_redacted(history.kept())))


def take_up(folder: Path, pictures: Callable[[], Sequence[Picture]]) -> History | None:
    """Return the conversation that was kept in a folder, None when there is none (or it is not readable).

    Args:
        folder: Where it was kept.
        pictures: Gives the pictures there are; asked only when there is a conversation.
    """
    try:
        kept = json.loads((folder / FILE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(kept, list) or not all(isinstance(one, dict) and "role" in one for one in kept):
        return None
    return History.restored(kept, pictures())


def hand_on(folder: Path, other: Path) -> None:
    """Copy what was kept in a folder, if anything was, to another where the agent goes on.

    Raises:
        OSError: When it cannot be copied.
    """
    with suppress(FileNotFoundError):
        shutil.copyfile(folder / FILE, other / FILE)


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _redacted(entry) for key, entry in value.items()}
    return value
