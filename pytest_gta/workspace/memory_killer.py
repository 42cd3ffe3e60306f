"""Whether the kernel has ended processes because there was no memory left: of this process's group, or the machine."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path("/")
KILLED_STATUSES = (-9, 128 + 9)
"""How a process ends that the kernel's memory killer ended: by SIGKILL, or through a shell that says so."""


def kills(root: Path = _ROOT) -> int | None:
    """Return how many processes were ended for want of memory so far; None when this machine does not say.

    Where the control group counts, its own count is taken, as it is nobody else's; else the machine's, which holds for
    all that runs on it.

    Args:
        root: Where ``proc`` and ``sys`` are.
    """
    of_group = [count for file in _group_files(root) if (count := _count(file, "oom_kill")) is not None]
    return sum(of_group) if of_group else _count(root / "proc/vmstat", "oom_kill")


class MemoryWatch:
    """Remembers the count when it is made, and tells later whether it has risen.

    Args:
        root: Where ``proc`` and ``sys`` are.
    """

    def __init__(self, root: Path = _ROOT) -> None:
        self._root = root
        self._before = kills(root)

    def has_killed(self) -> bool | None:
        """Whether a process was ended for want of memory since then; None when this machine does not say."""
        now = kills(self._root)
        return None if now is None or self._before is None else now > self._before


def _group_files(root: Path) -> list[Path]:
    """Return the files in which this process's control group counts, of either version of control groups."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    files = []
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:
            files.append(root / "sys/fs/cgroup" / path.lstrip("/") / "memory.events")
        elif "memory" in controllers.split(","):
            files.append(root / "sys/fs/cgroup/memory" / path.lstrip("/") / "memory.oom_control")
    return files


def _count(file: Path, name: str) -> int | None:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        words = line.split()
        if len(words) == 2 and words[0] == name and words[1].isdigit():
            return int(words[1])
    return None
