"""Starts an agent's process and ends all that it started, whatever that does. A process of its own, between us and it.

It takes in orphans, so that no descendant of the agent escapes, and talks over one socket. What it is told: ``close``
(the agent is done: give it a moment) or anything else, or the socket's closing (have it end now). What it says, once,
when nothing of the agent is left: the exit status.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from pytest_gta.workspace import process_tree
from pytest_gta.workspace.readiness import readable

END = b"end\n"
"""Have the agent end: asked first, then without asking."""
CLOSE = b"close\n"
"""Give the agent a moment to end by itself."""


def main(fd: int, line: str) -> None:
    """Run an agent's process until it ends or is to end.

    Args:
        fd: The socket.
        line: JSON with ``command`` (words), ``cwd``, ``pass_fds`` (open files that the command gets) and ``grace_s``
            (seconds it has to end before it is ended).
    """
    job: dict[str, Any] = json.loads(line)
    os.set_inheritable(fd, False)
    connection = socket.socket(fileno=fd)
    process_tree.adopt_orphans()
    here = os.getpid()
    try:
        process = subprocess.Popen(  # noqa: S603 - the user's
            job["command"],
            cwd=job["cwd"],
            pass_fds=job["pass_fds"],
            start_new_session=True,
            # This process has one thread. Without it nobody would end the agent, so the agent ends with it.
            preexec_fn=lambda: process_tree.die_with_parent(here),
        )
    except (OSError, subprocess.SubprocessError) as error:
        what = getattr(error, "filename", None) or job["command"][0]
        _say(connection, {"failed": f"{getattr(error, 'strerror', None) or error}: {what}"})
        return
    for passed in job["pass_fds"]:
        os.close(passed)
    handle = os.pidfd_open(process.pid)
    ready = readable([handle, connection], None)
    if handle not in ready:
        if connection.recv(64) != CLOSE:
            _ask_to_end()
        readable([handle], job["grace_s"])
    # Its own end comes first: what it started dies after it, and cannot change how it ended.
    code = process.poll()
    ended = process_tree.end_descendants()
    _say(connection, {"code": ended.get(process.pid) if code is None else code})


def _ask_to_end() -> None:
    """Ask everything below to end; not bubblewrap itself, whose end would be that of the rest, at once."""
    for pid in process_tree.descendants(os.getpid()):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text().strip() != "bwrap":
                os.kill(pid, signal.SIGTERM)


def _say(connection: socket.socket, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        connection.sendall(json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
