from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_gta.benchmark.results import JudgeRecord, TaskStatus
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.run.task_times import longest_first, seconds_of, task_times
from tests.domain import a_run, an_agent, graded, not_graded


def took(task_id: str, agent_s: float, judge_s: float) -> Any:
    return graded(task_id, 8, agent=an_agent(wall_s=agent_s), judge=JudgeRecord(wall_s=judge_s))


def write_run(root: Path, *tasks: Any, sha256: str = "aa", label: str = "tools", model: str = "m1") -> Path:
    run = RunDirectory(root)
    facts = {"dataset": {"sha256": sha256}, "agent": {"label": label, "model": model}}
    run.write_manifest(facts)
    run.write_results(a_run(*tasks))
    return root


def lineup(folder: Path, *labels: str, baseline: Path | None = None, sha256: str = "aa", model: str = "m1") -> Any:
    def contender(label: str) -> Any:
        bench = SimpleNamespace(
            settings=SimpleNamespace(baseline=baseline, model=model),
            release=SimpleNamespace(sha256=sha256),
            agent_spec=SimpleNamespace(label=label or "tools"),
            tasks=[SimpleNamespace(slug=slug) for slug in ("planning_1", "planning_2", "planning_3")],
        )
        return SimpleNamespace(bench=bench, key=lambda slug: f"{slug}-{label}" if label else slug)

    return SimpleNamespace(folder=folder, contenders=[contender(label) for label in labels or ("",)])


def test_a_task_takes_as_long_as_its_agent_and_its_judge(tmp_path: Path) -> None:
    run = write_run(tmp_path, took("1", 60, 5), not_graded("2", TaskStatus.NOT_RUN))
    assert seconds_of(run) == {"planning_1": 65}


def test_times_are_those_of_the_baseline(tmp_path: Path) -> None:
    write_run(tmp_path / ".gta" / "runs" / "20260101T000000Z-tools", took("1", 1, 0))
    baseline = write_run(tmp_path / "main", took("1", 60, 5), took("9", 1, 1))
    assert task_times(lineup(tmp_path, baseline=baseline)) == {"planning_1": 65}


def test_without_a_baseline_they_are_those_of_the_newest_run_of_the_same_agent_and_tasks(tmp_path: Path) -> None:
    runs = tmp_path / ".gta" / "runs"
    write_run(runs / "20260101T000000Z-tools", took("1", 1, 0))
    write_run(runs / "20260102T000000Z-tools", took("1", 2, 0))
    write_run(runs / "20260103T000000Z-other", took("1", 3, 0), label="other")
    write_run(runs / "20260104T000000Z-tools", took("1", 4, 0), sha256="bb")
    (runs / "20260105T000000Z-killed").mkdir()
    RunDirectory(runs / "20260106T000000Z-damaged").root.mkdir()
    (runs / "20260106T000000Z-damaged" / "run.json").write_text("{")
    assert task_times(lineup(tmp_path)) == {"planning_1": 2}
    assert task_times(lineup(tmp_path, model="m2")) == {"planning_1": 3}
    assert task_times(lineup(tmp_path, sha256="cc")) == {}
    assert task_times(lineup(tmp_path / "elsewhere")) == {}


def test_each_of_several_agents_goes_by_its_own_part(tmp_path: Path) -> None:
    whole = tmp_path / ".gta" / "runs" / "20260101T000000Z-a-b"
    RunDirectory(whole).write_manifest({"agents": [{"label": "a"}, {"label": "b"}]})
    write_run(whole / "agents" / "a", took("1", 10, 0), label="a")
    write_run(whole / "agents" / "b", took("1", 20, 0), label="b")
    assert task_times(lineup(tmp_path, "a", "b")) == {"planning_1-a": 10, "planning_1-b": 20}


def handed_out(order: Sequence[int], times: Sequence[float], workers: int) -> float:
    """When the last task ends, as pytest-xdist hands them out with ``--maxschedchunk=1``."""
    waiting, queues = list(order), [[] for _ in range(workers)]  # type: list[int], list[list[int]]
    for queue in queues:
        queue.extend(waiting[:2])
        del waiting[:2]
    free = [0.0] * workers
    while any(queues):
        worker = min((n for n in range(workers) if queues[n]), key=lambda n: free[n] + times[queues[n][0]])
        free[worker] += times[queues[worker].pop(0)]
        if waiting:
            queues[worker].append(waiting.pop(0))
    return max(free)


def test_the_longest_begin_first_and_none_of_them_waits_for_another() -> None:
    times = [1.0, 9.0, 3.0, 8.0, 2.0, 4.0, 5.0]
    order = longest_first(times, 2)
    assert [times[index] for index in order] == [9, 1, 8, 2, 5, 4, 3]
    assert handed_out(order, times, 2) == 17
    assert sum(times) / 2 == 16


def test_a_long_task_at_the_end_keeps_nobody_waiting() -> None:
    times = [1.0] * 12 + [9.0]
    assert handed_out(range(13), times, 2) == 15
    assert handed_out(longest_first(times, 2), times, 2) == 11


@pytest.mark.parametrize(
    ("times", "workers", "order"),
    [
        ([1.0, 2.0, 3.0], 2, [2, 1, 0]),
        ([4.0, 3.0, 2.0, 1.0], 3, [0, 1, 2, 3]),
        ([1.0, 2.0, 3.0, 4.0, 5.0], 3, [4, 3, 2, 0, 1]),
        ([None, 9.0, 1.0], 1, [1, 2, 0]),
        ([None, None], 1, [0, 1]),
        ([], 4, []),
    ],
    ids=["two rounds", "one more than workers", "short ones behind", "unknown is the mean", "nothing known", "no task"],
)
def test_orders(times: list[float | None], workers: int, order: list[int]) -> None:
    assert longest_first(times, workers) == order
