"""A run's result anew from its directory: the same as at its end, or as far as it got."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_gta.benchmark.dataset import DatasetError
from pytest_gta.benchmark.metrics import summarize
from pytest_gta.benchmark.rebuilding import agent_that_ran, left_out, rebuild
from pytest_gta.benchmark.results import RunResult, TaskStatus
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.benchmark.task import Task, TaskFault
from pytest_gta.option_values import datasets
from pytest_gta.reporters.outcome import GateLimits, Outcome, judge_run
from pytest_gta.run.finished_run import compared, refuse_several
from pytest_gta.run.selection import open_dataset, repeats
from pytest_gta.run.spending_limit import why_stopped
from pytest_gta.settings import Settings, SettingsError, resolve

OF_THE_RUN = ("options", "selected")
"""What run.json has to go on with a run, and results.json leaves out."""


@dataclass(frozen=True, slots=True)
class RebuiltRun:
    """A run, rebuilt.

    Attributes:
        run: Its directory.
        result: Its result.
        outcome: What it means.
        remarks: What could not be found out, and what is left out, one line each.
        gated: Whether a gate over the run decides.
    """

    run: RunDirectory
    result: RunResult
    outcome: Outcome
    remarks: tuple[str, ...]
    gated: bool


def rebuild_run(
    folder: Path,
    *,
    threshold: str | None = None,
    baseline: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> RebuiltRun:
    """Rebuild a run's result from its directory.

    Args:
        folder: The run directory.
        threshold: Points from which a task succeeds, as a text; the run's own unless given.
        baseline: A run to hold it against, as ``--gta-baseline`` takes it; the run's own unless given.
        environment: Says where fetched datasets are.

    Raises:
        SettingsError: When this is not the run directory of one agent, the threshold is not a number of 0 to 10, or the
            baseline that was given cannot be compared with the run.
    """
    refuse_several(folder)
    settings = _settings(folder, threshold, baseline)
    run = RunDirectory(folder)
    manifest = run.manifest()
    tasks, remarks = _tasks(manifest, settings, environment)
    results = rebuild(run, tasks, settings.threshold)
    earlier = run.results()
    summary = summarize(results, settings.threshold)
    summary["wall_s"] = earlier.summary.get("wall_s") if earlier else None
    how = {key: value for key, value in manifest.items() if key not in OF_THE_RUN}
    before, gone = _baseline(settings, how, [task.slug for task in results], needed=baseline is not None)
    comparison = compared(before, results, settings.threshold)
    stopped = why_stopped(run, settings)
    outcome = judge_run(summary, limits_of(settings), comparison=comparison, stopped=stopped)
    how |= {"threshold": settings.threshold, "finished_at": earlier.run.get("finished_at") if earlier else None}
    how["agent"] = agent_that_ran(how.get("agent") or {}, results)
    if not any(result.status is TaskStatus.NOT_RUN for result in results):
        remarks = ()
    remarks = (*remarks, *gone, *filter(None, [left_out(run, results)]))
    result = RunResult(run=how, summary=summary, gate=outcome.gate, tasks=results)
    return RebuiltRun(run, result, outcome, remarks, settings.gated)


def limits_of(settings: Settings) -> GateLimits:
    """Return the gate that a run's options ask for."""
    return GateLimits(
        settings.fail_under,
        settings.fail_under_score,
        settings.max_error_rate,
        settings.threshold,
        baseline=settings.baseline is not None,
    )


def _baseline(
    settings: Settings, run: Mapping[str, Any], slugs: Sequence[str], *, needed: bool
) -> tuple[RunResult | None, tuple[str, ...]]:
    """Return the run's baseline, or why it can no longer be compared with it: raised when it is needed."""
    if settings.baseline is None:
        return None, ()
    from pytest_gta.run.finished_run import read_baseline

    try:
        return read_baseline(settings.baseline, run, slugs), ()
    except SettingsError as error:
        if needed:
            raise SettingsError(str(error).replace("--gta-baseline", "--baseline")) from None
        return None, (str(error),)


def _settings(folder: Path, threshold: str | None, baseline: str | None) -> Settings:
    given = {"gta_resume": str(folder), "gta_threshold": threshold, "gta_baseline": baseline}
    try:
        settings = resolve(given.get, lambda name: "", {})
    except SettingsError as error:
        raise SettingsError(
            str(error)
            .replace("--gta-resume: ", "")
            .replace("--gta-threshold", "--threshold")
            .replace("--gta-baseline", "--baseline")
        ) from None
    if settings is None:
        raise SettingsError(f"{folder} is not a run directory")
    return settings


def _tasks(
    manifest: Mapping[str, Any], settings: Settings, environment: Mapping[str, str]
) -> tuple[dict[str, Task | TaskFault], tuple[str, ...]]:
    """Return the dataset's tasks by run key, when it is still where it was and the same."""
    from pytest_gta.run.workshop import fetched_datasets

    facts = manifest.get("dataset") or {}
    try:
        chosen = facts.get("path")
        release = open_dataset(datasets(str(chosen)) if chosen else settings.dataset, fetched_datasets(environment))
    except (DatasetError, SettingsError) as error:
        return {}, (f"{error}; unfinished tasks are shown without their rubric",)
    if release.sha256 != facts.get("sha256"):
        changed = (
            f"the dataset {release.location} has changed since the run; unfinished tasks are shown without their rubric"
        )
        return {}, (changed,)
    return {task.slug: task for task in repeats(release.tasks(), settings.repeat)}, ()
