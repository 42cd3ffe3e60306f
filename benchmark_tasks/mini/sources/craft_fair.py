"""Task 31: stall applications with gaps and a hall plan, to be made into an allocation of tables to rooms."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.drawing import centred, font, save_png

APPLICATIONS = "resources/files/31-applications.csv"
PLAN = "resources/images/31-hall_plan.png"
TABLE_FEE, POWER_FEE = 15, 6


@dataclass(frozen=True, slots=True)
class Room:
    """A room of the hall: how many tables it takes, and what is in it."""

    name: str
    tables: int
    sockets: bool
    sink: bool
    box: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Trader:
    """An application; None and "" are cells left blank."""

    name: str
    kind: str
    tables: int | None
    power: str
    paid: str
    email: str

    @property
    def counted_tables(self) -> int:
        """Tables to plan for: one when the number was left blank."""
        return self.tables or 1

    @property
    def fee(self) -> int:
        """What the trader owes in all, in GBP."""
        return TABLE_FEE * self.counted_tables + (POWER_FEE if self.power == "yes" else 0)


ROOMS = (
    Room("MAIN HALL", 10, True, False, (60, 90, 560, 430)),
    Room("LIBRARY", 5, True, False, (560, 90, 840, 290)),
    Room("FOYER", 4, False, False, (560, 290, 840, 430)),
    Room("ANNEX", 6, True, True, (60, 430, 560, 600)),
)
TRADERS = (
    Trader("Rosa's Pies", "food", 2, "yes", "yes", "rosa@pies.example"),
    Trader("Turning Point Pottery", "craft", 3, "yes", "yes", "hello@turningpoint.example"),
    Trader("Wax & Wick", "craft", 2, "no", "", "orders@waxwick.example"),
    Trader("Glow Lamps", "craft", 2, "yes", "yes", "lee@glowlamps.example"),
    Trader("Crepe Corner", "food", 2, "yes", "no", "crepes@corner.example"),
    Trader("Meadow Soap", "craft", 1, "no", "yes", ""),
    Trader("Laser Lane", "craft", 2, "yes", "", "mo@laserlane.example"),
    Trader("Paper Trail Cards", "craft", None, "no", "yes", "ines@papertrail.example"),
    Trader("Stitch in Time", "craft", 2, "yes", "yes", "sue@stitch.example"),
    Trader("Bean Barrow", "food", None, "yes", "yes", "beanbarrow@post.example"),
    Trader("Hilltop Knits", "craft", 2, "", "yes", "pat@hilltop.example"),
    Trader("Fix-a-Phone", "service", 1, "yes", "no", ""),
    Trader("Timber Toys", "craft", 1, "no", "yes", "jan@timbertoys.example"),
    Trader("Layer by Layer 3D", "craft", 2, "yes", "yes", "print@layer.example"),
)


def must_pay() -> list[Trader]:
    """Return the traders who have not paid: fee_paid is not ``yes``."""
    return [trader for trader in TRADERS if trader.paid != "yes"]


def no_email() -> list[Trader]:
    """Return the traders who left their address blank."""
    return [trader for trader in TRADERS if not trader.email]


def make_inputs(folder: Path) -> None:
    """Write the applications and draw the plan."""
    path = folder / APPLICATIONS
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["trader", "kind", "tables", "needs_power", "fee_paid", "email"])
        for t in TRADERS:
            rows.writerow([t.name, t.kind, "" if t.tables is None else t.tables, t.power, t.paid, t.email])
    save_png(_plan(), folder / PLAN)


def _plan() -> Image.Image:
    image = Image.new("RGB", (900, 700), "#f7f4ec")
    draw = ImageDraw.Draw(image)
    centred(draw, (450, 45), "WILLOWBROOK COMMUNITY HALL - GROUND FLOOR", 28, "#222222")
    for room in ROOMS:
        left, top, right, bottom = room.box
        draw.rectangle(room.box, fill="white", outline="#222222", width=6)
        middle = ((left + right) / 2, (top + bottom) / 2)
        centred(draw, (middle[0], middle[1] - 28), room.name, 32, "#222222")
        centred(draw, (middle[0], middle[1] + 10), f"max. {room.tables} tables", 24, "#222222")
        if room.sockets:
            for i in range(3):
                _socket(draw, left + 40 + 34 * i, bottom - 36)
        if room.sink:
            _sink(draw, right - 60, bottom - 40)
    for door in ((690, 424, 760, 436), (554, 340, 566, 395), (554, 180, 566, 235), (240, 424, 310, 436)):
        draw.rectangle(door, fill="#c8a46a")
    centred(draw, (725, 460), "ENTRANCE", 20, "#222222")
    draw.text((600, 505), "LEGEND", font=font(20), fill="#222222")
    _socket(draw, 612, 550)
    draw.text((645, 538), "power sockets", font=font(20), fill="#222222")
    _sink(draw, 612, 590)
    draw.text((645, 578), "sink (food stalls)", font=font(20), fill="#222222")
    centred(draw, (450, 660), "Table limits are set by the fire officer and must not be exceeded.", 20, "#8a1c1c")
    return image


def _socket(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
    draw.ellipse((x - 13, y - 13, x + 13, y + 13), fill="#ffd447", outline="#222222", width=2)
    draw.line((x - 5, y - 5, x - 5, y + 5), fill="#222222", width=3)
    draw.line((x + 5, y - 5, x + 5, y + 5), fill="#222222", width=3)


def _sink(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
    draw.rectangle((x - 18, y - 14, x + 18, y + 14), fill="#9fd3ef", outline="#222222", width=2)
    draw.ellipse((x - 9, y - 7, x + 9, y + 7), fill="white", outline="#222222", width=2)


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, worked out from the applications and the rooms."""
    capacity = sum(room.tables for room in ROOMS)
    needed = sum(trader.counted_tables for trader in TRADERS)
    powered = sum(trader.power == "yes" for trader in TRADERS)
    owed = must_pay()
    return {
        "traders": Derived(len(TRADERS), "data rows of the applications"),
        "tables": Derived(needed, "sum of the column tables, a blank counted as 1"),
        "limits": Derived([f"{r.name.title()} {r.tables}" for r in ROOMS], "written in the rooms on the plan"),
        "food": Derived([t.name for t in TRADERS if t.kind == "food"], "rows whose kind is food"),
        "sink_room": Derived(next(r.name.title() for r in ROOMS if r.sink), "the one room with a sink on the plan"),
        "powered": Derived(powered, "rows whose needs_power is yes"),
        "dark_room": Derived(next(r.name.title() for r in ROOMS if not r.sockets), "the one room without sockets"),
        "fees": Derived(sum(t.fee for t in TRADERS), f"{needed} tables x {TABLE_FEE} + {powered} stalls x {POWER_FEE}"),
        "unpaid": Derived(
            [f"{t.name} (GBP {t.fee})" for t in owed],
            f"rows whose fee_paid is not yes; {TABLE_FEE} x tables + {POWER_FEE} with power",
        ),
        "owed": Derived(sum(t.fee for t in owed), "sum of the unpaid fees"),
        "no_email": Derived([t.name for t in no_email()], "rows whose email is blank"),
        "free": Derived(capacity - needed, f"{capacity} tables allowed on the plan - {needed}"),
    }
