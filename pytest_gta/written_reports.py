"""The files a run ends in: results.json, the report, the summary for a pull request. None of them costs another."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_gta.benchmark.results import RunResult

if TYPE_CHECKING:
    from pytest_gta.bench import Bench


def write_reports(
    result: RunResult, bench: Bench, environment: Mapping[str, str] = os.environ
) -> tuple[list[Path], list[str]]:
    """Write every report the options ask for.

    Args:
        result: The run.
        bench: Says where they go.
        environment: ``GITHUB_STEP_SUMMARY`` names a file that the summary is added to.

    Returns:
        What was written, and a line for each that could not be.
    """
    written: list[Path] = []
    faults: list[str] = []
    for target, write in _reports(result, bench, environment.get("GITHUB_STEP_SUMMARY")):
        try:
            write(target)
            written.append(target)
        except OSError as error:
            faults.append(f"{target} was not written: {error.strerror or error}")
    return written, faults


def _reports(result: RunResult, bench: Bench, job_summary: str | None) -> list[tuple[Path, Callable[[Path], object]]]:
    settings, run = bench.settings, bench.run
    found: list[tuple[Path, Callable[[Path], object]]] = []
    for target in filter(None, (run.root / "results.json", settings.json)):
        found.append((target, lambda path: run.write_results(result, path)))
    if settings.report != "off":

        def report(path: Path) -> object:
            from pytest_gta.reporters.html.page import write_report

            return write_report(result, run, path)

        found.append((settings.report if isinstance(settings.report, Path) else run.root / "report.html", report))
    if settings.markdown or job_summary:

        def summary(path: Path) -> object:
            from pytest_gta.reporters.markdown import write_markdown

            return write_markdown(result, path, job_summary=job_summary)

        found.append((settings.markdown or run.root / "summary.md", summary))
    return found
