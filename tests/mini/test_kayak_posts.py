"""Task 44: the facts of its leaves from post and flyer (as a person reads it), and its reference deliverables."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

from tests.mini.rubric import INPUTS, holds

FLYER_AS_READ = """Try-a-Kayak Day
Mill River Canoe Club
Sunday 22 June, 10:00 to 16:00
Boathouse, Quay Lane 8
$ 12 adults, $ 6 children
Soup and tea included
Register by 15 June:
kayak@millriver.example"""


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    lines = FLYER_AS_READ.splitlines()
    day, time = lines[2].split(", ")
    adult, child = map(int, re.findall(r"\$ (\d+)", lines[4]))
    closes = lines[6].removeprefix("Register by ").rstrip(":")
    holds(leaves["44/cp1-1"], day, time, lines[3], adult, child, closes, lines[7])
    holds(leaves["44/cp1-2"], 2 * adult + 3 * child)

    comments = json.loads((INPUTS / "reddit_data/44/post.json").read_text("utf-8"))["comments"]
    asked = {c["author"]: c for c in comments if "?" in c["text"]}
    answered = {re.match(r"@(\w+)", c["text"])[1] for c in comments if c["text"].startswith("@")}
    ranked = sorted((c for name, c in asked.items() if name in answered), key=lambda c: -c["score"])
    topics = {"swim": "swim", "gear": "gear", "age": "age", "pours": "rain"}
    order = [topic for c in ranked for word, topic in topics.items() if re.search(rf"\b{word}\b", c["text"])]
    holds(leaves["44/cp1-3"], *order, "29 June")
    assert [name for name in asked if name not in answered] == ["keen_bean"]
    assert "parking" in asked["keen_bean"]["text"]
    (witness,) = [c["author"] for c in comments if "last year." in c["text"].lower()[:20]]
    holds(leaves["44/cp1-4"], witness)


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    with (outputs / "44/files/Subject_Lines.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 6 and all(len(row["subject"]) < 50 for row in rows)
    page = (outputs / "44/files/Newsletter.html").read_text("utf-8")
    text = re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.S)
    assert len(text.split()) <= 250 and "$42" in text
