"""Task 64: three documents on a coffee machine that partly contradict each other, to be made into one care guide."""

from __future__ import annotations

from pathlib import Path

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.booklet import Block, Heading, NewPage, write_booklet
from benchmark_tasks.mini.sources.office_file import save_office

MANUAL = "resources/files/64-manual_2022.pdf"
SUPPORT = "resources/files/64-support_page.html"
NOTICE = "resources/files/64-service_notice.docx"
CUPS_A_DAY = 18
OLD_DESCALE, SOFT, HARD = 250, 300, 150
FILTER_MONTHS, FILTER_LITRES = 2, 50
CUP_ML = 150
TABLETS, WATER = 2, 1.0
GROUP_DAYS, GREASE_MONTHS = 7, 6
PART_A, PART_B = "S-204", "S-211"

BLOCKS: tuple[Block, ...] = (
    Heading("Know your machine"),
    "The Barista Uno 3 makes one or two cups at a time. Tank 1.8 litres, bean container 250 g, power 1,450 W.",
    Heading("Every day"),
    "Empty the drip tray and the coffee grounds. Rinse the milk tube with warm water after the last milk drink.",
    NewPage(),
    Heading("Care"),
    [
        ["What", "How often"],
        ["Descale", f"every {OLD_DESCALE} cups"],
        ["Clean the brewing group", f"every {GROUP_DAYS} days, under running water, without soap"],
        ["Grease the seal of the group", f"every {GREASE_MONTHS} months"],
        ["Change the water filter", f"every {FILTER_MONTHS} months or after {FILTER_LITRES} litres"],
    ],
    f"To descale, dissolve {TABLETS} tablets in {WATER:g} litre of water, start the programme DESC and rinse twice. "
    "It takes about 35 minutes. Never use vinegar: it attacks the seals.",
    f"Spare seal: part {PART_A}.",
)
PAGE = f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Barista Uno 3: frequent questions | Support</title></head>
<body>
<nav>Home &gt; Support &gt; Barista Uno</nav>
<h1>Barista Uno 3: frequent questions</h1>
<p>Last changed on 12 February 2024.</p>
<h2>How often do I have to descale?</h2>
<p>That depends on your water. We have changed our advice since the printed manual:</p>
<table>
<tr><th>Water</th><th>Descale every</th></tr>
<tr><td>soft (up to 8 dH)</td><td>{SOFT} cups</td></tr>
<tr><td>hard (above 8 dH)</td><td>{HARD} cups</td></tr>
</table>
<h2>May the brewing group go into the dishwasher?</h2>
<p>No. Heat and detergent take the grease off the seal.</p>
<h2>The display shows E7</h2>
<p>The grounds container is missing or not pushed in far enough.</p>
<h2>The display shows E9</h2>
<p>The brewing group is stuck. Switch off, wait a minute, switch on. If E9 comes back, call us.</p>
</body>
</html>
"""


def make_inputs(folder: Path) -> None:
    """Write the manual, the support page and the notice."""
    import docx

    write_booklet(folder / MANUAL, "Barista Uno 3", "User manual, edition of May 2022", BLOCKS)
    path = folder / SUPPORT
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PAGE, encoding="utf-8", newline="\n")
    notice = docx.Document()
    notice.add_heading("Service notice 24-07 for Barista Uno 3", 0)
    notice.add_paragraph("Date: 3 September 2024. For all machines with serial numbers from 31000.")
    notice.add_paragraph(
        f"From serial number 31000 on, the brewing group has a new seal. Part {PART_A} does not fit any more; order "
        f"{PART_B}."
    )
    notice.add_paragraph("The new seal needs no grease. Grease makes it swell.")
    notice.add_paragraph("All other instructions stay as they are.")
    save_office(notice, folder / NOTICE)


def values() -> dict[str, Derived]:
    """Return what the rubric asks for: the newest word on each point, for the machine in the request."""
    litres_a_day = CUPS_A_DAY * CUP_ML / 1000
    return {
        "descale": Derived(HARD, "support page of 2024 (hard water), newer than the manual"),
        "descale_days": Derived(HARD // CUPS_A_DAY, f"{HARD} cups / {CUPS_A_DAY} a day, whole days"),
        "old_descale": Derived(OLD_DESCALE, "manual of 2022, page 2"),
        "tablets": Derived(TABLETS, "manual, page 2"),
        "group_days": Derived(GROUP_DAYS, "manual, page 2"),
        "filter_days": Derived(
            int(FILTER_LITRES / litres_a_day), f"{FILTER_LITRES} l / ({CUPS_A_DAY} x {CUP_ML} ml a day)"
        ),
        "seal": Derived(PART_B, "service notice, serial number 34512 is above 31000"),
        "old_seal": Derived(PART_A, "manual, page 2"),
        "e7": Derived("grounds container", "support page"),
    }
