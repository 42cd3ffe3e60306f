"""Reference deliverables of task 64: guide beside the machine, sources."""

from __future__ import annotations

import json
from pathlib import Path

from benchmark_tasks.mini.sources.coffee_manuals import (
    CUP_ML,
    CUPS_A_DAY,
    FILTER_LITRES,
    GROUP_DAYS,
    HARD,
    PART_A,
    PART_B,
)

MANUAL, SUPPORT, NOTICE = "64-manual_2022.pdf", "64-support_page.html", "64-service_notice.docx"
DESCALE_DAYS = HARD // CUPS_A_DAY
FILTER_DAYS = FILTER_LITRES * 1000 // (CUPS_A_DAY * CUP_ML)
SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Every day", ("Empty drip tray and grounds.", "Rinse the milk tube with warm water after the last milk drink.")),
    (f"Every {GROUP_DAYS} days", ("Clean the brewing group under running water, without soap.",)),
    (f"Every {DESCALE_DAYS} days (150 cups)", ("Descale, see below.",)),
    (f"Every {FILTER_DAYS} days (50 litres)", ("Change the water filter.",)),
    (
        "How to descale (35 minutes)",
        ("1. Dissolve 2 tablets in 1 litre of water.", "2. Start the programme DESC.", "3. Rinse twice."),
    ),
    ("Never", ("Vinegar.", "Brewing group in the dishwasher.", "Grease on the seal: the new seal swells.")),
    (
        "On the display",
        (
            "E7: grounds container missing or not pushed in far enough.",
            "E9: brewing group stuck. Switch off, wait a minute, switch on; if it comes back, call support.",
        ),
    ),
    ("Spare seal", (f"Order {PART_B}.",)),
)


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    import docx
    from docx.shared import Cm, Pt

    guide = docx.Document()
    guide.sections[0].top_margin = guide.sections[0].bottom_margin = Cm(1.5)
    guide.styles["Normal"].font.size = Pt(13)
    guide.styles["Normal"].paragraph_format.space_after = Pt(1)
    guide.add_heading("Barista Uno 3: care", 0)
    for heading, lines in SECTIONS:
        guide.add_heading(heading, 2)
        for line in lines:
            guide.add_paragraph(line)
    guide.save(str(files / "Care_Guide.docx"))
    (files / "Sources.json").write_text(json.dumps(_sources(), indent=2), encoding="utf-8")
    return f"Descale every {DESCALE_DAYS} days, order {PART_B}, never grease the seal. Guide and sources are ready."


def _sources() -> list[dict[str, str]]:
    def entry(point: str, value: str, document: str, place: str, overrules: str = "") -> dict[str, str]:
        found = {"point": point, "value": value, "document": document, "place": place}
        return {**found, "overrules": overrules} if overrules else found

    notice = "second paragraph"
    return [
        entry("daily cleaning", "tray, grounds, milk tube", MANUAL, "page 1, Every day"),
        entry(
            "descaling",
            "every 150 cups",
            SUPPORT,
            "How often do I have to descale?",
            f"every 250 cups ({MANUAL}, page 2)",
        ),
        entry("how to descale", "2 tablets in 1 litre, DESC, rinse twice, 35 minutes", MANUAL, "page 2, Care"),
        entry("vinegar", "never", MANUAL, "page 2, Care"),
        entry("filter", "every 2 months or 50 litres, for us 18 days", MANUAL, "page 2, Care"),
        entry("brewing group", "every 7 days, no soap", MANUAL, "page 2, Care"),
        entry("dishwasher", "no", SUPPORT, "May the brewing group go into the dishwasher?"),
        entry("seal", PART_B, NOTICE, notice, f"{PART_A} ({MANUAL}, page 2)"),
        entry("grease", "none", NOTICE, "third paragraph", f"every 6 months ({MANUAL}, page 2)"),
        entry("E7", "grounds container", SUPPORT, "The display shows E7"),
        entry("E9", "brewing group stuck", SUPPORT, "The display shows E9"),
    ]
