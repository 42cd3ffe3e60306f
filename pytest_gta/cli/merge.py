"""``pytest-gta merge RUN ...``: the shards of a CI matrix made one run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_gta.settings import SettingsError

GATE = ("fail_under", "fail_under_score", "max_error_rate", "baseline")


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "merge",
        help="make one run of the shards of a CI matrix",
        description="Make one run of several that were made alike, such as the shards of a CI matrix. The exit code is "
        "the whole run's: 0 fine, 1 below threshold or gate, 5 nothing measured, 10 inconclusive, as when a shard is "
        "missing. The gate is the runs' own unless one is given here.",
    )
    parser.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="a run directory or its results.json")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="write the whole run directory here")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the whole results.json here")
    parser.add_argument("--fail-under", metavar="PCT", help="fail when Root SR is below this percentage")
    parser.add_argument("--fail-under-score", metavar="X", help="fail when the mean Root Score is below this")
    parser.add_argument("--max-error-rate", metavar="PCT", help="accept this percentage of tasks without a score")
    parser.add_argument("--baseline", metavar="FILE", help="fail when significantly worse than this run")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Merge, write, print the summary, and return the whole run's exit code."""
    from pytest_gta.benchmark.run_directory import RunDirectory
    from pytest_gta.reporters.outcome import Measured
    from pytest_gta.reporters.terminal import printed_summary
    from pytest_gta.run.merging import merge, read_part, write_merged

    if not given.output and not given.json:
        raise SettingsError("merge needs a place for the whole run: -o DIR, or --json FILE, or both")
    overrides = {key: text for key in GATE if (text := getattr(given, key)) is not None}
    if any(RunDirectory(path.expanduser()).agents() for path in given.runs):
        return _run_of_several(given, overrides)
    merged = merge([read_part(path.expanduser()) for path in given.runs], overrides)
    for remark in merged.remarks:
        print(f"pytest-gta: {remark}", file=sys.stderr)
    files = []
    if given.output:
        files.append(write_merged(merged, given.output.expanduser().absolute()))
    if given.json:
        target = given.json.expanduser().absolute()
        files.append(RunDirectory(target.parent).write_results(merged.result, target))
    for line in printed_summary([Measured("", merged.result, merged.outcome)], merged.outcome, files):
        print(line)
    return merged.outcome.exit_code


def _run_of_several(given: argparse.Namespace, overrides: Mapping[str, str]) -> int:
    """The same for runs of several agents: each agent's parts are made one."""
    from pytest_gta.reporters.terminal import printed_summary
    from pytest_gta.run.runs_of_several import merge_agents, write_agents, write_comparison

    merged = merge_agents([path.expanduser() for path in given.runs], overrides)
    for label, one in merged.parts.items():
        for remark in one.remarks:
            print(f"pytest-gta: agent {label}: {remark}", file=sys.stderr)
    files = []
    if given.output:
        files.extend(write_agents(merged, given.output.expanduser().absolute()))
    if given.json:
        files.append(write_comparison(merged.measured, merged.outcome, given.json.expanduser().absolute()))
    for line in printed_summary(merged.measured, merged.outcome, files):
        print(line)
    return merged.outcome.exit_code
