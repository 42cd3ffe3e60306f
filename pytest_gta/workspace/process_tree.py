"""Processes below a process: found through ``/proc``, measured, ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections import defaultdict
from pathlib import Path

_SET_PARENT_DEATH_SIGNAL = 1
_SET_DUMPABLE = 4
_SET_NO_NEW_PRIVILEGES = 38
_SET_CHILD_SUBREAPER = 36


def children(pid: int) -> list[int]:
    """Return the direct children of a process; none when it is gone or hidden."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text("ascii").split()]
    except FileNotFoundError:
        # Gone, or a kernel built without the `children` files.
        return _by_parent().get(pid, []) if Path(f"/proc/{pid}/stat").exists() else []
    except OSError:
        return []


def descendants(pid: int) -> list[int]:
    """Return all processes below a process, parents first."""
    found: list[int] = []
    layer = [pid]
    while layer:
        layer = [child for parent in layer for child in children(parent)]
        found += layer
    return found


def resident_bytes(pid: int) -> int:
    """Return the memory a process holds, 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError, ValueError):
        return 0


def end(pids: list[int]) -> None:
    """Kill processes, their groups first: a group dies as one, and nothing in it can fork on."""
    own = os.getpgid(0)
    for group in {group for pid in pids if (group := _group(pid)) not in (None, own)}:
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def end_descendants(limit_s: float = 5.0) -> dict[int, int]:
    """Kill everything below this process, also what forks meanwhile, and wait until it is gone.

    For a process that adopts orphans (`adopt_orphans`): when it has no child, nothing is left below it.

    Args:
        limit_s: Seconds to try: a process that the kernel holds, or that is another user's, does not die.

    Returns:
        How its children ended, by process: exit status, negative for a signal.
    """
    ended: dict[int, int] = {}
    deadline = time.monotonic() + limit_s
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid:
                ended[pid] = os.waitstatus_to_exitcode(status)
                continue
            if time.monotonic() > deadline:
                break
            end(descendants(os.getpid()))
            time.sleep(0.002)
    return ended


def adopt_orphans() -> None:
    """Make processes whose parent dies children of this one, so that none escapes from below it."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends; end now when that has happened already."""
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def set_dumpable(on: bool) -> None:
    """Allow or deny other processes of this user to trace this one and look into its ``/proc`` folder."""
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, int(on), 0, 0, 0)


def forgo_privileges() -> None:
    """Give up every capability for good: root then obeys file modes, and may not trace, mount or change owners."""
    libc = ctypes.CDLL(None)
    libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3 of the capability structures, this process
    libc.capset(header, (ctypes.c_uint32 * 6)())


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def _by_parent() -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # The command name, in parentheses, may hold anything.
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
                found[int(parent)].append(int(folder.name))
    return found
