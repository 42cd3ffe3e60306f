"""Reference deliverables of task 21: the pupils' sheet and the teacher's key."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from benchmark_tasks.mini.sources import ear_training as source

QUESTIONS = (
    ("How many clicks do you hear before the tune begins?", str(source.COUNT_IN)),
    ("Which note is the highest: the first, the fourth or the last one?", "the last one"),
    ("Does the tune go up or down from its first note to its second?", "up"),
    ("Two of the first four notes have the same pitch. Which two?", "the second and the fourth"),
    ("Which note is held longest, and how many times as long as the others is it?", "the last one, twice as long"),
    ("From the sixth note to the seventh: does the tune go up or down, by a step or by a leap?", "down by a step"),
)  # fmt: skip


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    import docx

    names = [name for name, _ in source.MELODY]
    pitches = [source.midi(name) for name in names]
    sheet = docx.Document()
    sheet.add_heading("Ear training: what do you hear?", 0)
    sheet.add_paragraph("Listen twice, fill in the table, then answer the questions.")
    table = sheet.add_table(rows=1, cols=3, style="Table Grid")
    for cell, text in zip(table.rows[0].cells, ("Note", "Name", "Length in beats"), strict=True):
        cell.text = text
    for i in range(len(names)):
        table.add_row().cells[0].text = str(i + 1)
    sheet.add_heading("Questions", 1)
    for question, _ in QUESTIONS:
        sheet.add_paragraph(question, style="List Number")
    sheet.save(str(files / "Ear_Training_Sheet.docx"))
    key = {
        "tempo_bpm": source.TEMPO,
        "count_in_clicks": source.COUNT_IN,
        "notes": [{"name": name, "beats": beats} for name, beats in source.MELODY],
        "lowest_note": min(names, key=source.midi),
        "highest_note": max(names, key=source.midi),
        "largest_leap_semitones": max(abs(a - b) for a, b in pairwise(pitches)),
        "duration_seconds": round(source.seconds(), 2),
        "question_answers": [answer for _, answer in QUESTIONS],
    }
    (files / "Answer_Key.json").write_text(json.dumps(key, indent=2), encoding="utf-8")
    return "I made Ear_Training_Sheet.docx for your pupils (no answers on it) and Answer_Key.json for you."
