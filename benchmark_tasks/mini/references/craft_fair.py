"""Reference deliverables of task 31: the stall plan and the committee's brief."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmark_tasks.mini.sources import craft_fair as source
from benchmark_tasks.mini.sources.craft_fair import ROOMS, TRADERS, Room, Trader


def allocate() -> dict[str, Room]:
    """Return a room for each trader that keeps to all rules, found by trying; the hardest to place come first."""
    order = sorted(TRADERS, key=lambda t: (t.kind != "food", t.power != "yes", -t.counted_tables))
    free = {room.name: room.tables for room in ROOMS}
    placed: dict[str, Room] = {}

    def place(i: int) -> bool:
        if i == len(order):
            return True
        trader = order[i]
        for room in sorted(ROOMS, key=lambda r: (r.sockets, r.sink)):
            if _suits(trader, room) and free[room.name] >= trader.counted_tables:
                free[room.name] -= trader.counted_tables
                placed[trader.name] = room
                if place(i + 1):
                    return True
                free[room.name] += trader.counted_tables
        return False

    if not place(0):
        raise RuntimeError("no allocation keeps to the rules: change the rooms or the traders")
    return placed


def _suits(trader: Trader, room: Room) -> bool:
    return (room.sink or trader.kind != "food") and (room.sockets or trader.power != "yes")


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    placed = allocate()
    used = {room.name: sum(t.counted_tables for t in TRADERS if placed[t.name] is room) for room in ROOMS}
    _workbook(files / "Stall_Plan.xlsx", placed, used)
    _brief(files / "Fair_Brief.pdf", placed, used)
    owed = sum(t.fee for t in source.must_pay())
    return (
        f"All {len(TRADERS)} traders have a room. Fees come to GBP {sum(t.fee for t in TRADERS)}, of which "
        f"GBP {owed} is unpaid. See Stall_Plan.xlsx and Fair_Brief.pdf."
    )


def _workbook(path: Path, placed: dict[str, Room], used: dict[str, int]) -> None:
    import openpyxl

    workbook = openpyxl.Workbook()
    allocation = workbook.active
    allocation.title = "Allocation"
    allocation.append(["Trader", "Kind", "Room", "Tables", "Power", "Fee GBP"])
    for t in TRADERS:
        power = "yes" if t.power == "yes" else "no"
        allocation.append([t.name, t.kind, placed[t.name].name.title(), t.counted_tables, power, t.fee])
    allocation.append(["Total", "", "", sum(used.values()), "", sum(t.fee for t in TRADERS)])
    rooms = workbook.create_sheet("Rooms")
    rooms.append(["Room", "Limit", "Used", "Free"])
    for room in ROOMS:
        rooms.append([room.name.title(), room.tables, used[room.name], room.tables - used[room.name]])
    limit = sum(room.tables for room in ROOMS)
    rooms.append(["Total", limit, sum(used.values()), limit - sum(used.values())])
    chase = workbook.create_sheet("Chase")
    chase.append(["Trader", "What", "Amount GBP", "Email"])
    for t in source.must_pay():
        chase.append([t.name, "not paid", t.fee, t.email or "missing"])
    chase.append(["Total unpaid", "", sum(t.fee for t in source.must_pay()), ""])
    for t in source.no_email():
        chase.append([t.name, "email missing", None, "missing"])
    for sheet in workbook:
        for column in "ABCDEF":
            sheet.column_dimensions[column].width = 22
    workbook.save(path)


def _brief(path: Path, placed: dict[str, Room], used: dict[str, int]) -> None:
    from reportlab.lib import colors
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

    styles = getSampleStyleSheet()
    owed = source.must_pay()
    flow: list[Any] = [Paragraph("Craft fair: brief for the committee", styles["Title"])]
    flow.append(Paragraph("Who is in which room", styles["Heading2"]))
    rows: list[list[Any]] = [["Room", "Tables", "Traders"]]
    for room in ROOMS:
        names = ", ".join(f"{t.name} ({t.counted_tables})" for t in TRADERS if placed[t.name] is room)
        rows.append([room.name.title(), f"{used[room.name]} of {room.tables}", Paragraph(names, styles["BodyText"])])
    grid: Any = [("GRID", (0, 0), (-1, -1), 0.5, colors.grey), ("VALIGN", (0, 0), (-1, -1), "TOP")]
    flow += [Table(rows, colWidths=(80, 70, 300), style=grid, hAlign="LEFT"), Spacer(1, 8)]
    total, unpaid = sum(t.fee for t in TRADERS), sum(t.fee for t in owed)
    flow.append(Paragraph("The money", styles["Heading2"]))
    flow.append(
        Paragraph(
            f"Total fees: GBP {total}. Paid: GBP {total - unpaid}. Unpaid: GBP {unpaid} ("
            + ", ".join(f"{t.name} GBP {t.fee}" for t in owed).replace("&", "&amp;")
            + ").",
            styles["BodyText"],
        )
    )
    flow.append(Paragraph("Still open", styles["Heading2"]))
    blank = [t.name for t in TRADERS if t.tables is None]
    unsaid = [t.name for t in TRADERS if not t.power]
    for point in (
        f"Payment of {len(owed)} traders, GBP {unpaid} in all.",
        f"Email missing: {', '.join(t.name for t in source.no_email())}.",
        f"Number of tables left blank, planned as one: {', '.join(blank)}.",
        f"Power left blank, planned as none: {', '.join(unsaid)}.",
        f"Free tables: {sum(room.tables for room in ROOMS) - sum(used.values())}.",
    ):
        flow.append(Paragraph(point, styles["BodyText"], bulletText="-"))
    SimpleDocTemplate(str(path), pagesize=A4, title="Craft fair brief").build(flow)
