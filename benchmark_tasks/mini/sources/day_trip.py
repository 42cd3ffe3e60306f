"""Task 32: screenshots of a train timetable, from which a day trip has to be put together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.drawing import font, save_png

OUT = "resources/images/32-trains_out.png"
BACK = "resources/images/32-trains_back.png"
ADULTS, CHILDREN = 2, 1
WALK = 15
ENTRY = 11 * 60
STAY = 180
HOME_BY = 19 * 60
TICKETS = 2 * 12 + 6


@dataclass(frozen=True, slots=True)
class Train:
    """A connection: minutes after midnight, fare in cents for an adult, `badge` what the app shows beside it."""

    leaves: int
    arrives: int
    changes: int
    fare: int
    badge: str = ""

    @property
    def party(self) -> int:
        """Fare of two adults and a child (half fare) in cents."""
        return ADULTS * self.fare + CHILDREN * self.fare // 2


def at(hour: int, minute: int) -> int:
    """Return minutes after midnight."""
    return 60 * hour + minute


TRAINS_OUT = (
    Train(at(7, 12), at(8, 40), 0, 1450),
    Train(at(8, 5), at(9, 52), 1, 980),
    Train(at(8, 31), at(9, 58), 0, 1450, "Sold out"),
    Train(at(8, 50), at(10, 20), 0, 1280),
    Train(at(9, 10), at(10, 55), 1, 820),
    Train(at(9, 42), at(11, 8), 0, 1100),
)
TRAINS_BACK = (
    Train(at(13, 45), at(15, 12), 0, 900),
    Train(at(14, 10), at(16, 1), 1, 860),
    Train(at(15, 5), at(16, 34), 0, 1180),
    Train(at(16, 10), at(18, 2), 1, 940, "Replacement bus"),
    Train(at(16, 45), at(18, 12), 0, 1090),
    Train(at(17, 20), at(19, 6), 1, 790),
)


def clock(minutes: int) -> str:
    """Return a time as ``08:05``."""
    return f"{minutes // 60:02}:{minutes % 60:02}"


def possible_out() -> list[Train]:
    """Return the trains that reach the museum for the entry and have seats."""
    return [t for t in TRAINS_OUT if t.arrives + WALK <= ENTRY and t.badge != "Sold out"]


def possible_back() -> list[Train]:
    """Return the trains that leave after the visit, arrive in time and are trains all the way."""
    return [t for t in TRAINS_BACK if t.leaves >= ENTRY + STAY + WALK and t.arrives <= HOME_BY and not t.badge]


def choice() -> tuple[Train, Train]:
    """Return the cheapest pair."""
    return min(possible_out(), key=lambda t: t.party), min(possible_back(), key=lambda t: t.party)


def make_inputs(folder: Path) -> None:
    """Draw both screens."""
    save_png(_screen("Millbrook", "Harborough Central", TRAINS_OUT), folder / OUT)
    save_png(_screen("Harborough Central", "Millbrook", TRAINS_BACK), folder / BACK)


def _screen(start: str, end: str, trains: tuple[Train, ...]) -> Image.Image:
    image = Image.new("RGB", (540, 960), "#eef1f4")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 540, 130), fill="#20507a")
    draw.text((24, 14), "9:14", font=font(20), fill="white")
    draw.text((24, 50), f"{start} to {end}", font=font(26), fill="white")
    draw.text((24, 90), "Sat 14 June 2025   1 adult   2nd class", font=font(20), fill="#d5e3ee")
    for i, train in enumerate(trains):
        top = 148 + 130 * i
        draw.rounded_rectangle((16, top, 524, top + 116), 12, fill="white", outline="#c9d2da", width=2)
        shade = "#9aa4ad" if train.badge == "Sold out" else "#1c2833"
        draw.text((36, top + 16), f"{clock(train.leaves)}  -  {clock(train.arrives)}", font=font(30), fill=shade)
        changes = "direct" if train.changes == 0 else f"{train.changes} change"
        length = train.arrives - train.leaves
        draw.text((36, top + 66), f"{length // 60} h {length % 60:02} min, {changes}", font=font(20), fill=shade)
        price = f"$ {train.fare // 100}.{train.fare % 100:02}"
        draw.text((504, top + 16), price, font=font(28), fill=shade, anchor="ra")
        if train.badge:
            draw.rounded_rectangle((336, top + 62, 508, top + 96), 8, fill="#c0392b")
            draw.text((422, top + 79), train.badge, font=font(18), fill="white", anchor="mm")
    return image


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, by trying all pairs of trains."""
    out, back = choice()
    fares = out.party + back.party
    wait = ENTRY - out.arrives - WALK
    return {
        "out": Derived(
            f"{clock(out.leaves)} to {clock(out.arrives)}", "cheapest outward train that keeps all conditions"
        ),
        "back": Derived(
            f"{clock(back.leaves)} to {clock(back.arrives)}", "cheapest return train that keeps all conditions"
        ),
        "out_fare": Derived(out.party / 100, f"2 x {out.fare / 100} + half of it for the child"),
        "back_fare": Derived(back.party / 100, f"2 x {back.fare / 100} + half of it for the child"),
        "fares": Derived(fares / 100, "both ways"),
        "tickets": Derived(TICKETS, "2 x 12 + 6, from the request"),
        "total": Derived(fares / 100 + TICKETS, "trains and museum"),
        "museum": Derived(clock(out.arrives + WALK), f"arrival + {WALK} minutes on foot"),
        "spare": Derived(wait, "minutes between being there and the entry"),
        "leave_by": Derived(clock(back.leaves - WALK), f"departure - {WALK} minutes on foot"),
        "stay": Derived(
            f"{(back.leaves - WALK - ENTRY) // 60} h {(back.leaves - WALK - ENTRY) % 60} min", "from entry to leaving"
        ),
        "too_soon": Derived([clock(t.leaves) for t in TRAINS_BACK[:2]], "before 14:15, entry + 3 hours + 15 minutes"),
        "too_late": Derived(clock(TRAINS_OUT[4].leaves), "10:55 + 15 minutes is after 11:00"),
        "bus": Derived(clock(TRAINS_BACK[3].leaves), "badge on the second screen"),
        "too_late_home": Derived(clock(TRAINS_BACK[5].leaves), "arrives after 19:00"),
    }
