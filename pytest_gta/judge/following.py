"""Work on the background loop, followed from the thread that wants its results one by one."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from pytest_gta.llm.event_loop import EventLoopThread

T = TypeVar("T")


def follow(work: Callable[[Callable[[T], None]], Awaitable[None]], settle: Callable[[T], None]) -> None:
    """Run `work` on the shared background loop, and call `settle` in this thread with each result as it comes.

    Args:
        work: Given a function to hand results to, returns what is awaited.
        settle: Takes one result.

    Raises:
        KeyboardInterrupt: Or whatever else ends this thread's wait: the work is then cancelled, and results that were
            already there have been settled.
    """
    arrived: queue.SimpleQueue[tuple[T] | None] = queue.SimpleQueue()

    async def run() -> None:
        try:
            await work(lambda result: arrived.put((result,)))
        finally:
            arrived.put(None)

    running = asyncio.run_coroutine_threadsafe(run(), EventLoopThread.shared().loop)
    try:
        while (result := arrived.get()) is not None:
            settle(*result)
        running.result()
    except BaseException:
        running.cancel()
        # What is there has been paid for; a fault in keeping it must not hide why the wait ended.
        with suppress(Exception):
            while (late := arrived.get_nowait()) is not None:
                settle(*late)
        raise
