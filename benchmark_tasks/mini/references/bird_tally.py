"""Reference deliverables of task 13: workbook, chart, note."""

from __future__ import annotations

from pathlib import Path

from benchmark_tasks.mini.sources.bird_tally import HOURS, SHEETS, total


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    import openpyxl
    from matplotlib.figure import Figure

    species = list(SHEETS["Reed bank"])
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, rows in SHEETS.items():
        sheet = workbook.create_sheet(name)
        sheet.append(["Species", *HOURS])
        for bird, numbers in rows.items():
            sheet.append([bird, *numbers])
        sheet.column_dimensions["A"].width = 16
    sums = workbook.create_sheet("Totals")
    sums.append(["Species", "Both sites"])
    for row, bird in enumerate(species, 2):
        sums.append([bird, f"=SUM('Reed bank'!B{row}:E{row})+SUM('North shore'!B{row}:E{row})"])
    sums.append(["Grand total", "=SUM('Reed bank'!B2:E7)+SUM('North shore'!B2:E7)"])
    sums.column_dimensions["A"].width = sums.column_dimensions["B"].width = 16
    workbook.save(files / "Bird_Count.xlsx")
    ranked = sorted(species, key=total, reverse=True)
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.add_subplot()
    axes.bar_label(axes.bar(ranked, [total(bird) for bird in ranked], color="#3b7a8c"), padding=2)
    axes.set_title("Birds counted on 4 May 2025, both sites")
    axes.set_ylabel("birds")
    axes.margins(y=0.12)
    figure.savefig(files / "Bird_Chart.png", dpi=110)
    hours = [sum(row[i] or 0 for sheet in SHEETS.values() for row in sheet.values()) for i in range(4)]
    grand = sum(map(total, species))
    (files / "Bird_Note.md").write_text(
        f"On 4 May our wardens counted {grand} birds at the Reed bank and the North shore. {ranked[0]} was the most "
        f"frequent species with {total(ranked[0])}, {ranked[-1]} the least frequent with {total(ranked[-1])}. "
        f"The busiest hour was {HOURS[hours.index(max(hours))]}, with {max(hours)} birds. Two counts are missing (grey "
        "heron at the Reed bank, 9-10 am, and kingfisher at the North shore, 8-9 am), and one mallard number was "
        "corrected on the sheet.\n",
        encoding="utf-8",
    )
    return f"{grand} birds in all; Bird_Count.xlsx, Bird_Chart.png and Bird_Note.md are ready."
