from __future__ import annotations

from itertools import combinations

import pytest

from pytest_gta.benchmark.metrics import bootstrap_interval, summarize, wilson_interval
from pytest_gta.benchmark.repeats import (
    clustered_bootstrap,
    independent_runs,
    pass_all,
    pass_at,
    repeat_summary,
)
from pytest_gta.benchmark.results import TaskResult, TaskStatus
from tests.domain import graded, not_graded


def repeats(task_id: str, *scores: float) -> list[TaskResult]:
    return [graded(task_id, x, repeat=n, run_key=f"planning_{task_id}_r{n}") for n, x in enumerate(scores, 1)]


@pytest.mark.parametrize(("runs", "successes"), [(5, 2), (5, 0), (5, 5), (4, 3), (1, 1)])
def test_pass_at_and_pass_all_are_what_counting_all_choices_gives(runs: int, successes: int) -> None:
    outcomes = [True] * successes + [False] * (runs - successes)
    for k in range(1, runs + 1):
        choices = list(combinations(outcomes, k))
        assert pass_at(runs, successes, k) == pytest.approx(sum(map(any, choices)) / len(choices))
        assert pass_all(runs, successes, k) == pytest.approx(sum(map(all, choices)) / len(choices))


def test_more_runs_than_there_are_say_nothing() -> None:
    for estimate in (pass_at, pass_all):
        with pytest.raises(ValueError, match="2 successes in 3 runs say nothing of 4 runs"):
            estimate(3, 2, 4)


def test_the_summary_of_repeats_by_hand() -> None:
    lost = not_graded("3", TaskStatus.UNSCORED, repeat=2, run_key="planning_3_r2")
    tasks = [*repeats("1", 9, 5), *repeats("2", 8, 7), *repeats("3", 2), lost]
    summary = repeat_summary(tasks, 7)
    assert summary is not None
    assert (summary["tasks"], summary["runs"]) == (3, 2)
    # One run: 1/2, 1, 0. Two runs, over the two tasks that have them: any 1, 1; all 0, 1.
    assert summary["at_k"] == {
        "1": {"tasks": 3, "pass_at": pytest.approx(50), "pass_all": pytest.approx(50)},
        "2": {"tasks": 2, "pass_at": 100.0, "pass_all": 50.0},
    }
    first, _, third = summary["by_task"]
    assert first == {
        "task": "planning_1",
        "runs": 2,
        "graded": 2,
        "succeeded": 1,
        "root_score": 7.0,
        "spread": pytest.approx(8**0.5),
        "lowest": 5.0,
        "highest": 9.0,
    }
    assert (third["runs"], third["graded"], third["spread"]) == (2, 1, None)


def test_a_run_without_repeats_has_no_such_summary() -> None:
    assert summarize([graded("1", 9)], 7)["repeats"] is None


def test_repeats_that_end_alike_say_no_more_than_their_tasks() -> None:
    assert independent_runs([(5, 5), (0, 5), (5, 5), (0, 5)]) == 4
    assert independent_runs([(5, 5)] * 6) == 6


def test_repeats_that_differ_as_tasks_do_count_as_runs() -> None:
    assert independent_runs([(1, 2)] * 4) == 8
    # Rate 1/2; the variance of the mean is 2 * 1 * 4 / 3 / 64 = 1/24, that of independent runs 1/4n: n = 6.
    assert independent_runs([(2, 2), (0, 2), (1, 2), (1, 2)]) == pytest.approx(6)


def test_intervals_are_clustered_by_task() -> None:
    alike = [*repeats("1", 9, 9, 9), *repeats("2", 2, 2, 2), *repeats("3", 9, 9, 9), *repeats("4", 2, 2, 2)]
    summary = summarize(alike, 7)
    assert (summary["graded"], summary["root_sr"]) == (12, 50.0)
    assert summary["root_sr_ci"] == wilson_interval(2, 4)
    assert summary["root_score_ci"] == bootstrap_interval([9, 2, 9, 2])
    assert clustered_bootstrap([[1.0, 2.0]]) is None
