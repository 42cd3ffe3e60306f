"""Task 14: a short film of a street, in which vehicles of three kinds pass a counting line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from PIL import Image, ImageDraw

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.drawing import font
from benchmark_tasks.mini.sources.recording import film

FILM = "resources/video/14-station_road.mp4"
SIZE = (480, 270)
RATE = 10
SECONDS = 20
LINE = 240
KINDS = {"car": ("#d23b2f", 54, 26), "bicycle": ("#1f9d4d", 26, 16), "lorry": ("#2b5fd0", 96, 36)}


@dataclass(frozen=True, slots=True)
class Pass:
    """A vehicle whose middle crosses the line at `second`; it makes `speed` pixels a second, eastwards if positive."""

    second: float
    kind: str
    speed: int

    @property
    def direction(self) -> str:
        """Where it drives."""
        return "east" if self.speed > 0 else "west"


PASSES = (
    Pass(1.5, "car", 160),
    Pass(2.6, "bicycle", -90),
    Pass(4.6, "car", -170),
    Pass(6.0, "lorry", 110),
    Pass(7.6, "car", -150),
    Pass(9.0, "bicycle", 80),
    Pass(10.9, "car", 150),
    Pass(11.9, "lorry", -120),
    Pass(13.5, "car", 150),
    Pass(14.3, "bicycle", -100),
    Pass(16.0, "car", 165),
    Pass(17.8, "car", -160),
)


def count(kind: str = "", direction: str = "") -> int:
    """Return how many passes there are of a kind and direction; "" is any."""
    return sum(kind in ("", p.kind) and direction in ("", p.direction) for p in PASSES)


def make_inputs(folder: Path) -> None:
    """Write the film."""
    film(folder, FILM, _frames(), rate=RATE)


def _frames() -> Iterator[Image.Image]:
    for number in range(SECONDS * RATE):
        image = Image.new("RGB", SIZE, "#9fb59a")
        draw = ImageDraw.Draw(image)
        draw.rectangle((0, 90, SIZE[0], 220), fill="#6b6b6b")
        for x in range(0, SIZE[0], 40):
            draw.rectangle((x, 153, x + 20, 157), fill="#d8d8c8")
        draw.rectangle((LINE - 2, 84, LINE + 2, 226), fill="#ffffff")
        for one in PASSES:
            shade, length, height = KINDS[one.kind]
            middle = LINE + one.speed * (number / RATE - one.second)
            y = 188 if one.speed > 0 else 122
            draw.rectangle(
                (middle - length / 2, y - height / 2, middle + length / 2, y + height / 2),
                fill=shade,
                outline="#222222",
            )
        draw.rectangle((0, 0, SIZE[0], 30), fill="#222222")
        draw.text((8, 6), f"STATION ROAD  camera 2   t = {number / RATE:4.1f} s", font=font(16), fill="#ffffff")
        draw.text((380, 250), "east >", font=font(14), fill="#222222")
        draw.text((50, 250), "< west", font=font(14), fill="#222222")
        yield image


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, from the passes the film was drawn from."""
    gaps = [b.second - a.second for a, b in pairwise(PASSES)]
    widest = gaps.index(max(gaps))
    return {
        "passes": Derived(len(PASSES), "vehicles whose middle crosses the white line"),
        "kinds": Derived([f"{kind} {count(kind)}" for kind in KINDS], "passes by colour: red, green, blue"),
        "east": Derived(count(direction="east"), "passes from left to right"),
        "west": Derived(count(direction="west"), "passes from right to left"),
        "cars_east": Derived(count("car", "east"), "red vehicles from left to right"),
        "cars_west": Derived(count("car", "west"), "red vehicles from right to left"),
        "times": Derived([f"{p.second:.1f}" for p in PASSES], "clock in the film when the middle is on the line"),
        "share": Derived(round(100 * count("car") / len(PASSES)), f"{count('car')} of {len(PASSES)}"),
        "gap": Derived(round(max(gaps), 1), f"from {PASSES[widest].second} s to {PASSES[widest + 1].second} s"),
        "hour": Derived(len(PASSES) * 3600 // SECONDS, f"{len(PASSES)} passes in {SECONDS} s x 3600 s"),
    }
