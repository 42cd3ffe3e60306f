"""Task 12: eight weeks of a bakery's electricity meter, with days not read and a new meter in between."""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta
from pathlib import Path

from benchmark_tasks.mini.sources.authored import Derived

READINGS = "resources/files/12-meter_readings.csv"
START = date(2025, 1, 6)
DAYS = 56
FIRST_READING = 48_210
NOT_READ = (9, 20, 21, 38, 50)
SWAPPED = 31
PRICE = 0.28


def consumption() -> list[int]:
    """Return the true kWh of each day; Sundays, when the bakery is closed, are low."""
    rng = random.Random(12)  # noqa: S311 - made-up data, the same in every build
    return [36 + rng.randrange(9) if day % 7 == 6 else 128 + rng.randrange(24) + day for day in range(DAYS)]


def daily() -> list[tuple[date, float, bool]]:
    """Return date, kWh and whether it is an estimate: a stretch without a reading is shared out evenly."""
    used = consumption()
    rows: list[tuple[date, float, bool]] = []
    day = 0
    while day < DAYS:
        end = day + 1
        while end in NOT_READ:
            end += 1
        share = sum(used[day:end]) / (end - day)
        rows += [(START + timedelta(days=i), share, end - day > 1) for i in range(day, end)]
        day = end
    return rows


def weekly() -> list[float]:
    """Return the kWh of the eight weeks, Monday to Sunday."""
    amounts = [amount for _, amount, _ in daily()]
    return [sum(amounts[i : i + 7]) for i in range(0, DAYS, 7)]


def averages() -> tuple[float, float]:
    """Return the mean kWh of an opening day (Monday to Saturday) and of a Sunday."""
    open_days = [amount for day, amount, _ in daily() if day.weekday() < 6]
    sundays = [amount for day, amount, _ in daily() if day.weekday() == 6]
    return sum(open_days) / len(open_days), sum(sundays) / len(sundays)


def make_inputs(folder: Path) -> None:
    """Write the readings: one line each morning, none where nobody looked, and the swap in a remark."""
    path = folder / READINGS
    path.parent.mkdir(parents=True, exist_ok=True)
    reading = FIRST_READING
    used = consumption()
    with path.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["date", "reading_kwh", "remark"])
        for day in range(DAYS + 1):
            remark = ""
            if day == SWAPPED:
                remark, reading = f"new meter fitted at reading time; old meter stood at {reading}", 0
            if day in NOT_READ:
                rows.writerow([START + timedelta(days=day), "", "nobody looked" if day == NOT_READ[0] else ""])
            else:
                rows.writerow([START + timedelta(days=day), reading, remark])
            if day < DAYS:
                reading += used[day]


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, worked out from the true consumption."""
    weeks = weekly()
    open_mean, sunday_mean = averages()
    total = sum(weeks)
    top = max(range(8), key=lambda i: weeks[i])
    return {
        "days": Derived(DAYS, "mornings in the file minus one"),
        "estimated": Derived(
            sum(guess for *_, guess in daily()), "days inside stretches between two readings more than a day apart"
        ),
        "total": Derived(round(total), "last reading - 0 + old meter at the swap - first reading"),
        "week_list": Derived([f"{amount:,.0f}" for amount in weeks], "days of each week, Monday to Sunday, added up"),
        "top_week": Derived(f"{START + timedelta(days=7 * top):%-d %B}", "Monday of the week with the largest sum"),
        "open_mean": Derived(round(open_mean, 1), "mean over Mondays to Saturdays"),
        "sunday_mean": Derived(round(sunday_mean, 1), "mean over Sundays"),
        "cost": Derived(round(total * PRICE, 2), f"total x {PRICE}"),
        "swap": Derived(f"{START + timedelta(days=SWAPPED):%-d %B}", "date of the remark on the new meter"),
    }
