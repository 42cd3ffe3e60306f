"""Reference deliverables of task 54: badges, list, changes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from benchmark_tasks.mini.sources.name_badges import CANCELLED, PEOPLE, PER_PAGE, ROLES, Person, badges

MM = 72 / 25.4
WIDE, HIGH = 90 * MM, 54 * MM


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    _badges(files / "Badges.pdf")
    with (files / "Badge_List.csv").open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["page", "position", "name", "role", "place"])
        for i, person in enumerate(badges()):
            rows.writerow([i // PER_PAGE + 1, i % PER_PAGE + 1, person.name, person.badge_role, person.place])
    fixed = "\n".join(f"- `{p.written}` is now {p.name}" for p in PEOPLE if p.written != p.name)
    (files / "Changes.md").write_text(
        "# Changes to the list\n\n"
        "- Omar Haddad was registered twice (once in small letters): one badge\n"
        f"- {CANCELLED[0]} has cancelled: no badge\n"
        "- Jonas Weber gave no role: guest\n"
        f"{fixed}\n\n"
        "# To ask\n\n- Jonas Weber: which role?\n- Chidi Okonkwo: from which place?\n",
        encoding="utf-8",
    )
    return f"{len(badges())} badges on two pages; Badge_List.csv and Changes.md say the rest."


def _badges(path: Path) -> None:
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas

    page = Canvas(str(path), pagesize=A4)
    page.setTitle("Seeds & Soil: badges")
    left, top = (A4[0] - 2 * WIDE) / 2, A4[1] - (A4[1] - 4 * HIGH) / 2
    for i, person in enumerate(badges()):
        if i and i % PER_PAGE == 0:
            page.showPage()
        spot = i % PER_PAGE
        _badge(page, left + WIDE * (spot % 2), top - HIGH * (spot // 2 + 1), person)
    page.save()


def _badge(page: Any, x: float, y: float, person: Person) -> None:
    from reportlab.lib.colors import HexColor, black, white

    page.setStrokeColor(HexColor("#999999"))
    page.setLineWidth(0.3)
    page.rect(x, y, WIDE, HIGH)
    page.setFillColor(HexColor(ROLES[person.badge_role]))
    page.rect(x, y, WIDE, 11 * MM, stroke=0, fill=1)
    page.setFillColor(white)
    page.setFont("Helvetica-Bold", 15)
    page.drawCentredString(x + WIDE / 2, y + 3.6 * MM, person.badge_role)
    _seedling(page, x + 12 * MM, y + 39 * MM)
    page.setFillColor(black)
    page.setFont("Helvetica", 11)
    page.drawString(x + 22 * MM, y + 43 * MM, "Seeds & Soil  -  12 April")
    size = 26.0
    while page.stringWidth(person.name, "Helvetica-Bold", size) > WIDE - 10 * MM:
        size -= 0.5
    page.setFont("Helvetica-Bold", size)
    page.drawCentredString(x + WIDE / 2, y + 26 * MM, person.name)
    page.setFont("Helvetica", 11)
    page.drawCentredString(x + WIDE / 2, y + 17 * MM, person.place)


def _seedling(page: Any, x: float, y: float) -> None:
    """Draw a stem with two leaves on a mound of soil."""
    from reportlab.lib.colors import HexColor

    page.setFillColor(HexColor("#6e4b2a"))
    page.ellipse(x - 6 * MM, y - 1.5 * MM, x + 6 * MM, y + 1.5 * MM, stroke=0, fill=1)
    page.setStrokeColor(HexColor("#4c8c3f"))
    page.setLineWidth(1.6)
    page.line(x, y, x, y + 7 * MM)
    page.setFillColor(HexColor("#5fa84f"))
    for side in (-1, 1):
        leaf = page.beginPath()
        leaf.moveTo(x, y + 6 * MM)
        leaf.curveTo(x + side * 2 * MM, y + 11 * MM, x + side * 6 * MM, y + 10 * MM, x + side * 6 * MM, y + 9 * MM)
        leaf.curveTo(x + side * 5 * MM, y + 6 * MM, x + side * 2 * MM, y + 5 * MM, x, y + 6 * MM)
        page.drawPath(leaf, stroke=0, fill=1)
