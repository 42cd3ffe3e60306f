"""One option: its names on the command line, in the ini file and the environment, and how its text is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pytest_gta import option_values as values


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the options table.

    Attributes:
        key: The field of `Settings`; ``--gta-key``, ``gta_key`` and ``GTA_KEY`` are made from it.
        group: The heading it is documented under.
        metavar: How ``--help`` writes the value; "" for a switch, which has none on the command line.
        help: What it does, in the imperative, without the default.
        parse: Makes a text into a value; raises ValueError with a clause that follows the text ("is not ...").
        default: The text of the default, None when there is none.
        shown_default: How to write the default in the docs when it is not a plain text.
        environment: Further environment variables that are looked at after ``GTA_KEY``, in this order.
        activates: Whether setting it makes the plugin active.
        joined_by: What joins its values when it may be given several times on the command line; "" when it may not.
            With a line break there is one value a line in the ini file and the environment.
        place: Makes relative paths in the text absolute, from a folder; None when it names none.
    """

    key: str
    group: str
    metavar: str
    help: str
    parse: values.Parser
    default: str | None = None
    shown_default: str = ""
    environment: tuple[str, ...] = ()
    activates: bool = False
    joined_by: str = ""
    place: Callable[[str, Path], str] | None = None

    @property
    def flag(self) -> str:
        """The command line option."""
        return "--gta-" + self.key.replace("_", "-")

    @property
    def ini(self) -> str:
        """The ini twin; also the name under which pytest keeps the command line value."""
        return "gta_" + self.key

    @property
    def variable(self) -> str:
        """The environment twin."""
        return "GTA_" + self.key.upper()
