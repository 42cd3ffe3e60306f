"""Task 41: the numbers of its leaves from the inputs alone, and its reference deliverables."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from statistics import median

from tests.mini.rubric import INPUTS, holds


class Thread(HTMLParser):
    """Author, date, likes and text of each article of the saved page."""

    def __init__(self) -> None:
        super().__init__()
        self.posts: list[dict[str, str]] = []
        self._field = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "article":
            self.posts.append(defaultdict(str))
        elif tag == "time":
            self.posts[-1]["date"] = given["datetime"] or ""
        self._field = {"span": "author", "p": "text", "footer": "likes"}.get(tag, "")

    def handle_endtag(self, tag: str) -> None:
        self._field = ""

    def handle_data(self, data: str) -> None:
        if self._field and self.posts:
            self.posts[-1][self._field] += data


def theme_of(text: str) -> str:
    """Main point of a post by its words, as a person sorts it."""
    low = text.lower()
    if re.search(r"leak|drip", low):
        return "leak"
    if re.search(r"\bhot\b|insulation|ice cubes", low):
        return "heat"
    if re.search(r"holder|too wide", low):
        return "size"
    return "price" if re.search(r"steep|sale|expensive", low) else "none"


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    page = Thread()
    page.feed((INPUTS / "files/41-mug_thread.html").read_text("utf-8"))
    posts = page.posts
    likes = sum(int(re.match(r"(\d+) likes?", post["likes"])[1]) for post in posts)
    counts: dict[str, int] = defaultdict(int)
    people: dict[str, set[str]] = defaultdict(set)
    for post in posts:
        counts[theme_of(post["text"])] += 1
        people[theme_of(post["text"])].add(post["author"])
    named = [(p["author"], int(m)) for p in posts for m in re.findall(r"(?:pay|At|worth) \$(\d+)", p["text"])]
    prices = [price for _, price in named]

    holds(leaves["41/cp1-1"], len(posts), posts[0]["date"], posts[-1]["date"], likes)
    order = ("leak", "size", "price", "heat", "none")
    holds(leaves["41/cp1-2"], *(word for theme in order for word in (theme, counts[theme])))
    holds(leaves["41/cp1-3"], *(word for pair in named for word in pair), 42)
    holds(leaves["41/cp2-1"], *(word for theme in order[:4] for word in (theme, len(people[theme]))))
    assert max(people, key=lambda theme: len(people[theme])) == "leak"
    holds(leaves["41/cp2-2"], "leaking lid")
    holds(leaves["41/cp2-3"], min(prices), max(prices), f"{median(prices):g}")


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    import pptx

    with (outputs / "41/files/Mug_Posts.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 16 and sum(int(row["likes"]) for row in rows) == 191
    deck = pptx.Presentation(str(outputs / "41/files/Mug_Feedback.pptx"))
    assert len(deck.slides) == 6
    assert all(slide.has_notes_slide and slide.notes_slide.notes_text_frame.text.endswith(".") for slide in deck.slides)
    (chart,) = [shape.chart for slide in deck.slides for shape in slide.shapes if shape.has_chart]
    assert list(chart.plots[0].series[0].values) == [5, 2, 2, 2]
