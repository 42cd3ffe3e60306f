"""Reference deliverables of task 34: list of blocks, week on a page."""

from __future__ import annotations

import csv
from html import escape
from pathlib import Path

from benchmark_tasks.mini.sources.voice_memo import BUSY, DAY_END, DAY_START, DAYS, LUNCH, PLAN

CONDITIONS = {
    "Order the catering": "by Tuesday evening",
    "Draft the grant report": "three hours in one go, by Wednesday evening",
    "Phone the printer": "before noon, not Monday, by Wednesday",
    "Proofread the grant report": "not on the day of the draft, by Thursday evening",
    "Prepare the slides for the board": "not before Wednesday, by Thursday evening, may be split",
    "Water the office plants": "on Friday",
}


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    with (files / "Task_List.csv").open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["task", "day", "start", "end", "condition"])
        rows.writerows([b.job, b.day, f"{b.start}:00", f"{b.end}:00", CONDITIONS[b.job]] for b in PLAN)
    (files / "Week_Plan.html").write_text(_page(), encoding="utf-8")
    return "All six tasks fit. The draft (Tuesday 14-17) and the printer (Wednesday 11-12) cannot be moved."


def _cell(day: str, hour: int) -> str:
    for start, end, what in BUSY[day]:
        if start <= hour < end:
            return f"<td class='busy'>{escape(what)}</td>"
    for block in PLAN:
        if block.day == day and block.start <= hour < block.end:
            return f"<td class='job'>{escape(block.job)}</td>"
    return "<td class='lunch'>free for lunch</td>" if LUNCH[day] == hour else "<td></td>"


def _page() -> str:
    rows = "\n".join(
        f"<tr><th>{hour}:00</th>{''.join(_cell(day, hour) for day in DAYS)}</tr>" for hour in range(DAY_START, DAY_END)
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Grace's week</title>
<style>
body {{ font-family: sans-serif; margin: 2em }}
table {{ border-collapse: collapse }}
th, td {{ border: 1px solid #bbb; padding: .5em; width: 9em; text-align: left }}
.busy {{ background: #e3e6ea }}
.job {{ background: #ffd98a; font-weight: bold }}
.lunch {{ background: #dff0d8 }}
</style></head>
<body>
<h1>Grace's week</h1>
<table>
<tr><th></th>{"".join(f"<th>{day}</th>" for day in DAYS)}</tr>
{rows}
</table>
<h2>What cannot be moved</h2>
<ul>
<li>Draft of the grant report, Tuesday 14:00 to 17:00: the only three free hours in a row before Wednesday evening.</li>
<li>Phone the printer, Wednesday 11:00: the only free hour before noon on Tuesday or Wednesday.</li>
<li>Wednesday 16:00, Thursday 9:00 and 14:00 are all needed for the slides and for proofreading; they can only change
places with each other.</li>
</ul>
</body>
</html>
"""
