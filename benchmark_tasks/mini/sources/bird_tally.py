"""Task 13: two scanned tally sheets of a bird count, to be typed up, added and charted."""

from __future__ import annotations

import random
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.booklet import write_scan
from benchmark_tasks.mini.sources.drawing import centred, font

SCAN = "resources/files/13-bird_tally_scan.pdf"
HOURS = ("7-8 am", "8-9 am", "9-10 am", "10-11 am")
SHEETS: dict[str, dict[str, tuple[int | None, ...]]] = {
    "Reed bank": {
        "Mallard": (14, 11, 9, 16),
        "Coot": (22, 19, 25, 18),
        "Reed warbler": (6, 9, 4, 3),
        "Grey heron": (2, 1, None, 1),
        "Mute swan": (4, 4, 4, 4),
        "Kingfisher": (0, 1, 2, 0),
    },
    "North shore": {
        "Mallard": (31, 27, 18, 24),
        "Coot": (8, 12, 7, 9),
        "Reed warbler": (1, 0, 2, 1),
        "Grey heron": (3, 2, 2, 4),
        "Mute swan": (2, 2, 6, 6),
        "Kingfisher": (1, None, 0, 1),
    },
}
"""Counts by hour; None is a dash: not counted."""
CORRECTED = ("North shore", "Mallard", 2, 13)
"""Sheet, species, column and the first entry, crossed out, beside which the right number is written."""


def total(species: str) -> int:
    """Return how many of a species were counted on both sheets."""
    return sum(number or 0 for sheet in SHEETS.values() for number in sheet[species])


def sheet_total(sheet: str) -> int:
    """Return how many birds were counted on a sheet."""
    return sum(number or 0 for row in SHEETS[sheet].values() for number in row)


def make_inputs(folder: Path) -> None:
    """Draw both sheets, filled in by hand, a little askew and grainy, and write them as a scan."""
    rng = random.Random(13)  # noqa: S311 - jitter of the drawing, the same in every build
    write_scan(folder / SCAN, [_sheet(name, rng) for name in SHEETS])


def _sheet(name: str, rng: random.Random) -> Image.Image:
    page = Image.new("L", (992, 1100), 250)
    draw = ImageDraw.Draw(page)
    centred(draw, (496, 80), "LAKE WARDENS - BIRD COUNT", 40, "black")
    draw.text((90, 140), f"Site: {name}        Date: 4 May 2025", font=font(28), fill="black")
    left, top, wide, high = 80, 220, 150, 90
    draw.text((left + 10, top + 30), "Species", font=font(26), fill="black")
    for column, hour in enumerate(HOURS):
        centred(draw, (left + 230 + wide * column + wide / 2, top + high / 2), hour, 24, "black")
    rows = SHEETS[name]
    for line in range(len(rows) + 2):
        draw.line((left, top + high * line, left + 230 + wide * 4, top + high * line), fill="black", width=2)
    for x in (left, *(left + 230 + wide * i for i in range(5))):
        draw.line((x, top, x, top + high * (len(rows) + 1)), fill="black", width=2)
    for row, (species, numbers) in enumerate(rows.items(), 1):
        draw.text((left + 10, top + high * row + 30), species, font=font(26), fill="black")
        for column, number in enumerate(numbers):
            x, y = left + 230 + wide * column + wide // 2, top + high * row + high // 2
            if (name, species, column) == CORRECTED[:3]:
                _write(page, (x - 34, y), str(CORRECTED[3]), rng)
                draw.line((x - 62, y + 14, x - 6, y - 14), fill=40, width=4)
                _write(page, (x + 32, y), str(number), rng)
            else:
                _write(page, (x, y), "-" if number is None else str(number), rng)
    draw.text((90, 900), "A dash means: not counted in this hour.", font=font(24), fill="black")
    draw.text((90, 945), "Sky: overcast, light wind.   Observer: M. Okafor", font=font(24), fill="black")
    page = page.rotate(rng.uniform(-0.9, 0.9), Image.Resampling.BICUBIC, fillcolor=250)
    grain = Image.frombytes("L", page.size, rng.randbytes(page.width * page.height)).filter(
        ImageFilter.GaussianBlur(0.8)
    )
    return Image.blend(page, grain, 0.07)


def _write(page: Image.Image, middle: tuple[int, int], text: str, rng: random.Random) -> None:
    """Write a number the way a hand does: in ink, turned and shifted a little."""
    tile = Image.new("L", (110, 80), 0)
    ImageDraw.Draw(tile).text((55, 40), text, font=font(rng.randrange(36, 43)), fill=255, anchor="mm")
    turned = tile.rotate(rng.uniform(-9, 9), Image.Resampling.BICUBIC)
    at = (middle[0] - 55 + rng.randrange(-7, 8), middle[1] - 40 + rng.randrange(-5, 6))
    page.paste(rng.randrange(35, 70), at, turned)


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, added up from the sheets."""
    species = list(SHEETS["Reed bank"])
    grand = sum(total(name) for name in species)
    by_total = sorted(species, key=total, reverse=True)
    hours = [sum(row[i] or 0 for sheet in SHEETS.values() for row in sheet.values()) for i in range(4)]
    first, second = SHEETS
    sheet, bird, column, _ = CORRECTED
    return {
        "reed_total": Derived(sheet_total(first), f"all numbers on the sheet {first}, a dash as nothing"),
        "shore_total": Derived(sheet_total(second), f"all numbers on the sheet {second}, a dash as nothing"),
        "grand": Derived(grand, "both sheets"),
        "species_totals": Derived([f"{name} {total(name)}" for name in species], "row of the species on both sheets"),
        "best": Derived(by_total[0], "largest of the species totals"),
        "rarest": Derived(by_total[-1], "smallest of the species totals"),
        "busiest": Derived(HOURS[hours.index(max(hours))], f"largest of the column sums {hours}"),
        "busiest_count": Derived(max(hours), f"largest of the column sums {hours}"),
        "corrected": Derived(SHEETS[sheet][bird][column], "written beside the number that is crossed out"),
        "blanks": Derived(
            [f"{bird} at {sheet}" for sheet, rows in SHEETS.items() for bird, row in rows.items() if None in row],
            "cells with a dash",
        ),
    }
