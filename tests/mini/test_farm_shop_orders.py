"""Task 11: the numbers of its leaves from the inputs alone, and its reference deliverables."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path

import openpyxl

from tests.mini.rubric import INPUTS, holds


def typed_date(cell: object) -> date:
    if isinstance(cell, datetime):
        return cell.date()
    for form in ("%d/%m/%Y", "%Y-%m-%d", "%d %b %Y", "%d.%m.%y"):
        try:
            return datetime.strptime(str(cell), form).date()
        except ValueError:
            continue
    raise AssertionError(cell)


def number(cell: object) -> float:
    text = str(cell or 0).replace("EUR", "").strip()
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    book = openpyxl.load_workbook(INPUTS / "files/11-orders_q3.xlsx")
    lines, repeated, totals = {}, 0, 0
    for row in book["Orders"].iter_rows(min_row=2, values_only=True):
        if row[0].lower().startswith("total"):
            totals += 1
        elif row[0].upper() in lines:
            repeated += 1
        else:
            lines[row[0].upper()] = row
    cancelled = [key for key, row in lines.items() if row[4] is None]
    for key in cancelled:
        del lines[key]
    net_month: dict[str, float] = defaultdict(float)
    net_product: dict[str, float] = defaultdict(float)
    returned = {r[0].upper(): number(r[1]) for r in book["Returns"].iter_rows(min_row=2, values_only=True)}
    assert set(returned) <= set(lines)
    refunds = 0.0
    for key, (_, day, _, product, units, price, discount) in lines.items():
        when = typed_date(day)
        assert date(2025, 7, 1) <= when <= date(2025, 9, 30)
        paid = number(price) * (1 - number(discount))
        refunds += returned.get(key, 0) * paid
        amount = (number(units) - returned.get(key, 0)) * paid
        net_month[when.strftime("%B")] += amount
        net_product[product.strip()] += amount
    months = [net_month[m] for m in ("July", "August", "September")]
    ranked = sorted(net_product, key=lambda name: -net_product[name])

    assert len(net_product) == 6
    holds(leaves["11/cp1-1"], f"{sum(months):,.2f}")
    holds(leaves["11/cp1-2"], *(f"{amount:,.2f}" for amount in months))
    best, worst = ranked[0], ranked[-1]
    holds(leaves["11/cp1-3"], best, f"{net_product[best]:,.2f}", worst, f"{net_product[worst]:,.2f}")
    holds(leaves["11/cp1-4"], f"{refunds:,.2f}")
    holds(leaves["11/cp2-1"], len(lines))
    holds(leaves["11/cp3-2"], max(net_month, key=lambda m: net_month[m]), best)
    holds(leaves["11/cp3-3"], repeated, len(cancelled), totals)
    gap = sorted(net_product.values())
    assert min(b - a for a, b in pairwise(gap)) > 2, "the order of products must not hang on cents"


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    book = openpyxl.load_workbook(outputs / "11/files/Q3_Clean.xlsx")
    ids = [row[0] for row in book["Orders"].iter_rows(min_row=2, values_only=True)]
    assert len(ids) == len(set(ids)) == 45
    summary = (outputs / "11/files/Q3_Summary.md").read_text("utf-8")
    assert "4,137.43" in summary and "99.44" in summary
    assert len(summary.split()) <= 250
