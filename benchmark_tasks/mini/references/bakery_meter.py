"""Reference deliverables of task 12: daily table, weekly chart, report."""

from __future__ import annotations

import csv
from datetime import timedelta
from pathlib import Path

from benchmark_tasks.mini.sources import bakery_meter as source


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    with (files / "Daily_kWh.csv").open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["date", "kwh", "estimated"])
        rows.writerows([day, f"{amount:g}", "yes" if guess else "no"] for day, amount, guess in source.daily())
    _chart(files / "weekly_kwh.png")
    _report(files / "Energy_Report.docx", files / "weekly_kwh.png")
    total = sum(source.weekly())
    return f"The bakery used {total:,.0f} kWh in eight weeks, EUR {total * source.PRICE:,.2f}. See Energy_Report.docx."


def _mondays() -> list[str]:
    return [f"{source.START + timedelta(days=7 * i):%-d %b}" for i in range(8)]


def _chart(path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.add_subplot()
    axes.bar_label(axes.bar(_mondays(), source.weekly(), color="#c98a2b"), fmt="{:,.0f}", padding=2)
    axes.set_title("Electricity used per week")
    axes.set_xlabel("week from (2025)")
    axes.set_ylabel("kWh")
    axes.margins(y=0.12)
    figure.savefig(path, dpi=110)


def _report(path: Path, chart: Path) -> None:
    import docx
    from docx.shared import Cm

    weeks = source.weekly()
    open_mean, sunday_mean = source.averages()
    total = sum(weeks)
    report = docx.Document()
    report.add_heading("Electricity, 6 January to 2 March 2025", 0)
    report.add_paragraph(
        f"Total: {total:,.0f} kWh in 56 days. At EUR {source.PRICE} per kWh that is EUR {total * source.PRICE:,.2f}."
    )
    report.add_paragraph(
        f"Average of opening days (Monday to Saturday): {open_mean:.1f} kWh. Sundays: {sunday_mean:.1f} kWh."
    )
    table = report.add_table(rows=1, cols=2, style="Table Grid")
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Week from", "kWh"
    for monday, amount in zip(_mondays(), weeks, strict=True):
        cells = table.add_row().cells
        cells[0].text, cells[1].text = monday, f"{amount:,.0f}"
    report.add_picture(str(chart), width=Cm(12))
    guessed = ", ".join(f"{day:%-d %b}" for day, _, guess in source.daily() if guess)
    report.add_heading("What is estimated", 1)
    report.add_paragraph(
        f"Readings are missing for five mornings. The use up to the next reading was shared evenly over: {guessed}."
    )
    swap = source.START + timedelta(days=source.SWAPPED)
    report.add_paragraph(
        f"The meter was replaced on {swap:%-d %B}; its last reading closes the old count, the new one starts at 0."
    )
    report.add_heading("Worth looking into", 1)
    report.add_paragraph(
        f"Use per week grew from {weeks[0]:,.0f} to {weeks[-1]:,.0f} kWh "
        f"({weeks[-1] / weeks[0] - 1:.0%}). Check what was added or left running since January."
    )
    report.save(str(path))
