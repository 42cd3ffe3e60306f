"""Task 64: the facts of its leaves from the three documents alone, and its reference deliverables."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.mini.rubric import INPUTS, holds, pdf_text


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    import docx

    manual = pdf_text(INPUTS / "files/64-manual_2022.pdf")
    page = re.sub(r"<[^>]+>", " ", (INPUTS / "files/64-support_page.html").read_text("utf-8"))
    notice = " ".join(p.text for p in docx.Document(str(INPUTS / "files/64-service_notice.docx")).paragraphs)

    old = int(re.search(r"Descale every (\d+) cups", manual)[1])
    hard = int(re.search(r"above 8 dH\)\s+(\d+) cups", page)[1])
    holds(leaves["64/cp1-1-1"], hard, hard // 18, old)
    old_seal = re.search(r"Spare seal: part ([\w-]+)", manual)[1]
    new_seal = re.search(r"order ([\w-]+)", notice)[1]
    assert int(re.search(r"serial numbers from (\d+)", notice)[1]) <= 34512
    holds(leaves["64/cp1-1-2"], new_seal, old_seal)
    assert "needs no grease" in notice
    group = re.search(r"brewing group every (\d+) days", manual)[1]
    litres = int(re.search(r"after (\d+) litres", manual)[1])
    days = litres * 1000 // (18 * 150)
    assert days < 60
    holds(leaves["64/cp1-2-1"], group, days)
    holds(leaves["64/cp1-2-2"], re.search(r"dissolve (\d+) tablets", manual)[1], 1, "DESC", "twice", 35)
    holds(leaves["64/cp1-2-3"], "E7", re.search(r"E7\s+The (grounds container)", page)[1], "E9")
    grease = re.search(r"seal of the group every (\d+) months", manual)[1]
    holds(leaves["64/cp2-2"], old, 2, old_seal, grease)


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    sources = json.loads((outputs / "64/files/Sources.json").read_text("utf-8"))
    assert sum("overrules" in entry for entry in sources) == 3
    assert all({"point", "value", "document", "place"} <= set(entry) for entry in sources)
