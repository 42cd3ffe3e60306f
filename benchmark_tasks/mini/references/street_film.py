"""Reference deliverables of task 14: list of crossings, chart, note."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

from benchmark_tasks.mini.sources.street_film import KINDS, PASSES, SECONDS, count


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    with (files / "Crossings.csv").open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["second", "vehicle", "direction"])
        rows.writerows([f"{p.second:.1f}", p.kind, p.direction] for p in PASSES)
    _chart(files / "crossings_by_type.png")
    _note(files / "Traffic_Note.docx")
    return f"{len(PASSES)} crossings in {SECONDS} seconds, {count('car')} of them cars. All three files are ready."


def _chart(path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for shift, direction, shade in ((-0.2, "east", "#2b5f75"), (0.2, "west", "#d59b3a")):
        heights = [count(kind, direction) for kind in KINDS]
        bars = axes.bar([i + shift for i in range(3)], heights, width=0.38, label=direction, color=shade)
        axes.bar_label(bars)
    axes.set_xticks(range(3), ["cars", "bicycles", "lorries"])
    axes.set_ylabel("crossings in 20 s")
    axes.set_title("Station Road: crossings by kind and direction")
    axes.legend(title="direction")
    figure.savefig(path, dpi=110)


def _note(path: Path) -> None:
    import docx

    note = docx.Document()
    note.add_heading("Station Road: how busy is it?", 0)
    table = note.add_table(rows=1, cols=4, style="Table Grid")
    for cell, text in zip(table.rows[0].cells, ("Kind", "East", "West", "Both"), strict=True):
        cell.text = text
    for kind in (*KINDS, ""):
        cells = table.add_row().cells
        numbers = (count(kind, "east"), count(kind, "west"), count(kind))
        for cell, text in zip(cells, (kind or "all", *map(str, numbers)), strict=True):
            cell.text = text
    gap = max(b.second - a.second for a, b in pairwise(PASSES))
    note.add_paragraph()
    note.add_paragraph(f"{count('car') / len(PASSES):.0%} of the vehicles are cars.")
    note.add_paragraph(f"The longest time between two crossings is {gap:.1f} seconds.")
    note.add_paragraph(f"If it went on like this, {len(PASSES) * 3600 // SECONDS:,} vehicles would pass in an hour.")
    note.add_paragraph(
        f"{SECONDS} seconds with {len(PASSES)} vehicles are far too short for a firm statement: two vehicles more "
        "or less would change the hourly figure by 360. Count at several times of the day for at least an hour."
    )
    note.save(str(path))
