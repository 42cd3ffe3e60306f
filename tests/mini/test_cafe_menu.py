"""Task 51: the numbers of its leaves from the inputs alone, and its reference deliverables."""

from __future__ import annotations

import json
from pathlib import Path

import pypdf

from tests.mini.rubric import holds

BOARD_AS_READ = """
SOUPS & TOAST
Leek soup 6.20
Fish chowder* 8.90
Cheese toast 5.40
-Crab toast 11.50
MAINS
Mussels & fries* 14.80
Mushroom pie 12.25
Baked cod 16.50
Beet burger 11.90
SWEET & HOT
Lemon tart* 4.80
Sea salt brownie 4.25
Flat white 3.60
-Rum cocoa 6.50
"""


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    from decimal import ROUND_CEILING, Decimal

    sections: list[list[tuple[str, str]]] = []
    stars, gone, old = [], [], set()
    for line in BOARD_AS_READ.strip().splitlines():
        if line.isupper():
            sections.append([])
            continue
        name, price = line.rsplit(" ", 1)
        if name.startswith("-"):
            gone.append(name[1:])
            continue
        dimes = (Decimal(price) * Decimal("1.08") * 10).to_integral_value(ROUND_CEILING)
        dish = (name.rstrip("*"), f"{dimes / 10:.2f}")
        old.add(price)
        sections[-1].append(dish)
        if name.endswith("*"):
            stars.append(dish)
    for leaf, dishes in zip(("51/cp1-1", "51/cp1-2", "51/cp1-3"), sections, strict=True):
        holds(leaves[leaf], *(word for dish in dishes for word in dish))
    assert not old & {price for dishes in sections for _, price in dishes}, "an old price must not be another's new one"
    holds(leaves["51/cp1-4"], *gone)
    holds(leaves["51/cp1-5"], "Cafe Halyard", *(name for name, _ in stars))
    holds(leaves["51/cp2-2"], *(word for dish in stars for word in dish))


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    from PIL import Image

    (page,) = pypdf.PdfReader(outputs / "51/files/Menu_Card.pdf").pages
    assert [round(float(side) / 72 * 25.4) for side in page.mediabox[2:]] == [148, 210]
    text = page.extract_text()
    for price in ("6.70", "9.70", "5.90", "16.00", "13.30", "17.90", "12.90", "5.20", "4.60", "3.90"):
        assert price in text
    assert "Crab" not in text and "Rum" not in text
    with Image.open(outputs / "51/files/Menu_Post.png") as image:
        assert image.size == (1080, 1080)
    assert 4 <= len(json.loads((outputs / "51/files/palette.json").read_text("utf-8"))) <= 6
