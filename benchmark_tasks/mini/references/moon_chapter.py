"""Reference deliverables of task 22: lesson deck, quiz, key."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from benchmark_tasks.mini.sources.moon_chapter import FACTS, PHASES

SLIDES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "The Moon in numbers",
        tuple(f"{what}: {value}" for what, value in FACTS.items()),
        "Page 1. Let the class guess the distance first: about thirty Earths in a row.",
    ),
    (
        "Why we always see the same face",
        (
            "The Moon turns once on its axis in 27.3 days",
            "It goes once round the Earth in 27.3 days",
            "So the same side always faces us",
            "The far side is not dark: it has day and night too",
        ),
        "Page 1. Act it out: one pupil walks round another and always looks at them.",
    ),
    (
        "Four phases",
        tuple(f"{name}: {when}, {look}" for name, when, look in PHASES),
        "Page 2. Stress that the Moon does not shine by itself and that the Earth's shadow does not make the phases.",
    ),
    (
        "27.3 days or 29.5 days?",
        (
            "Once round the Earth: 27.3 days",
            "New Moon to New Moon: 29.5 days",
            "Meanwhile the Earth moves on around the Sun",
            "The Moon needs about two more days to catch up",
        ),
        "Page 2. Draw Sun, Earth and Moon on the board at the start and 27.3 days later.",
    ),
    (
        "Eclipses",
        (
            "Lunar eclipse: at Full Moon, the Earth's shadow falls on the Moon",
            "Solar eclipse: at New Moon, the Moon's shadow falls on the Earth",
            "Not every month: the Moon's orbit is tilted by about 5 degrees",
        ),
        "Page 3. Compare with the phases: here a shadow does matter.",
    ),
    (
        "Tides",
        (
            "The Moon's gravity pulls the oceans",
            "Two high tides a day, about 12 hours and 25 minutes apart",
            "Spring tides (highest): New Moon and Full Moon",
            "Neap tides (lowest): the quarters",
        ),
        "Page 3. Sun and Moon pull along one line at New and Full Moon.",
    ),
    (
        "Let us discuss",
        (
            "1. Why is 'the dark side of the Moon' a bad name?",
            "2. What would the phases look like if the Moon did not go round the Earth?",
            "3. How could a sailor use the Moon to know when tides are highest?",
        ),
        "Pages 1, 2 and 3. Give pairs three minutes for each question.",
    ),
)
QUIZ: tuple[tuple[str, tuple[str, str, str, str], str, int], ...] = (
    ("How far is the Moon from the Earth on average?",
     ("3,474 km", "38,440 km", "384,400 km", "3,844,000 km"), "C", 1),
    ("How long does the Moon take to go once round the Earth?",
     ("24 hours", "27.3 days", "29.5 days", "365 days"), "B", 1),
    ("Which sentence on the far side of the Moon is true?",
     ("It is always dark.", "It has day and night.", "It is always lit.", "It faces us at New Moon."), "B", 1),
    ("How strong is gravity on the Moon, compared with the Earth?",
     ("one sixth", "one half", "the same", "six times"), "A", 1),
    ("What causes the phases of the Moon?",
     ("The Earth's shadow", "Clouds", "The Moon switching its light on and off",
      "Our changing angle on the part that the Sun lights"), "D", 2),
    ("Which phase comes about day 15?",
     ("New Moon", "First quarter", "Full Moon", "Last quarter"), "C", 2),
    ("Why do the phases repeat after 29.5 days and not after 27.3?",
     ("The Earth moves on around the Sun meanwhile.", "The Moon slows down.", "The calendar is wrong.",
      "The Moon turns on its axis."), "A", 2),
    ("When can a solar eclipse happen?",
     ("At Full Moon", "At the first quarter", "At New Moon", "At the last quarter"), "C", 3),
    ("Why is there not an eclipse every month?",
     ("The Moon is too small.", "The Moon's orbit is tilted.", "The Sun moves.", "The Earth casts no shadow."), "B", 3),
    ("When are spring tides?",
     ("In spring only", "At the quarters", "Every day at noon", "At New and at Full Moon"), "D", 3),
)  # fmt: skip


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    _deck(files / "Moon_Lesson.pptx")
    _quiz(files / "Moon_Quiz.docx")
    with (files / "Moon_Quiz_Key.csv").open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["question", "answer", "page"])
        rows.writerows([i, answer, page] for i, (_, _, answer, page) in enumerate(QUIZ, 1))
    return "The lesson (Moon_Lesson.pptx), the quiz (Moon_Quiz.docx) and its key (Moon_Quiz_Key.csv) are ready."


def _deck(path: Path) -> None:
    from pptx import Presentation
    from pptx.util import Pt

    deck: Any = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text = "The Moon"
    first.placeholders[1].text = "Science, Year 7, chapter 6"
    first.notes_slide.notes_text_frame.text = (
        "Chapter 6, pages 1 to 3. Ask who has seen the Moon this week, and its shape."
    )
    for heading, points, notes in SLIDES:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = heading
        slide.placeholders[1].text_frame.text = "\n".join(points)
        for paragraph in slide.placeholders[1].text_frame.paragraphs:
            paragraph.font.size = Pt(24)
        slide.notes_slide.notes_text_frame.text = notes
    deck.save(str(path))


def _quiz(path: Path) -> None:
    import docx

    quiz = docx.Document()
    quiz.add_heading("The Moon: quiz", 0)
    quiz.add_paragraph("Name: ____________________     One answer is right for each question.")
    for number, (question, options, _, _) in enumerate(QUIZ, 1):
        quiz.add_paragraph(f"{number}. {question}").paragraph_format.keep_with_next = True
        quiz.add_paragraph("\n".join(f"{letter}  {option}" for letter, option in zip("ABCD", options, strict=True)))
    quiz.save(str(path))
