"""The benchmark: one item a task, succeeding when its root score reaches the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_gta.run.judged_task import JudgedTask


def test_workflow(gta_result: JudgedTask) -> None:
    """A task succeeds when its root score reaches the threshold."""
    gta_result.check()
