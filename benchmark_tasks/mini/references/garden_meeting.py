"""Reference deliverables of task 62: minutes, actions, answers."""

from __future__ import annotations

import csv
from pathlib import Path

from benchmark_tasks.mini.sources import garden_meeting as source

ITEMS = (
    ("1 Water pump",
     "The pump broke in March. Robert has two offers: repair $380, new pump $650.",
     "Decided: a new pump for $650, with 8 in favor, 2 against and 1 abstention. Robert orders it by 10 April."),
    ("2 Empty plots",
     "Plots 4, 8 and 16 are free (the chair first named plot 9 and corrected it to plot 8). Seven people are on the "
     "waiting list.",
     "Maria writes to the first three of them by 12 April."),
    ("3 Annual fee",
     "The fee is $45. The treasurer proposed $52 from next year.",
     "No vote was taken. It goes to the general meeting in June."),
    ("4 Summer party",
     "Saturday 21 June, from three o'clock, organized by Linda and Peter.",
     "The budget is $200. Linda asks for the permit by the end of April."),
)  # fmt: skip


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    import docx

    minutes = docx.Document()
    minutes.add_heading("Allotment meeting, 3 April 2025", 0)
    minutes.add_paragraph(f"{source.MEMBERS} members came; there was a quorum.")
    for heading, said, decided in ITEMS:
        minutes.add_heading(heading, 1)
        minutes.add_paragraph(said)
        minutes.add_paragraph(decided)
    minutes.save(str(files / "Minutes.docx"))
    with (files / "Actions.csv").open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["what", "who", "by"])
        rows.writerows([action.what, action.who, action.by] for action in source.ACTIONS)
    percent = 100 * (source.NEW_FEE - source.FEE) / source.FEE
    (files / "Answers.md").write_text(
        "# Answers for members\n\n1. **Which plots are free?** Plots 4, 8 and 16.\n2. **How much more does the new "
        f"pump cost than the repair?** ${source.PUMP - source.REPAIR} (${source.PUMP} against ${source.REPAIR}).\n3. "
        f"**Who stays on the waiting list without a letter?** {source.WAITING - source.WRITTEN_TO} people.\n4. **What "
        f"will the fee be next year?** Not decided yet. ${source.NEW_FEE} is proposed, {percent:.1f} % more than "
        f"${source.FEE}; the general meeting votes in June.\n5. **How much money did the meeting decide to spend?** "
        f"${source.PUMP + source.PARTY}: pump ${source.PUMP}, party ${source.PARTY}.\n",
        encoding="utf-8",
    )
    return "The minutes (with the chair's correction), three actions and the five answers are ready."
