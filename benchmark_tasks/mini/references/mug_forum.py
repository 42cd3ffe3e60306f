"""Reference deliverables of task 41: the table of posts and the deck."""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import median
from typing import Any

from benchmark_tasks.mini.sources.mug_forum import POSTS, THEMES, authors


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    with (files / "Mug_Posts.csv").open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["post", "author", "date", "likes", "theme", "price_named"])
        for i, post in enumerate(POSTS, 1):
            rows.writerow([i, post.author, f"2025-03-{post.day:02}", post.likes, post.theme, post.price or ""])
    _deck(files / "Mug_Feedback.pptx")
    return "Fix the lid first: five people in the thread say it leaks. Mug_Posts.csv and Mug_Feedback.pptx are ready."


def _deck(path: Path) -> None:
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches, Pt

    deck = Presentation()

    def slide(heading: str, points: tuple[str, ...], notes: str, layout: int = 1) -> Any:
        page = deck.slides.add_slide(deck.slide_layouts[layout])
        page.shapes.title.text = heading
        if points:
            frame = page.placeholders[1].text_frame
            frame.text = points[0]
            for point in points[1:]:
                frame.add_paragraph().text = point
            for paragraph in frame.paragraphs:
                paragraph.font.size = Pt(24)
        page.notes_slide.notes_text_frame.text = notes
        return page

    def quote(i: int) -> str:
        return f'"{POSTS[i].text}" - {POSTS[i].author}'

    prices = sorted(post.price for post in POSTS if post.price is not None)
    slide(
        "Kestrel 450: what the forum says",
        ("16 posts on TalkGear, 3 to 12 March 2025",),
        "This is a reading of one saved forum thread, so it shows directions rather than shares of all customers.",
        layout=0,
    )
    page = slide(
        "The lid is what people talk about",
        (),
        "Bars count different people: whoever posted twice on a theme counts once. The moderator's post has no theme.",
        layout=5,
    )
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = [THEMES[theme] for theme in THEMES]
    data.add_series("Different people", [len(authors(theme)) for theme in THEMES])
    frame = page.shapes.add_chart(XL_CHART_TYPE.BAR_CLUSTERED, Inches(0.7), Inches(1.6), Inches(8.6), Inches(5.2), data)
    chart = frame.chart
    chart.has_legend = False
    chart.has_title = False
    chart.plots[0].has_data_labels = True
    chart.value_axis.visible = False
    chart.value_axis.has_major_gridlines = False
    chart.category_axis.reverse_order = True
    slide(
        "Main complaint: the leaking lid",
        ("5 people, 6 posts", quote(8), quote(3)),
        "The second quote is the most liked post of the thread, with 47 likes, and asks us to sell spare seals.",
    )
    slide(
        "What they would pay",
        (
            f"Four people name a price: USD {prices[0]} to {prices[-1]}",
            f"Median: USD {median(prices):.2f}, our price is USD 42",
            "Two people find the mug too expensive",
        ),
        "The highest sum, 45 dollars, comes with a condition: the lid has to stay dry.",
    )
    slide(
        "What they love: it keeps its temperature",
        (quote(1), "Ice cubes survived a night in the tent (trailmix)", "runar: loves how hot it stays"),
        "Two people praise the insulation, and nobody in the thread complains about it.",
    )
    slide(
        "What to do",
        (
            "1. Fix the lid seal and sell spare seals: 5 people report leaks, the most liked post asks for them",
            "2. Slim the base to 72 mm: it misses car holders and bottle cages (ilse, north_by_bike)",
            "3. Test a price near USD 38: the four named prices have that middle",
        ),
        "Lid first, because even the person who would pay 45 dollars makes a dry lid the condition.",
    )
    deck.save(str(path))
