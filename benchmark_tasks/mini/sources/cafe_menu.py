"""Task 51: a photographed menu board, to be redesigned with new prices as a card, a picture and a palette."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.drawing import centred, font, save_png

BOARD = "resources/images/51-menu_board.png"
CAFE = "Cafe Halyard"


@dataclass(frozen=True, slots=True)
class Dish:
    """A line of the board: `cents` is the old price, `struck` that it is crossed out, `star` that it has a star."""

    name: str
    cents: int
    struck: bool = False
    star: bool = False

    @property
    def new_cents(self) -> int:
        """The old price and 8 %, rounded up to the next full 10 cents."""
        return -(-self.cents * 108 // 1000) * 10


MENU: dict[str, tuple[Dish, ...]] = {
    "SOUPS & TOAST": (
        Dish("Leek soup", 620),
        Dish("Fish chowder", 890, star=True),
        Dish("Cheese toast", 540),
        Dish("Crab toast", 1150, struck=True),
    ),
    "MAINS": (
        Dish("Mussels & fries", 1480, star=True),
        Dish("Mushroom pie", 1225),
        Dish("Baked cod", 1650),
        Dish("Beet burger", 1190),
    ),
    "SWEET & HOT": (
        Dish("Lemon tart", 480, star=True),
        Dish("Sea salt brownie", 425),
        Dish("Flat white", 360),
        Dish("Rum cocoa", 650, struck=True),
    ),
}


def dollars(cents: int) -> str:
    """Return a price as it is printed, e.g. ``9.70``."""
    return f"{cents // 100}.{cents % 100:02}"


def kept() -> dict[str, tuple[Dish, ...]]:
    """Return the menu without the crossed-out dishes."""
    return {section: tuple(d for d in dishes if not d.struck) for section, dishes in MENU.items()}


def make_inputs(folder: Path) -> None:
    """Draw the board: chalk on slate in a wooden frame, a little askew."""
    board = Image.new("RGB", (820, 1050), "#2b3331")
    draw = ImageDraw.Draw(board)
    draw.rectangle((0, 0, 819, 1049), outline="#8b5a2b", width=26)
    centred(draw, (410, 85), CAFE, 62, "#f4f1e4")
    centred(draw, (410, 140), "by the old harbour  -  open 9 to 5", 24, "#cfd8d0")
    y = 195
    for section, dishes in MENU.items():
        draw.text((80, y), section, font=font(34), fill="#ffd98a")
        draw.line((80, y + 44, 740, y + 44), fill="#ffd98a", width=2)
        y += 62
        for dish in dishes:
            draw.text((100, y), dish.name + (" *" if dish.star else ""), font=font(30), fill="#f4f1e4")
            draw.text((730, y), f"$ {dollars(dish.cents)}", font=font(30), fill="#f4f1e4", anchor="ra")
            if dish.struck:
                draw.line((92, y + 25, 738, y + 19), fill="#ff8f80", width=5)
            y += 43
        y += 22
    centred(draw, (410, 985), "* house favourite", 24, "#cfd8d0")
    turned = board.rotate(-1.2, Image.Resampling.BICUBIC, expand=True, fillcolor="#d9d2c3")
    save_png(turned, folder / BOARD)


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, worked out from the board."""
    sections = kept()
    favourites = [dish for dishes in sections.values() for dish in dishes if dish.star]
    how = "; ".join(
        f"{dish.name} {dollars(dish.cents)} x 1.08 = {dish.cents * 0.0108:.4f}, up to {dollars(dish.new_cents)}"
        for dishes in sections.values()
        for dish in dishes
    )

    def priced(dishes: Iterable[Dish]) -> Derived:
        return Derived([f"{dish.name} {dollars(dish.new_cents)}" for dish in dishes], how)

    return {
        "cafe": Derived(CAFE, "heading of the board"),
        "soups_toast": priced(sections["SOUPS & TOAST"]),
        "mains": priced(sections["MAINS"]),
        "sweet_hot": priced(sections["SWEET & HOT"]),
        "gone": Derived([d.name for dishes in MENU.values() for d in dishes if d.struck], "lines that are crossed out"),
        "favourites": Derived([dish.name for dish in favourites], "lines with a star"),
        "favourites_priced": priced(favourites),
    }
