"""Task 33: three quotes for a kitchen in e-mails, to be made comparable and weighed against each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmark_tasks.mini.sources.authored import Derived

MAILS = "resources/files/33-quote_emails.txt"
VAT = 20
WEIGHTS = {"price": 50, "weeks": 20, "warranty": 20, "rating": 10}


@dataclass(frozen=True, slots=True)
class Quote:
    """An offer with everything that was asked for: units, worktop, fitting, delivery, removal of the old kitchen.

    Amounts in GBP; `net` are those without VAT, `gross` those with it, `discount` percent off the net ones.
    """

    firm: str
    net: dict[str, int]
    gross: dict[str, int]
    discount: int
    weeks: int
    warranty: int
    rating: float

    @property
    def total(self) -> float:
        """What the kitchen costs in all, VAT included."""
        return sum(self.net.values()) * (100 - self.discount) / 100 * (100 + VAT) / 100 + sum(self.gross.values())


QUOTES = (
    Quote(
        "Ashdown Kitchens",
        {"units": 4800, "worktop": 1450, "fitting": 1600},
        {"delivery": 180, "removal": 420},
        0,
        7,
        5,
        4.6,
    ),
    Quote(
        "Brightwell & Sons",
        {"units": 5600, "worktop": 1200, "fitting": 1400},
        {"delivery": 0, "removal": 300},
        10,
        10,
        10,
        4.2,
    ),
    Quote(
        "Copperline",
        {},
        {"units": 6100, "worktop": 1750, "fitting": 1500, "delivery": 95, "removal": 350},
        0,
        4,
        2,
        4.8,
    ),
)


def score(quote: Quote) -> float:
    """Return the weighted score of an offer, 0 to 100: the best in a criterion gets all its points, others a share.

    For price and weeks the share is best / own, for warranty and rating own / best.
    """
    cheapest = min(one.total for one in QUOTES)
    fastest = min(one.weeks for one in QUOTES)
    longest = max(one.warranty for one in QUOTES)
    liked = max(one.rating for one in QUOTES)
    shares = (cheapest / quote.total, fastest / quote.weeks, quote.warranty / longest, quote.rating / liked)
    return sum(weight * share for weight, share in zip(WEIGHTS.values(), shares, strict=True))


TEXT = """\
From: sales@ashdown-kitchens.example
To: priya@home.example
Date: Mon, 3 Mar 2025
Subject: Your kitchen in Elm Road

Dear Priya,
thank you for showing us the room. Our offer, all prices excluding VAT at 20 %:
  units 4,800
  worktop (oak) 1,350
  fitting 1,600
Delivery is a flat 180 and we take your old kitchen away for 420; these two already include VAT.
We can start 7 weeks after the order. Warranty 5 years. You find us with 4.6 stars on TradeCheck.
Kind regards, Tom Ashdown

--------
From: info@brightwell.example
To: priya@home.example
Date: Wed, 5 Mar 2025
Subject: RE: kitchen, Elm Road

Hello Priya,
here is the quote as promised (net of 20 % VAT):
  units 5,600
  worktop 1,200
  fitting 1,400
If you order before the end of March you get 10 % off these three. Delivery is free.
Removal of the old kitchen: 300 including VAT, no discount on that.
Lead time is ten weeks at the moment, sorry. We give 10 years of warranty on everything. TradeCheck: 4.2 stars.
Best, Joan Brightwell

--------
From: hello@copperline.example
To: priya@home.example
Date: Thu, 6 Mar 2025
Subject: Offer 2217

Hi Priya! Offer 2217, all in GBP and all including VAT:
  units 6,100 / worktop 1,750 / fitting 1,500
  delivery 95, disposal of the old kitchen 350
Optional: tap with boiling water 640 (you said you do not need it, so it is NOT in the sum).
We could fit it in 4 weeks. 2 years warranty by law. 4.8 stars on TradeCheck, we are quite proud of that.
Cheers, Ana

--------
From: sales@ashdown-kitchens.example
To: priya@home.example
Date: Fri, 7 Mar 2025
Subject: correction

Dear Priya, one correction to Monday's offer: the oak worktop comes to 1,450, not 1,350. Everything else stands.
Tom
"""


def make_inputs(folder: Path) -> None:
    """Write the mails as one exported text."""
    path = folder / MAILS
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TEXT, encoding="utf-8", newline="\n")


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, worked out from the offers."""
    ranked = sorted(QUOTES, key=score, reverse=True)
    totals = "(net parts - discount) x 1.2 + parts including VAT"
    points = "50 x cheapest / price + 20 x fastest / weeks + 20 x warranty / longest + 10 x stars / most stars"
    found = {}
    for quote, key in zip(QUOTES, "abc", strict=True):
        found[f"total_{key}"] = Derived(round(quote.total, 2), f"{quote.firm}: {totals}")
        found[f"score_{key}"] = Derived(round(score(quote), 1), f"{quote.firm}: {points}")
    return {
        **found,
        "winner": Derived(ranked[0].firm, "highest score"),
        "second": Derived(ranked[1].firm, "second highest score"),
        "weeks": Derived(ranked[0].weeks, "lead time of the winner, the longest of the three"),
        "stars": Derived(ranked[0].rating, "stars of the winner, the fewest of the three"),
    }
