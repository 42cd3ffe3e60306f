"""Task 43: screenshots of three competitors' price pages, to be made comparable and placed on a map."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.drawing import centred, font, save_png

SCREENS = {
    "Fernbox": "resources/images/43-fernbox.png",
    "Leafly Home": "resources/images/43-leafly_home.png",
    "PotPost": "resources/images/43-potpost.png",
}


@dataclass(frozen=True, slots=True)
class Offer:
    """A subscription: `price` and `shipping` in USD a delivery, of which there are `deliveries` a year.

    Attributes:
        headline: How the page states the price.
        plants: Plants in a delivery.
        replacement: What happens when a plant dies.
    """

    name: str
    headline: str
    price: float
    shipping: float
    plants: int
    deliveries: int
    replacement: str
    stars: float
    extras: tuple[str, ...]

    @property
    def replacement_days(self) -> int:
        """Days in which a dead plant is replaced, 0 for never."""
        return next((int(word) for word in self.replacement.split() if word.isdigit()), 0)

    @property
    def year(self) -> float:
        """Cost of a year, shipping included."""
        return self.deliveries * (self.price + self.shipping)

    @property
    def month(self) -> float:
        """Cost of a month on average."""
        return self.year / 12

    @property
    def per_plant(self) -> float:
        """Cost of a plant."""
        return self.year / (self.deliveries * self.plants)


OFFERS = (
    Offer(
        "Fernbox",
        "$ 24 a month",
        24.0,
        4.5,
        1,
        12,
        "replaced within 30 days",
        4.4,
        ("1 plant a month", "Ceramic pot included"),
    ),
    Offer(
        "Leafly Home", "$ 51 a quarter", 51.0, 0.0, 2, 4, "no replacement", 4.1, ("2 plants a quarter", "Free shipping")
    ),
    Offer(
        "PotPost",
        "$ 45 every two months",
        45.0,
        6.0,
        3,
        6,
        "replaced within 14 days",
        4.7,
        ("3 plants every two months", "Care app for free"),
    ),
)
OWN = Offer("Sprig", "$ 19 a month", 19.0, 3.0, 1, 12, "replaced within 60 days", 4.5, ())
"""The user's own offer, as the request states it."""
_LOOK = {"Fernbox": ("#e9f3e6", "#2f6b35"), "Leafly Home": ("#fdf3e3", "#a2561b"), "PotPost": ("#e8eef7", "#27468f")}


def make_inputs(folder: Path) -> None:
    """Draw the three pages."""
    for offer in OFFERS:
        save_png(_page(offer), folder / SCREENS[offer.name])


def _page(offer: Offer) -> Image.Image:
    paper, ink = _LOOK[offer.name]
    image = Image.new("RGB", (760, 560), paper)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 760, 64), fill=ink)
    draw.text((30, 16), offer.name, font=font(30), fill="white")
    draw.text((730, 22), "Plans    Gift    Log in", font=font(20), fill="white", anchor="ra")
    centred(draw, (380, 130), "House plants, delivered", 38, ink)
    draw.rounded_rectangle((150, 180, 610, 500), 16, fill="white", outline=ink, width=3)
    centred(draw, (380, 230), offer.headline, 42, ink)
    shipping = f"+ $ {offer.shipping:.2f} shipping a delivery" if offer.shipping else "shipping included"
    centred(draw, (380, 280), shipping, 22, "#333333")
    lines = (
        *offer.extras,
        f"Dead plant: {offer.replacement}",
        f"Rated {offer.stars} of 5 by customers",
        "Cancel any time",
    )
    for i, line in enumerate(lines):
        draw.text((200, 312 + 36 * i), f"-  {line}", font=font(23), fill="#333333")
    centred(draw, (380, 530), "Prices in USD, taxes included. Seen on 2 June 2025.", 18, "#555555")
    return image


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, worked out from the pages and the user's own offer."""
    every = (OWN, *OFFERS)
    how = "deliveries a year x (price + shipping)"
    ranked = sorted(every, key=lambda offer: offer.month)
    by_plant = sorted(every, key=lambda offer: offer.per_plant)
    return {
        "months": Derived([f"{o.name} {o.month:.2f}" for o in every], f"{how} / 12"),
        "plants": Derived([f"{o.name} {o.per_plant:.2f}" for o in every], f"{how} / plants a year"),
        "a_year": Derived([f"{o.name} {o.deliveries * o.plants}" for o in every], "deliveries a year x plants in one"),
        "replacement": Derived(
            [f"{o.name} {o.replacement_days}" for o in every], "line Dead plant, none as 0; own from the request"
        ),
        "stars": Derived([f"{o.name} {o.stars}" for o in every], "line Rated; own rating from the request"),
        "cheapest_month": Derived(ranked[0].name, "lowest cost a month"),
        "cheapest_plant": Derived(by_plant[0].name, "lowest cost a plant"),
    }
