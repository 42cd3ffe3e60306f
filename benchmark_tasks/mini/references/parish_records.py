"""Reference deliverables of task 63: answers with their places, brief for the front page."""

from __future__ import annotations

import csv
from pathlib import Path

from benchmark_tasks.mini.sources.parish_records import LINES, SHELTER_VOTED

PDF, SHEET = "63-council_minutes.pdf", "63-budget_2025.xlsx"


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    over = "; ".join(f"{line.what} by GBP {line.spent - line.planned}" for line in LINES if line.spent > line.planned)
    left = sum(line.planned - line.spent for line in LINES)
    shelter = LINES[3].planned
    rows = (
        (1,
            f"Design B, oak with a tiled roof, GBP {SHELTER_VOTED:,} (the budget has GBP {shelter:,})",
            f"{PDF}; {SHEET}",
         "page 1; sheet Budget 2025, line Bus shelter"),
        (2, "In August (put off from May)", PDF, "page 3"),
        (3, over, SHEET, "sheet Budget 2025, lines Playground repair and Village fair"),
        (4, f"GBP {left:,}", SHEET, "sheet Budget 2025, all lines"),
        (5, "5 (2 limes and 3 wild cherries)", PDF, "page 3"),
        (6, "550 (640 this year, 90 more than last year)", PDF, "page 4"),
        (7, "Ames and Bell", PDF, "pages 1 to 4"),
        (8, "Not in the documents: they mention no new slide and nobody who built one", "none", "none"),
    )  # fmt: skip
    with (files / "Answers.csv").open("w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        table.writerow(["question", "answer", "source", "place"])
        table.writerows(rows)
    _brief(files / "Brief.docx", shelter)
    return (
        "Seven of the eight questions are answered; the slide is not in the documents. See Answers.csv and Brief.docx."
    )


def _brief(path: Path, shelter: int) -> None:
    import docx

    brief = docx.Document()
    brief.add_heading("News from the parish council", 0)
    for news in (
        "Councillor Bell will chair the council from 1 September; Councillor Ames steps down on 31 August (minutes "
        "of 8 July, page 4).",
        "The bus shelter on Mill Lane comes later: the carpenter is ill, and work begins in August instead of May "
        "(minutes of 13 May, page 3).",
        "312 people signed for 20 mph on School Road. The county decides, an answer is expected by September "
        "(minutes of 11 March, page 2).",
    ):
        brief.add_paragraph(news, style="List Number")
    box = brief.add_table(rows=1, cols=1, style="Table Grid").rows[0].cells[0]
    box.text = "To be checked"
    box.add_paragraph(
        f"Bus shelter: the council voted GBP {SHELTER_VOTED:,} (minutes, page 1), the budget plans GBP {shelter:,}. "
        "Which is right?"
    )
    box.add_paragraph("Playground slide: neither document mentions a new slide or who built it.")
    brief.save(str(path))
