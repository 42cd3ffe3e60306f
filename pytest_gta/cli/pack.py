"""``pytest-gta pack RUN -o FILE``: a run's answers and files as an eval pack of the reference implementation."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "pack",
        help="write a run as an eval pack of the reference implementation",
        description="Write a run's answers and files as an eval pack of the reference implementation, for its scripts "
        "or for --gta-agent=pack:FILE. The files stay in the run directory.",
    )
    parser.add_argument("directory", metavar="RUN", type=Path, help="the run directory (it holds run.json)")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, required=True, help="the pack to write")
    parser.add_argument(
        "--relative", action="store_true", help="name the files relative to the pack's folder instead of absolutely"
    )
    parser.add_argument("--repeat", metavar="N", type=int, default=1, help="which repeat of each task to take (1)")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Write the pack, and say what is not in it."""
    from pytest_gta.reporters.wording import count
    from pytest_gta.run.packed_run import pack_run

    file = given.output.expanduser().absolute()
    packed = pack_run(given.directory.expanduser(), file, relative=given.relative, repeat=given.repeat)
    for key, reason in packed.left_out:
        print(f"pytest-gta: {key} is left out: {reason}", file=sys.stderr)
    print(f"{count(packed.tasks, 'task')} in {given.output}")
    return 0
