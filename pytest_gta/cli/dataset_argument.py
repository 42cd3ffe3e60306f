"""The datasets that a command is given: named as for ``--gta-dataset``."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_gta.benchmark.dataset import Dataset


def add_dataset_argument(parser: argparse.ArgumentParser) -> None:
    """Add the datasets as arguments."""
    parser.add_argument(
        "dataset",
        metavar="DATASET",
        nargs="+",
        help="mini, workflow, atomic, a folder or zip in the release's shape, or YAML tasks; several count as one",
    )


def open_named(given: argparse.Namespace) -> Dataset:
    """Open the datasets as one.

    Raises:
        SettingsError: When a name is not usable.
        DatasetError: When one cannot be opened.
    """
    return open_dataset_named(*given.dataset)


def open_dataset_named(*texts: str) -> Dataset:
    """Open datasets by what a user calls them, as one.

    Raises:
        SettingsError: When a name is not usable.
        DatasetError: When one cannot be opened.
    """
    from pytest_gta.option_values import datasets
    from pytest_gta.run.selection import open_dataset
    from pytest_gta.run.workshop import fetched_datasets
    from pytest_gta.settings import SettingsError

    try:
        chosen = [name for text in texts for name in datasets(text)]
    except ValueError as error:
        raise SettingsError(f"DATASET {error}") from None
    return open_dataset(chosen, fetched_datasets(os.environ))
