"""Task 43: the numbers of its leaves from the screenshots as a person reads them, and its reference deliverables."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.mini.rubric import holds

# name: price and shipping a delivery, deliveries a year, plants in one, days of replacement, stars
AS_READ = {
    "Sprig": (19, 3, 12, 1, 60, 4.5),  # from the request
    "Fernbox": (24, 4.50, 12, 1, 30, 4.4),
    "Leafly Home": (51, 0, 4, 2, 0, 4.1),
    "PotPost": (45, 6, 6, 3, 14, 4.7),
}


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    months = {name: row[2] * (row[0] + row[1]) / 12 for name, row in AS_READ.items()}
    plants = {name: (row[0] + row[1]) / row[3] for name, row in AS_READ.items()}
    holds(leaves["43/cp1-1"], *(w for name in AS_READ for w in (name, f"{months[name]:.2f}")))
    holds(leaves["43/cp1-2"], *(w for name in AS_READ for w in (name, f"{plants[name]:.2f}")))
    holds(leaves["43/cp1-3"], *(w for name, row in AS_READ.items() for w in (name, row[2] * row[3])))
    holds(leaves["43/cp1-3"], "replacement", *(w for name, row in AS_READ.items() for w in (name, row[4])))
    holds(leaves["43/cp1-3"], "stars", *(w for name, row in AS_READ.items() for w in (name, row[5])))
    by_month = sorted(months, key=lambda name: months[name])
    by_plant = sorted(plants, key=lambda name: plants[name])
    holds(leaves["43/cp3-1"], by_month[0], by_plant[0])
    assert by_month[1] == by_plant[1] == "Sprig"


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    with (outputs / "43/files/Competitor_Prices.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["name"] for row in rows] == list(AS_READ) and len(rows[0]) == 9
