"""Task 42: half a year of advertising in a CSV with gaps and two currencies, to be judged and re-budgeted."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from benchmark_tasks.mini.sources.authored import Derived

CAMPAIGNS = "resources/files/42-campaigns.csv"
RATE = 0.90
GOAL = 25.0
CHANNELS = ("Search", "Social video", "Newsletter", "Radio", "Trade fair")


@dataclass(frozen=True, slots=True)
class Month:
    """A channel's month: spend in `currency`, new customers (None when tracking failed) and their revenue in EUR."""

    month: str
    channel: str
    spend: float
    currency: str
    customers: int | None
    revenue: float

    @property
    def euros(self) -> float:
        """Spend in EUR."""
        return self.spend * (RATE if self.currency == "USD" else 1)


def _rows() -> tuple[Month, ...]:
    table = {
        "Search": (
            (1800, 96, 5520),
            (1750, 91, 5230),
            (1900, 99, 5700),
            (2000, 101, 5810),
            (1950, None, 5650),
            (2100, 104, 6020),
        ),
        "Social video": (
            (1200, 31, 1490),
            (1300, 34, 1630),
            (1500, 36, 1690),
            (1500, 33, 1560),
            (1600, 35, 1640),
            (1600, 32, 1500),
        ),
        "Newsletter": (
            (300, 24, 1340),
            (300, 26, 1430),
            (300, 25, 1390),
            (320, 29, 1610),
            (320, 27, 1500),
            (320, 30, 1680),
        ),
        "Radio": (
            (900, 22, 1260),
            (900, 25, 1440),
            (900, None, 1500),
            (900, 30, 1710),
            (900, 33, 1890),
            (900, 36, 2070),
        ),
        "Trade fair": ((0, 0, 0), (0, 0, 0), (4200, 58, 4930), (0, 0, 0), (0, 0, 0), (0, 0, 0)),
    }
    months = ("2025-01", "2025-02", "2025-03", "2025-04", "2025-05", "2025-06")
    return tuple(
        Month(months[i], channel, spend, "USD" if channel == "Social video" else "EUR", customers, revenue)
        for i in range(6)
        for channel, cells in table.items()
        for spend, customers, revenue in (cells[i],)
        if spend
    )


ROWS = _rows()


def counted() -> list[Month]:
    """Return the months that count: those whose customers were tracked."""
    return [row for row in ROWS if row.customers is not None]


def sums(rows: list[Month]) -> dict[str, tuple[float, int, float]]:
    """Return spend in EUR, customers and revenue by channel."""
    found: dict[str, list[float]] = defaultdict(lambda: [0.0, 0, 0.0])
    for row in rows:
        for i, amount in enumerate((row.euros, row.customers or 0, row.revenue)):
            found[row.channel][i] += amount
    return {channel: (values[0], int(values[1]), values[2]) for channel, values in found.items()}


def cost_per_customer(channel: str) -> float:
    """Return a channel's spend by customer, EUR."""
    spend, customers, _ = sums(counted())[channel]
    return spend / customers


def return_on_spend(channel: str) -> float:
    """Return a channel's revenue by euro spent."""
    spend, _, revenue = sums(counted())[channel]
    return revenue / spend


def make_inputs(folder: Path) -> None:
    """Write the export, one line a channel and month, a failed tracking as a blank, one line there twice."""
    path = folder / CAMPAIGNS
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out, delimiter=";", lineterminator="\n")
        rows.writerow(["month", "channel", "spend", "currency", "new_customers", "revenue_eur"])
        for row in (*ROWS[:9], ROWS[7], *ROWS[9:]):
            customers = "" if row.customers is None else row.customers
            rows.writerow([row.month, row.channel, f"{row.spend:.2f}", row.currency, customers, f"{row.revenue:.2f}"])


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, worked out from the months that count."""
    total = sums(counted())
    costs = {channel: cost_per_customer(channel) for channel in CHANNELS}
    returns = {channel: return_on_spend(channel) for channel in CHANNELS}
    spend, customers = (sum(row[i] for row in total.values()) for i in (0, 1))
    by_cost = sorted(CHANNELS, key=lambda channel: costs[channel])
    radio = [row for row in counted() if row.channel == "Radio"]
    how = f"months with tracked customers, the repeated line once, USD x {RATE}"
    return {
        "costs": Derived([f"{channel} {costs[channel]:.2f}" for channel in CHANNELS], f"spend / customers; {how}"),
        "returns": Derived([f"{channel} {returns[channel]:.2f}" for channel in CHANNELS], f"revenue / spend; {how}"),
        "spend": Derived(round(spend, 2), how),
        "customers": Derived(int(customers), how),
        "overall": Derived(round(spend / customers, 2), "total spend / total customers"),
        "best": Derived(by_cost[0], "lowest cost per customer"),
        "worst": Derived(by_cost[-1], "highest cost per customer"),
        "gaps": Derived(
            [f"{row.channel} {row.month}" for row in ROWS if row.customers is None], "lines without new_customers"
        ),
        "doubled": Derived(f"{ROWS[7].channel} {ROWS[7].month}", "line that stands there twice"),
        "radio_first": Derived(round(radio[0].euros / (radio[0].customers or 1), 2), "January: spend / customers"),
        "radio_last": Derived(round(radio[-1].euros / (radio[-1].customers or 1), 2), "June: spend / customers"),
    }
