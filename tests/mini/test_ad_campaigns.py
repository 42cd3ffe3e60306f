"""Task 42: the numbers of its leaves from the export alone, and its reference deliverables."""

from __future__ import annotations

import csv
from pathlib import Path

import openpyxl

from tests.mini.rubric import INPUTS, holds


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    with (INPUTS / "files/42-campaigns.csv").open(encoding="utf-8") as lines:
        rows = [tuple(row) for row in csv.reader(lines, delimiter=";")][1:]
    twice = {row for row in rows if rows.count(row) > 1}
    gaps = [row for row in rows if not row[4]]
    kept = [row for row in dict.fromkeys(rows) if row[4]]
    channels = list(dict.fromkeys(row[1] for row in rows))

    def figures(channel: str = "") -> tuple[float, int, float]:
        chosen = [row for row in kept if channel in ("", row[1])]
        spend = sum(float(row[2]) * (0.9 if row[3] == "USD" else 1) for row in chosen)
        return spend, sum(int(row[4]) for row in chosen), sum(float(row[5]) for row in chosen)

    order = ("Search", "Social video", "Newsletter", "Radio", "Trade fair")
    assert sorted(channels) == sorted(order)
    costs = {channel: figures(channel)[0] / figures(channel)[1] for channel in order}
    holds(leaves["42/cp1-1"], *(w for channel in order for w in (channel, f"{costs[channel]:.2f}")))
    returns = {channel: figures(channel)[2] / figures(channel)[0] for channel in order}
    holds(leaves["42/cp1-2"], *(w for channel in order for w in (channel, f"{returns[channel]:.2f}")))
    spend, customers, _ = figures()
    holds(leaves["42/cp1-3"], f"{spend:,.2f}", customers, f"{spend / customers:.2f}")
    holds(leaves["42/cp1-4"], *(f"{row[1]} {row[0]}" for row in gaps), *(f"{row[1]} {row[0]}" for row in twice))
    ranked = sorted(order, key=lambda channel: costs[channel])
    holds(leaves["42/cp2-3"], ranked[0], ranked[-1])
    radio = [float(row[2]) / int(row[4]) for row in kept if row[1] == "Radio"]
    holds(leaves["42/cp2-4"], f"{radio[0]:.2f}", f"{radio[-1]:.2f}")


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    import pptx

    book = openpyxl.load_workbook(outputs / "42/files/Campaign_Table.xlsx")
    assert book["Channels"].max_row == 7 and book["Left out"].max_row == 4
    deck = pptx.Presentation(str(outputs / "42/files/Campaign_Review.pptx"))
    assert len(deck.slides) == 5
    (chart,) = [shape.chart for slide in deck.slides for shape in slide.shapes if shape.has_chart]
    assert len(chart.plots[0].series) == 2
