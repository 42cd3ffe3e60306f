"""Reference deliverables of task 13: workbook, chart, note."""

from __future__ import annotations

from pathlib import Path

from benchmark_tasks.mini.sources.bird_tally import HOURS, SHEETS, total


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    from matplotlib.figure import Figure

    species = list(SHEETS["Reed bank"])
    _workbook(files / "Bird_Count.xlsx", species)
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


def _workbook(path: Path, species: list[str]) -> None:
    """Write the counts; the formulas carry their values, so that a reader that does not calculate sees them too."""
    import xlsxwriter  # type: ignore[import-untyped]

    with xlsxwriter.Workbook(str(path)) as workbook:
        for name, rows in SHEETS.items():
            sheet = workbook.add_worksheet(name)
            sheet.set_column(0, 0, 16)
            sheet.write_row(0, 0, ["Species", *HOURS])
            for row, (bird, numbers) in enumerate(rows.items(), 1):
                sheet.write(row, 0, bird)
                for column, number in enumerate(numbers, 1):
                    if number is not None:
                        sheet.write_number(row, column, number)
        sums = workbook.add_worksheet("Totals")
        sums.set_column(0, 1, 16)
        sums.write_row(0, 0, ["Species", "Both sites"])
        for row, bird in enumerate(species, 1):
            sums.write(row, 0, bird)
            cells = f"B{row + 1}:E{row + 1}"
            sums.write_formula(row, 1, f"=SUM('Reed bank'!{cells})+SUM('North shore'!{cells})", None, total(bird))
        sums.write(len(species) + 1, 0, "Grand total")
        sums.write_formula(len(species) + 1, 1, "=SUM(B2:B7)", None, sum(map(total, species)))
