"""Real list numbering in a Word document: one definition a list, nine levels deep."""

from __future__ import annotations

from typing import Any

_BULLETS = ("•", "◦", "▪")
_NUMBER_FORMATS = ("decimal", "lowerLetter", "lowerRoman")
_INDENT = 360
"""Twentieths of a point a level is moved to the right."""


class WordNumbering:
    """Adds list definitions to a document's numbering part."""

    def __init__(self, document: Any) -> None:
        self._numbering = document.part.numbering_part.element
        self._next_abstract = 1 + max(
            (int(found) for found in self._numbering.xpath("w:abstractNum/@w:abstractNumId")), default=0
        )

    def new_list(self, *, ordered: bool, start: int, level: int) -> int:
        """Define a list whose items stand at `level` (0 the outermost) and return its number for `apply`."""
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn

        abstract = OxmlElement("w:abstractNum")
        abstract.set(qn("w:abstractNumId"), str(self._next_abstract))
        kind = OxmlElement("w:multiLevelType")
        kind.set(qn("w:val"), "multilevel")
        abstract.append(kind)
        for depth in range(9):
            abstract.append(_level(depth, ordered=ordered, start=start if depth == level else 1))
        # Word wants all abstract definitions before the first instance.
        first_instance = self._numbering.find(qn("w:num"))
        if first_instance is None:
            self._numbering.append(abstract)
        else:
            first_instance.addprevious(abstract)
        instance = self._numbering.add_num(self._next_abstract)
        self._next_abstract += 1
        return int(instance.numId)

    @staticmethod
    def apply(paragraph: Any, number: int, level: int) -> None:
        """Make a paragraph an item of the list `number` at `level`."""
        properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
        properties.get_or_add_numId().val = number
        properties.get_or_add_ilvl().val = min(level, 8)


def _level(depth: int, *, ordered: bool, start: int) -> Any:
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    element = OxmlElement("w:lvl")
    element.set(qn("w:ilvl"), str(depth))
    values = (
        ("w:start", str(start)),
        ("w:numFmt", _NUMBER_FORMATS[depth % 3] if ordered else "bullet"),
        ("w:lvlText", f"%{depth + 1}." if ordered else _BULLETS[depth % 3]),
        ("w:lvlJc", "left"),
    )
    for tag, value in values:
        child = OxmlElement(tag)
        child.set(qn("w:val"), value)
        element.append(child)
    properties = OxmlElement("w:pPr")
    indent = OxmlElement("w:ind")
    indent.set(qn("w:left"), str(_INDENT * (depth + 2)))
    indent.set(qn("w:hanging"), str(_INDENT))
    properties.append(indent)
    element.append(properties)
    return element
