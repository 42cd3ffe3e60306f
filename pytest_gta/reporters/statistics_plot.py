"""A dataset's statistics drawn beside those that GTA-2 publishes of its own."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.benchmark import published_statistics as published
from pytest_gta.reporters.statistics import SOURCE
from pytest_gta.reporters.visible_text import visible

if TYPE_CHECKING:
    from pytest_gta.benchmark.statistics import DatasetStatistics

SUFFIXES = (".png", ".svg", ".pdf")
"""The kinds of files that can be drawn."""

_HERE, _THEIRS = "#1f6f8b", "#c8c8c8"
_NARROW = 0.4


class NotDrawable(Exception):
    """A plot that cannot be drawn; says why and what to do."""


def check_drawable(path: Path) -> None:
    """Find what would keep a plot from being drawn.

    Raises:
        NotDrawable: When the file's kind is not known, or matplotlib is not installed.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise NotDrawable(f"{path}: a plot is drawn to a file ending in {', '.join(SUFFIXES)}")
    if find_spec("matplotlib") is None:
        raise NotDrawable("drawing needs matplotlib: pip install 'pytest-gta[tools]'")


def draw(path: Path, name: str, statistics: DatasetStatistics) -> None:
    """Draw four charts into one file: categories, leaves a task, deliverables and inputs.

    Args:
        path: The file; its suffix says what kind.
        name: The dataset's name.
        statistics: Its statistics.

    Raises:
        NotDrawable: When it cannot be drawn or written.
    """
    check_drawable(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 8), layout="constrained", dpi=110)
    axes = figure.subplots(2, 2)
    title = f"{visible(name)}: {statistics.tasks:,} tasks, {statistics.leaves.total:,.0f} leaves"
    figure.suptitle(title, parse_math=False)
    _bars(axes[0][0], "Categories", "tasks, %", _shares(statistics.categories), _shares(published.CATEGORIES))
    _histogram(axes[0][1], statistics)
    deliverables = _shares(statistics.deliverables)
    _bars(axes[1][0], "Kinds of deliverables (here: inferred)", "share, %", deliverables, published.DELIVERABLES)
    _bars(axes[1][1], "Kinds of input files", "share, %", _shares(statistics.inputs), {})
    figure.text(0.5, -0.02, f"grey: {SOURCE}", ha="center", fontsize=8)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, bbox_inches="tight")
    except OSError as error:
        raise NotDrawable(f"{path} cannot be written: {error.strerror or error}") from None


def _shares(counts: Mapping[str, int]) -> dict[str, float]:
    total = sum(counts.values())
    return {name: 100 * number / total for name, number in counts.items()}


def _bars(axes: Any, title: str, label: str, here: Mapping[str, float], theirs: Mapping[str, float]) -> None:
    names = list(dict.fromkeys((*here, *theirs)))
    places = range(len(names))
    height = _NARROW if theirs else 2 * _NARROW
    offset = height / 2 if theirs else 0.0
    bars = axes.barh([place - offset for place in places], [here.get(n, 0.0) for n in names], height, color=_HERE)
    axes.bar_label(bars, [f"{here[n]:.1f}" if n in here else "" for n in names], padding=2, fontsize=8)
    if theirs:
        values = [theirs.get(name, 0.0) for name in names]
        bars = axes.barh([place + offset for place in places], values, height, color=_THEIRS)
        axes.bar_label(bars, [f"{theirs[n]:.1f}" if n in theirs else "" for n in names], padding=2, fontsize=8)
    axes.set_yticks(list(places), [visible(name) for name in names], parse_math=False)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel(label)
    axes.set_title(title)


def _histogram(axes: Any, statistics: DatasetStatistics) -> None:
    for counts, shift, colour in ((statistics.leaves.counts, -0.5, _HERE), (published.LEAVES_A_TASK, 0.5, _THEIRS)):
        total = sum(counts.values()) or 1
        places = [value + shift * _NARROW for value in counts]
        axes.bar(places, [100 * number / total for number in counts.values()], _NARROW, color=colour)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("leaves a task")
    axes.set_ylabel("tasks, %")
    axes.set_title("Leaves a task")
