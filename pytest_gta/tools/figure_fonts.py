"""Letters of a figure that matplotlib's own font has not: Chinese, emoji and the like, in fonts of this machine."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

from pytest_gta.tools.font_files import FontFolders

_WITHOUT_FONT = re.compile(r"Glyph (\d+) ")
"""How matplotlib's warning about a letter begins."""
_USUAL = "DejaVu Sans"
"""The family that matplotlib carries and falls back to."""


class FigureFonts:
    """Saves figures, and those with letters that had no font once more, in fonts that have them.

    Attributes:
        missing: Letters that no font here has; boxes stand for them.
    """

    def __init__(self, folders: FontFolders | None = None) -> None:
        """Look in some folders, or where this machine keeps fonts."""
        self._folders = folders or FontFolders()
        self._families: dict[str, str] = {}
        self.missing: set[str] = set()

    def save(self, figure: Any, save: Callable[[], Any], *, again: Callable[[], Any] | None) -> Any:
        """Save a figure.

        Args:
            figure: The figure.
            save: Saves it.
            again: Saves it in place of what `save` has written; None where that cannot be done.

        Returns:
            What saving returned.
        """
        from matplotlib.text import Text

        result, lacking = _watched(save)
        families = self._families_with(lacking) if lacking and again else []
        if families and again:
            for text in figure.findobj(Text):
                # A family that code names may not be there, and the usual one then no longer steps in by itself.
                text.set_fontfamily([*text.get_fontfamily(), _USUAL, *families])
            result, lacking = _watched(again)
        self.missing |= lacking
        return result

    def _families_with(self, characters: set[str]) -> list[str]:
        """Return the families of fonts that have some characters, which matplotlib then knows."""
        from matplotlib import font_manager

        left = set(characters)
        while left:
            font = self._folders.with_characters(left)
            found = {char for char in left if font and ord(char) in font.glyphs}
            if not font or not found:
                break
            path = str(font.path)
            if path not in self._families:
                font_manager.fontManager.addfont(path)
                self._families[path] = font_manager.get_font(path).family_name
            left -= found
        return list(self._families.values())


def _watched(save: Callable[[], Any]) -> tuple[Any, set[str]]:
    """Return what saving returned, and the letters that matplotlib warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = save()
    found = (_WITHOUT_FONT.match(str(warning.message)) for warning in caught)
    return result, {chr(int(match[1])) for match in found if match}
