"""Reference deliverables of task 61: the comparison as a page and as a table."""

from __future__ import annotations

import csv
from html import escape
from pathlib import Path

from benchmark_tasks.mini.sources.pet_cover import PHYSIO, PLANS, SURGERY, Plan

COLUMNS = ("point", "pawsure", "pawsure_page", "tailguard", "tailguard_page")


def rows() -> list[tuple[str, str, int, str, int]]:
    """Return the twelve points with what each booklet says and where."""
    a, b = PLANS
    return [
        ("Monthly premium for Bruno", f"GBP {a.premium:.2f}", 1, f"GBP {b.premium:.2f}", 2),
        ("Excess", f"GBP {a.excess} per condition and year", 1, f"GBP {b.excess} per condition and year", 1),
        ("Co-payment at his age", f"{a.copay_at_nine} %", 1, f"{b.copay_at_nine} %", 1),
        ("Yearly limit", f"GBP {a.annual_limit:,}", 1, f"GBP {b.annual_limit:,}", 1),
        ("Limit for one condition", "none", 1, f"GBP {b.condition_limit:,}", 1),
        ("Physiotherapy", f"GBP {a.physio_limit} a year", 2, f"GBP {b.physio_limit} a year", 1),
        ("Dental", a.dental, 2, b.dental, 1),
        ("Waiting time, illness", f"{a.waiting_illness} days", 2, f"{b.waiting_illness} days", 2),
        ("Waiting time, joints", f"{a.waiting_joints} days", 2, f"{b.waiting_joints} days", 2),
        ("Deadline for claims", f"{a.claim_days} days", 3, f"{b.claim_days} days", 2),
        ("Treatment abroad", "not covered", 2, f"EU, trips of up to {b.travel_days} days", 1),
        ("Cancelling at the start", f"{a.cancel_days} days", 3, f"{b.cancel_days} days", 2),
    ]


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    with (files / "PetCoverComparison.csv").open("w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        table.writerow(COLUMNS)
        table.writerows(rows())
    a, b = PLANS
    body = "\n".join(
        f"<tr><th scope='row'>{escape(point)}</th><td>{escape(left)} <small>p. {lp}</small></td>"
        f"<td>{escape(right)} <small>p. {rp}</small></td></tr>"
        for point, left, lp, right, rp in rows()
    )
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Pet cover for Bruno: Pawsure Essential or TailGuard Plus</title>
<style>
body {{ font-family: sans-serif; max-width: 52em; margin: 2em auto; padding: 0 1em; line-height: 1.45 }}
table {{ border-collapse: collapse; width: 100% }}
th, td {{ border: 1px solid #bbb; padding: .4em .6em; text-align: left; vertical-align: top }}
thead th {{ background: #e4edf1 }}
small {{ color: #555 }}
</style>
</head>
<body>
<h1>Pet cover for Bruno (9 years, 18 kg)</h1>
<h2>Side by side</h2>
<table>
<thead><tr><th>Point</th><th>{a.name}</th><th>{b.name}</th></tr></thead>
<tbody>
{body}
</tbody>
</table>
<h2>The cruciate bill: GBP {SURGERY:,} surgery and GBP {PHYSIO} physiotherapy</h2>
{_case(a)}
{_case(b)}
<h2>Recommendation</h2>
<p>Take <strong>{b.name}</strong>. In this case the year costs GBP {a.year - b.year:,.2f} less than with {a.name},
although its premium is GBP {b.premium - a.premium:.2f} a month higher. It also covers dental illness and trips in the
EU, and leaves twice the time to claim. Mind two things: joints are only covered after {b.waiting_joints} days, and one
condition is capped at GBP {b.condition_limit:,}. In a year without any claim {a.name} is cheaper by
GBP {12 * (b.premium - a.premium):.2f}.</p>
</body>
</html>
"""
    (files / "PetCoverComparison.html").write_text(page, encoding="utf-8")
    return (
        f"TailGuard Plus is the better choice for Bruno: the year with the surgery costs GBP {b.year:,.2f} with it and "
        f"GBP {a.year:,.2f} with Pawsure Essential. Details are in PetCoverComparison.html and PetCoverComparison.csv."
    )


def _case(plan: Plan) -> str:
    physio = min(PHYSIO, plan.physio_limit)
    capped = min(SURGERY + physio, plan.condition_limit or SURGERY + physio)
    rest = SURGERY + PHYSIO - plan.paid
    share = (capped - plan.excess) * plan.copay_at_nine / 100
    cap = (
        f"at most GBP {plan.condition_limit:,} for one condition" if plan.condition_limit else "no limit per condition"
    )
    return f"""<h3>{plan.name}</h3>
<ol>
<li>Covered: {SURGERY:,} + {physio} (physiotherapy up to {plan.physio_limit}) = {SURGERY + physio:,}; {cap}:
GBP {capped:,}</li>
<li>Less excess of {plan.excess}: GBP {capped - plan.excess:,}</li>
<li>Less co-payment of {plan.copay_at_nine} % ({share:,.2f}): <strong>the plan pays GBP {plan.paid:,.2f}</strong></li>
<li>Bruno's year: 12 x {plan.premium:.2f} = {12 * plan.premium:,.2f} in premiums, plus
{SURGERY + PHYSIO:,} - {plan.paid:,.2f} = {rest:,.2f} of the bill: <strong>GBP {plan.year:,.2f}</strong></li>
</ol>"""
