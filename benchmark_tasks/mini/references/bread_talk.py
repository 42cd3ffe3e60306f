"""Reference deliverables of task 23: notes, glossary, captions."""

from __future__ import annotations

import json
import textwrap
import wave
from array import array
from pathlib import Path

from benchmark_tasks.mini.sources import bread_talk as source

GLOSSARY = {
    "yeast": "A living fungus that eats the sugar in the flour and gives off carbon dioxide.",
    "gluten": "A protein that forms when you knead flour with water, and whose net catches the gas.",
    "bulk fermentation": "The first rest of the dough, until it has doubled in size.",
    "proofing": "The second rest, of the shaped loaf.",
    "oven spring": "The last growth of the loaf, in its first minutes in the oven.",
}


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    _notes(files / "Bread_Notes.docx")
    (files / "Bread_Glossary.json").write_text(json.dumps(GLOSSARY, indent=2), encoding="utf-8")
    (files / "Bread_Captions.srt").write_text(_captions(), encoding="utf-8")
    return "The notes, the glossary and the captions of lesson four are ready."


def _notes(path: Path) -> None:
    import docx

    notes = docx.Document()
    notes.add_heading("Lesson 4: why bread rises", 0)
    notes.add_heading("What you need", 1)
    notes.add_paragraph(", ".join(f"{what} {grams} g" for what, grams in source.INGREDIENTS.items()))
    notes.add_heading("Steps", 1)
    steps = (
        ("Knead", f"{source.KNEAD} min", ""),
        (
            "First rest (bulk fermentation), until doubled",
            f"{source.RESTS[0]} min",
            f"{source.RISE_AT} degrees Celsius",
        ),
        ("Shape; second rest (proofing)", f"{source.RESTS[1]} min", ""),
        ("Bake", f"{source.BAKE} min", f"{source.BAKE_AT} degrees Celsius"),
    )
    table = notes.add_table(rows=1, cols=3, style="Table Grid")
    for row in (("Step", "Time", "Temperature"), *steps):
        cells = table.rows[0].cells if row[0] == "Step" else table.add_row().cells
        for cell, text in zip(cells, row, strict=True):
            cell.text = text
    total = source.KNEAD + sum(source.RESTS) + source.BAKE
    notes.add_paragraph(f"Total from kneading to the end of baking: {total} minutes (3 hours).")
    notes.add_heading("Why the dough rises", 1)
    notes.add_paragraph(
        "Yeast eats the sugar in the flour and gives off carbon dioxide. Kneading flour with water forms gluten. The "
        "net of gluten catches the gas, and the dough grows."
    )
    notes.add_heading("Homework for Thursday", 1)
    notes.add_paragraph("Bake one loaf and write down how long your dough took to double.")
    notes.save(str(path))


def _captions() -> str:
    """Share out each sentence over its stretch of sound; the pauses between sentences are found in the recording."""
    captions: list[str] = []
    for sentence, (start, end) in zip(source.SENTENCES, _stretches(), strict=True):
        lines = textwrap.wrap(sentence, 60)
        pairs = ["\n".join(lines[i : i + 2]) for i in range(0, len(lines), 2)]
        letters = sum(map(len, pairs))
        for text in pairs:
            length = (end - start) * len(text) / letters
            captions.append(f"{len(captions) + 1}\n{_clock(start)} --> {_clock(start + length - 0.02)}\n{text}\n")
            start, letters = start + length, letters - len(text)
    return "\n".join(captions)


def _stretches() -> list[tuple[float, float]]:
    path = Path(source.__file__).parents[1] / source.TALK
    with wave.open(str(path)) as recording:
        rate = recording.getframerate()
        samples = array("h", recording.readframes(recording.getnframes()))
    # Within a sentence the voice pauses for at most 0.7 s, between the sentences of the script for a second.
    found: list[tuple[float, float]] = []
    begin = last = next(i for i, sample in enumerate(samples) if abs(sample) > 2)
    for i, sample in enumerate(samples):
        if abs(sample) > 2:
            if i - last > 0.85 * rate:
                found.append((begin / rate, last / rate))
                begin = i
            last = i
    return [*found, (begin / rate, last / rate)]


def _clock(second: float) -> str:
    whole = round(second * 1000)
    return f"00:{whole // 60_000:02}:{whole // 1000 % 60:02},{whole % 1000:03}"
