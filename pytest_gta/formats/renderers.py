"""The programs of this machine that can draw documents: found, tried and named once."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pytest_gta.formats.font_packages import font_packages
from pytest_gta.workspace.confined_program import Program, ProgramFailed, running
from pytest_gta.workspace.confinement import ConfinementUnavailable, choose_confinement

OFFICE = ("soffice", "libreoffice")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Names under which the programs are installed, the first that is found counts."""

_VERSION_S = 20.0


@dataclass(frozen=True, slots=True)
class Renderer:
    """A program that draws.

    Attributes:
        name: ``LibreOffice`` or ``Chromium``.
        binary: Its file.
        version: What it says of itself, and the packages whose fonts it is given: what a drawing depends on.
    """

    name: str
    binary: Path
    version: str


@dataclass(frozen=True, slots=True)
class Renderers:
    """What there is to draw with.

    Attributes:
        office: For Word documents, decks and spreadsheets.
        browser: For web pages.
        confined: Whether they run under bubblewrap, without a network.
    """

    office: Renderer | None = None
    browser: Renderer | None = None
    confined: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of those that are there."""
        return tuple(program.name for program in (self.office, self.browser) if program is not None)

    def for_family(self, family: str) -> Renderer | None:
        """Return what draws a family of files, None when nothing does."""
        if family in ("word", "slides", "sheets"):
            return self.office
        return self.browser if family == "web" else None


def find_renderers() -> Renderers:
    """Look for the programs and start each once, for its version. Takes about half a second."""
    confined = _bubblewrap_works()
    office = _tried("LibreOffice", OFFICE, confined)
    # Pages run code. A browser of root's must be told to do without its own sandbox, and then needs another.
    browser = _tried("Chromium", BROWSERS, confined) if confined or os.geteuid() != 0 else None
    return Renderers(office, browser, confined)


def _bubblewrap_works() -> bool:
    try:
        choose_confinement("bwrap")
    except ConfinementUnavailable:
        return False
    return True


def _tried(name: str, programs: tuple[str, ...], confined: bool) -> Renderer | None:
    found = next((path for program in programs if (path := shutil.which(program))), None)
    if found is None:
        return None
    with tempfile.TemporaryDirectory(prefix="pytest-gta-") as folder:
        binary = Path(found)
        place = Path(folder).resolve()
        # Written to a file, as the programs are not connected to anything.
        command = ("/bin/sh", "-c", '"$1" --version > version', "sh", str(binary))
        try:
            with running(Program(name, command, place, confined=confined)) as process:
                process.wait(_VERSION_S)
            said = (place / "version").read_text("utf-8", "replace")
        except (OSError, ProgramFailed, subprocess.TimeoutExpired):
            return None
    version = next((line.strip() for line in said.splitlines() if line.strip()), "")
    fonts = ", ".join(package.name for package in font_packages())
    return Renderer(name, binary, version[:100] + (f", fonts of {fonts}" if fonts else "")) if version else None
