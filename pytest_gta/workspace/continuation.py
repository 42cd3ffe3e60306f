"""A copy of an agent's workspace to go on working in, so that what it delivered first stays as it was judged."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from pytest_gta.workspace.deliverables import MAX_BYTES
from pytest_gta.workspace.workspace import Workspace

SPARE_BYTES = 256 << 20
"""Bytes of the disk that a copy leaves free."""


def continued(workspace: Workspace, root: Path, taken: Collection[str]) -> tuple[Workspace, tuple[str, ...]]:
    """Copy a workspace, with all that the agent left in it, and return the copy and what was left out of it.

    Links stay links. Special files, files that cannot be read, files that are too large to be deliverables, and hard
    links that were not taken as deliverables (their content lies elsewhere, too) are left out.

    Args:
        workspace: Where the agent worked.
        root: Where the copy goes; must not exist.
        taken: Paths of its deliverables.

    Raises:
        OSError: When the copy cannot be written, or would fill the disk: files with holes are copied whole.
    """
    needed, free = _bytes_to_copy(workspace, taken), shutil.disk_usage(workspace.root).free
    if needed and needed + SPARE_BYTES > free:
        raise OSError(errno.ENOSPC, f"it has {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free")
    left_out: list[str] = []

    def refused(folder: str, names: list[str]) -> set[str]:
        found = {name for name in names if not _is_copied(Path(folder, name), workspace, taken)}
        left_out.extend(workspace.relative(Path(folder, name)) for name in sorted(found))
        return found

    shutil.copytree(workspace.root, root, symlinks=True, ignore=refused)
    return replace(workspace, root=root.resolve()), tuple(left_out)


def _bytes_to_copy(workspace: Workspace, taken: Collection[str]) -> int:
    found = (Path(folder, name) for folder, _, names in os.walk(workspace.root) for name in names)
    return sum(path.lstat().st_size for path in found if _is_copied(path, workspace, taken))


def _is_copied(path: Path, workspace: Workspace, taken: Collection[str]) -> bool:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return True
    if stat.S_ISDIR(status.st_mode):
        return os.access(path, os.R_OK | os.X_OK)
    if not stat.S_ISREG(status.st_mode) or not os.access(path, os.R_OK):
        return False
    if workspace.relative(path) in (*taken, *workspace.inputs):
        return True
    return status.st_nlink == 1 and status.st_size <= MAX_BYTES
