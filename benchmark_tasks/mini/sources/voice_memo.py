"""Task 34: a voice message with things to do and a week's calendar, to be fitted together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import openpyxl

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.office_file import save_office
from benchmark_tasks.mini.sources.recording import speak

MESSAGE = "resources/audio/34-voice_message.wav"
CALENDAR = "resources/files/34-calendar.xlsx"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
DAY_START, DAY_END = 9, 17
BUSY: dict[str, tuple[tuple[int, int, str], ...]] = {
    "Monday": ((9, 10, "Team meeting"), (11, 13, "Client visit"), (15, 17, "Budget review")),
    "Tuesday": ((9, 12, "Training"), (13, 14, "Call with Lisbon")),
    "Wednesday": ((9, 11, "Interviews"), (12, 13, "Lunch talk"), (14, 16, "Workshop")),
    "Thursday": ((10, 12, "Site visit"), (13, 14, "One to one"), (15, 17, "Board preparation")),
    "Friday": ((9, 10, "Stand-up"), (10, 13, "Quarter close")),
}


@dataclass(frozen=True, slots=True)
class Block:
    """An hour or more of work on a job."""

    job: str
    day: str
    start: int
    end: int


PLAN = (
    Block("Order the catering", "Monday", 10, 11),
    Block("Draft the grant report", "Tuesday", 14, 17),
    Block("Phone the printer", "Wednesday", 11, 12),
    Block("Proofread the grant report", "Wednesday", 16, 17),
    Block("Prepare the slides for the board", "Thursday", 9, 10),
    Block("Prepare the slides for the board", "Thursday", 14, 15),
    Block("Water the office plants", "Friday", 14, 15),
)
"""A plan that keeps all conditions; catering, plants, and who gets which of the three hours for two, could differ."""
LUNCH = {"Monday": 13, "Tuesday": 12, "Wednesday": 13, "Thursday": 12, "Friday": 13}
"""The one hour between 12 and 2 that the calendar leaves."""
MESSAGE_TEXT = (
    "Hi, it's Grace. Here is what I have to get done this week, six things.",
    "First, draft the grant report. I need three hours in one go for that, and it has to be done by Wednesday evening.",
    "Second, proofread the grant report. One hour, by Thursday evening, but only after I have slept on the draft, so "
    "not on the same day.",
    "Third, phone the printer. One hour. They only answer in the morning, before noon, and they are closed on "
    "Monday. By Wednesday, please.",
    "Fourth, prepare the slides for the board. Two hours, in two pieces if need be, not before Wednesday, because "
    "the numbers come in late on Tuesday. Done by Thursday evening.",
    "Fifth, order the catering. One hour, by Tuesday evening.",
    "And last, water the office plants. One hour, on Friday.",
    "Please leave me a free hour for lunch between twelve and two on every day. Thank you, bye.",
)


def make_inputs(folder: Path) -> None:
    """Record the message and write the calendar."""
    speak(folder, MESSAGE, MESSAGE_TEXT)
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Week 24"
    sheet.append(["Day", "From", "To", "What"])
    for day, slots in BUSY.items():
        for start, end, what in slots:
            sheet.append([day, f"{start:02}:00", f"{end:02}:00", what])
    sheet.column_dimensions["A"].width = sheet.column_dimensions["D"].width = 20
    save_office(book, folder / CALENDAR)


def free_hours(day: str) -> list[int]:
    """Return the hours from 9 to 17 in which nothing is in the calendar."""
    return [h for h in range(DAY_START, DAY_END) if not any(start <= h < end for start, end, _ in BUSY[day])]


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, from message and calendar."""
    hours = {job: sum(b.end - b.start for b in PLAN if b.job == job) for job in dict.fromkeys(b.job for b in PLAN)}
    return {
        "jobs": Derived(len(hours), "things named in the message"),
        "hours": Derived(sum(hours.values()), "sum of the hours named in the message"),
        "draft": Derived("Tuesday 14:00 to 17:00", "the only three free hours in a row by Wednesday beside lunch"),
        "printer": Derived("Wednesday 11:00 to 12:00", "the only free hour before noon on Tuesday or Wednesday"),
        "catering": Derived(["10:00", "14:00"], "free on Monday beside lunch at 13; Tuesday is full with the draft"),
        "shared": Derived(
            ["Wednesday 16:00", "Thursday 9:00", "Thursday 14:00"],
            "hours from Wednesday to Thursday that remain beside lunch and the printer: two for the slides, one to "
            "proofread",
        ),
        "lunch": Derived(
            [f"{day} {start}:00" for day, start in LUNCH.items()], "the one hour between 12 and 14 without an entry"
        ),
    }
