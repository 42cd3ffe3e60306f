"""Starts a command agent and ends all that it started, whatever that does. A process of its own, between us and it.

It takes in orphans, so that no descendant of the command escapes, and talks over one socket: anything that comes (or
its closing) means "end now"; what it sends is the command's exit status, once.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pytest_gta.workspace import process_tree


def main(fd: int, line: str) -> None:
    """Run a command until it ends or is to end.

    Args:
        fd: The socket.
        line: JSON with ``command`` (words), ``cwd`` and ``grace_s`` (seconds between asking it to end and ending it).
    """
    job: dict[str, Any] = json.loads(line)
    os.set_inheritable(fd, False)
    connection = socket.socket(fileno=fd)
    process_tree.adopt_orphans()
    try:
        process = subprocess.Popen(job["command"], cwd=job["cwd"], start_new_session=True)  # noqa: S603 - the user's
    except OSError as error:
        _say(connection, {"failed": f"{error.strerror or error}: {error.filename or job['command'][0]}"})
        return
    handle = os.pidfd_open(process.pid)
    ready, _, _ = select.select([handle, connection.fileno()], [], [])
    if handle not in ready:
        _ask_to_end()
        select.select([handle], [], [], job["grace_s"])
    code = process.poll()
    _end_all()
    _say(connection, {"code": process.wait() if code is None else code})


def _ask_to_end() -> None:
    """Ask everything below to end; not bubblewrap itself, whose end would be that of the rest, at once."""
    for pid in process_tree.descendants(os.getpid()):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text().strip() != "bwrap":
                os.kill(pid, signal.SIGTERM)


def _end_all() -> None:
    """Kill everything below this process, also what forks meanwhile."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        below = [pid for pid in process_tree.descendants(os.getpid()) if not _is_dead(pid)]
        if not below:
            return
        process_tree.end(below)
        time.sleep(0.005)


def _is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (OSError, IndexError):
        return True


def _say(connection: socket.socket, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        connection.sendall(json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
