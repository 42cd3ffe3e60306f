"""Task 61: the numbers of its leaves from the inputs alone, and its reference deliverables."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pypdf

from tests.mini.rubric import INPUTS, holds


def find(pages: list[str], pattern: str) -> tuple[str, int]:
    """The pattern's group 1 and the page it is on; it must be in the booklet once."""
    hits = [(m.group(1), i) for i, page in enumerate(pages, 1) for m in re.finditer(pattern, page)]
    assert len(hits) == 1, (pattern, hits)
    return hits[0]


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    pages_a, pages_b = (
        [re.sub(r"\s+", " ", page.extract_text()) for page in pypdf.PdfReader(INPUTS / "files" / name).pages]
        for name in ("61-pawsure_essential.pdf", "61-tailguard_plus.pdf")
    )
    assert (len(pages_a), len(pages_b)) == (3, 2)
    nine = r"9 years and over GBP [\d.]+ GBP ([\d.]+)"
    (premium_a, p1), (premium_b, q1) = find(pages_a, nine), find(pages_b, nine)
    (excess_a, p2), (excess_b, q2) = find(pages_a, r"excess is GBP (\d+)"), find(pages_b, r"excess of GBP (\d+)")
    (copay_a, p3), (copay_b, q3) = (
        find(pages_a, r"9 years and over (\d+) %"),
        find(pages_b, r"7 years and over (\d+) %"),
    )
    (year_a, p4), (year_b, q4) = find(pages_a, r"fees up to GBP ([\d,]+)"), find(pages_b, r"policy year GBP ([\d,]+)")
    (_, p5), (cond_b, q5) = find(pages_a, "(no limit per condition)"), find(pages_b, r"one condition GBP ([\d,]+)")
    physio = r"[Pp]hysiotherapy(?: and hydrotherapy)? GBP (\d+)"
    (physio_a, p6), (physio_b, q6) = find(pages_a, physio), find(pages_b, physio)
    dental = r"Dental.*?(accidents.*?\d+) a year"
    (dental_a, p7), (dental_b, q7) = find(pages_a, dental), find(pages_b, dental)
    (ill_a, p8), (ill_b, q8) = (
        find(pages_a, r"Illness is covered after (\d+)"),
        find(pages_b, r"that is after (\d+) days"),
    )
    (joint_a, p9), (joint_b, q9) = (
        find(pages_a, r"elbows are covered after (\d+)"),
        find(pages_b, r"ligaments: after (\d+)"),
    )
    claims = r"within (\d+) days of treatment"
    (claim_a, p10), (claim_b, q10) = find(pages_a, claims), find(pages_b, claims)
    (_, p11), (abroad_b, q11) = find(pages_a, "Treatment abroad (not covered)"), find(pages_b, r"up to (\d+) days")
    (stop_a, p12), (stop_b, q12) = find(pages_a, r"cancel within (\d+)"), find(pages_b, r"Cooling-off period: (\d+)")

    def plain(text: str) -> float:
        return float(text.replace(",", ""))

    surgery, treatment = 1840.0, 260.0
    a = (surgery + min(treatment, plain(physio_a)) - plain(excess_a)) * (1 - plain(copay_a) / 100)
    capped = min(surgery + min(treatment, plain(physio_b)), plain(cond_b))
    b = (capped - plain(excess_b)) * (1 - plain(copay_b) / 100)
    cost_a = 12 * plain(premium_a) + surgery + treatment - a
    cost_b = 12 * plain(premium_b) + surgery + treatment - b

    holds(leaves["61/cp1-1"], premium_a, premium_b, excess_a, excess_b, copay_a, copay_b)
    last = [text.split()[-1] for text in (dental_a, dental_b)]
    assert "only" in dental_a and "illness" in dental_b
    holds(leaves["61/cp1-2"], year_a, year_b, "none", cond_b, physio_a, physio_b, *last)
    periods = (ill_a, ill_b, joint_a, joint_b, claim_a, claim_b)
    holds(leaves["61/cp1-3"], *periods, "not covered", abroad_b, stop_a, stop_b)
    holds(leaves["61/cp2-1"], f"{a:,.2f}", f"{b:,.2f}")
    holds(leaves["61/cp2-2"], f"{cost_a:,.2f}", f"{cost_b:,.2f}")
    assert cost_b < cost_a
    holds(leaves["61/cp2-3"], "TailGuard Plus", f"{cost_a - cost_b:,.2f}")
    assert [p1, p2, p3, p4, p5] == [1] * 5
    assert [p6, p7, p8, p9, p11] == [2] * 5
    assert [p10, p12] == [3, 3]
    assert [q1, q8, q9, q10, q12] == [2] * 5
    assert [q2, q3, q4, q5, q6, q7, q11] == [1] * 7
    holds(leaves["61/cp3-2"], "Pawsure", 1, 2, 3, "TailGuard", 2, 1)


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    with (outputs / "61/files/PetCoverComparison.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 12 and list(rows[0]) == ["point", "pawsure", "pawsure_page", "tailguard", "tailguard_page"]
    page = (outputs / "61/files/PetCoverComparison.html").read_text("utf-8")
    for amount in ("1,536.00", "1,732.50", "1,024.80", "930.30", "94.50"):
        assert amount in page
    for row in rows:
        assert row["pawsure"] in page and row["tailguard"] in page
