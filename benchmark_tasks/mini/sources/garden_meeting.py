"""Task 62: a spoken report of an allotment meeting, to be made into minutes, actions and answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.recording import speak

REPORT = "resources/audio/62-garden_meeting.wav"
SENTENCES = (
    "Report of the allotment meeting on the third of April. Eleven members came, so we had a quorum.",
    "Item one, the water pump. It broke in March. Robert has two offers. Repair costs three hundred and eighty "
    "dollars, a new pump six hundred and fifty. After some discussion we voted for the new pump, eight in favor, two "
    "against, one abstained.",
    "Robert orders it by the tenth of April.",
    "Item two, the empty plots. Plots four, nine, and sixteen are free. There are seven people on the waiting list. "
    "Maria writes to the first three of them by the twelfth of April.",
    "Item three, the annual fee. It is forty five dollars now. The treasurer proposed fifty two dollars from next "
    "year. We did not vote on it. It goes to the general meeting in June.",
    "Item four, the summer party. It will be on Saturday, the twenty first of June, from three o'clock. Linda and "
    "Peter organize it, and the budget is two hundred dollars. Linda asks for the permit by the end of April.",
    "Correction to item two. Maria told me afterwards that plot nine is not free after all, but plot eight is. That "
    "is all.",
)


@dataclass(frozen=True, slots=True)
class Action:
    """What somebody has to do by when, the date as month-day of 2025."""

    what: str
    who: str
    by: str


ACTIONS = (
    Action("order the new pump", "Robert", "2025-04-10"),
    Action("write to the first three people on the waiting list", "Maria", "2025-04-12"),
    Action("ask for the permit for the summer party", "Linda", "2025-04-30"),
)
MEMBERS, REPAIR, PUMP = 11, 380, 650
VOTE = (8, 2, 1)
PLOTS = (4, 8, 16)
WAITING, WRITTEN_TO = 7, 3
FEE, NEW_FEE, PARTY = 45, 52, 200


def make_inputs(folder: Path) -> None:
    """Record the report."""
    speak(folder, REPORT, SENTENCES)


def values() -> dict[str, Derived]:
    """Return what the rubric asks for: what is said in the report."""
    return {
        "members": Derived(MEMBERS, "said in the first sentence"),
        "vote": Derived(f"{VOTE[0]} to {VOTE[1]} with {VOTE[2]} abstention", "said under item one"),
        "pump": Derived(PUMP, "said under item one, USD"),
        "more": Derived(PUMP - REPAIR, f"{PUMP} - {REPAIR}"),
        "plots": Derived(list(PLOTS), "item two with the correction at the end: 4, 9, 16 becomes 4, 8, 16"),
        "fee": Derived(FEE, "said under item three, USD"),
        "new_fee": Derived(NEW_FEE, "said under item three, USD"),
        "percent": Derived(round(100 * (NEW_FEE - FEE) / FEE, 1), f"({NEW_FEE} - {FEE}) / {FEE}"),
        "waiting": Derived(WAITING - WRITTEN_TO, f"{WAITING} on the list - {WRITTEN_TO} who are written to"),
        "actions": Derived(
            [f"{a.who} {a.by}" for a in ACTIONS], "said under items one, two and four; year from the request"
        ),
        "party": Derived("2025-06-21", "said under item four"),
        "budget": Derived(PARTY, "said under item four, USD"),
        "spend": Derived(PUMP + PARTY, f"{PUMP} + {PARTY}"),
    }
