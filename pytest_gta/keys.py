"""Where the plugin keeps its state in pytest: one stash key each, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_gta.benchmark.results import TaskResult
    from pytest_gta.benchmark.task import Task, TaskFault
    from pytest_gta.run.lineup import Contender, Lineup

LINEUP: pytest.StashKey[Lineup] = pytest.StashKey()
"""On the config of an active run: the agents, and what they share in this process."""

CONTENDER: pytest.StashKey[Contender] = pytest.StashKey()
"""On an item: the agent that is given its task."""

TASK: pytest.StashKey[Task | TaskFault] = pytest.StashKey()
"""On an item: the task it runs."""

BUILT: pytest.StashKey[bool] = pytest.StashKey()
"""On an item: that its agent was made by the plugin's own fixture."""

RESULT: pytest.StashKey[TaskResult] = pytest.StashKey()
"""On an item: its task's result, once there is one."""
