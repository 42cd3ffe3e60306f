"""Numbered and bulleted lists of Word documents: which mark a paragraph gets."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_gta.formats.markup import Element, attribute, child, children

_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Level:
    form: str
    template: str
    start: int


@dataclass(slots=True)
class Numbering:
    """The lists of one document, and how far each has been counted.

    Attributes:
        levels: For each list id, its levels.
    """

    levels: dict[str, dict[int, _Level]] = field(default_factory=dict)
    _abstract: dict[str, str] = field(default_factory=dict)
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Element | None) -> Numbering:
        """Return the lists that a numbering part defines; none without a part."""
        numbering = cls()
        if root is None:
            return numbering
        abstract: dict[str, dict[int, _Level]] = {}
        for definition in children(root, "abstractNum"):
            abstract[attribute(definition, "abstractNumId")] = {
                _number(attribute(level, "ilvl")): _Level(
                    attribute(child(level, "numFmt"), "val", "decimal"),
                    attribute(child(level, "lvlText"), "val"),
                    _number(attribute(child(level, "start"), "val", "1")),
                )
                for level in children(definition, "lvl")
            }
        for item in children(root, "num"):
            points_at = attribute(child(item, "abstractNumId"), "val")
            key = attribute(item, "numId")
            numbering.levels[key] = abstract.get(points_at, {})
            # Lists that share a definition count on together, unless one of them restarts.
            restarts = child(item, "lvlOverride", "startOverride") is not None
            numbering._abstract[key] = key if restarts else f"a{points_at}"
        return numbering

    def mark(self, list_id: str, depth: int) -> str:
        """Return the mark of the next paragraph of a list, indented by its depth: ``- `` or e.g. ``1.2. ``."""
        level = self.levels.get(list_id, {}).get(depth)
        indent = "  " * min(depth, 8)
        if level is None or level.form in ("bullet", "none"):
            return indent + "- "
        counts = self._counts.setdefault(self._abstract.get(list_id, list_id), {})
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [d for d in counts if d > depth]:
            del counts[deeper]
        text = level.template or f"%{depth + 1}."
        for position in range(9):
            above = self.levels.get(list_id, {}).get(position)
            if above is not None and f"%{position + 1}" in text:
                text = text.replace(f"%{position + 1}", _form(counts.get(position, above.start), above.form))
        return f"{indent}{text} "


def _form(number: int, form: str) -> str:
    if form in ("lowerLetter", "upperLetter"):
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter.upper() if form == "upperLetter" else letter
    if form in ("lowerRoman", "upperRoman"):
        roman = ""
        for value, sign in _ROMAN:
            roman += sign * (number // value)
            number %= value
        return roman.upper() if form == "upperRoman" else roman
    return str(number)


def _number(text: str) -> int:
    return int(text) if text.lstrip("-").isdigit() else 0
