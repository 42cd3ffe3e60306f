"""A long-lived confined process that runs one function at a time, each in a fork of its own.

Whatever a function does - hang, crash, fork, fill memory or disk - costs its own call and nothing else: the next call
works, in the same server or in a new one.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from pytest_gta.workspace import bytecode
from pytest_gta.workspace.confined_job import (
    PACKAGE,
    Job,
    Limits,
    clean_environment,
    hidden_paths,
    interpreter_links,
    interpreter_paths,
)
from pytest_gta.workspace.confinement import Confinement, ConfinementUnavailable
from pytest_gta.workspace.protected_copies import ProtectedCopies
from pytest_gta.workspace.readiness import writable

__all__ = ["ConfinedError", "ConfinedProcess", "Limits"]

_START_S = 60.0
"""Seconds for the server to come up, and to import the libraries a function needs."""
_GRACE_S = 4.0
"""Seconds after a call's own time in which the server must have answered."""
_LAUNCH = (
    "import sys;sys.path.insert(0,sys.argv[1]);"
    "from pytest_gta.workspace.confined_launcher import main;main(sys.argv[2])"
)


class ConfinedError(Exception):
    """A call that brought no value.

    Attributes:
        kind: ``timeout``, ``crashed``, ``memory``, ``disk`` or ``raised``.
        message: What happened, fit for a model: no path of this machine.
        error_type: For ``raised``, the name of the exception's class.
    """

    def __init__(self, kind: str, message: str, error_type: str = "") -> None:
        self.kind, self.message, self.error_type = kind, message, error_type
        super().__init__(message)


class _Gone(Exception):
    """The server is not there any more (``ended``) or does not answer (``hung``)."""

    def __init__(self, how: str) -> None:
        self.how = how
        super().__init__(how)


class ConfinedProcess:
    """A confined process; started by the first call, started anew after a crash.

    Args:
        confinement: How to confine it.
        readable: Folders and files it may read, besides the interpreter and its packages.
        writable: The folder it may write in, which is where calls start; None for none.
        protected: What in `writable` it must not change. Where the machine cannot make that read-only, it is checked
            after each call, and put back.
        limits: Bounds.
    """

    def __init__(
        self,
        confinement: Confinement,
        *,
        readable: Sequence[Path],
        writable: Path | None = None,
        protected: Sequence[Path] = (),
        limits: Limits | None = None,
    ) -> None:
        self._confinement = confinement
        self._readable = tuple(str(path.resolve()) for path in readable)
        self._writable = str(writable.resolve()) if writable is not None else ""
        self._protected = tuple(str(path.resolve()) for path in protected)
        self._limits = limits or Limits()
        self._scratch = ""
        self._errors: IO[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = bytearray()
        self._poll = select.poll()
        self._copies: ProtectedCopies | None = None
        self._said_before = 0
        self._compiling: subprocess.Popen[bytes] | None = None

    def call(self, target: str, kwargs: Mapping[str, Any], timeout_s: float) -> Any:
        """Run a function in the confined process and return its value.

        Args:
            target: ``"package.module:function"``; the module is imported inside.
            kwargs: Its arguments, as JSON can hold them.
            timeout_s: Seconds it may take.

        Raises:
            ConfinedError: When it did not return a value.
            ConfinementUnavailable: When the process cannot be started.
        """
        request = json.dumps({"target": target, "kwargs": dict(kwargs), "timeout_s": timeout_s}).encode() + b"\n"
        try:
            if self._process is None:
                self._start()
            self._said_before = len(self._said())
            self._send(request, time.monotonic() + _START_S)
            head, body = self._receive(time.monotonic() + _START_S)
            if head["outcome"] == "started":
                self._compile(head["cold"])
                head, body = self._receive(time.monotonic() + timeout_s + _GRACE_S)
        except _Gone as gone:
            lost = self._lost(gone, timeout_s)
            self._stop()
            raise lost from None
        except BaseException:
            self._stop()  # interrupted half-way: what is in the pipe belongs to no call
            raise
        return self._value(head, body, timeout_s)

    def close(self) -> None:
        """End the process and all it started, and remove its temporary folder."""
        self._stop()
        if self._compiling is not None:
            try:
                self._compiling.wait(20)
            except subprocess.TimeoutExpired:
                self._compiling.kill()
                self._compiling.wait()
            self._compiling = None
        if self._copies is not None:
            self._copies.close()
            self._copies = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- one conversation --------------------------------------------------------------------------------------------

    def _send(self, data: bytes, deadline: float) -> None:
        assert self._process is not None and self._process.stdin is not None
        pipe = self._process.stdin.fileno()
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(pipe, view) :]
            except BlockingIOError:
                if not writable([pipe], deadline - time.monotonic()):
                    raise _Gone("hung") from None
            except OSError:
                raise _Gone("ended") from None

    def _receive(self, deadline: float) -> tuple[dict[str, Any], bytes]:
        while (at := self._buffer.find(b"\n")) < 0:
            self._read_more(deadline)
        head = json.loads(bytes(self._buffer[:at]))
        del self._buffer[: at + 1]
        while len(self._buffer) < head["bytes"]:
            self._read_more(deadline)
        body = bytes(self._buffer[: head["bytes"]])
        del self._buffer[: head["bytes"]]
        return head, body

    def _read_more(self, deadline: float) -> None:
        assert self._process is not None and self._process.stdout is not None
        if not self._poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise _Gone("hung")
        piece = os.read(self._process.stdout.fileno(), 1 << 20)
        if not piece:
            raise _Gone("ended")
        self._buffer += piece

    def _value(self, head: dict[str, Any], body: bytes, timeout_s: float) -> Any:
        outcome = head["outcome"]
        if self._copies is not None and (changed := self._copies.put_back()):
            raise ConfinedError("raised", f"it changed {', '.join(changed)}, which is read-only; that was put back")
        if outcome == "timeout":
            raise ConfinedError("timeout", f"it was ended after {round(timeout_s, 2):g} s, the time a call may take")
        if outcome == "disk":
            left = "were left" if self._limits.shared else "were removed"
            raise ConfinedError("disk", f"it wrote more than a call may; the files it made {left}")
        if outcome == "too large":
            size = self._limits.reply_bytes // 1024**2
            raise ConfinedError("memory", f"its result is larger than {size} MiB; return less")
        if outcome == "crashed":
            raise self._crashed(str(head.get("how", "")), timeout_s)
        try:
            answer = json.loads(body)
            if isinstance(answer, dict) and "value" in answer:
                return answer["value"]
            kind, name, message = str(answer["kind"]), str(answer["type"]), str(answer["message"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ConfinedError("crashed", "it ended without a result that can be read") from None
        if kind == "memory":
            raise ConfinedError("memory", f"it needed more memory than the {self._memory} a call may use", name)
        raise ConfinedError("raised", message, name)

    def _crashed(self, how: str, timeout_s: float) -> ConfinedError:
        said = self._said()[self._said_before :]
        if "ended a call: memory" in said:
            return ConfinedError("memory", f"it was ended for using more memory than the {self._memory} a call may use")
        if "ended a call: processes" in said:
            return ConfinedError("crashed", f"it was ended for starting more than {self._limits.processes} processes")
        if how == "SIGXCPU":
            return ConfinedError("timeout", f"it was ended after {round(timeout_s, 2):g} s of computing")
        hint = {"SIGSEGV": " (a library failed)", "SIGABRT": " (a library gave up, often for lack of memory)"}.get(
            how, ""
        )
        return ConfinedError("crashed", f"the process crashed: {how or 'it ended'}{hint}")

    def _lost(self, gone: _Gone, timeout_s: float) -> ConfinedError:
        """Say what happened to a call that took the server with it."""
        if gone.how == "hung":
            return ConfinedError("timeout", f"it did not end within {timeout_s:g} s and was ended")
        return self._crashed("", timeout_s)

    @property
    def _memory(self) -> str:
        return f"{self._limits.memory_bytes / 1024**3:.3g} GiB"

    # -- starting and ending -----------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._scratch = tempfile.mkdtemp(prefix="pytest-gta-")
        self._errors = tempfile.TemporaryFile(prefix="pytest-gta-")  # noqa: SIM115 - closed by `_stop`
        compiled = bytecode.folder()
        kept = [str(compiled)] if compiled is not None and compiled.is_dir() else []
        job = Job(
            backend=self._confinement.backend,
            readable=(*interpreter_paths(), *kept, *self._readable),
            writable=self._writable,
            protected=self._protected,
            scratch=self._scratch,
            hidden=hidden_paths(),
            python=sys.executable,
            links=interpreter_links(),
            bwrap=shutil.which("bwrap") or "",
            bytecode=kept[0] if kept else "",
            limits=self._limits,
        )
        self._process = subprocess.Popen(  # noqa: S603 - our own words and paths
            [sys.executable, "-I", "-B", "-c", _LAUNCH, str(PACKAGE.parent), job.to_json()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=clean_environment(self._scratch),
            cwd=self._scratch,
            start_new_session=True,  # an interrupt from the keyboard is for pytest, which then ends this one
            bufsize=0,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        self._poll = select.poll()
        self._poll.register(self._process.stdout.fileno(), select.POLLIN)
        self._buffer.clear()
        try:
            head, _ = self._receive(time.monotonic() + _START_S)
        except _Gone as gone:
            why = _last_line(self._said()) or ("it does not answer" if gone.how == "hung" else "it ended at once")
            self._stop()
            backend = self._confinement.backend
            raise ConfinementUnavailable(
                f"a process confined by {backend} cannot be started: {why}; try another --gta-sandbox"
            ) from None
        if head.get("inputs") != "shielded" and self._protected:
            self._copies = self._copies or ProtectedCopies(self._protected)

    def _compile(self, cold: Sequence[str]) -> None:
        """Have modules that the server had to compile compiled for good, so that no later process has to."""
        if cold and self._compiling is None:
            self._compiling = bytecode.start_compiling(cold, interpreter_paths())

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()  # tells the launcher to end everything
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if self._errors is not None:
            self._errors.close()
            self._errors = None
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = ""

    def _said(self) -> str:
        """What the launcher and the server wrote to standard error."""
        if self._errors is None:
            return ""
        size = os.fstat(self._errors.fileno()).st_size
        return os.pread(self._errors.fileno(), min(size, 100_000), 0).decode("utf-8", "replace")


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
