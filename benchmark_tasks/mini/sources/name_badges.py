"""Task 54: a list of registrations with the usual dirt, to be made into name badges."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from benchmark_tasks.mini.sources.authored import Derived

REGISTRATIONS = "resources/files/54-registrations.csv"
ROLES = {"Speaker": "#b03a2e", "Helper": "#1e8449", "Guest": "#21618c"}


@dataclass(frozen=True, slots=True)
class Person:
    """Who comes: `written` is the name as it was typed, `name` as it belongs on the badge; role "" was left blank."""

    written: str
    name: str
    role: str
    place: str

    @property
    def badge_role(self) -> str:
        """Role on the badge; whoever left it blank is a guest."""
        return self.role or "Guest"


PEOPLE = (
    Person("Maya Lindqvist", "Maya Lindqvist", "Speaker", "Uppsala"),
    Person("OMAR HADDAD", "Omar Haddad", "Guest", "Leeds"),
    Person("  Priya Nair", "Priya Nair", "Helper", "Leeds"),
    Person("jonas weber", "Jonas Weber", "", "Kassel"),
    Person("Sofia Marchetti", "Sofia Marchetti", "Speaker", "Turin"),
    Person("Ana-Lucia Ferreira-Montenegro", "Ana-Lucia Ferreira-Montenegro", "Guest", "Porto"),
    Person("Tom  O'Brien", "Tom O'Brien", "Helper", "Cork"),
    Person("Chidi Okonkwo", "Chidi Okonkwo", "Guest", ""),
    Person("Hana Sato", "Hana Sato", "Guest", "Kobe"),
    Person("Ruth Abel", "Ruth Abel", "Helper", "Bath"),
    Person("LENA PETROV", "Lena Petrov", "Speaker", "Varna"),
)
REPEATED = "omar haddad"
CANCELLED = ("Victor Hale", "Guest", "York")
PER_PAGE = 8


def badges() -> list[Person]:
    """Return who gets a badge, by role as in `ROLES` and then by last name."""
    order = list(ROLES)
    return sorted(PEOPLE, key=lambda p: (order.index(p.badge_role), p.name.split()[-1]))


def make_inputs(folder: Path) -> None:
    """Write the registrations: one person twice, one cancelled, blanks, capitals and spaces."""
    path = folder / REGISTRATIONS
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["name", "role", "place", "status"])
        for i, one in enumerate(PEOPLE):
            rows.writerow([one.written, one.role.lower() if i % 3 == 0 else one.role, one.place, "confirmed"])
            if i == 4:
                rows.writerow([*CANCELLED, "cancelled"])
            if i == 7:
                rows.writerow([REPEATED, "guest", "Leeds", "confirmed"])


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, from the list of people."""
    made = badges()
    by_role = [f"{role} {sum(p.badge_role == role for p in made)}" for role in ROLES]
    return {
        "count": Derived(len(made), "confirmed rows, each person once"),
        "pages": Derived(-(-len(made) // PER_PAGE), f"{len(made)} badges, {PER_PAGE} a page"),
        "last_page": Derived(len(made) % PER_PAGE, f"{len(made)} - {PER_PAGE}"),
        "by_role": Derived(by_role, "a blank role is a guest"),
        "order": Derived([p.name.split()[-1] for p in made], "speakers, helpers, guests; by last name within each"),
        "fixed": Derived(
            [p.name for p in PEOPLE if p.name != p.written], "names typed in capitals, small letters or blanks"
        ),
        "no_place": Derived([p.name for p in PEOPLE if not p.place], "place left blank"),
        "blank_role": Derived([p.name for p in PEOPLE if not p.role], "role left blank"),
        "twice": Derived("Omar Haddad", "two rows that differ in case only"),
        "cancelled": Derived(CANCELLED[0], "status cancelled"),
    }
