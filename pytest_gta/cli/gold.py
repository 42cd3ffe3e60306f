"""``pytest-gta gold DIR``: deliverables of known quality to try a judge on."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "gold",
        help="make deliverables of known quality to try a judge on",
        description="Make deliverables of known quality from the bundled tasks: complete, one requirement broken, a "
        "file empty, numbers wrong, a file with other content; with the verdicts that follow from how they were made.",
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="an empty or a new folder, or an earlier gold set")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Make them, and say how to use them."""
    from pytest_gta.judge.gold.building import FolderInUse, build_gold
    from pytest_gta.reporters.wording import count
    from pytest_gta.settings import SettingsError

    try:
        gold = build_gold(given.folder)
    except (FolderInUse, OSError) as error:
        raise SettingsError(str(error)) from None
    for case, reason in gold.left_out.items():
        print(f"pytest-gta: {case} is left out: {reason}", file=sys.stderr)
    print(f"{count(len(gold.cases), 'case')}, {count(gold.leaves, 'leaf')} with a known verdict, in {gold.folder}")
    print()
    print("Let a judge score them, then see how far it agrees:")
    print(f"  pytest --gta-agent=outputs:{gold.folder / 'outputs'} --gta-dataset={gold.folder / 'dataset'} \\")
    print("      --gta-fail-under=0 --gta-run-dir=gold-run")
    print(f"  pytest-gta calibrate {gold.folder / 'labels.json'} gold-run")
    return 0
