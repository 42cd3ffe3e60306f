"""Reference deliverables of task 32: the plan for the fridge and for a program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmark_tasks.mini.sources.day_trip import TICKETS, WALK, Train, choice, clock


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    out, back = choice()
    total = (out.party + back.party) / 100 + TICKETS
    plan = {
        "out": _entry(out),
        "back": _entry(back),
        "total_cost": total,
        "rejected": [
            {"direction": "out", "departure": "09:10", "reason": "at the museum at 11:10, after the entry"},
            {"direction": "back", "departure": "13:45", "reason": "leaves before three hours in the museum are over"},
            {"direction": "back", "departure": "14:10", "reason": "leaves before three hours in the museum are over"},
            {"direction": "back", "departure": "16:10", "reason": "replacement bus"},
            {"direction": "back", "departure": "17:20", "reason": "home at 19:06, after 19:00"},
        ],
    }
    (files / "Day_Plan.json").write_text(json.dumps(plan, indent=2), encoding="utf-8")
    _page(files / "Day_Plan.pdf", out, back, total)
    return f"Take the {clock(out.leaves)} out and the {clock(back.leaves)} back; the day costs ${total:.2f} in all."


def _entry(train: Train) -> dict[str, Any]:
    return {
        "departure": clock(train.leaves),
        "arrival": clock(train.arrives),
        "changes": train.changes,
        "fare_total": train.party / 100,
    }


def _page(path: Path, out: Train, back: Train, total: float) -> None:
    from reportlab.lib import colors
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

    styles = getSampleStyleSheet()
    rows = [
        ["Time", "What"],
        [clock(out.leaves), f"Train from Millbrook ({out.changes or 'no'} change)"],
        [clock(out.arrives), "Harborough Central, walk to the museum"],
        [clock(out.arrives + WALK), "At the museum"],
        ["11:00", "Entry"],
        [clock(back.leaves - WALK), "Leave the museum at the latest"],
        [clock(back.leaves), f"Train from Harborough Central ({back.changes or 'no'} change)"],
        [clock(back.arrives), "Home in Millbrook"],
    ]
    grid: Any = [("GRID", (0, 0), (-1, -1), 0.5, colors.grey), ("FONTSIZE", (0, 0), (-1, -1), 13)]
    flow: list[Any] = [
        Paragraph("Science museum, Saturday 14 June", styles["Title"]),
        Table(rows, colWidths=(80, 340), rowHeights=28, style=grid),
        Spacer(1, 16),
        Paragraph("Book", styles["Heading2"]),
        Paragraph(f"Train out, 2 adults and 1 child: ${out.party / 100:.2f}", styles["BodyText"], bulletText="-"),
        Paragraph(f"Train back, 2 adults and 1 child: ${back.party / 100:.2f}", styles["BodyText"], bulletText="-"),
        Paragraph(f"Museum entry at 11:00: ${TICKETS:.2f}", styles["BodyText"], bulletText="-"),
        Paragraph(f"In all: ${total:.2f}", styles["Heading2"]),
    ]
    SimpleDocTemplate(str(path), pagesize=A4, title="Day plan").build(flow)
