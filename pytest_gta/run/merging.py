"""Runs of parts of one dataset made one run: the shards of a CI matrix. What is there twice or not at all is named."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_gta.benchmark.comparison import unlike
from pytest_gta.benchmark.dataset import DatasetError
from pytest_gta.benchmark.metrics import summarize
from pytest_gta.benchmark.results import RunResult, TaskResult, TaskStatus
from pytest_gta.benchmark.run_directory import MANIFEST, RunDirectory
from pytest_gta.benchmark.scoring import unmeasured
from pytest_gta.benchmark.task import Task, TaskFault
from pytest_gta.option_values import datasets
from pytest_gta.reporters.outcome import Outcome, judge_run
from pytest_gta.run.finished_run import compared, read_baseline, read_run
from pytest_gta.run.run_report import OF_THE_RUN, limits_of
from pytest_gta.run.selection import open_dataset, select_tasks
from pytest_gta.settings import Settings, SettingsError, resolve

RECORDED = ("outputs", "pack")
"""Kinds of agents that only have some of the dataset's tasks."""

OF_A_PART = ("shard", "json", "report", "markdown")
"""Options of a part that are not the whole run's: which tasks it has, and where its reports go."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of the runs.

    Attributes:
        source: Where it was read from.
        result: Its result.
        directory: Its run directory; None when only its results.json was given.
        options: The options it was started with; empty without its directory.
    """

    source: str
    result: RunResult
    directory: RunDirectory | None
    options: Mapping[str, str]

    @property
    def shard(self) -> tuple[int, int] | None:
        """Which shard it is, of how many."""
        shard = self.result.run.get("shard")
        return (int(shard[0]), int(shard[1])) if shard else None

    @property
    def repeats(self) -> int:
        """How many independent runs it has of each task."""
        return max([int(self.options.get("repeat") or 1), *(task.repeat for task in self.result.tasks)])


@dataclass(frozen=True, slots=True)
class Merged:
    """The runs as one.

    Attributes:
        result: Its result.
        outcome: What it means.
        options: The options to go on with it.
        origins: Which part each task was taken from, by run key.
        remarks: What was there twice or is missing, one line each.
    """

    result: RunResult
    outcome: Outcome
    options: Mapping[str, str]
    origins: Mapping[str, Part] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def read_part(path: Path) -> Part:
    """Read one of the runs.

    Raises:
        SettingsError: When it is neither a run directory nor a results.json.
    """
    result = read_run(path)
    if not (path / MANIFEST).is_file():
        return Part(str(path), result, None, {})
    directory = RunDirectory(path)
    options = directory.manifest().get("options") or {}
    return Part(str(path), result, directory, {str(key): str(text) for key, text in options.items()})


def merge(parts: Sequence[Part], overrides: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> Merged:
    """Return the runs as one.

    Args:
        parts: The runs.
        overrides: Options of the gate, by key, that replace those of the runs.
        environment: Says where fetched datasets are.

    Raises:
        SettingsError: When the runs were not made alike, or an option is wrong.
    """
    first = parts[0]
    for part in parts[1:]:
        _check_alike(first, part)
    chosen, remarks = _chosen(parts)
    known = next((part.options for part in parts if part.options), {})
    options = {key: text for key, text in known.items() if key not in OF_A_PART} | dict(overrides)
    settings = _settings(options, first.result)
    gap = _missing_shards(parts)
    tasks = {key: task for key, (task, _) in chosen.items()}
    expected = _expected(first.result, settings, environment) if known else None
    if expected is not None:
        absent = [task for task in expected if task.slug not in tasks]
        missing = {t.slug: unmeasured(t, "", TaskStatus.NOT_RUN, "no run that was merged has it", {}) for t in absent}
        if missing:
            remarks.append(f"in no run: {', '.join(missing)}")
        order = [task.slug for task in expected]
        tasks = {key: task for key in order if (task := tasks.get(key) or missing.get(key))} | tasks
    if gap:
        remarks.append(gap)
    run = _run(parts, settings)
    summary = summarize(list(tasks.values()), settings.threshold)
    walls = [part.result.summary.get("wall_s") for part in parts]
    summary["wall_s"] = max((wall for wall in walls if wall is not None), default=None)
    slugs = {task.slug for task in tasks.values()}
    baseline = read_baseline(settings.baseline, run, slugs) if settings.baseline else None
    comparison = compared(baseline, list(tasks.values()), settings.threshold)
    outcome = judge_run(summary, limits_of(settings), comparison=comparison, gap=gap)
    result = RunResult(run=run, summary=summary, gate=outcome.gate, tasks=tuple(tasks.values()))
    return Merged(result, outcome, options, {key: part for key, (_, part) in chosen.items()}, tuple(remarks))


def write_merged(merged: Merged, root: Path) -> Path:
    """Write the runs as one run directory, with all that the parts have of each task, and return its results.json.

    Raises:
        SettingsError: When there is something already.
    """
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise SettingsError(f"-o {root}: there is something already; name another directory")
    run = RunDirectory(root)
    selected = [task.run_key for task in merged.result.tasks]
    result = merged.result.model_copy(update={"run": {**merged.result.run, "id": root.name}})
    run.write_manifest({**result.run, "options": dict(merged.options), "selected": selected})
    for task in result.tasks:
        part = merged.origins.get(task.run_key)
        source = part.directory.task(task.run_key).root if part is not None and part.directory is not None else None
        if source is not None and source.is_dir():
            shutil.copytree(source, run.task(task.run_key).root, symlinks=True)
        elif part is not None:
            run.task(task.run_key).write_result(task)
    return run.write_results(result)


def _check_alike(first: Part, other: Part) -> None:
    reasons = list(unlike(first.result.run, other.result.run))
    for what, of in (
        ("agent", lambda run: [(run.get("agent") or {}).get(key) for key in ("label", "model")]),
        ("judge", lambda run: (run.get("judge") or {}).get("name")),
        ("threshold", lambda run: run.get("threshold")),
    ):
        before, now = of(first.result.run), of(other.result.run)
        if before != now:
            reasons.append(f"another {what} ({before}, now {now})")
    if first.repeats != other.repeats:
        reasons.append(f"another --gta-repeat ({first.repeats}, now {other.repeats})")
    if reasons:
        raise SettingsError(f"{other.source} is no part of the same run as {first.source}: {'; '.join(reasons)}")


def _chosen(parts: Sequence[Part]) -> tuple[dict[str, tuple[TaskResult, Part]], list[str]]:
    """Return each task's result and where it is from: the first that is graded, else the first."""
    found: dict[str, list[tuple[TaskResult, Part]]] = {}
    for part in parts:
        for task in part.result.tasks:
            found.setdefault(task.run_key, []).append((task, part))
    chosen, remarks = {}, []
    for key, those in found.items():
        chosen[key] = next((one for one in those if one[0].status is TaskStatus.GRADED), those[0])
        if len(those) > 1:
            sources = ", ".join(part.source for _, part in those)
            remarks.append(f"{key} is in {sources}: taken from {chosen[key][1].source}")
    return chosen, remarks


def _missing_shards(parts: Sequence[Part]) -> str | None:
    shards = [part.shard for part in parts if part.shard]
    if not shards:
        return None
    counts = {count for _, count in shards}
    if len(counts) > 1:
        raise SettingsError(f"the runs are shards of different cuts: {', '.join(f'{i}/{n}' for i, n in shards)}")
    (count,) = counts
    missing = [f"{index}/{count}" for index in range(1, count + 1) if (index, count) not in shards]
    return f"shard {', '.join(missing)} missing" if missing else None


def _settings(options: Mapping[str, str], first: RunResult) -> Settings:
    texts = {"agent": "outputs:merged", "threshold": str(first.run["threshold"]), **options}
    try:
        settings = resolve(lambda name: texts.get(name.removeprefix("gta_")), lambda _name: "", {})
    except SettingsError as error:
        raise SettingsError(str(error).replace("--gta-", "--")) from None
    assert settings is not None  # an agent is named
    return settings


def _expected(first: RunResult, settings: Settings, environment: Mapping[str, str]) -> list[Task | TaskFault] | None:
    """Return the tasks that the whole run has; None when that cannot be told."""
    from pytest_gta.run.workshop import fetched_datasets

    facts = first.run.get("dataset") or {}
    if (first.run.get("agent") or {}).get("kind") in RECORDED:
        return None
    try:
        path = facts.get("path")
        release = open_dataset(datasets(str(path)) if path else settings.dataset, fetched_datasets(environment))
        return list(select_tasks(release, settings)) if release.sha256 == facts.get("sha256") else None
    except (DatasetError, SettingsError):
        return None


def _run(parts: Sequence[Part], settings: Settings) -> dict[str, Any]:
    runs = [part.result.run for part in parts]
    run = {key: value for key, value in runs[0].items() if key not in OF_THE_RUN}
    started = [str(one["started_at"]) for one in runs if one.get("started_at")]
    finished = [str(one["finished_at"]) for one in runs if one.get("finished_at")]
    return run | {
        "id": "merged",
        "started_at": min(started, default=None),
        "finished_at": max(finished, default=None) if len(finished) == len(runs) else None,
        "threshold": settings.threshold,
        "shard": None,
        "merged_from": [
            {"id": part.result.run.get("id"), "source": part.source, "shard": part.shard} for part in parts
        ],
    }
