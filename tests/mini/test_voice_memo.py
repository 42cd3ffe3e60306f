"""Task 34: the numbers of its leaves from the calendar and the message as heard, and its reference deliverables."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path

import openpyxl

from tests.mini.rubric import INPUTS, holds

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


def calendar() -> dict[str, set[int]]:
    """Hours from 9 to 17 that are taken, by day."""
    sheet = openpyxl.load_workbook(INPUTS / "files/34-calendar.xlsx").active
    taken: dict[str, set[int]] = {day: set() for day in DAYS}
    for day, start, end, _ in sheet.iter_rows(min_row=2, values_only=True):
        taken[day] |= set(range(int(start[:2]), int(end[:2])))
    return taken


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    taken = calendar()
    free = {day: sorted(set(range(9, 17)) - taken[day]) for day in DAYS}
    lunch = {day: [hour for hour in (12, 13) if hour in free[day]] for day in DAYS}
    assert all(len(hours) == 1 for hours in lunch.values()), "no choice of a lunch hour"
    holds(leaves["34/cp1-5"], *(f"{day} {lunch[day][0]}:00" for day in DAYS))
    slots = [(DAYS.index(day), hour) for day in DAYS for hour in free[day] if hour != lunch[day][0]]

    # Heard: draft 3 h in one go by Wednesday; proofread on a later day, by Thursday; printer before noon, Tuesday or
    # Wednesday; slides 2 h, Wednesday or Thursday, may be split; catering by Tuesday; plants on Friday.
    plans = []
    for draft in ([(d, h), (d, h + 1), (d, h + 2)] for d, h in slots if d <= 2):
        if not set(draft) <= set(slots):
            continue
        left = [slot for slot in slots if slot not in draft]
        for printer in (s for s in left if s[0] in (1, 2) and s[1] < 12):
            for proof in (s for s in left if draft[0][0] < s[0] <= 3 and s != printer):
                for slides in combinations([s for s in left if s[0] in (2, 3) and s not in (printer, proof)], 2):
                    for catering in (s for s in left if s[0] <= 1 and s not in (printer, proof, *slides)):
                        plans.append((draft[0], printer, {proof, *slides}, catering))
    assert plans

    def said(slot: tuple[int, int]) -> str:
        return f"{DAYS[slot[0]]} {slot[1]}:00"

    assert {plan[0] for plan in plans} == {(1, 14)} and {plan[1] for plan in plans} == {(2, 11)}
    holds(leaves["34/cp1-2"], said(plans[0][0]), "17:00", said(plans[0][1]), "12:00")
    holds(leaves["34/cp1-3"], *(f"{hour}:00" for day, hour in sorted({plan[3] for plan in plans}) if day == 0))
    assert all(plan[2] == plans[0][2] for plan in plans)
    holds(leaves["34/cp1-4"], *map(said, sorted(plans[0][2])))
    holds(leaves["34/cp1-1"], 6, 3 + 1 + 1 + 2 + 1 + 1)


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    taken = calendar()
    with (outputs / "34/files/Task_List.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    hours = [(r["day"], hour) for r in rows for hour in range(int(r["start"][:-3]), int(r["end"][:-3]))]
    assert len(hours) == len(set(hours)) == 9
    assert not any(hour in taken[day] for day, hour in hours)
