"""The cases: for seven tasks of `mini`, what is done to the reference deliverables, and what that means leaf by leaf.

A leaf that is not named is met and untouched: 10 points. `FAIL` is a leaf that the edit breaks, by how much is a matter
of judgement; 0 a leaf that nothing is left of; `UNSURE` one on which careful people may differ: it gets no label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_gta.judge.gold.edits import Edit, emptied, json_changed, matched, other_content, replaced, word_replaced

MET = 10
FAIL = "fail"
UNSURE = None
Expected = int | str | None


@dataclass(frozen=True, slots=True)
class Case:
    """Deliverables of one task in one state.

    Attributes:
        task_id: The task of `mini`.
        reference: The module of `benchmark_tasks.mini.references` that makes the complete deliverables.
        kind: What was done to them.
        edits: How.
        leaves: What is expected of the leaves that this touches.
    """

    task_id: str
    reference: str
    kind: str
    edits: tuple[Edit, ...] = ()
    leaves: Mapping[str, Expected] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The task's id in the gold set."""
        return f"{self.task_id}-{self.kind}"


def _of(task_id: str, reference: str, **kinds: tuple[tuple[Edit, ...], Mapping[str, Expected]]) -> tuple[Case, ...]:
    spoiled = (
        Case(task_id, reference, kind.replace("_", "-"), edits, leaves) for kind, (edits, leaves) in kinds.items()
    )
    return (Case(task_id, reference, "complete"), *spoiled)


def _all(expected: Expected, *leaves: str) -> dict[str, Expected]:
    return dict.fromkeys(leaves, expected)


def _inflated(match: re.Match[str]) -> str:
    """An amount with a thousands separator, a good tenth higher."""
    return f"{float(match[0].replace(',', '')) * 1.13:,.2f}"


def _raised(match: re.Match[str]) -> str:
    """The mark and letter at the end of a row of grades, seven points higher and one letter better."""
    return f",{float(match[1]) + 7:.1f},{'AABCD'['ABCDE'.index(match[2])]}"


_SWAPPED_PAGES = {"1": "4", "2": "5", "3": "6"}

CASES: tuple[Case, ...] = (
    *_of(
        "11",
        "farm_shop_orders",
        broken=((matched("Q3_Summary.md", r"## Taken out of the export.*", ""),), {"cp3-3": FAIL}),
        empty=((emptied("monthly_net_revenue.png"),), {"cp3-1": 0}),
        wrong_numbers=(
            (matched("Q3_Summary.md", r"(?<=EUR )[\d,]+\.\d\d", _inflated),),
            _all(FAIL, "cp1-1", "cp1-4"),
        ),
        wrong_content=(
            (other_content("Q3_Clean.xlsx"),),
            {**_all(0, "cp1-2", "cp1-3", "cp2-1"), "cp2-2": FAIL},
        ),
    ),
    *_of(
        "24",
        "term_marks",
        broken=(
            (replaced("Conference.html", ("A 3, B 3, C 1, D 2, E 1", "A 1, B 4, C 4, D 1, E 0")),),
            {"cp3-2": FAIL},
        ),
        empty=((emptied("grade.py"),), _all(0, "cp2-1", "cp2-2", "cp2-3")),
        wrong_numbers=(
            (matched("Grades.csv", r",(\d+\.\d),([A-E])(?=\r?\n)", _raised),),
            {**_all(FAIL, "cp1-1", "cp1-2", "cp3-1"), "cp2-1": UNSURE},
        ),
        wrong_content=((other_content("Conference.html"),), _all(0, "cp3-1", "cp3-2", "cp3-3")),
    ),
    *_of(
        "32",
        "day_trip",
        broken=(
            (json_changed("Day_Plan.json", lambda plan: {**plan, "rejected": plan["rejected"][:1]}),),
            {"cp1-3": FAIL},
        ),
        empty=(
            (emptied("Day_Plan.pdf"),),
            {**_all(0, "cp3-1", "cp3-2"), **_all(FAIL, "cp1-1", "cp1-2"), "cp2-2": UNSURE},
        ),
        wrong_content=(
            (other_content("Day_Plan.pdf"),),
            {**_all(0, "cp3-1", "cp3-2"), **_all(FAIL, "cp1-1", "cp1-2"), "cp2-2": UNSURE},
        ),
    ),
    *_of(
        "54",
        "name_badges",
        broken=((matched("Changes.md", r"- Omar Haddad.*", "- Jonas Weber gave no role: guest\n"),), {"cp3-2": FAIL}),
        empty=((emptied("Badge_List.csv"),), {"cp3-1": 0, "cp1-2": FAIL}),
        wrong_numbers=(
            (matched("Badge_List.csv", r"(?<=\n)(\d),(\d),", lambda m: f"{int(m[1]) + 4},{9 - int(m[2])},"),),
            {"cp3-1": FAIL, "cp1-2": UNSURE},
        ),
        wrong_content=(
            (other_content("Badges.pdf"),),
            {**_all(0, "cp1-1", "cp1-3", "cp2-1", "cp2-2", "cp2-3"), **_all(FAIL, "cp1-2", "cp3-1")},
        ),
    ),
    *_of(
        "61",
        "pet_cover",
        broken=(
            (
                matched(
                    "PetCoverComparison.csv",
                    r",([123]),([^\n]*),([123])(?=\r?\n)",
                    lambda m: f",{_SWAPPED_PAGES[m[1]]},{m[2]},{_SWAPPED_PAGES[m[3]]}",
                ),
            ),
            {"cp3-2": FAIL, "cp3-1": UNSURE},
        ),
        empty=((emptied("PetCoverComparison.csv"),), _all(0, "cp3-1", "cp3-2")),
        wrong_numbers=(
            (
                replaced(
                    "PetCoverComparison.html",
                    ("1,536.00", "1,436.00"),
                    ("1,732.50", "1,602.50"),
                    ("1,024.80", "1,244.80"),
                    ("930.30", "1,180.30"),
                ),
            ),
            {**_all(FAIL, "cp2-1", "cp2-2"), **_all(UNSURE, "cp2-3", "cp3-3")},
        ),
        wrong_content=(
            (other_content("PetCoverComparison.html"),),
            {**_all(0, "cp2-1", "cp2-2", "cp2-3", "cp3-3"), "cp3-1": FAIL},
        ),
    ),
    *_of(
        "62",
        "garden_meeting",
        broken=((matched("Answers.md", r"Not decided yet\..*?in June\.", "$52 a year."),), {"cp3-3": FAIL}),
        empty=((emptied("Actions.csv"),), {"cp2-1": 0}),
        wrong_numbers=(
            (
                word_replaced(
                    "Minutes.docx",
                    ("11 members came", "17 members came"),
                    ("8 in favor, 2 against and 1 abstention", "5 in favor, 9 against and 3 abstentions"),
                    ("21 June", "28 June"),
                    ("budget is $200", "budget is $320"),
                ),
            ),
            _all(FAIL, "cp1-1-1", "cp1-1-2", "cp1-3"),
        ),
        wrong_content=(
            (other_content("Minutes.docx"),),
            {**_all(0, "cp1-1-1", "cp1-1-2", "cp1-2-1", "cp1-2-2"), "cp1-3": FAIL},
        ),
    ),
    *_of(
        "63",
        "parish_records",
        broken=(
            (
                matched(
                    "Answers.csv",
                    r'"?Not in the documents[^\n]*?built one"?,none,none',
                    'Greenfield Play Ltd of Ashford,63-council_minutes.pdf,"page 2"',
                ),
            ),
            {"cp1-6": FAIL, "cp2-1": UNSURE},
        ),
        empty=((emptied("Brief.docx"),), _all(0, "cp3-1", "cp3-2")),
        wrong_numbers=(
            (
                replaced(
                    "Answers.csv",
                    ("GBP 4,500", "GBP 5,400"),
                    ("GBP 620", "GBP 260"),
                    ("GBP 360", "GBP 830"),
                    ("GBP 5,165", "GBP 6,515"),
                    ("5 (2 limes and 3 wild cherries)", "9 (4 limes and 5 wild cherries)"),
                    ("550 (640 this year", "450 (540 this year"),
                ),
            ),
            _all(FAIL, "cp1-1", "cp1-3", "cp1-4"),
        ),
        wrong_content=(
            (other_content("Answers.csv"),),
            {**_all(0, "cp1-1", "cp1-2", "cp1-3", "cp1-4", "cp1-5", "cp2-1"), "cp1-6": FAIL},
        ),
    ),
)
"""All cases, by task."""
