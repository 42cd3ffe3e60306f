"""A dataset's statistics beside those that GTA-2 publishes of its own: as a table of 80 columns, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from pytest_gta.benchmark import published_statistics as published
from pytest_gta.benchmark.statistics import DatasetStatistics, Spread
from pytest_gta.reporters.wording import rate

SOURCE = "GTA-2, arXiv 2604.15715, of GTA-Workflow; not counted here"
INFERRED = "from the files a task names, else from the words of its request"
"""How kinds of deliverables are found; the paper does not say how it counted."""
_BAR = 30
_PUBLISHED_LEAVES = Spread({float(leaves): tasks for leaves, tasks in published.LEAVES_A_TASK.items()})


def table(statistics: DatasetStatistics) -> Iterator[str]:
    """Yield the lines of the table; a dash where nothing is published."""
    yield row("", "here", "published")
    yield from _sizes(statistics)
    for heading, unit, here, total, theirs in _breakdowns(statistics):
        yield ""
        yield row(heading, unit, "published")
        yield from _shares(here, total, theirs)
    yield ""
    yield row("leaves a task", "tasks", "published")
    yield from _histogram(statistics.leaves.counts, published.LEAVES_A_TASK)
    yield ""
    yield f"published  {SOURCE}"
    yield f"inferred   {INFERRED}"


def as_json(statistics: DatasetStatistics) -> dict[str, Any]:
    """Return the statistics, and what is published, as JSON values."""
    here: dict[str, Any] = {}
    for field in fields(statistics):
        value = getattr(statistics, field.name)
        here[field.name] = _spread_json(value) if isinstance(value, Spread) else value
    return {
        "statistics": here,
        "published": {
            "source": SOURCE,
            "tasks": published.TASKS,
            "leaves": _spread_json(_PUBLISHED_LEAVES),
            "tasks_with_inputs": published.TASKS_WITH_INPUTS,
            "categories": dict(published.CATEGORIES),
            "input_kinds": list(published.INPUT_KINDS),
            "deliverables_per_cent": dict(published.DELIVERABLES),
            "tools": dict(published.TOOLS_BY_CAPABILITY),
            "capabilities": dict(published.TASKS_BY_CAPABILITY),
        },
    }


def _sizes(statistics: DatasetStatistics) -> Iterator[str]:
    leaves, theirs = statistics.leaves, _PUBLISHED_LEAVES
    yield row("tasks", f"{statistics.tasks:,}", f"{published.TASKS}")
    if statistics.unusable:
        yield row("records that are no usable task", f"{statistics.unusable:,}", "-")
    yield row("categories", f"{len(statistics.categories)}", f"{len(published.CATEGORIES)}")
    yield row("leaves", f"{leaves.total:,.0f}", f"{published.LEAVES:,}")
    yield row("  a task, mean", _mean(leaves), _mean(theirs))
    yield row("  a task, from the least to the most", _range(leaves), _range(theirs))
    yield row("checkpoints above them", f"{statistics.inner:,}", "-")
    for level, number in statistics.depths.counts.items():
        yield row(f"leaves at level {level:g}" + (", the top" if level == 1 else ""), f"{number:,}", "-")
    yield row("weight of a leaf, mean (range)", _mean_and_range(statistics.leaf_weights), "-")
    yield row("weight of a checkpoint above, mean (range)", _mean_and_range(statistics.inner_weights), "-")
    yield row("words of a request, mean (range)", _mean_and_range(statistics.request_words), "-")
    yield row("tasks with input files", f"{statistics.tasks_with_inputs:,}", f"{published.TASKS_WITH_INPUTS}")
    yield row("  files of such a task, mean (range)", _mean_and_range(statistics.inputs_a_task), "-")
    tools = "not readable" if statistics.other_tools < 0 else f"{sum(statistics.tools.values())}"
    yield row("the benchmark's tools described", tools, f"{published.TOOLS}")
    if statistics.other_tools > 0:
        yield row("other tools described", f"{statistics.other_tools}", "-")
    yield row("tasks that name tools", f"{statistics.tasks_naming_tools:,}", "0")


_Breakdown = tuple[str, str, Mapping[str, int], int, Mapping[str, str]]


def _breakdowns(statistics: DatasetStatistics) -> Iterator[_Breakdown]:
    """Yield heading, unit, numbers, what is 100 % of them, and what is published."""
    yield (
        "category",
        "tasks",
        statistics.categories,
        statistics.tasks,
        _counts_and_shares(published.CATEGORIES, published.TASKS),
    )
    guessed = f" (inferred for {statistics.capabilities_inferred:,})" if statistics.capabilities_inferred else ""
    yield (
        f"capability asked for{guessed}",
        "tasks",
        statistics.capabilities,
        statistics.tasks,
        _counts_and_shares(published.TASKS_BY_CAPABILITY, published.TASKS),
    )
    yield (
        "kind of deliverable (inferred)",
        "tasks asking",
        statistics.deliverables,
        sum(statistics.deliverables.values()),
        {kind: rate(share) for kind, share in published.DELIVERABLES.items()},
    )
    inputs = statistics.inputs
    yield "kind of input file", "files", inputs, sum(inputs.values()), dict.fromkeys(published.INPUT_KINDS, "some")
    yield (
        "class of tool",
        "tools",
        statistics.tools,
        sum(statistics.tools.values()),
        _counts_and_shares(published.TOOLS_BY_CAPABILITY, published.TOOLS),
    )


def _counts_and_shares(counts: Mapping[str, int], total: int) -> dict[str, str]:
    return {name: _count_and_share(number, total) for name, number in counts.items()}


def _count_and_share(number: int, total: int) -> str:
    return f"{number:,}  {rate(100 * number / total if total else None):>7}"


def _shares(here: Mapping[str, int], total: int, theirs: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys((*here, *theirs)):
        yield row(f"  {name}", _count_and_share(here[name], total) if name in here else "-", theirs.get(name, "-"))


def _histogram(here: Mapping[float, int], theirs: Mapping[int, int]) -> Iterator[str]:
    values = sorted({*here, *theirs})
    if not values:
        return
    tallest = max((*here.values(), *theirs.values()))
    for value in range(int(values[0]), int(values[-1]) + 1):
        number, other = here.get(value, 0), theirs.get(value, 0)
        bar = "#" * round(_BAR * number / tallest) or ("." if number else "")
        if number or other:
            yield row(f"  {value:>3}  {bar}", f"{number}", f"{other}")


def row(name: str, here: str, theirs: str) -> str:
    """Return a line of the table."""
    return f"{name:<42.42}{here:>19}{theirs:>18}".rstrip()


def _mean(spread: Spread) -> str:
    return "-" if spread.mean is None else f"{spread.mean:,.2f}"


def _range(spread: Spread) -> str:
    return "-" if spread.least is None else f"{spread.least:,g} to {spread.most:,g}"


def _mean_and_range(spread: Spread) -> str:
    return "-" if spread.mean is None else f"{_mean(spread)} ({_range(spread)})"


def _spread_json(spread: Spread) -> dict[str, Any]:
    return {
        "number": spread.number,
        "total": spread.total,
        "mean": spread.mean,
        "least": spread.least,
        "most": spread.most,
        "counts": {f"{value:g}": number for value, number in spread.counts.items()},
    }
