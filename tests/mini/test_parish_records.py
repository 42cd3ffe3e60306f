"""Task 63: the facts of its leaves from minutes and budget alone, and its reference deliverables."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import openpyxl
import pypdf

from tests.mini.rubric import INPUTS, holds


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    reader = pypdf.PdfReader(INPUTS / "files/63-council_minutes.pdf")
    pages = [" ".join(page.extract_text().split()) for page in reader.pages]
    assert len(pages) == 4
    sheet = openpyxl.load_workbook(INPUTS / "files/63-budget_2025.xlsx")["Budget 2025"]
    lines = {row[0]: row[1:] for row in sheet.iter_rows(min_row=2, values_only=True)}

    voted = re.search(r"voted GBP ([\d,]+)", pages[0])[1]
    design = re.search(r"chose (design \w)", pages[0])[1]
    holds(leaves["63/cp1-1"], design, voted, f"{lines['Bus shelter'][0]:,}")
    holds(leaves["63/cp1-2"], re.search(r"put off from May to (\w+)", pages[2])[1])
    over = [(name, spent - planned) for name, (planned, spent) in lines.items() if spent > planned]
    left = sum(planned - spent for planned, spent in lines.values())
    holds(leaves["63/cp1-3"], *(w for pair in over for w in pair), f"{left:,}")
    trees = [tuple(map(int, pair)) for pair in re.findall(r"(?:Lime|Wild cherry) (\d+) (\d+)", pages[2])]
    assert len(trees) == 2
    lost = sum(planted - grown for planted, grown in trees)
    now, more = map(int, re.search(r"(\d+) visitors came on 5 July, (\d+) more than last year", pages[3]).groups())
    holds(leaves["63/cp1-4"], lost, now - more)
    present = [set(re.findall(r"[A-Z]\w+", re.search(r"Present: Councillors (.*?)\. Apol", page)[1])) for page in pages]
    holds(leaves["63/cp1-5"], *sorted(set.intersection(*present)))
    assert not any("slide" in page for page in pages)
    chair = re.search(r"Councillor (\w+) was elected as the next chair", pages[3])[1]
    holds(leaves["63/cp3-1"], chair, re.search(r"(\d+) signatures", pages[1])[1])
    holds(leaves["63/cp3-2"], voted, f"{lines['Bus shelter'][0]:,}")


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    import docx

    with (outputs / "63/files/Answers.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 8 and "620" in rows[2]["answer"] and "5,165" in rows[3]["answer"]
    brief = docx.Document(str(outputs / "63/files/Brief.docx"))
    words = " ".join(p.text for p in brief.paragraphs) + brief.tables[0].cell(0, 0).text
    assert len(words.split()) <= 300
