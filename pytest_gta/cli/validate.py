"""``pytest-gta validate DATASET``: what is wrong with a dataset, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pytest_gta.cli.dataset_argument import add_dataset_argument, open_named

if TYPE_CHECKING:
    from pytest_gta.benchmark.dataset import Dataset
    from pytest_gta.benchmark.finding import Finding
    from pytest_gta.benchmark.validation import Validation

WIDTH = 79
SHOWN_OF_A_CHECK = 8
"""Warnings or notes of one check that are shown in full; all errors are."""


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "validate",
        help="check a dataset before it is run",
        description="Check a dataset before it is run. The exit code is 1 when there are errors, else 0.",
    )
    add_dataset_argument(parser)
    parser.add_argument("--json", action="store_true", help="print everything that was found as JSON")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Check, print, and return 1 when there are errors."""
    from pytest_gta.benchmark.validation import validate
    from pytest_gta.reporters.visible_text import visible

    dataset = open_named(given)
    validation = validate(dataset)
    if given.json:
        print(json.dumps(_as_json(dataset, validation), indent=1))
    else:
        for line in _table(dataset, validation):
            print(visible(line))
    return 0 if validation.ok else 1


def _as_json(dataset: Dataset, validation: Validation) -> dict[str, Any]:
    counts = asdict(validation.counts)
    counts["categories"] = {
        name: {"tasks": tasks, "leaves": leaves} for name, (tasks, leaves) in validation.counts.categories.items()
    }
    counts["capabilities"] = {
        name: {"tasks": tasks, "inferred": inferred}
        for name, (tasks, inferred) in validation.counts.capabilities.items()
    }
    return {
        "dataset": {"name": dataset.name, "path": dataset.location, "sha256": dataset.sha256},
        "ok": validation.ok,
        "counts": counts,
        "findings": [asdict(finding) for finding in validation.findings],
    }


def _table(dataset: Dataset, validation: Validation) -> Iterator[str]:
    from pytest_gta.benchmark.finding import Level
    from pytest_gta.reporters.wording import count

    counts = validation.counts
    yield f"{dataset.name}  (sha256 {dataset.sha256[:12]})"
    unusable = f", {counts.tasks - counts.usable} of them not usable" if counts.usable < counts.tasks else ""
    yield f"{count(counts.tasks, 'task')}{unusable}; {count(counts.leaves, 'leaf')}, {counts.top_leaves:,} at the top"
    yield (
        f"{count(counts.tasks_with_inputs, 'task')} with {count(counts.inputs, 'input file')}, "
        f"{counts.missing_inputs} missing"
    )
    yield ""
    yield f"{'category':<24}{'tasks':>7}{'leaves':>9}"
    for name, (tasks, leaves) in counts.categories.items():
        yield f"{name:<24.24}{tasks:>7,}{leaves:>9,}"
    if counts.capabilities:
        yield ""
        yield f"{'capability':<24}{'tasks':>7}{'inferred':>10}"
        for name, (tasks, inferred) in counts.capabilities.items():
            yield f"{name:<24}{tasks:>7,}{inferred:>10,}"
    for level in Level:
        found = validation.of(level)
        if found:
            yield ""
            yield from _section(level.value, found, all_of_them=level is Level.ERROR)
    yield ""
    errors, warnings, notes = (validation.of(level) for level in Level)
    verdict = "OK" if validation.ok else "NOT OK"
    yield f"{verdict}: {count(len(errors), 'error')}, {count(len(warnings), 'warning')}, {count(len(notes), 'note')}"


def _section(level: str, found: tuple[Finding, ...], *, all_of_them: bool) -> Iterator[str]:
    shown: dict[str, int] = {}
    for finding in found:
        shown[finding.check] = shown.get(finding.check, 0) + 1
        if all_of_them or shown[finding.check] <= SHOWN_OF_A_CHECK:
            text = f"{finding.where}: {finding.message} [{finding.check}]"
            yield from textwrap.wrap(text, WIDTH, initial_indent=f"{level:<8} ", subsequent_indent=" " * 9)
    for check, number in shown.items():
        if not all_of_them and number > SHOWN_OF_A_CHECK:
            yield f"{level:<8} and {number - SHOWN_OF_A_CHECK} more of [{check}]; --json lists all"
