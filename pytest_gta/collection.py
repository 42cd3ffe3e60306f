"""From tasks to test items: parameters, ids, markers, keywords."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import pytest

from pytest_gta.fixtures import INACTIVE
from pytest_gta.keys import BENCH, TASK

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_gta.benchmark.task import Task, TaskFault
    from pytest_gta.selection import DatasetFinder

CATEGORY_MARKERS = ("data_analysis", "education", "planning", "marketing", "creative_design", "retrieval_qa")
"""The categories of the official release; markers of these names exist whether a run is active or not."""


def dataset_finder(config: pytest.Config) -> DatasetFinder:
    """Return what asks the hook ``pytest_gta_dataset`` where a dataset is."""

    def find(name: str) -> Path | str | None:
        found: Path | str | None = config.hook.pytest_gta_dataset(config=config, name=name)
        return found

    return find


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Make one item a task of every test that uses `gta_task`; a single skipped one when no run is active."""
    if "gta_task" not in metafunc.fixturenames:
        return
    bench = metafunc.config.stash.get(BENCH, None)
    if bench is None:
        parameters = [pytest.param(None, id="inactive", marks=pytest.mark.skip(reason=INACTIVE))]
    else:
        parameters = [pytest.param(task, id=task.slug, marks=_markers(task)) for task in bench.tasks]
    metafunc.parametrize("gta_task", parameters, indirect=True)


def add_keywords(item: pytest.Item) -> None:
    """Remember an item's task and let ``-k`` find it by the kinds of files it is about."""
    callspec = getattr(item, "callspec", None)
    task = callspec.params.get("gta_task") if callspec else None
    if task is None:
        return
    item.stash[TASK] = task
    item.extra_keyword_matches.update(getattr(task, "kinds", ()))


def _markers(task: Task | TaskFault) -> list[pytest.MarkDecorator]:
    category = getattr(task, "category", None)
    return [getattr(pytest.mark, category)] if category else []


def marker_lines(tasks: Iterable[Task | TaskFault]) -> list[str]:
    """Return the markers to register: the six categories, and any other that the dataset has."""
    others = {category for task in tasks if (category := getattr(task, "category", None))} - set(CATEGORY_MARKERS)
    return [f"{name}: tasks of this category (pytest-gta)" for name in (*CATEGORY_MARKERS, *sorted(others))]


def run_key_of_node(nodeid: str, run_keys: Collection[str]) -> str | None:
    """Return which task a node id is of, None when it is of none.

    The task's slug is one of the parameters in the brackets, joined by ``-`` with those of the suite's own.
    """
    match = re.search(r"\[(.*)\]$", nodeid, re.DOTALL)
    if not match:
        return None
    return next((part for part in match[1].split("-") if part in run_keys), None)
