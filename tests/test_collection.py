from __future__ import annotations

import pytest

from pytest_gta.collection import key_of_node

KEYS = {"planning_3", "planning_3-gpt-5", "planning_3-gpt-5-mini", "planning_3_r2-codex"}


@pytest.mark.parametrize(
    ("nodeid", "key"),
    [
        ("t.py::test_workflow[planning_3]", "planning_3"),
        ("t.py::test_workflow[planning_3-gpt-5]", "planning_3-gpt-5"),
        ("t.py::test_workflow[planning_3-gpt-5-mini]", "planning_3-gpt-5-mini"),
        ("t.py::test_mine[low-planning_3-gpt-5-high]", "planning_3-gpt-5"),
        ("t.py::test_workflow[planning_3_r2-codex]", "planning_3_r2-codex"),
        ("t.py::test_workflow[planning_4]", None),
        ("t.py::test_other", None),
    ],
)
def test_the_task_and_agent_of_a_node(nodeid: str, key: str | None) -> None:
    assert key_of_node(nodeid, KEYS) == key
