"""Task 13: the numbers of its leaves from the scan as a person reads it, and its reference deliverables."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pypdf

from tests.mini.rubric import INPUTS, holds

AS_READ = {
    "Reed bank": """Mallard 14 11 9 16
Coot 22 19 25 18
Reed warbler 6 9 4 3
Grey heron 2 1 - 1
Mute swan 4 4 4 4
Kingfisher 0 1 2 0""",
    "North shore": """Mallard 31 27 18 24
Coot 8 12 7 9
Reed warbler 1 0 2 1
Grey heron 3 2 2 4
Mute swan 2 2 6 6
Kingfisher 1 - 0 1""",
}


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    scan = pypdf.PdfReader(INPUTS / "files/13-bird_tally_scan.pdf")
    assert len(scan.pages) == 2
    assert not any(page.extract_text().strip() for page in scan.pages), "a scan has no text layer"
    by_species: dict[str, int] = {}
    by_hour = [0, 0, 0, 0]
    sites, dashes = [], []
    for site, text in AS_READ.items():
        sites.append(0)
        for line in text.splitlines():
            species, *cells = line.rsplit(" ", 4)
            for hour, cell in enumerate(cells):
                if cell == "-":
                    dashes.append(f"{species} at {site}")
                    continue
                sites[-1] += int(cell)
                by_hour[hour] += int(cell)
                by_species[species] = by_species.get(species, 0) + int(cell)
    ranked = sorted(by_species, key=lambda name: -by_species[name])
    assert len(set(by_species.values())) == 6 and len(set(by_hour)) == 4, "no ties"

    holds(leaves["13/cp1-1"], *sites)
    holds(leaves["13/cp1-2"], 18)
    holds(leaves["13/cp1-3"], *dashes)
    holds(leaves["13/cp2-1"], *(w for pair in by_species.items() for w in pair), sum(sites))
    holds(leaves["13/cp3-1"], ranked[0], ranked[-1])
    busiest = ("7-8 am", "8-9 am", "9-10 am", "10-11 am")[by_hour.index(max(by_hour))]
    holds(leaves["13/cp3-2"], sum(sites), ranked[0], ranked[-1], busiest, max(by_hour))


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    book = openpyxl.load_workbook(outputs / "13/files/Bird_Count.xlsx")
    assert book.sheetnames == ["Reed bank", "North shore", "Totals"]
    assert book["Reed bank"]["D5"].value is None and book["North shore"]["C7"].value is None
    assert book["Reed bank"]["B7"].value == 0 and book["North shore"]["D2"].value == 18
    assert all(str(row[1].value).startswith("=SUM(") for row in book["Totals"].iter_rows(min_row=2))
    note = (outputs / "13/files/Bird_Note.md").read_text("utf-8")
    assert note.count(". ") + 1 <= 5
