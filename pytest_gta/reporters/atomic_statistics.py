"""The statistics of a dataset in GTA-Atomic's shape beside those published of it: as a table, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from pytest_gta.benchmark import atomic_statistics as atomic
from pytest_gta.benchmark.atomic_statistics import AtomicStatistics
from pytest_gta.benchmark.tool_names import TOOL_CAPABILITIES
from pytest_gta.reporters.statistics import row

SOURCE = "GTA-2, arXiv 2604.15715, of GTA-Atomic; not counted here"


def table(statistics: AtomicStatistics) -> Iterator[str]:
    """Yield the lines of the table; a dash where nothing is published."""
    yield row("", "here", "published")
    yield row("questions", f"{statistics.questions:,}", f"{atomic.PUBLISHED_QUESTIONS}")
    texts = statistics.keyed + statistics.open
    yield row("  answered in text", f"{texts:,}", f"{atomic.PUBLISHED_TEXTS}")
    yield row("    with an answer key: can be run", f"{statistics.keyed:,}", "-")
    yield row("    with an open answer: left out", f"{statistics.open:,}", "-")
    yield row("  answered by a picture: left out", f"{statistics.pictures:,}", f"{atomic.PUBLISHED_PICTURES}")
    if unusable := statistics.questions - texts - statistics.pictures:
        yield row("  whose record is not usable", f"{unusable:,}", "-")
    yield row("input files", f"{statistics.files:,}", f"{atomic.PUBLISHED_FILES}")
    yield row("tools", f"{len(statistics.tools)}", f"{atomic.PUBLISHED_TOOLS}")
    yield ""
    yield row("tools of a question", "questions", "published")
    for number in sorted({*statistics.tools_a_question, *atomic.PUBLISHED_TOOLS_A_QUESTION}):
        here, theirs = (c.get(number, 0) for c in (statistics.tools_a_question, atomic.PUBLISHED_TOOLS_A_QUESTION))
        yield row(f"  {number}", f"{here:,}", f"{theirs}")
    yield ""
    yield row("tool", "questions", "published")
    for name, number in statistics.tools.items():
        yield row(
            f"  {name}" + ("" if name in TOOL_CAPABILITIES else " (not among the tools here)"), f"{number:,}", "-"
        )
    yield ""
    yield f"published  {SOURCE}"


def as_json(statistics: AtomicStatistics) -> dict[str, Any]:
    """Return the statistics, and what is published, as JSON values."""
    return {
        "statistics": asdict(statistics),
        "published": {
            "source": SOURCE,
            "questions": atomic.PUBLISHED_QUESTIONS,
            "texts": atomic.PUBLISHED_TEXTS,
            "pictures": atomic.PUBLISHED_PICTURES,
            "files": atomic.PUBLISHED_FILES,
            "tools": atomic.PUBLISHED_TOOLS,
            "tools_a_question": dict(atomic.PUBLISHED_TOOLS_A_QUESTION),
        },
    }
