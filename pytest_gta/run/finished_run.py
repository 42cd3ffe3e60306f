"""A finished run to compare with: read from its results.json or its directory, and fit to be compared or not."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pytest_gta.benchmark.comparison import Comparison, NothingInCommon, compare, unlike
from pytest_gta.benchmark.results import RunResult, TaskResult
from pytest_gta.benchmark.run_directory import AGENTS, MANIFEST, RESULTS, RunDirectory
from pytest_gta.llm.redaction import one_line
from pytest_gta.run.written_reports import beside
from pytest_gta.settings import SettingsError


def refuse_several(path: Path) -> None:
    """Refuse the directory of a run of several agents where one run is asked for.

    Raises:
        SettingsError: When it is one; it names the runs to choose from.
    """
    agents = RunDirectory(path).agents()
    if agents:
        parts = ", ".join(str(path / AGENTS / label) for label in agents)
        raise SettingsError(f"{path} is a run of several agents; name one of them: {parts}")


def runs_in(path: Path) -> list[Path]:
    """Return the paths of the runs that a path names: itself, or one for each agent of a run of several."""
    return [path / AGENTS / label for label in RunDirectory(path).agents()] or [path]


def baseline_of(path: Path, label: str) -> Path:
    """Return what one agent is held against: the baseline, or its own part when that is a run of several agents.

    Raises:
        SettingsError: When it is one without that agent.
    """
    agents = RunDirectory(path).agents()
    if agents and label not in agents:
        raise SettingsError(f"--gta-baseline: {path} has no agent {label!r}; it has {', '.join(agents)}")
    return path / AGENTS / label if agents else path


def read_run(path: Path) -> RunResult:
    """Return a run's result: of a results.json, or of a run directory, also of a run that did not end.

    Raises:
        SettingsError: When there is none, with the reason.
    """
    if path.is_dir():
        refuse_several(path)
        if (path / RESULTS).is_file():
            return _read(path / RESULTS)
        if (path / MANIFEST).is_file():
            from pytest_gta.run.run_report import rebuild_run

            return rebuild_run(path).result
        raise SettingsError(f"{path} is not a run directory: it has neither {RESULTS} nor {MANIFEST}")
    return _read(path)


def _read(file: Path) -> RunResult:
    try:
        return RunResult.model_validate_json(file.read_bytes())
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror or error}") from None
    except ValidationError as error:
        raise SettingsError(f"{file} {_why_no_results(file, error)}") from None


def _why_no_results(file: Path, error: ValidationError) -> str:
    """Return what a file is instead of a results.json."""
    value = _parsed(file)
    if isinstance(value, Mapping) and isinstance(value.get("runs"), list):
        labels = [str(run["label"]) for run in value["runs"] if isinstance(run, Mapping) and "label" in run]
        places = [place for label in labels for place in (file.parent / AGENTS / label, beside(file, label))]
        parts = [str(place) for place in places if place.exists()] or [f"the run directory of {', '.join(labels)}"]
        return f"is the table of several agents; name one of them: {', '.join(parts)}"
    fault = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(map(str, fault["loc"]))
    why = f"{where}: {fault['msg']}" if where else fault["msg"]
    return f"is not a results.json of this version ({one_line(why, 120)})"


def read_runs(paths: Sequence[Path]) -> list[RunResult]:
    """Return the results of several runs; score files of the reference may be among them.

    A score file takes names, categories and rubrics from the runs that it is read with.

    Raises:
        SettingsError: When one cannot be read.
    """
    from pytest_gta.benchmark.reference_scores import is_reference_file, read_reference

    foreign: dict[int, Any] = {}
    runs: dict[int, RunResult] = {}
    for number, path in enumerate(paths):
        try:
            runs[number] = read_run(path)
        except SettingsError:
            foreign[number] = _parsed(path)
            if not is_reference_file(foreign[number]):
                raise
    known = [task for run in runs.values() for task in run.tasks]
    threshold = next((float(run.run.get("threshold", 7)) for run in runs.values()), 7.0)
    for number, value in foreign.items():
        try:
            runs[number] = read_reference(value, paths[number], known, threshold)
        except ValueError as error:
            raise SettingsError(f"{paths[number]} is not a score file that can be read: {error}") from None
    return [runs[number] for number in range(len(paths))]


def _parsed(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def read_baseline(path: Path, run: Mapping[str, Any], slugs: Collection[str]) -> RunResult:
    """Return the run that another is to be compared with.

    Args:
        path: Its results.json or directory.
        run: How the other is made (its dataset, judge and prompt version).
        slugs: The other's tasks.

    Raises:
        SettingsError: When it cannot be read, was measured otherwise, or has a score for none of the tasks.
    """
    try:
        baseline = read_run(path)
    except SettingsError as error:
        raise SettingsError(f"--gta-baseline: {error}") from None
    reasons = unlike(baseline.run, run)
    if reasons:
        raise SettingsError(
            f"--gta-baseline: {path} cannot be compared with this run: {'; '.join(reasons)}. "
            "Measure the baseline anew, or run as it was"
        )
    if not {task.slug for task in baseline.tasks if task.root_score is not None} & set(slugs):
        raise SettingsError(f"--gta-baseline: {path} has a score for none of the {len(slugs)} selected tasks")
    return baseline


def compared(baseline: RunResult | None, tasks: Sequence[TaskResult], threshold: float) -> Comparison | None:
    """Return a run's tasks against those of its baseline; None without one, or without a task that both measured."""
    if baseline is None:
        return None
    try:
        return compare(baseline.tasks, tasks, threshold)
    except NothingInCommon:
        return None
