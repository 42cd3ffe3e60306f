"""Times whole processes in turns, so that a busy machine slows all of them alike, and compares them by ratio."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True)
class Timing:
    """Seconds of each run of one command."""

    wall: tuple[float, ...]
    cpu: tuple[float, ...]


def measure(commands: Mapping[str, Sequence[str]], folder: Path, *, runs: int) -> dict[str, Timing]:
    """Run every command `runs` times in turns, after one unmeasured turn, and return its timings by name.

    Raises:
        RuntimeError: When a command fails; a failing one is quick and would look good.
    """
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            seconds = _run(command, folder)
            if turn > 0:
                found[name].append(seconds)
    return {name: Timing(*zip(*seconds, strict=True)) for name, seconds in found.items()}


def ratio(timings: Mapping[str, Timing], name: str, base: str) -> float:
    """Return the median over turns of the ratio of processor times of two commands."""
    pairs = zip(timings[name].cpu, timings[base].cpu, strict=True)
    return median(mine / bare for mine, bare in pairs)


def table(timings: Mapping[str, Timing], base: str) -> str:
    """Return the timings side by side: medians in milliseconds, ratio and difference to the base."""
    lines = [f"{'':<34}{'wall ms':>9}{'cpu ms':>9}{'ratio':>8}{'cpu ms more':>13}"]
    for name, timing in timings.items():
        more = median(mine - bare for mine, bare in zip(timing.cpu, timings[base].cpu, strict=True))
        lines.append(
            f"{name:<34}{median(timing.wall) * 1e3:>9.0f}{median(timing.cpu) * 1e3:>9.0f}"
            f"{ratio(timings, name, base):>8.2f}{more * 1e3:>13.1f}"
        )
    return "\n".join(lines)


def _run(command: Sequence[str], folder: Path) -> tuple[float, float]:
    # Compiled modules are kept, as they are for a user: the unmeasured turn writes them.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{output.decode()}")
    return wall, usage.ru_utime + usage.ru_stime
