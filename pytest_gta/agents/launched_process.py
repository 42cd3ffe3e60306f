"""Our side of an agent's process: started through a launcher, so that nothing it started is left when it is over."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest_gta
from pytest_gta.agents.agent_launcher import CLOSE, END
from pytest_gta.workspace import process_tree
from pytest_gta.workspace.readiness import readable

LAUNCHER_S = 15.0
"""Seconds, besides the grace, in which the launcher has to end everything; past them it is ended itself."""

_PACKAGE = Path(pytest_gta.__file__).parent
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from pytest_gta.agents.agent_launcher import main; "
    "main(int(sys.argv[2]), sys.argv[3])"
)


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How an agent's process ended.

    Attributes:
        code: Its exit status, negative for a signal; None when it could not be started or its launcher was killed.
        failed: Why it could not be started.
    """

    code: int | None
    failed: str = ""


class LaunchedProcess:
    """A running process of an agent.

    Args:
        command: Its words.
        cwd: Where it runs; None for the current folder.
        environment: Its environment.
        stdin: Its standard input: a file, or what `subprocess` has for it.
        stderr: Its standard error: likewise.
        pass_fds: Open files that it gets.
        grace_s: Seconds it has to end before it is ended.

    Attributes:
        pid: The launcher's process.
        stdout: The end of the pipe that what it prints comes from.
        stderr: Likewise, for its standard error; None when that goes elsewhere.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None,
        environment: Mapping[str, str],
        stdin: IO[bytes] | int,
        stderr: int,
        pass_fds: Sequence[int] = (),
        grace_s: float,
    ) -> None:
        ours, theirs = socket.socketpair()
        job = {
            "command": list(command),
            "cwd": str(cwd) if cwd else None,
            "pass_fds": list(pass_fds),
            "grace_s": grace_s,
        }
        words = [sys.executable, "-I", "-S", "-B", "-c", _START, str(_PACKAGE.parent), str(theirs.fileno())]
        with theirs:
            self._launcher = subprocess.Popen(  # noqa: S603 - our own interpreter, on our own code
                [*words, json.dumps(job)],
                env=dict(environment),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                pass_fds=(theirs.fileno(), *pass_fds),
                start_new_session=True,
            )
        assert self._launcher.stdout is not None
        self.pid = self._launcher.pid
        self.stdout: IO[bytes] = self._launcher.stdout
        self.stderr = self._launcher.stderr
        self._limit_s = grace_s + LAUNCHER_S
        self._socket = ours
        self._reading = threading.Lock()
        self._received = b""
        self._end: ProcessEnd | None = None

    def ended(self, wait_s: float = 0.0) -> ProcessEnd | None:
        """Return how it ended, once nothing of it is left; None while it is still there after `wait_s` seconds."""
        if self._end is None:
            with contextlib.suppress(ValueError, OSError):  # closed meanwhile, by another thread
                readable([self._socket], wait_s)
            with self._reading:
                self._read()
        return self._end

    def ask_to_end(self) -> None:
        """Have it end, with all it started; from any thread."""
        self._say(END)

    def finish(self, *, asked: bool) -> ProcessEnd:
        """Wait for its end and that of all it started.

        Args:
            asked: Whether it is asked to end; else it has the grace to do so by itself.
        """
        self._say(END if asked else CLOSE)
        end = self.ended(self._limit_s)
        if end is None:
            below = process_tree.descendants(self.pid)
            self._launcher.kill()
            process_tree.end(below)
            end = ProcessEnd(None)
        self._launcher.wait()
        with self._reading:
            self._end = end
            self._socket.close()
        return end

    def _say(self, words: bytes) -> None:
        with contextlib.suppress(OSError):
            self._socket.sendall(words)

    def _read(self) -> None:
        if self._end is not None:
            return
        try:
            chunk = self._socket.recv(1 << 16, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        self._received += chunk
        if self._received.endswith(b"\n"):
            message = json.loads(self._received)
            self._end = ProcessEnd(message.get("code"), message.get("failed", ""))
        elif not chunk:
            self._end = ProcessEnd(None)
