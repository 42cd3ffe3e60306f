"""One event loop in a background thread, for code that is not asynchronous."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class EventLoopThread:
    """A running event loop in a thread of its own.

    `shared()` is the process's one: connections made on it are reused by all callers. A forked child gets a new one.
    """

    _shared: EventLoopThread | None = None
    _shared_pid = 0
    _shared_lock = threading.Lock()

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="gta-event-loop", daemon=True)
        self._thread.start()

    @classmethod
    def shared(cls) -> EventLoopThread:
        """Return the process's loop, started on first use and stopped when the process ends."""
        with cls._shared_lock:
            if cls._shared is None or cls._shared_pid != os.getpid() or not cls._shared.is_running:
                cls._shared, cls._shared_pid = EventLoopThread(), os.getpid()
                atexit.register(cls._shared.stop)
            return cls._shared

    @property
    def is_running(self) -> bool:
        """Whether it still takes work."""
        return self._thread.is_alive() and not self.loop.is_closed()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` on the loop and return its result; an interrupt (Ctrl-C) cancels it and is raised.

        Raises:
            RuntimeError: When called on the loop itself, which would wait for ever.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a blocking call was made on the event loop; await the asynchronous one instead")
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """Cancel what is running, end the loop and its thread; does nothing the second time."""
        if not self.is_running or self._thread is threading.current_thread():
            return
        atexit.unregister(self.stop)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=5)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            left = asyncio.all_tasks(self.loop)
            for task in left:
                task.cancel()
            self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        finally:
            self.loop.close()
