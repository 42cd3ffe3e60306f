"""Tasks over workers: which begin first."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.plugin.conftest import Project

EARLIER = ".gta/runs/20260101T000000Z-earlier"


def test_workers_begin_with_the_tasks_that_took_longest(make_project: Callable[..., Project]) -> None:
    project = make_project(4)
    project.run(f"--gta-run-dir={EARLIER}").assert_outcomes(passed=4)
    results = project.pytester.path / EARLIER / "results.json"
    earlier = json.loads(results.read_text())
    for task, seconds in zip(earlier["tasks"], (20, 40, 10, 30), strict=True):
        task["agent"]["wall_s"] = seconds
    results.write_text(json.dumps(earlier))
    before = len(project.judged())
    project.run("-n1").assert_outcomes(passed=4)
    asked = project.judged()[before:]
    begun = sorted(project.index, key=lambda task_id: asked.index(project.leaf(task_id, 0)))
    ids = [task["task_id"] for task in earlier["tasks"]]
    assert [ids.index(task_id) for task_id in begun] == [1, 2, 3, 0]


def test_in_one_process_the_order_stays(make_project: Callable[..., Project]) -> None:
    project = make_project(3)
    project.run(f"--gta-run-dir={EARLIER}").assert_outcomes(passed=3)
    before = len(project.judged())
    project.run("--gta-threshold=6").assert_outcomes(passed=3)
    asked = project.judged()[before:]
    assert sorted(project.index, key=lambda task_id: asked.index(project.leaf(task_id, 0))) == list(project.index)
