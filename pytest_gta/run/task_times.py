"""How long tasks took in an earlier run, so that the longest begin first when workers share them.

A long task that begins last keeps the others waiting. Longest first is at most a third above the best there is (Graham,
Bounds on multiprocessing timing anomalies, 1969), and much nearer with many tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from pytest_gta.benchmark.run_directory import RESULTS, RunDirectory
from pytest_gta.run.finished_run import read_run, runs_in
from pytest_gta.run.run_place import runs_folder
from pytest_gta.settings import SettingsError

if TYPE_CHECKING:
    from pytest_gta.benchmark.results import RunResult
    from pytest_gta.run.lineup import Contender, Lineup

NEWEST = 20
"""How many earlier runs are looked at: reading each takes milliseconds."""


def task_times(lineup: Lineup) -> dict[str, float]:
    """Return the seconds that the tasks of a run took before, by item key; nothing of those that are not known.

    They are those of ``--gta-baseline``, or else of the newest earlier run of the same tasks and, when there is one, of
    the same agent.
    """
    known: dict[str, float] = {}
    for contender in lineup.contenders:
        bench = contender.bench
        earlier = bench.settings.baseline or _newest(contender, lineup.folder, bench.release.sha256)
        took = seconds_of(earlier) if earlier else {}
        known |= {contender.key(task.slug): took[task.slug] for task in bench.tasks if task.slug in took}
    return known


def seconds_of(path: Path) -> dict[str, float]:
    """Return the seconds each task of a run took, agent and judge together, by run key; nothing if it is unreadable."""
    try:
        run: RunResult = read_run(path)
    except SettingsError:
        return {}
    return {task.run_key: task.agent.wall_s + task.judge.wall_s for task in run.tasks if task.agent}


def longest_first(times: Sequence[float | None], workers: int) -> list[int]:
    """Return the order in which tasks should begin, as indices.

    pytest-xdist hands each worker two tasks at first, the second of which waits for the first: behind each of the
    longest stands one of the shortest. All others follow, longest first.

    Args:
        times: Seconds of each task; None where they are not known, which then count as the mean of the others.
        workers: Worker processes.
    """
    usual = fmean([seconds for seconds in times if seconds is not None] or [0.0])
    order = sorted(range(len(times)), key=lambda n: -(usual if (seconds := times[n]) is None else seconds))
    first, others = order[:workers], order[workers:]
    if len(order) < 2 * workers:
        return first + others[::-1]
    behind, between = others[::-1][:workers], others[: len(others) - workers]
    return [index for pair in zip(first, behind, strict=True) for index in pair] + between


def _newest(contender: Contender, folder: Path, sha256: str) -> Path | None:
    """Return the newest earlier run of a dataset: one of the same agent if there is one."""
    bench = contender.bench
    mine = (bench.agent_spec.label, bench.settings.model)
    found: Path | None = None
    for root in _earlier_runs(folder):
        for part in runs_in(root):
            manifest = _manifest(part)
            if not (part / RESULTS).is_file() or _of(manifest, "dataset", "sha256") != sha256:
                continue
            if (_of(manifest, "agent", "label"), _of(manifest, "agent", "model")) == mine:
                return part
            found = found or part
    return found


def _earlier_runs(folder: Path) -> Iterator[Path]:
    runs = runs_folder(folder)
    yield from sorted((run for run in runs.iterdir() if run.is_dir()), reverse=True)[:NEWEST] if runs.is_dir() else ()


def _manifest(run: Path) -> Mapping[str, object]:
    try:
        return RunDirectory(run).manifest()
    except (OSError, ValueError):
        return {}


def _of(manifest: Mapping[str, object], part: str, name: str) -> object:
    value = manifest.get(part)
    return value.get(name) if isinstance(value, Mapping) else None
