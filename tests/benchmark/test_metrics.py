from __future__ import annotations

import pytest

from pytest_gta.benchmark.metrics import bootstrap_interval, percent, summarize, wilson_interval
from pytest_gta.benchmark.results import JudgeRecord, LeafStatus, TaskStatus, Verdict
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.benchmark.usage import Usage
from tests.domain import an_agent, by_id, graded, leaf, not_graded, scored, unscored


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (19, 132, 9.412566, 21.389120),
        (0, 132, 0.0, 2.827899),
        (132, 132, 97.172101, 100.0),
        (5, 10, 23.659309, 76.340691),
        (0, 1, 0.0, 79.345069),
        (1, 1, 20.654931, 100.0),
    ],
)
def test_wilson_interval(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=1e-6)


def test_nothing_has_no_rate_and_no_interval() -> None:
    assert percent(0, 0) is None
    assert wilson_interval(0, 0) is None
    assert bootstrap_interval([]) is bootstrap_interval([7.0]) is None


def test_bootstrap_interval_is_the_same_each_time_and_as_wide_as_the_theory_says() -> None:
    values = [0.0, 10.0] * 50
    low, high = bootstrap_interval(values) or (0, 0)
    assert (low, high) == bootstrap_interval(values)
    # The mean of 100 values of standard deviation 5: 5 +- 1.96 * 0.5
    assert low == pytest.approx(4.02, abs=0.2)
    assert high == pytest.approx(5.98, abs=0.2)
    assert bootstrap_interval([6.0, 6.0, 6.0]) == (6.0, 6.0)


def test_summary_of_a_run_with_every_state() -> None:
    tasks = [
        graded("1", 9.0),
        graded("2", 7.0),
        graded("3", 4.0, category="education"),
        not_graded("4", TaskStatus.UNSCORED, (7.5, 8.0)),
        not_graded("5", TaskStatus.ERROR),
        not_graded("6", TaskStatus.NOT_RUN),
    ]
    summary = summarize(tasks, 7)
    assert [summary[k] for k in ("tasks", "graded", "unscored", "errors", "not_run", "succeeded")] == [6, 3, 1, 1, 1, 2]
    assert summary["root_score"] == pytest.approx(20 / 3)
    assert summary["root_sr"] == pytest.approx(200 / 3)
    assert summary["root_sr_ci"] == wilson_interval(2, 3)
    # Task 4 succeeds whatever its missing leaves would be; 5 and 6 may.
    assert summary["root_sr_bounds"] == [pytest.approx(50.0), pytest.approx(500 / 6)]
    assert summary["root_score_bounds"] == [pytest.approx(27.5 / 6), pytest.approx(48 / 6)]
    assert summary["root_sr_at"] == {
        "5": pytest.approx(200 / 3),
        "6": pytest.approx(200 / 3),
        "7": pytest.approx(200 / 3),
        "8": pytest.approx(100 / 3),
        "9": pytest.approx(100 / 3),
    }
    assert summary["by_category"]["education"] == {
        "tasks": 1,
        "graded": 1,
        "root_score": 4.0,
        "root_sr": 0.0,
        "leaf_sr": 0.0,
    }
    assert (summary["by_category"]["planning"]["tasks"], summary["by_category"]["planning"]["graded"]) == (5, 2)


def test_the_threshold_is_reached_by_equality() -> None:
    assert summarize([graded("1", 7.0)], 7)["root_sr"] == 100.0
    assert summarize([graded("1", 7.0)], 7.0001)["root_sr"] == 0.0


def test_the_published_headline_is_its_own_arithmetic() -> None:
    summary = summarize([graded(str(n), 8.0 if n < 19 else 3.0) for n in range(132)], 7)
    assert round(summary["root_sr"], 2) == 14.39
    assert [round(x, 1) for x in summary["root_sr_ci"]] == [9.4, 21.4]


def test_a_judge_error_is_in_no_leaf_rate_and_nothing_delivered_is() -> None:
    nodes = (leaf("a"), leaf("b"), leaf("c"), leaf("d"))
    nothing = Verdict(leaf_id="d", status=LeafStatus.NOT_DELIVERED, score=0)
    root = score_tree(nodes, by_id(scored("a", 7), scored("b", 6.9), unscored("c"), nothing))
    task = not_graded("1", TaskStatus.UNSCORED, root.bounds, checkpoints=root.checkpoints)
    summary = summarize([task], 7)
    assert (summary["leaves"], summary["scored_leaves"], summary["leaf_sr"]) == (4, 3, pytest.approx(100 / 3))
    assert summary["root_score"] is summary["root_sr"] is summary["root_sr_ci"] is None


def test_an_agent_that_delivered_nothing_stays_in_the_denominator() -> None:
    nodes = (leaf("a", 3), leaf("b"))
    root = score_tree(nodes, {x.id: Verdict(leaf_id=x.id, status=LeafStatus.NOT_DELIVERED, score=0) for x in nodes})
    nothing = graded("2", 0, root_score=root.score, checkpoints=root.checkpoints)
    summary = summarize([graded("1", 10), nothing], 7)
    assert (summary["graded"], summary["root_score"], summary["root_sr"]) == (2, 5.0, 50.0)
    assert summary["leaf_sr"] == pytest.approx(100 / 3)


def test_tool_rate_is_over_all_calls_of_all_tasks() -> None:
    tasks = [
        graded("1", 8, agent=an_agent(tool_calls=9, tool_errors=1)),
        graded("2", 8, agent=an_agent(tool_calls=1, tool_errors=1)),
        not_graded("3", TaskStatus.ERROR),
    ]
    summary = summarize(tasks, 7)
    assert (summary["tool_calls"], summary["tool_errors"], summary["tool_sr"]) == (10, 2, 80.0)
    assert summarize([graded("1", 8)], 7)["tool_sr"] is None


def test_an_unknown_price_makes_the_sum_unknown_and_never_zero() -> None:
    unknown = an_agent(usage=Usage(calls=1, cost_usd=None))
    summary = summarize([graded("1", 8), graded("2", 8, agent=unknown)], 7)
    assert summary["cost_usd"] == {"agent": None, "judge": pytest.approx(0.02)}
    assert summary["score_per_usd"] is None
    known = summarize([graded("1", 8), graded("2", 6)], 7)
    assert known["cost_usd"]["agent"] == pytest.approx(0.5)
    assert known["score_per_usd"] == pytest.approx(14.0)
    free = summarize([graded("1", 8, agent=an_agent(usage=Usage()), judge=JudgeRecord())], 7)
    assert free["cost_usd"] == {"agent": 0.0, "judge": 0.0}
    assert free["score_per_usd"] is None


def test_tokens_and_seconds_are_sums() -> None:
    summary = summarize([graded("1", 8), graded("2", 8)], 7)
    assert summary["tokens"]["agent"] == {"input": 1800, "cached": 600, "output": 240}
    assert summary["tokens"]["judge"] == {"input": 200, "cached": 0, "output": 20}
    assert summary["agent_s"] == 24.0


def test_a_task_counts_in_each_kind_it_is_about() -> None:
    summary = summarize([graded("1", 8, kinds=("csv", "pdf")), graded("2", 2, kinds=("pdf",))], 7)
    assert {name: row["root_sr"] for name, row in summary["by_deliverable"].items()} == {"csv": 100.0, "pdf": 50.0}


def test_no_tasks() -> None:
    summary = summarize([], 7)
    assert summary["tasks"] == summary["graded"] == 0
    assert summary["root_sr_bounds"] is summary["root_score_bounds"] is summary["root_score"] is None
    assert summary["root_sr_at"]["7"] is None
