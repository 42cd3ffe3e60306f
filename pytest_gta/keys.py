"""Where the plugin keeps its state in pytest: one stash key each, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_gta.bench import Bench
    from pytest_gta.benchmark.results import TaskResult
    from pytest_gta.benchmark.task import Task, TaskFault

BENCH: pytest.StashKey[Bench] = pytest.StashKey()
"""On the config of an active run: what the process shares."""

TASK: pytest.StashKey[Task | TaskFault] = pytest.StashKey()
"""On an item: the task it runs."""

RESULT: pytest.StashKey[TaskResult] = pytest.StashKey()
"""On an item: its task's result, once there is one."""
