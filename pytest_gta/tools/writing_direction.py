"""Which way text runs, the order its characters are drawn in, and which scripts need their letters shaped."""

from __future__ import annotations

import importlib
import importlib.util
import unicodedata


def is_right_to_left(text: str) -> bool:
    """Return whether a text is Arabic, Hebrew or the like: whether its first letter is."""
    for char in text:
        direction = unicodedata.bidirectional(char)
        if direction in ("R", "AL"):
            return True
        if direction == "L":
            return False
    return False


def has_right_to_left(text: str) -> bool:
    """Return whether any letter of a text runs right to left."""
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)


def needs_shaping(text: str) -> bool:
    """Return whether a text is in a script whose letters change and move beside each other (Devanagari to Khmer)."""
    return any(
        "\u0900" <= char <= "\u0dff" or "\u1000" <= char <= "\u109f" or "\u1780" <= char <= "\u17ff" for char in text
    )


def can_order() -> bool:
    """Return whether the libraries that order and join such letters are installed."""
    return all(importlib.util.find_spec(name) for name in ("bidi", "arabic_reshaper"))


def joined_letters(text: str) -> str:
    """Return text with each Arabic letter in the form its neighbours give it; as it is without the library."""
    if not has_right_to_left(text) or not can_order():
        return text
    return str(importlib.import_module("arabic_reshaper").reshape(text))


def drawn_order(text: str, *, right_to_left: bool) -> list[tuple[str, int]]:
    """Return a line's characters from left to right as drawn, each with its place in the text.

    Brackets are mirrored where they run right to left. Without the library the order is the text's.
    """
    if not can_order():
        return list(zip(text, range(len(text)), strict=True))
    algorithm = importlib.import_module("bidi.algorithm")
    storage = algorithm.get_empty_storage()
    storage["base_level"], storage["base_dir"] = (1, "R") if right_to_left else (0, "L")
    algorithm.get_embedding_levels(text, storage)
    for place, char in enumerate(storage["chars"]):
        char["place"] = place
    algorithm.explicit_embed_and_overrides(storage)
    algorithm.resolve_weak_types(storage)
    algorithm.resolve_neutral_types(storage, False)
    algorithm.resolve_implicit_levels(storage, False)
    algorithm.reorder_resolved_levels(storage, False)
    algorithm.apply_mirroring(storage, False)
    return [(str(char["ch"]), int(char["place"])) for char in storage["chars"]]
