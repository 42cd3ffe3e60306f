"""Task 33: the numbers of its leaves from the mails alone, and its reference deliverables."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import openpyxl

from tests.mini.rubric import INPUTS, holds


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    mails = (INPUTS / "files/33-quote_emails.txt").read_text("utf-8").split("--------")
    assert len(mails) == 4

    def amount(mail: int, pattern: str) -> Decimal:
        (hit,) = re.findall(pattern, mails[mail])
        return Decimal(hit.replace(",", ""))

    number = r"([\d,]+)"
    worktop = amount(3, rf"comes to {number}, not 1,350")
    ashdown = (amount(0, rf"units {number}") + worktop + amount(0, rf"fitting {number}")) * Decimal("1.2")
    ashdown += amount(0, rf"flat {number} and") + amount(0, rf"kitchen away for {number};")
    net = amount(1, rf"units {number}") + amount(1, rf"worktop {number}") + amount(1, rf"fitting {number}")
    brightwell = net * Decimal("0.9") * Decimal("1.2") + amount(1, rf"Removal of the old kitchen: {number} incl")
    copper = sum(amount(2, rf"{part} {number}") for part in ("units", "worktop", "fitting", "delivery", "old kitchen"))
    totals = (ashdown, brightwell, copper)
    holds(leaves["33/cp1-1"], *(f"{total:,.2f}" for total in totals))
    holds(leaves["33/cp1-2"], f"{worktop:,}", 10)

    weeks = (amount(0, r"start (\d+) weeks"), Decimal(10), amount(2, r"in (\d+) weeks"))
    warranty = (
        amount(0, r"Warranty (\d+) years"),
        amount(1, r"(\d+) years of warranty"),
        amount(2, r"(\d+) years warranty"),
    )
    stars = tuple(amount(i, r"(\d\.\d) stars") for i in (0, 2))
    stars = (stars[0], amount(1, r"(\d\.\d) stars"), stars[1])
    scores = [
        50 * min(totals) / totals[i]
        + 20 * min(weeks) / weeks[i]
        + 20 * warranty[i] / max(warranty)
        + 10 * stars[i] / max(stars)
        for i in range(3)
    ]
    holds(leaves["33/cp1-3"], *(f"{score:.1f}" for score in scores))
    firms = ("Ashdown Kitchens", "Brightwell & Sons", "Copperline")
    first, second, _ = sorted(range(3), key=lambda i: -scores[i])
    holds(leaves["33/cp2-1"], firms[first], firms[second])
    assert (weeks[first], stars[first]) == (max(weeks), min(stars))
    holds(leaves["33/cp2-2"], weeks[first], stars[first])


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    path = outputs / "33/files/Kitchen_Decision.xlsx"
    formulas, cached = openpyxl.load_workbook(path), openpyxl.load_workbook(path, data_only=True)
    assert str(formulas["Scores"]["C6"].value) == "=SUM(C2:C5)"
    assert "$B2" in str(formulas["Scores"]["C2"].value)
    assert [round(cached["Costs"][f"{c}7"].value, 2) for c in "BCD"] == [10020, 9156, 9795]
