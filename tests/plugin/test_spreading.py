"""Tasks over workers: which begin first."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.plugin.conftest import Project

EARLIER = ".gta/runs/20260101T000000Z-earlier"


def test_only_workers_begin_with_the_tasks_that_took_longest(make_project: Callable[..., Project]) -> None:
    project = make_project(4)
    project.run(f"--gta-run-dir={EARLIER}").assert_outcomes(passed=4)
    results = project.pytester.path / EARLIER / "results.json"
    earlier = json.loads(results.read_text())
    for task, seconds in zip(earlier["tasks"], (20, 40, 10, 30), strict=True):
        task["agent"]["wall_s"] = seconds
    results.write_text(json.dumps(earlier))
    ids = [task["task_id"] for task in earlier["tasks"]]

    def begun(*args: str) -> list[int]:
        before = len(project.judged())
        project.run(*args).assert_outcomes(passed=4)
        asked = project.judged()[before:]
        order = sorted(project.index, key=lambda task_id: asked.index(project.leaf(task_id, 0)))
        return [ids.index(task_id) for task_id in order]

    assert begun("--gta-run-dir=alone") == [0, 1, 2, 3]
    assert begun("-n1") == [1, 2, 3, 0]
