"""The background loop."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading

import pytest

from pytest_gta.llm.event_loop import EventLoopThread


def test_it_runs_work_of_many_threads_at_once():
    loop = EventLoopThread()
    everyone = []

    async def work(n: int) -> int:
        everyone.append(n)
        while len(everyone) < 5:
            await asyncio.sleep(0.001)
        return n * 2

    answers: list[int] = []
    threads = [threading.Thread(target=lambda n=n: answers.append(loop.run(work(n)))) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(answers) == [0, 2, 4, 6, 8]
    loop.stop()
    loop.stop()
    assert not loop.is_running


def test_errors_come_back():
    async def work() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        EventLoopThread.shared().run(work())


def test_a_blocking_call_on_the_loop_is_refused_rather_than_hanging():
    shared = EventLoopThread.shared()

    async def inner() -> None:
        return

    async def work() -> None:
        shared.run(inner())

    with pytest.raises(RuntimeError, match="await the asynchronous one"):
        shared.run(work())


def test_shared_is_one_and_comes_back_after_a_stop():
    first = EventLoopThread.shared()
    assert EventLoopThread.shared() is first
    first.stop()
    assert EventLoopThread.shared() is not first


def test_stopping_cancels_what_runs():
    loop = EventLoopThread()
    started, cancelled = threading.Event(), threading.Event()

    async def work() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    asyncio.run_coroutine_threadsafe(work(), loop.loop)
    assert started.wait(60)
    loop.stop()
    assert cancelled.is_set()


def test_an_interrupt_cancels_the_work_and_the_process_ends():
    script = """
import asyncio, sys
from pytest_gta.llm.event_loop import EventLoopThread

async def work():
    try:
        print("started", flush=True)
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print("cancelled", flush=True)
        raise

try:
    EventLoopThread.shared().run(work())
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "started\n"
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert sorted(out.split()) == ["cancelled", "interrupted"]
    assert (process.returncode, err) == (0, "")
