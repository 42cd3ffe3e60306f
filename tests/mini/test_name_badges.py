"""Task 54: the facts of its leaves from the registrations alone, and its reference deliverables."""

from __future__ import annotations

import csv
from pathlib import Path

import pypdf

from tests.mini.rubric import INPUTS, holds


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    with (INPUTS / "files/54-registrations.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    people: dict[str, tuple[str, str, str]] = {}
    twice, fixed = [], []
    for row in rows:
        if row["status"] != "confirmed":
            continue
        words = row["name"].split()
        shouted = row["name"].isupper() or row["name"].islower()
        decent = " ".join(word.capitalize() if shouted else word for word in words)
        if decent.lower() in people:
            twice.append(decent)
            continue
        if decent != row["name"]:
            fixed.append(decent)
        people[decent.lower()] = (decent, row["role"].capitalize() or "Guest", row["place"])
    order = ("Speaker", "Helper", "Guest")
    made = sorted(people.values(), key=lambda p: (order.index(p[1]), p[0].split()[-1]))
    (cancelled,) = [row["name"] for row in rows if row["status"] == "cancelled"]
    counts = [w for role in order for w in (role, sum(p[1] == role for p in made))]
    holds(leaves["54/cp1-1"], len(made), *counts, cancelled, *twice)
    holds(leaves["54/cp1-2"], *(p[0].split()[-1] for p in made))
    holds(leaves["54/cp1-3"], *fixed)
    holds(leaves["54/cp2-1"], 2, len(made) - 8)
    blank_place = [p[0] for p in people.values() if not p[2]]
    holds(leaves["54/cp3-1"], len(made), *blank_place)
    blank_role = [" ".join(row["name"].split()).title() for row in rows if not row["role"]]
    holds(leaves["54/cp3-2"], *blank_role, *blank_place)


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    pages = pypdf.PdfReader(outputs / "54/files/Badges.pdf").pages
    assert [page.extract_text().count("Seeds & Soil") for page in pages] == [8, 3]
    with (outputs / "54/files/Badge_List.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    text = "".join(page.extract_text() for page in pages)
    assert len(rows) == 11 and all(row["name"] in text for row in rows)
