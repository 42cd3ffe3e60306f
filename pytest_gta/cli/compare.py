"""``pytest-gta compare A B ...``: runs side by side, each against the first."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.settings import SettingsError

if TYPE_CHECKING:
    from pytest_gta.benchmark.results import RunResult


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "compare",
        help="set runs side by side, each against the first",
        description="Set runs side by side, each against the first. The exit code is 0; with --gate it is 1 when a run "
        "is significantly worse than the first, and 10 when one may be, or cannot be compared with it.",
    )
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        type=Path,
        help="a run directory (of several agents: all of them), its results.json, or a score or summary file of the "
        "reference implementation",
    )
    parser.add_argument("--threshold", metavar="X", help="count success from X points of 10 (default: the first run's)")
    parser.add_argument("--published", action="store_true", help="add the figures the benchmark's paper gives")
    parser.add_argument("--gate", action="store_true", help="let the exit code say whether a run is worse")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--html", metavar="FILE", type=Path, help="also write the comparison as an HTML page")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Read the runs, print the table, and return what it means."""
    from pytest_gta.benchmark.comparison import ChangeVerdict
    from pytest_gta.reporters.leaderboard import as_json, entries, markdown_lines, text_lines, verdict
    from pytest_gta.reporters.outcome import EXIT_FAILED, EXIT_INCONCLUSIVE, EXIT_OK
    from pytest_gta.run.finished_run import read_runs, runs_in

    paths = [run for path in given.runs for run in runs_in(path.expanduser())]
    runs = list(zip(map(str, paths), read_runs(paths), strict=True))
    if len(runs) < 2 and not given.published:
        raise SettingsError("compare needs two runs, or one and --published")
    if given.published:
        _check_published(runs)
    threshold = float(runs[0][1].run.get("threshold", 7)) if given.threshold is None else _points(given.threshold)
    table = entries(runs, threshold)
    if given.json:
        print(json.dumps(as_json(table, threshold, published=given.published), indent=1))
    else:
        lines = markdown_lines if given.markdown else text_lines
        for line in lines(table, threshold, published=given.published):
            print(line)
    if given.html:
        from pytest_gta.benchmark.run_directory import write_atomic
        from pytest_gta.reporters.leaderboard_page import comparison_page

        page = comparison_page(table, threshold, published=given.published)
        write_atomic(given.html.expanduser().absolute(), page)
    if not given.gate:
        return EXIT_OK
    return {ChangeVerdict.FAIL: EXIT_FAILED, ChangeVerdict.INCONCLUSIVE: EXIT_INCONCLUSIVE}.get(verdict(table), EXIT_OK)


def _check_published(runs: Sequence[tuple[str, RunResult]]) -> None:
    from pytest_gta.reporters.wording import benchmark_name

    for name, result in runs:
        benchmark = benchmark_name(result.run.get("dataset") or {})
        if benchmark != "GTA-Workflow":
            raise SettingsError(f"--published: {name} is a run of {benchmark}, the figures are of GTA-Workflow")


def _points(text: str) -> float:
    from pytest_gta.option_values import number

    try:
        return float(number(0, 10)(text))
    except ValueError as error:
        raise SettingsError(f"--threshold: {text!r} {error}") from None
