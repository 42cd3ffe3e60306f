"""Which confinement is in force: the strongest that works on this machine, really tried, or the one asked for."""

from __future__ import annotations

from dataclasses import dataclass

BACKENDS = ("sandlock", "bwrap", "process", "off")
"""From the strongest to none."""

CHOICES = ("auto", *BACKENDS)
"""What ``--gta-sandbox`` takes."""

_NOTES = {
    "sandlock": "sandlock: no network, only the workspace is writable, inputs read-only, keys out of reach",
    "bwrap": "bubblewrap: no network, only the workspace is writable, inputs read-only, keys out of reach",
    "process": "WARNING process limits only: tool code can read this machine's files and use its network",
    "off": "WARNING off: tool code runs with your rights and without limits but time",
}


@dataclass(frozen=True, slots=True)
class Confinement:
    """How tool processes are confined.

    Attributes:
        backend: One of `BACKENDS`.
        note: One line that says what this holds back, for the header and the report.
    """

    backend: str
    note: str


class ConfinementUnavailable(Exception):
    """The confinement that was asked for does not work here; the message says why and what to do."""
