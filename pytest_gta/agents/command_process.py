"""A command agent's process: started through a launcher, its output drained to disk, ended with all it started."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

import pytest_gta
from pytest_gta.llm.redaction import redact

HEAD_LIMIT = 5_000_000
"""Bytes of the beginning of an output that are kept on disk."""
TAIL_LIMIT = 1_000_000
"""Bytes of its end."""
GRACE_S = 5.0
"""Seconds between asking a command to end and ending it."""

_PACKAGE = Path(pytest_gta.__file__).parent
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from pytest_gta.agents.command_launcher import main; "
    "main(int(sys.argv[2]), sys.argv[3])"
)


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """How a command ended.

    Attributes:
        code: Its exit status, negative for a signal; None when it could not be started or its launcher was killed.
        failed: Why it could not be started.
        timed_out: Whether its time was up.
    """

    code: int | None
    failed: str = ""
    timed_out: bool = False


class CommandProcess:
    """A running command.

    Args:
        command: Its words.
        cwd: Where it runs.
        environment: Its environment.
        request: The file at its standard input.
        output: Where its standard output goes.
        errors: Where its standard error goes.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        request: Path,
        output: Path,
        errors: Path,
    ) -> None:
        ours, theirs = socket.socketpair()
        job = json.dumps({"command": list(command), "cwd": str(cwd), "grace_s": GRACE_S})
        with theirs, request.open("rb") as stdin:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, on our own code
                [sys.executable, "-I", "-S", "-B", "-c", _START, str(_PACKAGE.parent), str(theirs.fileno()), job],
                env=dict(environment),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self._socket = ours
        self._stopped = threading.Event()
        assert self._process.stdout is not None and self._process.stderr is not None
        self.output = KeptOutput(self._process.stdout, output)
        self.errors = KeptOutput(self._process.stderr, errors)

    def wait(self, timeout_s: float) -> CommandEnd:
        """Wait until the command has ended, or end it when its time is up; nothing that it started is left then."""
        line = self._receive(time.monotonic() + timeout_s)
        timed_out = line is None or self._stopped.is_set()
        if line is None:
            self.stop()
            line = self._receive(time.monotonic() + GRACE_S + 10.0, stoppable=False)
        self._finish()
        message = json.loads(line) if line else {}
        return CommandEnd(message.get("code"), message.get("failed", ""), timed_out)

    def stop(self) -> None:
        """Have the command end; from any thread."""
        self._stopped.set()
        with contextlib.suppress(OSError):
            self._socket.sendall(b"end\n")

    def _receive(self, deadline: float, *, stoppable: bool = True) -> bytes | None:
        """Return the launcher's line, b"" when it is gone without one, None when the time is up."""
        received = b""
        while not received.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or (stoppable and self._stopped.is_set()):
                return None
            self._socket.settimeout(min(left, 0.2))
            try:
                chunk = self._socket.recv(1 << 16)
            except TimeoutError:
                continue
            except OSError:
                return b""
            if not chunk:
                return b""
            received += chunk
        return received

    def _finish(self) -> None:
        self._socket.close()
        try:
            self._process.wait(GRACE_S + 10.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.output.finish()
        self.errors.finish()


class KeptOutput:
    """Reads a pipe to its end in a thread and keeps the beginning and the end of what comes, on disk and bounded.

    Args:
        pipe: What to read.
        file: Where to keep it; made with the first byte. Secrets are replaced.

    Attributes:
        total: Bytes that came.
    """

    def __init__(self, pipe: IO[bytes], file: Path) -> None:
        self.total = 0
        self._pipe, self._file = pipe, file
        self._tail = bytearray()
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def end_of_text(self, characters: int) -> str:
        """Return the last so many characters of what came."""
        return bytes(self._tail[-4 * characters :]).decode("utf-8", "replace")[-characters:]

    def finish(self) -> None:
        """Wait for the pipe's end: all that held it has ended, or has a second left."""
        self._thread.join(1.0)

    def _drain(self) -> None:
        head = 0
        rest = b""
        with self._pipe, contextlib.ExitStack() as files:
            out: BinaryIO | None = None
            while chunk := os.read(self._pipe.fileno(), 1 << 16):
                self.total += len(chunk)
                self._tail += chunk
                if len(self._tail) > 2 * TAIL_LIMIT:
                    del self._tail[:-TAIL_LIMIT]
                if head >= HEAD_LIMIT:
                    continue
                out = out or files.enter_context(self._file.open("wb"))
                # Whole lines, so that no secret is cut in two; a line without an end comes in pieces.
                text = rest + chunk
                cut = text.rfind(b"\n") + 1 or (len(text) if len(text) >= 1 << 16 else 0)
                head += out.write(_clean(text[:cut]))
                rest = text[cut:]
                out.flush()
            if out is not None:
                if head < HEAD_LIMIT:
                    out.write(_clean(rest))
                elif self.total > head:
                    tail = bytes(self._tail[-min(TAIL_LIMIT, self.total - head) :])
                    out.write(f"\n[... {self.total:,} bytes were printed, this is their end ...]\n".encode())
                    out.write(_clean(tail))


def _clean(data: bytes) -> bytes:
    return redact(data.decode("utf-8", "replace")).encode()
