"""Fixtures for the tests of `mini`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark_tasks.mini.reference import make_references
from tests.mini.rubric import MINI


@pytest.fixture(scope="session")
def leaves() -> dict[str, str]:
    """Text of every leaf by ``<task id>/<leaf id>``."""
    found: dict[str, str] = {}

    def walk(task_id: str, node: dict[str, Any]) -> None:
        for child in node.get("sub_tasks", []):
            walk(task_id, child)
        if not node.get("sub_tasks"):
            found[f"{task_id}/{node['id']}"] = node["requirements"]

    for task_id, record in json.loads((MINI / "end.json").read_text("utf-8")).items():
        for node in record["sub_tasks"]:
            walk(task_id, node)
    return found


@pytest.fixture(scope="session")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference deliverables of all tasks."""
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("references")
    make_references(folder)
    return folder
