"""Task 22: the numbers of its leaves from the chapter alone, and its reference deliverables."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pypdf

from tests.mini.rubric import INPUTS, holds


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    reader = pypdf.PdfReader(INPUTS / "files/22-moon_chapter.pdf")
    one, two, three = (" ".join(page.extract_text().split()) for page in reader.pages)

    def find(page: str, pattern: str) -> str:
        hits = re.findall(pattern, page)
        assert hits, pattern
        return hits[0]

    month = find(one, r"New Moon to New Moon ([\d.]+) days")
    holds(
        leaves["22/cp1-2-1"],
        find(one, r"distance from the Earth ([\d,]+) km"),
        find(one, r"Diameter ([\d,]+) km"),
        find(one, r"once round the Earth ([\d.]+) days"),
        month,
    )
    phases = re.findall(r"(New Moon|First quarter|Full Moon|Last quarter) (?:about )?day", two)
    holds(leaves["22/cp1-2-2"], *phases, month)
    assert "lunar eclipse happens at Full Moon" in three and "solar eclipse happens at New Moon" in three
    assert "at New and at Full Moon, the tides are highest: spring tides" in three
    holds(leaves["22/cp1-2-3"], "Full Moon", "New Moon", find(three, r"tilted by about (\d+) degrees"))
    assert "same face" in one and "phases" in two and "Eclipses" in three and "Tides" in three


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    import docx
    import pptx

    deck = pptx.Presentation(str(outputs / "22/files/Moon_Lesson.pptx"))
    assert len(deck.slides) == 8
    assert all(re.search(r"[Pp]ages? \d", slide.notes_slide.notes_text_frame.text) for slide in deck.slides)
    quiz = "\n".join(paragraph.text for paragraph in docx.Document(str(outputs / "22/files/Moon_Quiz.docx")).paragraphs)
    assert len(re.findall(r"(?m)^\d+\. ", quiz)) == 10
    assert [len(re.findall(rf"(?m)^{letter}  ", quiz)) for letter in "ABCD"] == [10] * 4
    with (outputs / "22/files/Moon_Quiz_Key.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 10 and {row["answer"] for row in rows} == set("ABCD")
