"""The parent's side of an agent's process: started, talked to in lines of JSON, ended with all that it started."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from pytest_gta.agents.launched_process import LaunchedProcess
from pytest_gta.llm.redaction import redact
from pytest_gta.workspace.memory_killer import KILLED_STATUSES

OUTPUT_LIMIT = 5_000_000
"""Bytes of what an agent prints that are kept."""
MESSAGE_LIMIT = 64_000_000
"""Bytes of one message of an agent."""
TERM_GRACE_S = 2.0
"""Seconds between asking a process to end and ending it."""

_LOOK_S = 0.2
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); fd = int(sys.argv.pop(1)); "
    "from pytest_gta.agents.child_main import main; main(fd)"
)


class ChildEnded(Exception):
    """The process is gone, or said something it must not; the text goes on from "its process ...".

    Attributes:
        killed: Whether it, or its launcher, was ended by SIGKILL.
    """

    def __init__(self, how: str, *, killed: bool = False) -> None:
        self.killed = killed
        super().__init__(how)


class ChildProcess:
    """An agent's process, in a session of its own.

    Args:
        paths: Its `sys.path`.
        environment: Its environment.
        output: Where what it prints goes; None drops it.
    """

    def __init__(self, paths: Sequence[str], environment: Mapping[str, str], *, output: Path | None) -> None:
        ours, theirs = socket.socketpair()
        # -P: the workspace, which the agent fills, is not a place to import from.
        python = [sys.executable, "-P", "-u", "-X", "faulthandler", "-c", _START]
        with theirs:
            self._process = LaunchedProcess(
                [*python, json.dumps(paths), str(theirs.fileno())],
                cwd=None,
                environment=environment,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.STDOUT,
                pass_fds=(theirs.fileno(),),
                grace_s=TERM_GRACE_S,
            )
        self._socket = ours
        self._received = bytearray()
        self._sending = threading.Lock()
        self._ending = threading.Lock()
        self._ended = False
        self._drain = threading.Thread(target=self._keep_output, args=(output,), daemon=True)
        self._drain.start()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message.

        Raises:
            ChildEnded: When the process is gone.
        """
        try:
            with self._sending:
                self._socket.settimeout(30.0)
                self._socket.sendall(json.dumps(message, default=str).encode() + b"\n")
        except OSError:
            raise self._ended_early() from None

    def receive(self, deadline: float) -> dict[str, Any] | None:
        """Return the next message, None when none came before `deadline` (of `time.monotonic`).

        Raises:
            ChildEnded: When the process ended without one.
        """
        searched = 0
        while True:
            end = self._received.find(b"\n", searched)
            if end >= 0:
                line = bytes(self._received[:end])
                del self._received[: end + 1]
                return self._parse(line)
            searched = len(self._received)
            if searched > MESSAGE_LIMIT:
                raise ChildEnded(f"sent a message of more than {MESSAGE_LIMIT:,} bytes")
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            # Looked at before reading: what it said last is then already in the socket.
            gone = self._process.ended() is not None
            chunk: bytes | None
            try:
                self._socket.settimeout(0.01 if gone else min(_LOOK_S, left))
                chunk = self._socket.recv(1 << 20)
            except TimeoutError:
                # Something that outlived its launcher may hold the other end open.
                chunk = b"" if gone else None
            except OSError:
                chunk = b""
            if chunk is None:
                continue
            if not chunk:
                raise self._ended_early()
            self._received += chunk

    def end(self, *, finished: bool = False) -> None:
        """End the process and all that it started: asked first, then without asking. Safe to call again.

        Args:
            finished: Whether it has said all it had to, and may have a moment to close its files.
        """
        with self._ending:
            if self._ended:
                return
            self._ended = True
            self._process.finish(asked=not finished)
            self._socket.close()
        self._drain.join(1.0)

    def _ended_early(self) -> ChildEnded:
        end = self._process.ended(TERM_GRACE_S)
        if end is None:
            return ChildEnded("closed its connection before it answered")
        code = end.code
        if code is None and end.failed:
            return ChildEnded(f"could not be started ({end.failed})")
        if code is None:
            return ChildEnded("lost its launcher before it answered", killed=True)
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"signal {-code}"
            return ChildEnded(f"was ended by {name} before it answered", killed=code in KILLED_STATUSES)
        return ChildEnded(f"exited with status {code} before it answered")

    def _parse(self, line: bytes) -> dict[str, Any]:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise ChildEnded("sent something that is not a message")
        return message

    def _keep_output(self, output: Path | None) -> None:
        pipe = self._process.stdout
        kept = total = 0
        with pipe, contextlib.ExitStack() as open_files:
            file: BinaryIO | None = None
            # Lines, so that a secret is not cut in two; a line without an end comes in pieces.
            for line in iter(lambda: pipe.readline(1 << 16), b""):
                total += len(line)
                if output is None or kept >= OUTPUT_LIMIT:
                    continue
                file = file or open_files.enter_context(output.open("ab"))
                kept += file.write(redact(line.decode("utf-8", "replace")).encode())
                file.flush()
            if file is not None and kept >= OUTPUT_LIMIT:
                file.write(f"\n[{total:,} bytes were printed, the rest is left out]\n".encode())
