"""Task 22: a chapter on the Moon, to be made into a lesson deck and a quiz."""

from __future__ import annotations

from pathlib import Path

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.booklet import Block, Heading, NewPage, write_booklet

CHAPTER = "resources/files/22-moon_chapter.pdf"
PHASES = (
    ("New Moon", "day 0", "dark side towards us"),
    ("First quarter", "about day 7", "right half lit"),
    ("Full Moon", "about day 15", "whole disc lit"),
    ("Last quarter", "about day 22", "left half lit"),
)
FACTS = {
    "Mean distance from the Earth": "384,400 km",
    "Diameter": "3,474 km",
    "Time to go once round the Earth": "27.3 days",
    "Time from New Moon to New Moon": "29.5 days",
    "Gravity at the surface": "one sixth of the Earth's",
    "Temperature by day and by night": "about 120 and -170 degrees Celsius",
}

BLOCKS: tuple[Block, ...] = (
    Heading("Our nearest neighbour"),
    "The Moon is the Earth's only natural satellite. Most scientists think that it formed about 4.5 billion years "
    "ago, when a body as large as Mars struck the young Earth and the debris gathered in orbit.",
    [["What we measure", "Value"], *([what, value] for what, value in FACTS.items())],
    "The Moon always shows us the same face, because it turns once on its axis in the very time it takes to go once "
    "round the Earth: 27.3 days. The far side is not dark; it has day and night as the near side has.",
    NewPage(),
    Heading("Why the Moon changes its shape"),
    "The Moon does not shine. We see the part of it that the Sun lights, and the angle from which we look changes "
    "from day to day. The Earth's shadow has nothing to do with the phases.",
    [["Phase", "When", "Seen from the north"], *(list(row) for row in PHASES)],
    "While the Moon goes round the Earth, the Earth moves on around the Sun. The Moon needs about two more days to "
    "catch up: that is why the phases repeat after 29.5 days and not after 27.3.",
    NewPage(),
    Heading("Eclipses"),
    "A lunar eclipse happens at Full Moon, when the Earth's shadow falls on the Moon. A solar eclipse happens at New "
    "Moon, when the Moon's shadow falls on the Earth. Neither comes every month, since the Moon's orbit is tilted by "
    "about 5 degrees against that of the Earth.",
    Heading("Tides"),
    "The Moon's gravity pulls the oceans. Most coasts have two high tides a day, about 12 hours and 25 minutes "
    "apart. When Sun and Moon pull along one line, at New and at Full Moon, the tides are highest: spring tides. At "
    "the quarters they are lowest: neap tides.",
)  # fmt: skip


def make_inputs(folder: Path) -> None:
    """Write the chapter."""
    write_booklet(folder / CHAPTER, "The Moon", "Chapter 6 of Science for Year 7", BLOCKS)


def values() -> dict[str, Derived]:
    """Return what the rubric asks for: what the chapter states."""
    extra = 29.5 - 27.3
    return {
        "distance": Derived("384,400", "table on page 1, km"),
        "orbit": Derived(27.3, "table on page 1, days"),
        "month": Derived(29.5, "table on page 1, days"),
        "diameter": Derived("3,474", "table on page 1, km"),
        "extra": Derived(round(extra, 1), "29.5 - 27.3 days; the text says about two"),
        "phases": Derived([name for name, *_ in PHASES], "table on page 2"),
        "tilt": Derived(5, "page 3, degrees"),
        "tide": Derived("12 hours and 25 minutes", "page 3"),
    }
