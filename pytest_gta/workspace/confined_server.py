"""The server inside a confined process: reads requests, forks once for each, passes back what the child returns.

A request is a line of JSON: ``{"target": "package.module:function", "kwargs": {...}, "timeout_s": 30}``. An answer is
a line of JSON with the outcome and a size in bytes, then that many bytes of JSON written by the child. The child is not
trusted: it holds neither end of this conversation, and all it can spoil is its own answer.

It is started by `pytest_gta.workspace.confined_launcher`, not by hand.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import select
import shutil
import signal
import stat
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from pytest_gta.workspace import bytecode, process_tree
from pytest_gta.workspace.confined_job import Job

_TICK_S = 0.2
_CHUNK = 1 << 20


def main(line: str, inputs: str) -> None:
    """Serve requests from standard input until it is closed.

    Args:
        line: The `Job` as JSON.
        inputs: ``shielded`` when protected paths are read-only by mounts, else ``open``; passed on to the program.
    """
    job = Job.from_json(line)
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    process_tree.adopt_orphans()
    if job.backend in ("sandlock", "process"):
        process_tree.die_with_parent(os.getppid())
    if job.backend != "off":
        process_tree.forgo_privileges()
    process_tree.set_dumpable(False)
    server = _Server(job, requests, answers)
    server.answer({"outcome": "ready", "inputs": inputs}, b"")
    server.serve()


@dataclass
class _Call:
    """A running call: its process, the pipe its answer comes through, what the workspace and its disk held before."""

    pid: int
    pipe: int
    deadline: float
    before: dict[tuple[int, int], int]
    used: tuple[int, int]
    received: list[bytes] = field(default_factory=list)
    size: int = 0


class _Server:
    def __init__(self, job: Job, requests: int, answers: int) -> None:
        self._job = job
        self._requests, self._answers = requests, answers
        self._buffer = b""

    def serve(self) -> None:
        """Answer requests one after the other."""
        while (line := self._next_line()) is not None:
            request = json.loads(line)
            loaded = set(sys.modules)
            try:
                self._preload(str(request["target"]), request["kwargs"])
            except BaseException as error:
                self.answer({"outcome": "done"}, _error(error, self._job))
                continue
            cold = bytecode.uncompiled(sorted(set(sys.modules) - loaded))
            self.answer({"outcome": "started", "cold": cold if len(cold) >= bytecode.WORTHWHILE else []}, b"")
            self.answer(*self._run(request))

    def answer(self, head: dict[str, Any], body: bytes) -> None:
        """Write one answer."""
        data = json.dumps(head | {"bytes": len(body)}).encode() + b"\n" + body
        view = memoryview(data)
        while view:
            view = view[os.write(self._answers, view) :]

    def _next_line(self) -> bytes | None:
        pieces = [self._buffer]
        while b"\n" not in pieces[-1]:
            piece = os.read(self._requests, _CHUNK)
            if not piece:
                return None
            pieces.append(piece)
        line, _, self._buffer = b"".join(pieces).partition(b"\n")
        return line

    def _preload(self, target: str, kwargs: dict[str, Any]) -> None:
        """Import the function's module and the libraries it needs here, so that every later call has them at once."""
        module_name, _, function = target.partition(":")
        module = importlib.import_module(module_name)
        choose = getattr(module, "preload", None)
        for name in choose(function, kwargs) if choose is not None else getattr(module, "PRELOAD", ()):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)

    # -- one call ----------------------------------------------------------------------------------------------------

    def _run(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        before = {} if self._job.limits.shared else self._held()
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            self._child(request, write)
        os.close(write)
        os.set_blocking(read, False)
        call = _Call(pid, read, time.monotonic() + float(request["timeout_s"]), before, self._used())
        try:
            ended_for, status = self._attend(call)
        finally:
            self._end_all()
            os.close(read)
        self._empty_scratch()
        if ended_for:
            return {"outcome": ended_for}, b""
        if status is None or not os.WIFEXITED(status) or os.WEXITSTATUS(status) != 0:
            return {"outcome": "crashed", "how": _how(status)}, b""
        return {"outcome": "done"}, b"".join(call.received)

    def _attend(self, call: _Call) -> tuple[str, int | None]:
        """Wait for a call; return why it was ended ("" when it ended by itself) and its exit status."""
        poll = select.poll()
        poll.register(call.pipe, select.POLLIN)
        poll.register(self._requests, 0)  # reports only that the program is gone
        measured = time.monotonic()
        while True:
            left = call.deadline - time.monotonic()
            if left <= 0:
                return "timeout", None
            events = dict(poll.poll(min(left, _TICK_S) * 1000))
            if events.get(self._requests, 0) & (select.POLLHUP | select.POLLERR):
                self._end_all()
                os._exit(0)
            closed = not self._receive(call)
            if call.size > self._job.limits.reply_bytes:
                return "too large", None
            status = _status(call.pid, wait=closed)
            if status is not None:
                self._receive(call)
                return "", status
            # Looking costs time in a large workspace, so it is done for at most a tenth of it.
            now = time.monotonic()
            if now - measured > _TICK_S:
                if self._overfull(call):
                    if not self._job.limits.shared:
                        self._remove_new(call.before)
                    return "disk", None
                measured = now + 9 * (time.monotonic() - now)

    def _receive(self, call: _Call) -> bool:
        """Take what is in the pipe; False once it is closed."""
        while call.size <= self._job.limits.reply_bytes:
            try:
                piece = os.read(call.pipe, _CHUNK)
            except BlockingIOError:
                return True
            if not piece:
                return False
            call.received.append(piece)
            call.size += len(piece)
        return True

    def _child(self, request: dict[str, Any], write: int) -> NoReturn:
        code = 1
        try:
            os.setpgid(0, 0)
            os.close(self._requests)
            os.close(self._answers)
            os.dup2(1, 2)  # 1 is the null device
            process_tree.set_dumpable(True)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            if self._job.backend != "off":
                seconds = int(request["timeout_s"]) + 2
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            try:
                body = _value(request)
            except BaseException as error:
                body = _error(error, self._job)
            view = memoryview(body)
            while view:
                view = view[os.write(write, view) :]
            code = 0
        finally:
            # Never back into the server's code, whatever happened.
            os._exit(code)

    def _end_all(self) -> None:
        """Kill everything below the server. As orphans become its own children, it sees when none is left."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            below = process_tree.children(os.getpid())
            process_tree.end(below)
            try:
                while os.waitpid(-1, 0 if below else os.WNOHANG)[0]:
                    below = []
            except ChildProcessError:
                return
            time.sleep(0.002)
        os._exit(3)  # something will not die: the launcher ends all of it

    # -- what a call wrote -------------------------------------------------------------------------------------------

    def _held(self) -> dict[tuple[int, int], int]:
        """Every file and folder where calls can write, by inode, with its size on disk in bytes."""
        found: dict[tuple[int, int], int] = {}
        for root in filter(None, (self._job.writable, self._job.scratch)):
            for folder, folders, names in os.walk(root):
                for name in (*folders, *names):
                    with contextlib.suppress(OSError):
                        status = os.lstat(f"{folder}/{name}")
                        found[status.st_dev, status.st_ino] = status.st_blocks * 512
        return found

    def _used(self) -> tuple[int, int]:
        """Bytes and entries in use on the file system where calls can write."""
        status = os.statvfs(self._job.cwd)
        return (status.f_blocks - status.f_bfree) * status.f_frsize, status.f_files - status.f_ffree

    def _overfull(self, call: _Call) -> bool:
        limits = self._job.limits
        if limits.shared:
            size, entries = (now - before for now, before in zip(self._used(), call.used, strict=True))
        else:
            held = self._held()
            size, entries = sum(held.values()) - sum(call.before.values()), len(held) - len(call.before)
        return size > limits.disk_bytes or entries > limits.disk_entries

    def _remove_new(self, before: dict[tuple[int, int], int]) -> None:
        """Remove what a call that filled the disk has made: no other call could work beside it."""
        self._end_all()
        for folder, folders, names in os.walk(self._job.writable or self._job.scratch, topdown=False):
            for name in (*names, *folders):
                path = Path(folder, name)
                with contextlib.suppress(OSError):
                    status = path.lstat()
                    if (status.st_dev, status.st_ino) not in before:
                        path.rmdir() if stat.S_ISDIR(status.st_mode) else path.unlink()

    def _empty_scratch(self) -> None:
        """Remove temporary files of a call, but not caches a library keeps for the next."""
        for entry in Path(self._job.scratch).iterdir():
            if entry.name.startswith(("matplotlib", "fontlist")):
                continue
            with contextlib.suppress(OSError):
                shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()


def _value(request: dict[str, Any]) -> bytes:
    module, _, name = str(request["target"]).partition(":")
    function = getattr(sys.modules[module], name)
    return json.dumps({"value": function(**request["kwargs"])}).encode()


def _error(error: BaseException, job: Job) -> bytes:
    kind = "memory" if isinstance(error, MemoryError) else "raised"
    try:
        message = str(error)
    except Exception:
        message = ""
    for path, shown in ((job.cwd + "/", ""), (job.cwd, "."), (job.scratch, "<temporary folder>")):
        message = message.replace(path, shown)
    return json.dumps({"kind": kind, "type": type(error).__name__, "message": message[:20_000]}).encode()


def _status(pid: int, *, wait: bool) -> int | None:
    """The exit status of a child that has ended. One that closed its end of the pipe gets a moment to do so."""
    deadline = time.monotonic() + 0.5
    while True:
        try:
            ended, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return -1
        if ended:
            return status
        if not wait or time.monotonic() > deadline:
            return None
        time.sleep(0.0005)


def _how(status: int | None) -> str:
    if status is None or status == -1:
        return "ended"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return signal.Signals(number).name if number in signal.valid_signals() else f"signal {number}"
    return f"exit status {os.WEXITSTATUS(status)}"
