"""The files a run ends in: results.json, the report, the summary for a pull request. None of them costs another."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from pytest_gta.benchmark.results import RunResult
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.settings import Settings, SettingsError

if TYPE_CHECKING:
    from pytest_gta.reporters.outcome import Measured, Outcome
    from pytest_gta.run.lineup import Lineup

COMPARISON = "comparison.json"
"""The table of the agents of a run of several, in its run directory."""

Report = tuple[Path, Callable[[Path], object]]
"""Where a report goes, and what writes it there."""


def write_reports(
    measured: Sequence[Measured],
    outcome: Outcome,
    lineup: Lineup,
    wall_s: float,
    environment: Mapping[str, str] = os.environ,
) -> tuple[list[Path], list[str]]:
    """Write every report the options ask for.

    Args:
        measured: The run, one part for each agent.
        outcome: What the whole means.
        lineup: Says where they go.
        wall_s: Seconds the whole took.
        environment: ``GITHUB_STEP_SUMMARY`` names a file that the summary is added to.

    Returns:
        What was written, and a line for each that could not be.
    """
    written: list[Path] = []
    faults: list[str] = []
    for target, write in _reports(measured, outcome, lineup, wall_s, environment.get("GITHUB_STEP_SUMMARY")):
        try:
            write(target)
            written.append(target)
        except OSError as error:
            faults.append(f"{target} was not written: {error.strerror or error}")
    return written, faults


def check_targets(settings: Settings) -> None:
    """Find a report that could not be written where the options want it, before there is anything to write.

    Raises:
        SettingsError: When its place is a folder, or not writable.
    """
    for key in ("json", "report", "markdown", "search_record"):
        target = getattr(settings, key)
        fault = _fault_of(target) if isinstance(target, Path) else ""
        if fault:
            raise SettingsError(f"--gta-{key.replace('_', '-')}: {target} cannot be written: {fault}")


def _fault_of(target: Path) -> str:
    if target.is_dir():
        return "it is a folder; name a file"
    if target.exists():
        return "" if os.access(target, os.W_OK) else "permission denied"
    place = next(folder for folder in target.parents if folder.exists())
    if not place.is_dir():
        return f"{place} is not a folder"
    return "" if os.access(place, os.W_OK | os.X_OK) else f"permission denied in {place}"


def beside(file: Path, label: str) -> Path:
    """Return where what belongs to one agent goes, beside the file that is about all of them."""
    return file.with_name(f"{file.stem}-{label}{file.suffix}")


def _reports(
    measured: Sequence[Measured], outcome: Outcome, lineup: Lineup, wall_s: float, job_summary: str | None
) -> Iterator[Report]:
    contenders = {contender.label: contender for contender in lineup.contenders}
    for one in measured:
        bench = contenders[one.label].bench
        yield from _of_one(one.result, bench.run, bench.settings, None if lineup.is_several else job_summary)
    if lineup.is_several:
        benches = {one.label: contenders[one.label].bench for one in measured}
        pages = {label: page for label, bench in benches.items() if (page := _page(bench.run, bench.settings))}
        yield from _of_several(measured, outcome, lineup, pages, wall_s, job_summary)


def _of_one(result: RunResult, run: RunDirectory, settings: Settings, job_summary: str | None) -> Iterator[Report]:
    for target in filter(None, (run.root / "results.json", settings.json)):
        yield target, lambda path: run.write_results(result, path)
    page = _page(run, settings)
    if page is not None:

        def report(path: Path) -> object:
            from pytest_gta.reporters.html.page import write_report

            return write_report(result, run, path)

        yield page, report
    if settings.markdown or job_summary:

        def summary(path: Path) -> object:
            from pytest_gta.reporters.markdown import write_markdown

            return write_markdown(result, path, job_summary=job_summary)

        yield settings.markdown or run.root / "summary.md", summary


def _of_several(
    measured: Sequence[Measured],
    outcome: Outcome,
    lineup: Lineup,
    pages: Mapping[str, Path],
    wall_s: float,
    job_summary: str | None,
) -> Iterator[Report]:
    from pytest_gta.reporters.harnesses import write_json, write_page, write_summary

    root, settings = lineup.run.root, lineup.settings
    for target in filter(None, (root / COMPARISON, settings.json)):
        yield target, lambda path: write_json(measured, outcome, path, wall_s=wall_s)
    page = _page(lineup.run, settings)
    if page is not None:
        yield page, lambda path: write_page(measured, outcome, path, relative_links(path, pages))
    if settings.markdown or job_summary:
        target = settings.markdown or root / "summary.md"
        yield target, lambda path: write_summary(measured, outcome, path, job_summary=job_summary)


def _page(run: RunDirectory, settings: Settings) -> Path | None:
    """Return where the HTML report goes, None when none is wanted."""
    if settings.report == "off":
        return None
    return settings.report if isinstance(settings.report, Path) else run.root / "report.html"


def relative_links(page: Path, targets: Mapping[str, Path]) -> dict[str, str]:
    """Return links from one page to others, by the same names, so that the folder can be moved as a whole."""
    return {name: quote(os.path.relpath(target, page.parent)) for name, target in targets.items()}
