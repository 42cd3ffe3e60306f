"""``pytest-gta options``: the table of all options, as docs/options.md has it."""

from __future__ import annotations

import argparse
from typing import Any

from pytest_gta.options_page import options_page


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("options", help="print the table of options, in Markdown")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Print the page."""
    print(options_page(), end="")
    return 0
