"""``pytest-gta report RUN``: results.json and the summary anew from what a run, killed or not, left on disk."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

FILES = ("json", "html", "junit", "markdown")


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "report",
        help="rebuild results.json and the summary of a run from its directory",
        description="Rebuild results.json and the summary of a run from its directory, also of a run that was killed. "
        "The exit code is the run's: 0 fine, 1 below threshold or gate, 5 nothing measured, 10 inconclusive.",
    )
    parser.add_argument("directory", metavar="RUN", type=Path, help="the run directory (it holds run.json)")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write results.json here as well")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write the report, one HTML page")
    parser.add_argument("--junit", metavar="FILE", type=Path, help="write JUnit XML, one test case a task")
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="write a summary for a pull request")
    parser.add_argument(
        "--threshold",
        metavar="X",
        help="let a task or leaf succeed from this many points of 10; the run's own results.json stays as it is",
    )
    parser.add_argument(
        "--baseline", metavar="FILE", help="hold it against this run, and fail when it is significantly worse"
    )
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Rebuild, print, and return the run's own exit code."""
    from pytest_gta.benchmark.run_directory import RunDirectory

    if RunDirectory(given.directory).agents():
        return _run_of_several(given)
    from pytest_gta.reporters.outcome import Measured
    from pytest_gta.reporters.terminal import printed_summary
    from pytest_gta.run.run_report import rebuild_run

    rebuilt = rebuild_run(given.directory, threshold=given.threshold, baseline=given.baseline)
    for remark in rebuilt.remarks:
        print(f"pytest-gta: {remark}", file=sys.stderr)
    # What another threshold would make of the run is not the run's result.
    files = [] if given.threshold else [rebuilt.run.write_results(rebuilt.result)]
    if given.json:
        files.append(rebuilt.run.write_results(rebuilt.result, given.json.expanduser().absolute()))
    if given.html:
        from pytest_gta.reporters.html.page import write_report

        files.append(write_report(rebuilt.result, rebuilt.run, given.html.expanduser().absolute()))
    if given.junit:
        from pytest_gta.benchmark.run_directory import write_atomic
        from pytest_gta.reporters.junit import junit_xml

        write_atomic(given.junit.expanduser().absolute(), junit_xml(rebuilt.result, gated=rebuilt.gated))
        files.append(given.junit)
    if given.markdown:
        from pytest_gta.reporters.markdown import write_markdown

        files.append(write_markdown(rebuilt.result, given.markdown.expanduser().absolute()))
    for line in printed_summary([Measured("", rebuilt.result, rebuilt.outcome)], rebuilt.outcome, files):
        print(line)
    return rebuilt.outcome.exit_code


def _run_of_several(given: argparse.Namespace) -> int:
    """The same for a run of several agents: each of them, and the table of all."""
    from pytest_gta.reporters.terminal import printed_summary
    from pytest_gta.run.runs_of_several import rebuild_agents, write_rebuilt

    rebuilt = rebuild_agents(given.directory, threshold=given.threshold, baseline=given.baseline)
    for label, one in rebuilt.parts.items():
        for remark in one.remarks:
            print(f"pytest-gta: agent {label}: {remark}", file=sys.stderr)
    wanted = {name: path.expanduser().absolute() for name in FILES if (path := getattr(given, name))}
    files = write_rebuilt(rebuilt, None if given.threshold else given.directory, wanted)
    for line in printed_summary(rebuilt.measured, rebuilt.outcome, files):
        print(line)
    return rebuilt.outcome.exit_code
