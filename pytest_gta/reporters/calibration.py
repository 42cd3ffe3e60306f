"""Agreement between raters as text: one table, with the paper's numbers beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_gta.reporters.visible_text import visible
from pytest_gta.reporters.wording import count

if TYPE_CHECKING:
    from pytest_gta.judge.calibration.agreement import Agreement, Estimate

PAPER = {
    "roots.pearson": "0.966",
    "roots.spearman": "0.895",
    "roots.icc": "0.928",
    "roots.mae": "0.744",
    "leaves.kappa": "0.812",
    "leaves.accuracy": "95.3 %",
}
"""The judge of the GTA-2 paper (arXiv 2604.15715) against people."""

_LABEL, _CELL, _PAPER = 18, 22, 8
_PAIRS_A_BLOCK = 2

ROWS: tuple[tuple[str, str], ...] = (
    ("roots.pearson", "Pearson"),
    ("roots.spearman", "Spearman"),
    ("roots.kendall", "Kendall"),
    ("roots.icc", "ICC(2,1)"),
    ("roots.mae", "MAE, points"),
    ("leaves.pearson", "Pearson"),
    ("leaves.mae", "MAE, points"),
    ("leaves.accuracy", "accuracy"),
    ("leaves.kappa", "Cohen's kappa"),
)
"""The statistics in order: where each is found, and its name."""


@dataclass(frozen=True, slots=True)
class Concordance:
    """How far several raters rank the same tasks alike.

    Attributes:
        raters: Their names.
        tasks: Tasks that all of them scored.
        w: Kendall's W, 0 to 1; None when not defined.
    """

    raters: tuple[str, ...]
    tasks: int
    w: float | None


def table_lines(pairs: Sequence[Agreement], concordance: Concordance | None = None) -> Iterator[str]:
    """Yield the comparison of each pair of raters, at most 80 columns wide."""
    for start in range(0, len(pairs), _PAIRS_A_BLOCK):
        if start:
            yield ""
        yield from _block(pairs[start : start + _PAIRS_A_BLOCK])
    yield ""
    yield "[ ]: 95 % bootstrap over tasks.  -: not defined, or not published."
    for pair in pairs:
        yield from remarks(pair)
    if concordance is not None:
        yield visible(
            f"ranking of {count(concordance.tasks, 'task')} by {', '.join(concordance.raters)}: "
            f"Kendall's W {_number(concordance.w)}"
        )


def remarks(pair: Agreement) -> Iterator[str]:
    """Yield what a pair's numbers leave out, and which way they differ."""
    leaves = pair.leaves
    if leaves.only_first or leaves.only_second:
        yield visible(
            f"{pair.second} passes {leaves.only_second} and fails {leaves.only_first} leaves against {pair.first}"
        )
    if pair.unmatched:
        marked = count(pair.unmatched, "leaf")
        yield visible(f"{marked} marked by {pair.first} and not by {pair.second}: left out")


def cell(pair: Agreement, where: str) -> str:
    """Return one statistic of a pair, with its interval."""
    part, _, name = where.partition(".")
    estimate: Estimate = getattr(getattr(pair, part), name)
    digits, unit = (1, " %") if name == "accuracy" else (3, "")
    if estimate.value is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return f"{_plain(estimate.value, digits)}{unit}"
    low, high = (_plain(bound, digits - 1) for bound in (estimate.low, estimate.high))
    return f"{_plain(estimate.value, digits)}{unit} [{low}, {high}]"


def sizes(pair: Agreement, part: str) -> str:
    """Return of how many tasks or leaves a pair's numbers are."""
    if part == "roots":
        return count(pair.roots.tasks, "task")
    return f"{pair.leaves.judged:,} in {count(pair.leaves.tasks, 'task')}"


def name(pair: Agreement) -> str:
    """Return the heading of a pair."""
    return visible(f"{pair.second} / {pair.first}")


def _block(pairs: Sequence[Agreement]) -> Iterator[str]:
    def line(label: str, cells: Sequence[str], paper: str) -> str:
        middle = "".join(f"{text:<{_CELL}.{_CELL - 1}}" for text in cells)
        return f"{label:<{_LABEL}}{middle}{paper:>{_PAPER}}".rstrip()

    yield line("", [name(pair) for pair in pairs], "paper")
    for part, title in (("roots", "root scores"), ("leaves", "leaves")):
        yield line(title, [sizes(pair, part) for pair in pairs], "")
        for where, label in ROWS:
            if where.startswith(part):
                yield line(f"  {label}", [cell(pair, where) for pair in pairs], PAPER.get(where, "-"))


def _plain(value: float, digits: int) -> str:
    # Adding 0 takes the sign from a rounded minus nothing.
    return f"{round(value, digits) + 0.0:.{digits}f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
