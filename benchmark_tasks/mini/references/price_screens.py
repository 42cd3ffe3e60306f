"""Reference deliverables of task 43: table, map, memo."""

from __future__ import annotations

import csv
from pathlib import Path

from benchmark_tasks.mini.sources.price_screens import OFFERS, OWN

EVERY = (OWN, *OFFERS)


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    with (files / "Competitor_Prices.csv").open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(
            (
                "name",
                "price_per_delivery",
                "shipping_per_delivery",
                "deliveries_per_year",
                "plants_per_year",
                "cost_per_month",
                "cost_per_plant",
                "replacement_days",
                "stars",
            )
        )
        for o in EVERY:
            costs = (f"{o.price:.2f}", f"{o.shipping:.2f}", o.deliveries, o.deliveries * o.plants)
            rows.writerow([o.name, *costs, f"{o.month:.2f}", f"{o.per_plant:.2f}", o.replacement_days, o.stars])
    _map(files / "Positioning.png")
    _memo(files / "Pricing_Memo.docx")
    return "Sprig is second cheapest both per month and per plant. The table, the map and the memo are ready."


def _map(path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.2, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for offer in EVERY:
        ours = offer is OWN
        axes.scatter(offer.per_plant, offer.stars, s=180 if ours else 80, color="#d2691e" if ours else "#7f8c8d")
        axes.annotate(
            offer.name,
            (offer.per_plant, offer.stars),
            xytext=(0, 11),
            textcoords="offset points",
            ha="center",
            weight="bold" if ours else "normal",
        )
    axes.set_xlim(14, 32)
    axes.set_ylim(3.9, 5.0)
    axes.set_xlabel("cost per plant with shipping (USD)")
    axes.set_ylabel("stars (of 5)")
    axes.set_title("House-plant subscriptions, June 2025")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)


def _memo(path: Path) -> None:
    import docx

    leafly, potpost = OFFERS[1], OFFERS[2]
    memo = docx.Document()
    memo.add_heading("Our price against three competitors", 0)
    table = memo.add_table(rows=1, cols=4, style="Table Grid")
    for cell, text in zip(table.rows[0].cells, ("Name", "USD a month", "USD a plant", "Stars"), strict=True):
        cell.text = text
    for o in EVERY:
        cells = table.add_row().cells
        for cell, text in zip(cells, (o.name, f"{o.month:.2f}", f"{o.per_plant:.2f}", str(o.stars)), strict=True):
            cell.text = text
    memo.add_heading("Where we stand", 1)
    memo.add_paragraph(
        f"Per month {leafly.name} is cheapest ({leafly.month:.2f}), per plant {potpost.name} "
        f"({potpost.per_plant:.2f}). With {OWN.month:.2f} Sprig is second cheapest in both."
    )
    memo.add_heading("What only we offer", 1)
    memo.add_paragraph(
        "We replace dead plants within 60 days; the next best, Fernbox, does so within 30, Leafly Home never."
    )
    memo.add_heading("Risk", 1)
    memo.add_paragraph(
        f"{potpost.name} is {OWN.per_plant - potpost.per_plant:.2f} cheaper per plant and better rated "
        f"({potpost.stars} stars)."
    )
    memo.add_heading("Advice", 1)
    memo.add_paragraph(
        "Keep the price. We are already second cheapest, and a cut would not reach PotPost's price per plant. Put "
        "the 60 days first on our page instead."
    )
    memo.save(str(path))
