"""What all processes of a run share while it runs: slots for calls, a halt flag, pauses, the ledger.

Files in one folder, on one machine. A slot is a file lock, which the kernel gives back when its holder dies, however
it dies.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import json
import os
import random
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from pytest_gta.benchmark.run_directory import write_atomic
from pytest_gta.llm.spending import Ledger

_FIRST_POLL_S = 0.005
_LAST_POLL_S = 0.05
_PAUSE_GRAIN_S = 0.05


class RunControl:
    """The run's shared state.

    Args:
        folder: The same for all processes; created when missing.
        slots: Calls in flight at most, over all processes that use the folder.

    Attributes:
        ledger: What all processes have spent.
    """

    def __init__(self, folder: Path, *, slots: int) -> None:
        if slots < 1:
            raise ValueError(f"slots must be at least 1, not {slots}")
        self.folder = folder
        self.slots = slots
        folder.mkdir(parents=True, exist_ok=True)
        self.ledger = Ledger(folder)
        self._halt = folder / "halt.json"
        self._reason: str | None = None
        self._held: set[int] = set()
        """Open files whose locks are slots of this process."""
        self._queues: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Queue] = weakref.WeakKeyDictionary()
        _close_in_forked_children(self)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the run's slots; wait in line until one is free."""
        queue = self._queues.setdefault(asyncio.get_running_loop(), _Queue(self))
        held = await queue.take()
        try:
            yield
        finally:
            queue.give(held)

    def halt(self, reason: str) -> None:
        """Tell every process to start no new work; the first reason stays."""
        try:
            fd = os.open(self._halt, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            return
        os.write(fd, json.dumps({"reason": reason, "at": time.time(), "pid": os.getpid()}).encode())
        os.close(fd)

    def halted(self) -> str | None:
        """Return why the run was halted; None while it goes on."""
        if self._reason is None:
            try:
                text = self._halt.read_text("utf-8")
            except OSError:
                return None
            try:
                self._reason = str(json.loads(text)["reason"])
            except (ValueError, KeyError, TypeError):
                return "halted"  # being written this moment
        return self._reason

    def lift_halt(self) -> None:
        """Let a run that was halted go on: its user has seen to the reason."""
        self._halt.unlink(missing_ok=True)
        self._reason = None

    def pause_until(self, when: float, scope: str = "") -> None:
        """Ask every process to send nothing before `when`; a pause is never shortened.

        Args:
            when: Seconds since the epoch.
            scope: What to keep from, such as an endpoint's host; "" is everything.
        """
        if when > self._paused_until(scope) + _PAUSE_GRAIN_S:  # all of a crowd turned away say nearly the same
            write_atomic(self._pause_file(scope), repr(float(when)))

    def paused_for(self, scope: str = "") -> float:
        """Return the seconds that `scope` is still paused; 0 when it is not."""
        until = max(self._paused_until(scope), self._paused_until("")) if scope else self._paused_until("")
        return max(0.0, until - time.time())

    def _paused_until(self, scope: str) -> float:
        try:
            return float(self._pause_file(scope).read_text("ascii"))
        except (OSError, ValueError):
            return 0.0

    def _pause_file(self, scope: str) -> Path:
        return self.folder / (f"pause-{hashlib.sha256(scope.encode()).hexdigest()[:12]}" if scope else "pause")

    def _lock_any(self) -> int | None:
        """Lock a free slot and return its open file; None when all are taken."""
        first = random.randrange(self.slots)  # noqa: S311
        for i in range(self.slots):
            fd = _lock(self.folder / f"slot-{(first + i) % self.slots}")
            if fd is not None:
                self._held.add(fd)
                return fd
        return None

    def _unlock(self, fd: int) -> None:
        self._held.discard(fd)
        os.close(fd)

    def _someone_else_waits(self, own: int | None) -> bool:
        """Whether another process waits for a slot. Every process that waits holds a shared lock on one file."""
        fd = os.open(self.folder / "waiting", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if own is not None:  # our own shared lock must not answer for others
                fcntl.flock(own, fcntl.LOCK_UN)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return True
            return False
        finally:
            os.close(fd)
            if own is not None:
                with suppress(OSError):
                    fcntl.flock(own, fcntl.LOCK_SH | fcntl.LOCK_NB)


class _Queue:
    """Those of one event loop who wait for a slot, first come first served; only one poller asks for all of them."""

    def __init__(self, control: RunControl) -> None:
        self._control = control
        self._waiting: deque[asyncio.Future[int]] = deque()
        self._poller: asyncio.Task[None] | None = None
        self._sign: int | None = None
        """Open file whose shared lock tells other processes that this one waits."""

    async def take(self) -> int:
        if not self._waiting:
            free = self._control._lock_any()
            if free is not None:
                return free
        place: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        if self._poller is None or self._poller.done():
            self._poller = asyncio.create_task(self._poll())
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.give(place.result())
            raise

    def give(self, held: int) -> None:
        """Pass a slot on to the next in line, or, when another process waits too, back to all."""
        self._drop_cancelled()
        if self._waiting and not self._control._someone_else_waits(self._sign):
            self._waiting.popleft().set_result(held)
        else:
            self._control._unlock(held)

    async def _poll(self) -> None:
        self._sign = os.open(self._control.folder / "waiting", os.O_RDWR | os.O_CREAT, 0o644)
        self._control._held.add(self._sign)
        pause = _FIRST_POLL_S
        try:
            while True:
                self._drop_cancelled()
                if not self._waiting:
                    return
                with suppress(OSError):  # for a moment another process may be looking who waits
                    fcntl.flock(self._sign, fcntl.LOCK_SH | fcntl.LOCK_NB)
                free = self._control._lock_any()
                if free is None:
                    await asyncio.sleep(pause * random.uniform(0.75, 1.25))  # noqa: S311
                    pause = min(_LAST_POLL_S, pause * 1.5)
                else:
                    pause = _FIRST_POLL_S
                    self._waiting.popleft().set_result(free)
        finally:
            self._control._unlock(self._sign)
            self._sign = None

    def _drop_cancelled(self) -> None:
        while self._waiting and self._waiting[0].done():
            self._waiting.popleft()


def _lock(path: Path) -> int | None:
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return None
    return fd


def _close_in_forked_children(control: RunControl) -> None:
    """Let a forked child give up its copies of the locks: they would outlive their holder."""
    known = weakref.ref(control)

    def close() -> None:
        living = known()
        for fd in list(living._held) if living is not None else ():
            with suppress(OSError):
                os.close(fd)
        if living is not None:
            living._held.clear()

    os.register_at_fork(after_in_child=close)
