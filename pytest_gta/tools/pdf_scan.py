"""Pages of a PDF as pictures, for what is only pictures in it: scans."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_gta.tools.tool import ToolFault

if TYPE_CHECKING:
    from PIL.Image import Image

_THIN = 20
"""Characters of text that a page has at least; one with fewer is a scan."""
_LONGER_SIDE_PX = 2_200
"""Of a page's picture: about 190 dots an inch of a sheet of paper."""


def is_pdf(path: str) -> bool:
    """Return whether a file is a PDF by its content."""
    with Path(path).open("rb") as source:
        return b"%PDF-" in source.read(1024)


class PdfScan:
    """The pages of a PDF to read as pictures: those without text, or all when all have some.

    Attributes:
        numbers: Which pages, counted from 1.
    """

    def __init__(self, path: str) -> None:
        """Open a PDF.

        Raises:
            ToolFault: It is damaged or encrypted.
        """
        from pypdfium2 import PdfDocument, PdfiumError

        try:
            self._document = PdfDocument(path)
        except PdfiumError as error:
            raise ToolFault(f"{path} is a PDF that cannot be opened: {error}") from None
        every = range(1, len(self._document) + 1)
        self.numbers = [number for number in every if self._characters(number) < _THIN] or list(every)

    def pictures(self, most: int) -> Iterator[tuple[int, Image]]:
        """Yield the first of these pages, with their numbers, as RGB pictures."""
        for number in self.numbers[:most]:
            page = self._document[number - 1]
            scale = _LONGER_SIDE_PX / max(*page.get_size(), 1.0)
            yield number, page.render(scale=scale).to_pil().convert("RGB")
            page.close()

    def _characters(self, number: int) -> int:
        text = self._document[number - 1].get_textpage()
        return len("".join(text.get_text_bounded().split()))
