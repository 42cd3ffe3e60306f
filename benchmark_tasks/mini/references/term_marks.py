"""Reference deliverables of task 24: the script, the grades it writes, the conference page."""

from __future__ import annotations

import subprocess
import sys
from html import escape
from pathlib import Path

from benchmark_tasks.mini.sources import term_marks as source

SCRIPT = '''"""Grade a class: python grade.py marks.csv Grades.csv"""

import csv
import sys

WEIGHTS = {"quizzes": 0.30, "project": 0.30, "exam": 0.40}
LETTERS = [(85, "A"), (70, "B"), (55, "C"), (40, "D"), (0, "E")]


def quiz_mean(cells):
    """Excused quizzes do not count, missed ones (blank) count 0; then the lowest one is dropped."""
    marks = sorted(float(cell or 0) for cell in cells if cell.strip().lower() != "exc")
    kept = marks[1:]
    return sum(kept) / len(kept) if kept else 0.0


def project_mark(cell, days_late):
    """5 points off for each day late, never below 0; a project that was not handed in counts 0."""
    return max(0.0, float(cell or 0) - 5 * int(days_late or 0))


def letter(mark):
    """The letter of the unrounded mark."""
    return next(name for bound, name in LETTERS if mark >= bound)


def main(source, target):
    with open(source, newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    with open(target, "w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        table.writerow(["pupil", "quizzes", "project", "exam", "mark", "letter"])
        for row in rows:
            # Every column whose name begins with "quiz" is a quiz, so a term with five of them works as well.
            quizzes = quiz_mean([row[name] for name in row if name.startswith("quiz")])
            project = project_mark(row["project"], row["days_late"])
            exam = float(row["exam"])
            mark = WEIGHTS["quizzes"] * quizzes + WEIGHTS["project"] * project + WEIGHTS["exam"] * exam
            # Weights such as 0.3 are not exact in binary: without this a mark of exactly 70 could miss its letter.
            mark = round(mark, 9)
            shown = [f"{quizzes:.1f}", f"{project:.0f}", f"{exam:.0f}", f"{mark:.1f}"]
            table.writerow([row["pupil"], *shown, letter(mark)])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: grade.py marks.csv Grades.csv")
    main(sys.argv[1], sys.argv[2])
'''
REASONS = {
    "Castro, Ines": "exam 49; one quiz missed; project a day late",
    "Eriksen, Nils": "exam 37 and weak quizzes",
    "Hughes, Owen": "no project handed in; one quiz missed",
}


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    script = files / "grade.py"
    script.write_text(SCRIPT, encoding="utf-8")
    marks = Path(source.__file__).parents[1] / source.MARKS
    command = [sys.executable, str(script), str(marks), str(files / "Grades.csv")]
    subprocess.run(command, check=True)  # noqa: S603 - the script above
    (files / "Conference.html").write_text(_page(), encoding="utf-8")
    return "grade.py, Grades.csv and Conference.html are ready; the class mean is " + f"{_mean():.1f}."


def _mean() -> float:
    return sum(one.final for one in source.PUPILS) / len(source.PUPILS)


def _page() -> str:
    ranked = sorted(source.PUPILS, key=lambda one: -one.final)
    rows = "\n".join(f"<tr><td>{escape(p.name)}</td><td>{p.final:.1f}</td><td>{p.grade}</td></tr>" for p in ranked)
    counts = ", ".join(f"{letter} {sum(p.grade == letter for p in ranked)}" for letter in source.BOUNDS)
    weak = "\n".join(
        f"<li>{escape(p.name)} ({p.grade}, {p.final:.1f}): {REASONS[p.name]}</li>" for p in ranked if p.grade in "DE"
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Geography 9b: term grades</title>
<style>
body {{ font-family: sans-serif; max-width: 40em; margin: 2em auto }}
td, th {{ padding: .3em 1em; text-align: left; border-bottom: 1px solid #ccc }}
</style></head>
<body>
<h1>Geography 9b: term grades</h1>
<p>Class mean: <strong>{_mean():.1f}</strong>. Letters: {counts}.</p>
<table><thead><tr><th>Pupil</th><th>Mark</th><th>Letter</th></tr></thead>
<tbody>
{rows}
</tbody></table>
<h2>D or E</h2>
<ul>
{weak}
</ul>
</body>
</html>
"""
