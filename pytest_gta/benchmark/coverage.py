"""How much of what was delivered a judge was shown for one leaf."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from pytest_gta.benchmark.value import Value


class Coverage(Value):
    """What one judge call showed of the delivered files; inputs and the final answer are not counted.

    Attributes:
        files: Files that were delivered and taken.
        files_shown: Those of which text or a picture was shown, and those that hold nothing at all.
        pages: Pages, slides and sheets of them, as far as they can be counted: of PDFs, decks and workbooks, and of
            Word documents that were drawn.
        pages_shown: Those of which any text or a picture was shown.
        characters: Characters of text that were read in them.
        characters_shown: Characters of it that were shown.
        pictures_shown: Pictures that were shown.
        passages: Passages chosen for this leaf alone, among what is counted above.
    """

    files: int = Field(ge=0)
    files_shown: int = Field(ge=0)
    pages: int = Field(default=0, ge=0)
    pages_shown: int = Field(default=0, ge=0)
    characters: int = Field(default=0, ge=0)
    characters_shown: int = Field(default=0, ge=0)
    pictures_shown: int = Field(default=0, ge=0)
    passages: int = Field(default=0, ge=0)


def least(coverages: Iterable[Coverage | None]) -> Coverage | None:
    """Return what all of several calls showed at least, number by number; None when it is not known of each."""
    known = list(coverages)
    if not known or any(coverage is None for coverage in known):
        return None
    values = [coverage.model_dump() for coverage in known if coverage is not None]
    return Coverage(**{name: min(value[name] for value in values) for name in values[0]})
