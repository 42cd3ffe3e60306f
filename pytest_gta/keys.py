"""Where the plugin keeps its state in pytest: one stash key each, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    pass

BENCH = pytest.StashKey["Bench"]()
"""On the config of an active run: what the process shares."""

TASK = pytest.StashKey["Task | TaskFault"]()
"""On an item: the task it runs."""

RESULT = pytest.StashKey["TaskResult"]()
"""On an item: its task's result, once judged."""
