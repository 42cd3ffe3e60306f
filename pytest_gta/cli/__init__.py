"""The command ``pytest-gta``, also ``python -m pytest_gta``: one module a subcommand, each only calling a layer."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from pytest_gta import __version__
from pytest_gta.cli import (
    aa,
    author,
    calibrate,
    compare,
    diagnose,
    doctor,
    fetch,
    gold,
    init,
    judge_selftest,
    merge,
    options,
    pack,
    report,
    stats,
    tools,
    validate,
)

COMMANDS = (
    init,
    fetch,
    validate,
    author,
    stats,
    report,
    compare,
    merge,
    pack,
    tools,
    calibrate,
    aa,
    diagnose,
    gold,
    judge_selftest,
    doctor,
    options,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand and return the exit code: its own, or 2 when it cannot do what was asked for."""
    parser = argparse.ArgumentParser(prog="pytest-gta", description="Tools around a run of the GTA-Workflow benchmark.")
    parser.add_argument("--version", action="version", version=f"pytest-gta {__version__}")
    subcommands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(subcommands)
    given = parser.parse_args(arguments)
    from pytest_gta.benchmark.dataset import DatasetError
    from pytest_gta.benchmark.run_directory import NotWritten
    from pytest_gta.reporters.visible_text import visible
    from pytest_gta.settings import SettingsError

    try:
        code: int = given.run(given)
        sys.stdout.flush()
    except (DatasetError, NotWritten, SettingsError) as error:
        parser.exit(2, visible(f"pytest-gta: {error}\n"))
    except BrokenPipeError:
        # The reader (`| head`) has gone: that is no fault of ours, and Python must not complain of it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return code
