"""What reading a file gives: facts, text in reading order, pictures and faults. Plain values with one JSON form."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

Fact = str | int | float


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture found in a file, or made of one of its pages, in a size a model can take.

    Attributes:
        where: Where in the file it belongs, e.g. ``page 3``, ``slide 2, picture 1``; "" for an image file itself.
        media_type: ``image/png`` or ``image/jpeg``.
        data: The encoded picture.
        width: Pixels.
        height: Pixels.
    """

    where: str
    media_type: str
    data: bytes = field(repr=False)
    width: int
    height: int

    def to_json(self) -> dict[str, Any]:
        """Return the picture as a JSON value, its bytes in base64."""
        return {
            "where": self.where,
            "media_type": self.media_type,
            "data": base64.b64encode(self.data).decode("ascii"),
            "width": self.width,
            "height": self.height,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return the picture that `to_json` gave."""
        return cls(
            where=str(value["where"]),
            media_type=str(value["media_type"]),
            data=base64.b64decode(value["data"]),
            width=int(value["width"]),
            height=int(value["height"]),
        )


@dataclass(frozen=True, slots=True)
class Extract:
    """What one file holds. A file that cannot be read is an extract with faults and no text, never an exception.

    Attributes:
        kind: The family that read it: ``word``, ``slides``, ``sheets``, ``pdf``, ``web``, ``text``, ``image``,
            ``audio``, ``video``, ``archive``, or ``other``.
        media_type: By content where that can be told, else by suffix.
        facts: What was measured, e.g. ``{"pages": 3}``; names are plain words, with the unit where there is one.
        text: The text in reading order, parts marked by lines such as ``=== Slide 2: Results ===``.
        pictures: Pictures in it or of it, in order.
        faults: One plain sentence for each thing that could not be read or was cut.
        notes: What a reader should know that took nothing away, e.g. that the name's suffix is wrong.
    """

    kind: str
    media_type: str
    facts: Mapping[str, Fact] = field(default_factory=dict)
    text: str = ""
    pictures: tuple[Picture, ...] = ()
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the extract as a JSON value."""
        return {
            "kind": self.kind,
            "media_type": self.media_type,
            "facts": dict(self.facts),
            "text": self.text,
            "pictures": [picture.to_json() for picture in self.pictures],
            "faults": list(self.faults),
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return the extract that `to_json` gave."""
        return cls(
            kind=str(value["kind"]),
            media_type=str(value["media_type"]),
            facts=dict(value["facts"]),
            text=str(value["text"]),
            pictures=tuple(Picture.from_json(picture) for picture in value["pictures"]),
            faults=tuple(str(fault) for fault in value["faults"]),
            notes=tuple(str(note) for note in value["notes"]),
        )
