"""``pytest-gta stats DATASET``: what a dataset consists of, beside what is published of GTA-Workflow."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.cli.dataset_argument import add_dataset_argument, open_named
from pytest_gta.settings import SettingsError

if TYPE_CHECKING:
    from pytest_gta.benchmark.atomic import AtomicDataset
    from pytest_gta.benchmark.dataset import Dataset
    from pytest_gta.benchmark.statistics import DatasetStatistics


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "stats",
        help="show what a dataset consists of",
        description="Show what a dataset consists of, in the terms of the benchmark's paper and beside the figures it "
        "publishes of GTA-Workflow. No input file is read.",
    )
    add_dataset_argument(parser)
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument(
        "--plot", metavar="FILE", type=Path, help="also draw it to a .png, .svg or .pdf (needs pytest-gta[tools])"
    )
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Count, print, and draw when asked to."""
    from pytest_gta.benchmark.atomic import AtomicDataset

    if given.plot:
        _check_plot(given.plot)
    dataset = open_named(given)
    if isinstance(dataset, AtomicDataset):
        if given.plot:
            raise SettingsError("--plot: the plot is of GTA-Workflow's kind of tasks; leave it out for GTA-Atomic")
        lines, values = _atomic(dataset)
    else:
        lines, values = _workflow(dataset, given.plot)
    if given.json:
        named = {"name": dataset.name, "path": dataset.location, "sha256": dataset.sha256}
        print(json.dumps({"dataset": named, **values}, indent=1))
        return 0
    print(f"{dataset.name}  (sha256 {dataset.sha256[:12]})")
    for line in lines:
        print(line)
    if given.plot:
        print(f"drawn to {given.plot}")
    return 0


def _workflow(dataset: Dataset, plot: Path | None) -> tuple[list[str], dict[str, Any]]:
    """Return the statistics as lines and as JSON, and draw them when asked to."""
    from pytest_gta.benchmark.statistics import statistics_of
    from pytest_gta.reporters.statistics import as_json, table

    statistics = statistics_of(dataset)
    if plot:
        _draw(plot, dataset.name, statistics)
    return list(table(statistics)), as_json(statistics)


def _atomic(dataset: AtomicDataset) -> tuple[list[str], dict[str, Any]]:
    from pytest_gta.benchmark.atomic_statistics import atomic_statistics
    from pytest_gta.reporters.atomic_statistics import as_json, table

    statistics = atomic_statistics(dataset)
    return list(table(statistics)), as_json(statistics)


def _check_plot(path: Path) -> None:
    from pytest_gta.reporters.statistics_plot import NotDrawable, check_drawable

    try:
        check_drawable(path)
    except NotDrawable as error:
        raise SettingsError(f"--plot: {error}") from None


def _draw(path: Path, name: str, statistics: DatasetStatistics) -> None:
    from pytest_gta.reporters.statistics_plot import NotDrawable, draw

    try:
        draw(path, name, statistics)
    except NotDrawable as error:
        raise SettingsError(f"--plot: {error}") from None
