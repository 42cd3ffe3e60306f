"""Task 24: a term's marks and the scheme they are weighed by, to be made into a script, grades and a page."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.office_file import save_office

MARKS = "resources/files/24-marks.csv"
SCHEME = "resources/files/24-marking_scheme.docx"
WEIGHTS = {"quizzes": 30, "project": 30, "exam": 40}
BOUNDS = {"A": 85, "B": 70, "C": 55, "D": 40, "E": 0}


@dataclass(frozen=True, slots=True)
class Pupil:
    """A pupil's marks out of 100; None is missing, ``exc`` in the file is an excused quiz."""

    name: str
    quizzes: tuple[int | str | None, ...]
    project: int | None
    exam: int
    late_days: int = 0

    @property
    def quiz_mean(self) -> float:
        """Mean of the quizzes without the lowest one; an excused one does not count, a missing one is 0."""
        counted = sorted(mark if isinstance(mark, int) else 0 for mark in self.quizzes if mark != "exc")
        return sum(counted[1:]) / (len(counted) - 1)

    @property
    def project_mark(self) -> int:
        """The project less 5 points a day late, at least 0."""
        return max(0, (self.project or 0) - 5 * self.late_days)

    @property
    def final(self) -> float:
        """The weighted mark."""
        parts = (self.quiz_mean, self.project_mark, self.exam)
        return sum(weight * part for weight, part in zip(WEIGHTS.values(), parts, strict=True)) / 100

    @property
    def grade(self) -> str:
        """The letter of the mark as it is, unrounded."""
        return next(letter for letter, bound in BOUNDS.items() if self.final >= bound)


PUPILS = (
    Pupil("Adeyemi, Tolu", (88, 92, 79, 95), 91, 86),
    Pupil("Brandt, Lena", (70, 64, "exc", 81), 77, 69),
    Pupil("Castro, Ines", (55, None, 62, 60), 58, 49, 1),
    Pupil("Dvorak, Milan", (90, 85, 88, 93), 84, 83),
    Pupil("Eriksen, Nils", (40, 35, 52, 48), 61, 37),
    Pupil("Fofana, Aminata", (76, 81, 74, 79), 88, 73, 2),
    Pupil("Grigorescu, Ana", (68, 72, 65, 70), 66, 71),
    Pupil("Hughes, Owen", (30, "exc", None, 44), None, 52),
    Pupil("Ito, Haruka", (97, 99, 94, 100), 95, 92),
    Pupil("Jansen, Femke", (83, 78, 80, 69), 72, 75),
)


def make_inputs(folder: Path) -> None:
    """Write the marks and the scheme."""
    import docx

    path = folder / MARKS
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["pupil", "quiz1", "quiz2", "quiz3", "quiz4", "project", "days_late", "exam"])
        for one in PUPILS:
            quizzes = ["" if mark is None else mark for mark in one.quizzes]
            rows.writerow(
                [one.name, *quizzes, "" if one.project is None else one.project, one.late_days or "", one.exam]
            )
    scheme = docx.Document()
    scheme.add_heading("Marking scheme, Geography 9b", 0)
    scheme.add_paragraph("All marks are out of 100. The mark of the term is made of three parts:")
    table = scheme.add_table(rows=1, cols=2, style="Table Grid")
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Part", "Weight"
    for part, weight in WEIGHTS.items():
        cells = table.add_row().cells
        cells[0].text, cells[1].text = part, f"{weight} %"
    for rule in (
        "Quizzes: mean of the quizzes after the lowest one is dropped. A quiz marked exc (excused) does not count at "
        "all. A quiz that was missed (blank) counts 0, and may be the one that is dropped.",
        "Project: 5 points are taken off for each day late, down to 0 at most. A project that was not handed in "
        "counts 0.",
        "The mark is not rounded before the letter is found.",
    ):
        scheme.add_paragraph(rule, style="List Bullet")
    letters = scheme.add_table(rows=1, cols=2, style="Table Grid")
    letters.rows[0].cells[0].text, letters.rows[0].cells[1].text = "Letter", "From"
    for letter, bound in BOUNDS.items():
        cells = letters.add_row().cells
        cells[0].text, cells[1].text = letter, str(bound)
    save_office(scheme, folder / SCHEME)


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, worked out by the scheme."""
    how = "30 % quizzes (lowest dropped, exc out, blank 0) + 30 % project (- 5 a day late) + 40 % exam"
    mean = sum(one.final for one in PUPILS) / len(PUPILS)
    counts = {letter: sum(one.grade == letter for one in PUPILS) for letter in BOUNDS}

    def listed(pupils: tuple[Pupil, ...]) -> list[str]:
        return [f"{one.name.split(',')[0]} {one.final:.1f} {one.grade}" for one in pupils]

    special = tuple(
        p for p in PUPILS if p.late_days or p.project is None or any(not isinstance(q, int) for q in p.quizzes)
    )
    return {
        "pupils": Derived(len(PUPILS), "rows of the marks"),
        "plain": Derived(listed(tuple(one for one in PUPILS if one not in special)), how),
        "special": Derived(listed(special), how),
        "mean": Derived(round(mean, 1), f"mean of the {len(PUPILS)} marks"),
        "counts": Derived(
            [f"{letter} {count}" for letter, count in counts.items()], "letters by the bounds of the scheme"
        ),
        "best": Derived(max(PUPILS, key=lambda one: one.final).name, "highest mark"),
        "weak": Derived("; ".join(one.name for one in PUPILS if one.grade in "DE"), "letters D and E"),
    }
