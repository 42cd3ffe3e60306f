"""Where a run is kept: a directory of its own, in which no other run is at work."""

from __future__ import annotations

import itertools
from datetime import datetime
from pathlib import Path
from typing import IO

from pytest_gta.benchmark.run_directory import MANIFEST, OWN_FOLDER, InUse, RunDirectory
from pytest_gta.settings import SettingsError


def runs_folder(folder: Path) -> Path:
    """Return where runs started in `folder` are kept, unless they are told otherwise."""
    return folder / OWN_FOLDER / "runs"


def new_run_dir(folder: Path, started_at: datetime, label: str) -> Path:
    """Return a directory for a new run below `folder`, named by when it started and what it measures."""
    runs = runs_folder(folder)
    name = f"{started_at:%Y%m%dT%H%M%SZ}-{label}"
    taken = next(n for n in itertools.count(1) if not (runs / (name if n == 1 else f"{name}-{n}")).exists())
    return runs / (name if taken == 1 else f"{name}-{taken}")


def hold(run: RunDirectory, *, resumed: bool) -> IO[str]:
    """Keep other runs out of a run directory until the file returned is closed.

    Args:
        run: The directory.
        resumed: Whether the run goes on there; else there must be none yet.

    Raises:
        SettingsError: When another run is at work in it, or was meanwhile.
        OSError: When it cannot be written.
    """
    try:
        held = run.hold()
    except InUse:
        other = "" if resumed else ", or name another directory with --gta-run-dir"
        raise SettingsError(
            f"--gta-{'resume' if resumed else 'run-dir'}: another run is at work in {run.root}; wait for its end{other}"
        ) from None
    if not resumed:
        check_unused(run.root)
    return held


def check_unused(root: Path) -> None:
    """Refuse a run directory that holds a run already.

    Raises:
        SettingsError: When it does.
    """
    if (root / MANIFEST).exists():
        raise SettingsError(
            f"--gta-run-dir: {root} already holds a run; go on with it by --gta-resume={root}, or name another "
            "directory"
        )
