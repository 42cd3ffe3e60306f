"""Task 62: the facts of its leaves from the report as a person hears it, and its reference deliverables."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from tests.mini.rubric import holds

AS_HEARD = """
Report of the allotment meeting on 3 April. 11 members came, so we had a quorum. Item 1, the water pump. It broke in
March. Robert has two offers. Repair costs $380, a new pump $650. After some discussion we voted for the new pump, 8 in
favor, 2 against, 1 abstained. Robert orders it by 10 April. Item 2, the empty plots. Plots 4, 9 and 16 are free. There
are 7 people on the waiting list. Maria writes to the first 3 of them by 12 April. Item 3, the annual fee. It is $45
now. The treasurer proposed $52 from next year. We did not vote on it. It goes to the general meeting in June. Item 4,
the summer party. It will be on Saturday 21 June from 3 o'clock. Linda and Peter organize it, and the budget is $200.
Linda asks for the permit by the end of April. Correction to item 2. Maria told me afterwards that plot 9 is not free
after all, but plot 8 is. That is all.
"""


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    heard = " ".join(AS_HEARD.split())
    repair, pump = map(int, re.search(r"Repair costs \$(\d+), a new pump \$(\d+)", heard).groups())
    fee, proposed = map(int, re.search(r"It is \$(\d+) now. The treasurer proposed \$(\d+)", heard).groups())
    budget = int(re.search(r"budget is \$(\d+)", heard)[1])
    plots = set(re.search(r"Plots (\d+), (\d+) and (\d+) are free", heard).groups())
    gone, new = re.search(r"plot (\d+) is not free after all, but plot (\d+) is", heard).groups()
    free = sorted((plots - {gone}) | {new}, key=int)
    members = re.search(r"(\d+) members", heard)[1]
    yes, no, none = re.search(r"(\d+) in favor, (\d+) against, (\d+) abstained", heard).groups()
    holds(leaves["62/cp1-1-1"], "3 April", members, f"${pump}"[1:], yes, no, none)
    holds(leaves["62/cp1-1-2"], "21 June", budget)
    holds(leaves["62/cp1-2-1"], *free)
    holds(leaves["62/cp1-2-2"], proposed)
    dates = re.findall(r"(Robert|Maria|Linda) (?:orders|writes|asks)[^.]*? by (?:the end of )?(\d* ?April)", heard)
    days = {"10 April": "2025-04-10", "12 April": "2025-04-12", "April": "2025-04-30"}
    holds(leaves["62/cp2-1"], *(w for who, by in dates for w in (who, days[by])))
    holds(leaves["62/cp3-1"], *free, pump - repair)
    waiting, first = map(
        int, re.search(r"(\d+) people on the waiting list. Maria writes to the first (\d+)", heard).groups()
    )
    holds(leaves["62/cp3-2"], waiting - first)
    holds(leaves["62/cp3-3"], proposed, f"{100 * (proposed - fee) / fee:.1f}", fee)
    holds(leaves["62/cp3-4"], pump + budget)


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    with (outputs / "62/files/Actions.csv").open(encoding="utf-8") as lines:
        assert [row["by"] for row in csv.DictReader(lines)] == ["2025-04-10", "2025-04-12", "2025-04-30"]
    answers = (outputs / "62/files/Answers.md").read_text("utf-8")
    for fact in ("4, 8 and 16", "$270", "4 people", "15.6 %", "$850"):
        assert fact in answers
