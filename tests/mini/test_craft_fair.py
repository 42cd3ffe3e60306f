"""Task 31: the numbers of its leaves from the inputs alone, and its reference deliverables."""

from __future__ import annotations

import csv
from pathlib import Path

import openpyxl
import pypdf

from tests.mini.rubric import INPUTS, MINI, holds, pdf_text

PLAN_AS_READ = {  # room: (tables, sockets, sink)
    "Main Hall": (10, True, False),
    "Library": (5, True, False),
    "Foyer": (4, False, False),
    "Annex": (6, True, True),
}


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    with (INPUTS / "files/31-applications.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    tables = sum(int(row["tables"] or 1) for row in rows)
    fees = {r["trader"]: 15 * int(r["tables"] or 1) + 6 * (r["needs_power"] == "yes") for r in rows}
    unpaid = [row["trader"] for row in rows if row["fee_paid"] != "yes"]
    power = sum(row["needs_power"] == "yes" for row in rows)
    free = sum(room[0] for room in PLAN_AS_READ.values()) - tables

    holds(leaves["31/cp1-1"], len(rows), tables)
    holds(leaves["31/cp1-2"], *(word for name, room in PLAN_AS_READ.items() for word in (name, room[0])))
    sinks = [name for name, (_, _, sink) in PLAN_AS_READ.items() if sink]
    assert sinks == ["Annex"]
    holds(leaves["31/cp1-3"], *(row["trader"] for row in rows if row["kind"] == "food"), sinks[0])
    dark = [name for name, (_, sockets, _) in PLAN_AS_READ.items() if not sockets]
    assert dark == ["Foyer"]
    holds(leaves["31/cp1-4"], power, dark[0])
    holds(leaves["31/cp2-1"], sum(fees.values()))
    holds(leaves["31/cp2-2"], *(w for name in unpaid for w in (name, fees[name])), sum(fees[n] for n in unpaid))
    holds(leaves["31/cp2-3"], *(row["trader"] for row in rows if not row["email"]))
    holds(leaves["31/cp3-1"], tables, free)


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    book = openpyxl.load_workbook(outputs / "31/files/Stall_Plan.xlsx")
    with (MINI / "resources/files/31-applications.csv").open(encoding="utf-8") as lines:
        applied = {row["trader"]: row for row in csv.DictReader(lines)}
    used = dict.fromkeys(("Main Hall", "Library", "Foyer", "Annex"), 0)
    placed = [row for row in book["Allocation"].iter_rows(min_row=2, values_only=True) if row[0] != "Total"]
    assert sorted(row[0] for row in placed) == sorted(applied)
    for trader, kind, room, tables, *_ in placed:
        used[room] += tables
        assert tables == int(applied[trader]["tables"] or 1)
        assert room == "Annex" or kind != "food"
        assert room != "Foyer" or applied[trader]["needs_power"] != "yes"
    assert used["Main Hall"] <= 10 and used["Library"] <= 5 and used["Foyer"] <= 4 and used["Annex"] <= 6
    brief = outputs / "31/files/Fair_Brief.pdf"
    assert len(pypdf.PdfReader(brief).pages) <= 2
    assert "GBP 414" in pdf_text(brief) and "GBP 123" in pdf_text(brief)
