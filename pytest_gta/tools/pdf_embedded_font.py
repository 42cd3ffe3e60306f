"""A font embedded in a PDF, whose text is found and copied as it was written, emoji too."""

from __future__ import annotations

import re
from typing import Any

from reportlab.pdfbase.ttfonts import TTFont

_BEYOND = re.compile(r"<([0-9A-F]{5,6})>")
"""A character of more than two bytes, as reportlab names it; readers take it for two others."""


class EmbeddedFont(TTFont):  # type: ignore[misc]
    """A TrueType font that tells readers of the file which characters its glyphs are, in UTF-16 as the format wants."""

    def addObjects(self, doc: Any) -> None:  # noqa: N802 - reportlab's name
        """Add the font and its tables to a document."""
        names = [self.getSubsetInternalName(number, doc)[1:] for number in range(len(self.state[doc].subsets))]
        super().addObjects(doc)
        for name in names:
            table = doc.idToObject[doc.idToObject["BasicFonts"].dict[name].ToUnicode.name]
            table.content = _BEYOND.sub(_in_utf16, table.content)


def _in_utf16(found: re.Match[str]) -> str:
    return f"<{chr(int(found[1], 16)).encode('utf-16-be').hex().upper()}>"
