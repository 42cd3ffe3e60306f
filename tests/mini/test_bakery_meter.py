"""Task 12: the numbers of its leaves from the inputs alone, and its reference deliverables."""

from __future__ import annotations

import csv
import re
from datetime import date, timedelta
from pathlib import Path

from tests.mini.rubric import INPUTS, holds


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    with (INPUTS / "files/12-meter_readings.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    use: dict[date, float] = {}
    guessed: set[date] = set()
    swap = ""
    before: tuple[date, int] | None = None
    for row in rows:
        if not row["reading_kwh"]:
            continue
        day, reading = date.fromisoformat(row["date"]), int(row["reading_kwh"])
        old = re.search(r"old meter stood at (\d+)", row["remark"])
        if before is not None:
            gap = (day - before[0]).days
            amount = (int(old[1]) if old else reading) - before[1]
            for i in range(gap):
                use[before[0] + timedelta(days=i)] = amount / gap
                if gap > 1:
                    guessed.add(before[0] + timedelta(days=i))
        if old:
            swap = f"{day.day} {day:%B}"
        before = (day, reading)
    assert all(amount > 0 for amount in use.values())
    weeks: dict[date, float] = {}
    for day, amount in use.items():
        monday = day - timedelta(days=day.weekday())
        weeks[monday] = weeks.get(monday, 0) + amount
    total = sum(use.values())
    opened = [amount for day, amount in use.items() if day.weekday() != 6]
    sundays = [amount for day, amount in use.items() if day.weekday() == 6]
    top = max(weeks, key=lambda monday: weeks[monday])

    assert (min(use), max(use)) == (date(2025, 1, 6), date(2025, 3, 2))
    holds(leaves["12/cp1-1"], len(use), f"{total:,.0f}")
    holds(leaves["12/cp1-2"], *(f"{amount:,.0f}" for amount in weeks.values()))
    holds(leaves["12/cp1-3"], f"{sum(opened) / len(opened):.1f}", f"{sum(sundays) / len(sundays):.1f}")
    holds(leaves["12/cp1-4"], f"{total:,.0f}", f"{total * 0.28:,.2f}")
    holds(leaves["12/cp2-1"], len(guessed))
    holds(leaves["12/cp2-2"], swap)
    holds(leaves["12/cp3-1"], f"{top.day} {top:%B}")


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    import docx

    with (outputs / "12/files/Daily_kWh.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 56 and min(float(row["kwh"]) for row in rows) > 0
    report = docx.Document(str(outputs / "12/files/Energy_Report.docx"))
    assert len(report.tables[0].rows) == 9 and len(report.inline_shapes) == 1
