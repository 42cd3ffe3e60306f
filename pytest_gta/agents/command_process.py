"""A command agent's process: started through a launcher, its output drained to disk, ended with all it started."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from pytest_gta.agents.launched_process import LaunchedProcess, ProcessEnd
from pytest_gta.llm.redaction import redact

HEAD_LIMIT = 5_000_000
"""Bytes of the beginning of an output that are kept on disk."""
TAIL_LIMIT = 1_000_000
"""Bytes of its end."""
GRACE_S = 5.0
"""Seconds between asking a command to end and ending it."""

_LOOK_S = 0.2


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
        self._stopped = threading.Event()
        with request.open("rb") as stdin:
            self._process = LaunchedProcess(
                command, cwd=cwd, environment=environment, stdin=stdin, stderr=subprocess.PIPE, grace_s=GRACE_S
            )
        assert self._process.stderr is not None
        self.output = KeptOutput(self._process.stdout, output)
        self.errors = KeptOutput(self._process.stderr, errors)

    def wait(self, timeout_s: float) -> CommandEnd:
        """Wait until the command has ended, or end it when its time is up; nothing that it started is left then."""
        deadline = time.monotonic() + timeout_s
        end: ProcessEnd | None = None
        while end is None and not self._stopped.is_set() and (left := deadline - time.monotonic()) > 0:
            end = self._process.ended(min(left, _LOOK_S))
        timed_out = end is None or self._stopped.is_set()
        end = self._process.finish(asked=True)
        self.output.finish()
        self.errors.finish()
        return CommandEnd(end.code, end.failed, timed_out)

    def stop(self) -> None:
        """Have the command end; from any thread."""
        self._stopped.set()
        self._process.ask_to_end()


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
