"""Task 63: council minutes and a budget sheet, in which eight questions are answered, one of them differently."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import openpyxl

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.booklet import Block, Heading, NewPage, write_booklet
from benchmark_tasks.mini.sources.office_file import save_office

MINUTES = "resources/files/63-council_minutes.pdf"
BUDGET = "resources/files/63-budget_2025.xlsx"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the budget, GBP."""

    what: str
    planned: int
    spent: int


LINES = (
    Line("Playground repair", 8500, 9120),
    Line("Library heating", 14200, 12950),
    Line("Street lights", 6300, 6180),
    Line("Bus shelter", 4750, 0),
    Line("Village fair", 2100, 2460),
    Line("Tree planting", 1800, 1775),
)
SHELTER_VOTED = 4500
"""What the minutes say the council voted for the bus shelter; the budget has another sum."""
BLOCKS: tuple[Block, ...] = (
    Heading("Meeting of 14 January 2025"),
    "Present: Councillors Ames (chair), Bell, Cruz, Dahl, Evans. Apologies: Councillor Frost.",
    "Bus shelter on Mill Lane. The clerk presented three designs. The council chose design B, oak with a tiled roof, "
    f"and voted GBP {SHELTER_VOTED:,} for it (4 for, 1 against). Work is to begin in May.",
    "Library heating. The contractor Hartley & Daughters won the tender against two others.",
    NewPage(),
    Heading("Meeting of 11 March 2025"),
    "Present: Councillors Ames (chair), Bell, Dahl, Evans, Frost. Apologies: Councillor Cruz.",
    "Playground. The swing was closed on 2 February after a chain broke. The repair firm found rust in two posts as "
    "well; the council accepted the higher cost.",
    "Speed limit. Councillor Dahl reported 312 signatures for 20 mph on School Road. The county decides; an answer "
    "is expected by September.",
    NewPage(),
    Heading("Meeting of 13 May 2025"),
    "Present: Councillors Ames (chair), Bell, Cruz, Evans, Frost. Apologies: Councillor Dahl.",
    "Bus shelter. The carpenter is ill. Work is put off from May to August.",
    "Tree planting. Volunteers planted 46 lime trees and 18 wild cherries along the river path on 22 March.",
    [["Tree", "Planted", "Grown on by 1 May"], ["Lime", "46", "44"], ["Wild cherry", "18", "15"]],
    NewPage(),
    Heading("Meeting of 8 July 2025"),
    "Present: Councillors Ames (chair), Bell, Cruz, Dahl, Frost. Apologies: Councillor Evans.",
    "Village fair. 640 visitors came on 5 July, 90 more than last year. The rented tent was dearer than planned.",
    "Chair. Councillor Ames steps down on 31 August. Councillor Bell was elected as the next chair from 1 September.",
)  # fmt: skip


def make_inputs(folder: Path) -> None:
    """Write the minutes and the budget."""
    write_booklet(folder / MINUTES, "Parish Council of Elmstead", "Minutes, January to July 2025", BLOCKS)
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Budget 2025"
    sheet.append(["Line", "Planned GBP", "Spent by 31 July GBP"])
    for line in LINES:
        sheet.append([line.what, line.planned, line.spent])
    for letter in "ABC":
        sheet.column_dimensions[letter].width = 24
    save_office(book, folder / BUDGET)


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, from minutes and budget."""
    over = [line for line in LINES if line.spent > line.planned]
    planned, spent = sum(line.planned for line in LINES), sum(line.spent for line in LINES)
    planted, grown = 46 + 18, 44 + 15
    return {
        "design": Derived("design B", "minutes, page 1"),
        "voted": Derived(SHELTER_VOTED, "minutes, page 1, GBP"),
        "in_budget": Derived(LINES[3].planned, "budget, line Bus shelter, GBP"),
        "begin": Derived("August", "minutes: May on page 1, put off to August on page 3"),
        "over": Derived(
            [f"{line.what} by {line.spent - line.planned}" for line in over], "budget: spent - planned above 0"
        ),
        "left": Derived(planned - spent, f"{planned} planned - {spent} spent"),
        "lost": Derived(planted - grown, f"{planted} planted - {grown} grown on, minutes page 3"),
        "grown_percent": Derived(round(100 * grown / planted), f"{grown} / {planted}"),
        "last_year": Derived(640 - 90, "minutes, page 4: 640 visitors, 90 more than last year"),
        "missed": Derived("Evans", "apologies on page 4"),
        "always": Derived(["Ames", "Bell"], "present on all four pages"),
        "signatures": Derived(312, "minutes, page 2"),
        "next_chair": Derived("Bell", "minutes, page 4"),
    }
