"""Task 14: the numbers of its leaves from the frames of the film, and its reference deliverables."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

import pytest

from tests.mini.rubric import INPUTS, holds


def crossings(path: Path) -> list[tuple[float, str, str]]:
    """Find each vehicle by its colour in each lane, and the frame where its middle reaches the white line."""
    av = pytest.importorskip("av")
    kinds = {"car": (210, 59, 47), "bicycle": (31, 157, 77), "lorry": (43, 95, 208)}
    found: list[tuple[float, str, str]] = []
    before: dict[tuple[str, str], list[float]] = {}
    with av.open(str(path)) as container:
        rate = float(container.streams.video[0].average_rate)
        for number, frame in enumerate(container.decode(video=0)):
            image = frame.to_image()
            for direction, y in (("east", 188), ("west", 122)):
                row = [image.getpixel((x, y)) for x in range(image.width)]
                for kind, shade in kinds.items():
                    xs = [x for x, p in enumerate(row) if max(abs(a - b) for a, b in zip(p, shade, strict=True)) < 45]
                    # The middle of a vehicle can be read once it is wholly in the picture.
                    whole = [run for run in runs(xs) if len(run) > 5 and run[0] > 3 and run[-1] < image.width - 4]
                    middles = [(run[0] + run[-1]) / 2 for run in whole]
                    for x in middles:
                        old = min(before.get((kind, direction), []), key=lambda other: abs(other - x), default=x)
                        if (old < 240 <= x) if direction == "east" else (old > 240 >= x):
                            found.append(((number - 1 + (240 - old) / (x - old)) / rate, kind, direction))
                    before[kind, direction] = middles
    return sorted(found)


def runs(xs: list[int]) -> list[list[int]]:
    """Split columns into vehicles: a hole of up to 6 columns is coding noise."""
    split = [xs[:1]]
    for a, b in pairwise(xs):
        if b - a > 6:
            split.append([])
        split[-1].append(b)
    return split


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    found = crossings(INPUTS / "video/14-station_road.mp4")

    def count(kind: str = "", direction: str = "") -> int:
        return sum(kind in ("", k) and direction in ("", d) for _, k, d in found)

    holds(leaves["14/cp1-1"], len(found), *(w for k in ("car", "bicycle", "lorry") for w in (k, count(k))))
    holds(leaves["14/cp1-2"], count(direction="east"), count(direction="west"))
    stated = leaves["14/cp1-3"].split("in order, ")[1].split(", each")[0].split(", ")
    assert [float(second) for second in stated] == pytest.approx([second for second, *_ in found], abs=0.06)
    holds(leaves["14/cp2-1"], count("car", "east"), count("car", "west"))
    gap = max(b[0] - a[0] for a, b in pairwise(found))
    holds(leaves["14/cp2-2"], round(100 * count("car") / len(found)), f"{gap:.1f}")
    holds(leaves["14/cp2-3"], f"{len(found) * 180:,}", len(found))


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    with (outputs / "14/files/Crossings.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert list(rows[0]) == ["second", "vehicle", "direction"] and len(rows) == 12
