"""Task 32: the numbers of its leaves from the screenshots as a person reads them, and its reference deliverables."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pypdf

from tests.mini.rubric import holds

OUT = """07:12 08:40 14.50
08:05 09:52 9.80
08:31 09:58 14.50 sold
08:50 10:20 12.80
09:10 10:55 8.20
09:42 11:08 11.00"""
BACK = """13:45 15:12 9.00
14:10 16:01 8.60
15:05 16:34 11.80
16:10 18:02 9.40 bus
16:45 18:12 10.90
17:20 19:06 7.90"""


def minutes(clock: str) -> int:
    hours, rest = clock.split(":")
    return int(hours) * 60 + int(rest)


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    def trains(text: str) -> list[tuple[str, str, float, bool]]:
        rows = [line.split() for line in text.splitlines()]
        return [(row[0], row[1], float(row[2]) * 2.5, len(row) == 3) for row in rows]

    days = [
        (out, back)
        for out, back in product(trains(OUT), trains(BACK))
        if out[3] and back[3]
        if minutes(out[1]) + 15 <= 660 and minutes(back[0]) >= 660 + 180 + 15 and minutes(back[1]) <= 19 * 60
    ]
    costs = sorted(out[2] + back[2] for out, back in days)
    assert costs[0] < costs[1]
    out, back = next(day for day in days if day[0][2] + day[1][2] == costs[0])
    holds(leaves["32/cp1-1"], f"{out[0]} to {out[1]}")
    holds(leaves["32/cp1-2"], f"{back[0]} to {back[1]}")
    cheaper = [t[0] for t in trains(OUT) if t[2] < out[2]] + [t[0] for t in trains(BACK) if t[2] < back[2]]
    holds(leaves["32/cp1-3"], *cheaper)
    holds(leaves["32/cp2-1"], f"{out[2]:.2f}", f"{back[2]:.2f}")
    holds(leaves["32/cp2-2"], f"{costs[0] + 30:.2f}", f"{costs[0]:.2f}", 30)

    def clock(minute: int) -> str:
        return f"{minute // 60:02}:{minute % 60:02}"

    holds(leaves["32/cp3-1"], clock(minutes(out[1]) + 15), "11:00", clock(minutes(back[0]) - 15))


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    plan = json.loads((outputs / "32/files/Day_Plan.json").read_text("utf-8"))
    assert [one["departure"] for one in plan["rejected"]] == ["09:10", "13:45", "14:10", "16:10", "17:20"]
    (page,) = pypdf.PdfReader(outputs / "32/files/Day_Plan.pdf").pages
    assert f"{plan['total_cost']:.2f}" in page.extract_text()
