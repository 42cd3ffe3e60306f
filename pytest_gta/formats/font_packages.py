"""Fonts that Python packages carry: where they are, and how programs that draw documents come to them."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

SUFFIXES = (".ttf", ".ttc", ".otf")
"""Of files that hold a font."""
_LATIN = re.compile(r"NotoSans(?:-Italic)?\W")
"""Would take the place of the machine's own font for Latin letters, and has no bold that LibreOffice finds."""


def font_packages() -> Iterator[Path]:
    """Yield the folders of installed packages that carry fonts; they say so by their name (fontpkg_..., cvttf_...)."""
    for entry in sys.path:
        if entry.endswith("site-packages"):
            named = [path for word in ("*font*", "*ttf*") for path in Path(entry).glob(word) if path.is_dir()]
            yield from sorted(path for path in named if path.name != "fontTools" and path.suffix != ".dist-info")


def give_fonts(home: Path) -> None:
    """Let a program that has a folder as its home find these fonts for other scripts, as it finds a user's own."""
    for package in font_packages():
        for file in sorted(package.rglob("*")):
            if file.suffix.lower() in SUFFIXES and not _LATIN.match(file.name):
                (home / ".fonts").mkdir(exist_ok=True)
                target = home / ".fonts" / file.name
                try:
                    os.link(file, target)
                except OSError:  # another disk, or two packages with a font of this name
                    if not target.exists():
                        shutil.copyfile(file, target)
