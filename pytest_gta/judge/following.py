"""Work on the background loop, followed from the thread that wants its results one by one."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from pytest_gta.judge.waits import Waits
from pytest_gta.llm.event_loop import EventLoopThread

T = TypeVar("T")


LOOK_S = 0.5
"""Seconds after which a thread that waits looks for remarks."""


def follow(
    work: Callable[[Callable[[T], None]], Awaitable[None]], settle: Callable[[T], None], waits: Waits | None = None
) -> None:
    """Run `work` on the shared background loop, and call `settle` in this thread with each result as it comes.

    Args:
        work: Given a function to hand results to, returns what is awaited.
        settle: Takes one result.
        waits: Told of from this thread while no result comes.

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
        while True:
            try:
                result = arrived.get(timeout=LOOK_S if waits else None)
            except queue.Empty:
                if waits is not None:
                    waits.tell()
                continue
            if result is None:
                break
            settle(*result)
        running.result()
    except BaseException:
        running.cancel()
        # What is there has been paid for; a fault in keeping it must not hide why the wait ended.
        with suppress(Exception):
            while (late := arrived.get_nowait()) is not None:
                settle(*late)
        raise
