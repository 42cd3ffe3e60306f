"""The judge's options for commands that judge outside of pytest: those of a run, from the same table."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pytest_gta.option import Option
from pytest_gta.options import OPTIONS

if TYPE_CHECKING:
    from pytest_gta.settings import Settings

GROUPS = ("judge",)
FURTHER = ("threshold", "sandbox")


def _of_the_judge() -> list[Option]:
    return [option for option in OPTIONS if option.group in GROUPS or option.key in FURTHER]


def add_judge_options(parser: argparse.ArgumentParser, *, leave_out: tuple[str, ...] = ()) -> None:
    """Add ``--judge-model`` and its like; each may be written ``--gta-...`` as well, as for pytest."""
    group = parser.add_argument_group("judge", "as for a run, environment variables included")
    for option in _of_the_judge():
        if option.key not in leave_out:
            short = option.flag.replace("--gta-", "--")
            help_text = f"{option.help} Default: {option.shown_default or option.default or 'none'}."
            group.add_argument(
                short, option.flag, dest=option.ini, metavar=option.metavar, help=help_text.replace("%", "%%")
            )


def judge_settings(
    given: argparse.Namespace, fixed: Mapping[str, str], environment: Mapping[str, str] = os.environ
) -> Settings:
    """Resolve the judge's options as a run does: command line, environment, default.

    Args:
        given: The parsed command line.
        fixed: Options of the run that the command decides itself, by ini name.
        environment: The environment variables; those of a run's other options are not looked at.

    Raises:
        SettingsError: On the first value that is not usable.
    """
    from pytest_gta.settings import SettingsError, resolve

    judges = {name for option in _of_the_judge() for name in (option.variable, *option.environment)}
    mine = {name: text for name, text in environment.items() if name in judges}
    settings = resolve(lambda name: fixed.get(name) or getattr(given, name, None), lambda _name: "", mine)
    if settings is None:
        raise SettingsError("the command names no agent to judge")
    return settings
