"""Whether the kernel has ended processes because there was no memory left: of this process's group, or the machine."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path("/")
KILLED_STATUSES = (-9, 128 + 9)
"""How a process ends that the kernel's memory killer ended: by SIGKILL, or through a shell that says so."""


def kills(root: Path = _ROOT) -> int | None:
    """Return how many processes were ended for want of memory so far; None when this machine does not say.

    A control group's own count is preferred, as it is nobody else's; the machine's count holds for all that runs on it.

    Args:
        root: Where ``proc`` and ``sys`` are.
    """
    counts = [_count(file, "oom_kill") for file in _group_files(root)]
    counts.append(_count(root / "proc/vmstat", "oom_kill"))
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


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
