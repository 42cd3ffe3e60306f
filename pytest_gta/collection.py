"""From tasks to test items: parameters, ids, markers, keywords."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

import pytest

from pytest_gta.fixtures import INACTIVE
from pytest_gta.keys import CONTENDER, LINEUP, TASK

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_gta.benchmark.task import Task, TaskFault
    from pytest_gta.run.selection import DatasetFinder

CATEGORY_MARKERS = ("data_analysis", "education", "planning", "marketing", "creative_design", "retrieval_qa")
"""The categories of the official release; markers of these names exist whether a run is active or not."""


def dataset_finder(config: pytest.Config) -> DatasetFinder:
    """Return what asks the hook ``pytest_gta_dataset`` where a dataset is."""

    def find(name: str) -> Path | str | None:
        found: Path | str | None = config.hook.pytest_gta_dataset(config=config, name=name)
        return found

    return find


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Make one item a task and agent of every test that uses `gta_task`; a skipped one when no run is active."""
    if "gta_task" not in metafunc.fixturenames:
        return
    lineup = metafunc.config.stash.get(LINEUP, None)
    if lineup is None:
        parameters = [pytest.param(None, id="inactive", marks=pytest.mark.skip(reason=INACTIVE))]
    else:
        parameters = [
            pytest.param((contender, task), id=contender.key(task.slug), marks=_markers(task))
            for contender, task in lineup.items()
        ]
    metafunc.parametrize("gta_task", parameters, indirect=True)


def add_keywords(item: pytest.Item) -> None:
    """Remember an item's task and agent, and let ``-k`` find it by the kinds of files it is about."""
    callspec = getattr(item, "callspec", None)
    given = callspec.params.get("gta_task") if callspec else None
    if given is None:
        return
    item.stash[CONTENDER], item.stash[TASK] = given
    item.extra_keyword_matches.update(getattr(item.stash[TASK], "kinds", ()))


def put_longest_first(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a worker, let the tasks that took longest in an earlier run begin first. The same in every worker."""
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    times: dict[str, float] = worker.get("gta_task_times") or {}
    if not times:
        return
    from pytest_gta.run.task_times import longest_first

    known = [times.get(item.stash[CONTENDER].key(item.stash[TASK].slug)) if TASK in item.stash else 0 for item in items]
    items[:] = [items[index] for index in longest_first(known, worker["workercount"])]


def _markers(task: Task | TaskFault) -> list[pytest.MarkDecorator]:
    category = getattr(task, "category", None)
    return [getattr(pytest.mark, category)] if category else []


def marker_lines(tasks: Iterable[Task | TaskFault]) -> list[str]:
    """Return the markers to register: the six categories, and any other that the dataset has."""
    others = {category for task in tasks if (category := getattr(task, "category", None))} - set(CATEGORY_MARKERS)
    return [f"{name}: tasks of this category (pytest-gta)" for name in (*CATEGORY_MARKERS, *sorted(others))]


def key_of_node(nodeid: str, keys: Collection[str]) -> str | None:
    """Return which task and agent a node id is of, None when it is of none.

    Their id is one of the parameters in the brackets, joined by ``-`` with those of the suite's own. Of several that
    could be meant (``planning_3-gpt-5`` and ``planning_3-gpt-5-mini``) it is the longest.
    """
    match = re.search(r"\[(.*)\]$", nodeid, re.DOTALL)
    if not match:
        return None
    parts = match[1].split("-")
    ends = range(len(parts), 0, -1)
    spans = ("-".join(parts[start:end]) for start in range(len(parts)) for end in ends if end > start)
    return next((span for span in spans if span in keys), None)
