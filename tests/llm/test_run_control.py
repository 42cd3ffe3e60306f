"""Slots, halt and pauses over real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_gta.llm.run_control import RunControl

WORKER = """
import asyncio, os, sys, time
from pathlib import Path
from pytest_gta.llm.run_control import RunControl

folder, slots, calls, seconds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
control = RunControl(folder, slots=slots)

async def call(i):
    async with control.slot():
        started = time.time()
        if i == 0:
            print("holds", flush=True)
        await asyncio.sleep(seconds)
        print(started, time.time(), i, flush=True)

async def main():
    await asyncio.gather(*(call(i) for i in range(calls)))
    print("cpu", time.process_time(), flush=True)

asyncio.run(main())
"""


def start(folder: Path, slots: int, calls: int, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER, str(folder), str(slots), str(calls), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def spans(processes: list[subprocess.Popen[str]]) -> list[list[tuple[float, float, int]]]:
    found = []
    for process in processes:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        lines = [line.split() for line in out.splitlines() if line[0].isdigit()]
        found.append([(float(a), float(b), int(i)) for a, b, i in lines])
    return found


def most_at_once(all_spans: list[tuple[float, float, int]]) -> int:
    edges = sorted([(a, 1) for a, _, _ in all_spans] + [(b, -1) for _, b, _ in all_spans])
    now = most = 0
    for _, step in edges:
        now += step
        most = max(most, now)
    return most


def test_slots_hold_over_processes_and_are_shared_fairly(tmp_path):
    by_process = spans([start(tmp_path, 3, 12, 0.05) for _ in range(4)])
    everything = [span for one in by_process for span in one]
    assert len(everything) == 48
    assert most_at_once(everything) == 3
    for one in by_process:
        assert [i for _, _, i in sorted(one)] == sorted(i for _, _, i in one), "first come, first served in a process"
    took = max(b for _, b, _ in everything) - min(a for a, _, _ in everything)
    assert took < 48 * 0.05 / 3 * 20, "slots must not lie idle"


def test_nobody_is_shut_out_while_another_has_much_to_do(tmp_path):
    async def main() -> bool:
        async with RunControl(tmp_path, slots=2).slot():
            return greedy.poll() is None

    greedy = start(tmp_path, 2, 400, 0.05)  # ten seconds of work
    try:
        greedy.stdout.readline()
        assert asyncio.run(main()), "a slot came free long before the other was done"
    finally:
        greedy.kill()
        greedy.communicate()


def test_a_killed_holder_gives_its_slot_back(tmp_path):
    holder = start(tmp_path, 1, 2, 30)

    async def acquire(timeout: float) -> bool:
        control = RunControl(tmp_path, slots=1)
        try:
            async with asyncio.timeout(timeout), control.slot():
                return True
        except TimeoutError:
            return False

    assert holder.stdout.readline() == "holds\n"
    assert not asyncio.run(acquire(0.2)), "the holder has the only slot"
    os.kill(holder.pid, signal.SIGKILL)
    holder.communicate()
    assert asyncio.run(acquire(60))


def test_a_forked_child_does_not_keep_its_parents_slot(tmp_path):
    async def main() -> bool:
        control = RunControl(tmp_path, slots=1)
        async with control.slot():
            child = os.fork()
            if child == 0:
                time.sleep(120)
                os._exit(0)
        try:
            async with asyncio.timeout(30), control.slot():
                return True
        except TimeoutError:
            return False
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    assert asyncio.run(main())


def test_a_cancelled_waiter_takes_no_slot(tmp_path):
    async def main() -> None:
        control = RunControl(tmp_path, slots=1)

        async def hold(seconds: float) -> None:
            async with control.slot():
                await asyncio.sleep(seconds)

        first = asyncio.create_task(hold(0.1))
        await asyncio.sleep(0.01)
        waiters = [asyncio.create_task(hold(0)) for _ in range(3)]
        await asyncio.sleep(0.01)
        waiters[0].cancel()
        await asyncio.gather(first, *waiters[1:])
        async with asyncio.timeout(30), control.slot():
            return

    asyncio.run(main())


def test_slots_are_free_again_after_an_error(tmp_path):
    async def main() -> None:
        control = RunControl(tmp_path, slots=1)
        with pytest.raises(LookupError):
            async with control.slot():
                raise LookupError
        async with asyncio.timeout(30), control.slot():
            return

    asyncio.run(main())


def test_waiting_costs_little(tmp_path):
    holder = start(tmp_path, 1, 1, 1.5)
    assert holder.stdout.readline() == "holds\n"
    waiter = start(tmp_path, 1, 100, 0.0)
    out, _ = waiter.communicate(timeout=30)
    holder.communicate(timeout=30)
    cpu = float(next(line for line in out.splitlines() if line.startswith("cpu")).split()[1])
    idle = start(tmp_path / "other", 1, 1, 0.0)
    base = float(idle.communicate(timeout=30)[0].splitlines()[-1].split()[1])
    assert cpu - base < 0.5


def test_the_first_halt_stays_and_all_see_it(tmp_path):
    one, other = RunControl(tmp_path, slots=1), RunControl(tmp_path, slots=1)
    assert one.halted() is None
    one.halt("out of credit")
    other.halt("something later")
    assert other.halted() == one.halted() == "out of credit"


def test_a_pause_is_shared_by_scope_and_never_shortened(tmp_path):
    one, other = RunControl(tmp_path, slots=1), RunControl(tmp_path, slots=1)
    assert other.paused_for() == 0
    one.pause_until(time.time() + 2_000, "api.one")
    other.pause_until(time.time() + 500, "api.one")
    assert 1_900 < other.paused_for("api.one") <= 2_000
    assert other.paused_for("api.two") == 0
    one.pause_until(time.time() + 1_000)
    assert 900 < other.paused_for("api.two") <= 1_000
    assert 1_900 < other.paused_for("api.one") <= 2_000


def test_at_least_one_slot(tmp_path):
    with pytest.raises(ValueError, match="at least 1"):
        RunControl(tmp_path, slots=0)
