"""Task 24: the numbers of its leaves from the marks and the scheme alone, and its reference deliverables."""

from __future__ import annotations

import csv
import re
from fractions import Fraction
from pathlib import Path

from tests.mini.rubric import INPUTS, holds


def graded() -> list[tuple[str, Fraction, str, bool]]:
    """Name, mark, letter and whether a special rule applied, from the two files."""
    import docx

    scheme = docx.Document(str(INPUTS / "files/24-marking_scheme.docx"))
    weights, bounds = (
        {row.cells[0].text: int(row.cells[1].text.rstrip(" %")) for row in table.rows[1:]} for table in scheme.tables
    )
    off = int(re.search(r"(\d+) points are taken off for each day", " ".join(p.text for p in scheme.paragraphs))[1])
    found = []
    with (INPUTS / "files/24-marks.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            cells = [row[f"quiz{i}"] for i in range(1, 5)]
            marks = sorted(int(cell or 0) for cell in cells if cell != "exc")[1:]
            project = max(0, int(row["project"] or 0) - off * int(row["days_late"] or 0))
            parts = {
                "quizzes": Fraction(sum(marks), len(marks)),
                "project": Fraction(project),
                "exam": Fraction(row["exam"]),
            }
            mark = sum(weights[name] * part for name, part in parts.items()) / 100
            letter = max((bound, name) for name, bound in bounds.items() if mark >= bound)[1]
            special = "" in (*cells, row["project"]) or "exc" in cells or bool(row["days_late"])
            found.append((row["pupil"], mark, letter, special))
    return found


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    pupils = graded()
    for leaf, special in (("24/cp1-1", False), ("24/cp1-2", True)):
        chosen = [
            (name.split(",")[0], f"{float(mark):.1f}", letter) for name, mark, letter, s in pupils if s == special
        ]
        holds(leaves[leaf], *(word for row in chosen for word in row))
    holds(leaves["24/cp1-1"], len(pupils))
    best = max(pupils, key=lambda row: row[1])[0]
    holds(leaves["24/cp3-1"], best, f"{float(sum(row[1] for row in pupils) / len(pupils)):.1f}")
    holds(leaves["24/cp3-2"], *(w for letter in "ABCDE" for w in (letter, sum(row[2] == letter for row in pupils))))
    holds(leaves["24/cp3-3"], *(row[0] for row in pupils if row[2] in "DE"))


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    with (outputs / "24/files/Grades.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["pupil"], row["mark"], row["letter"]) for row in rows] == [
        (name, f"{float(mark):.1f}", letter) for name, mark, letter, _ in graded()
    ]
