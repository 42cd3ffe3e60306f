from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gta.benchmark.metrics import summarize
from pytest_gta.benchmark.results import StopReason, TaskStatus
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.benchmark.task import TaskFault
from pytest_gta.benchmark.usage import Tokens, Usage
from pytest_gta.reporters.scoreboard import Scoreboard
from tests.domain import a_task, an_agent, graded, not_graded, scored

KEYS = ["planning_1", "planning_2", "planning_3"]


@pytest.fixture
def board(tmp_path: Path) -> Scoreboard:
    tasks = [a_task("1"), a_task("2"), a_task("3"), TaskFault("4", "cp1", "weight 0")]
    board = Scoreboard(tasks, RunDirectory(tmp_path), threshold=7)
    board.expect(KEYS)
    return board


def test_results_come_back_in_the_order_of_the_selection_whatever_arrives_first(board: Scoreboard) -> None:
    board.add_result("planning_3", graded("3", 9).model_dump_json())
    board.add_result("planning_1", graded("1", 2).model_dump_json())
    assert [(r.task_id, r.status) for r in board.task_results()] == [
        ("1", "graded"),
        ("2", "not_run"),
        ("3", "graded"),
    ]


def test_only_what_was_collected_is_part_of_the_run(board: Scoreboard) -> None:
    assert [r.run_key for r in board.task_results()] == KEYS
    board.expect(["invalid_4", "stranger"])
    assert [r.run_key for r in board.task_results()] == [*KEYS, "invalid_4"]
    assert board.tasks_expected == 4
    assert board.leaves_expected == 9


def test_a_dead_workers_finished_leaves_count(board: Scoreboard) -> None:
    board.restart("planning_2", "t.py::test[planning_2]")
    board.add_verdict("planning_2", scored("cp2", 9).model_dump_json())
    result = board.add_crash("planning_2", "worker 'gw0' crashed")
    assert (result.status, result.error, result.nodeid) == (
        TaskStatus.ERROR,
        "worker 'gw0' crashed",
        "t.py::test[planning_2]",
    )
    assert result.leaf("cp2").score == 9.0
    assert result.root_bounds == (2.25, 9.75)
    assert board.task_results()[1] == result
    assert board.has_result("planning_2")


def test_an_interrupted_task_is_not_run_and_keeps_its_leaves(board: Scoreboard) -> None:
    board.restart("planning_2", "n")
    board.add_verdict("planning_2", scored("cp1-1", 9).model_dump_json())
    result = board.task_results()[1]
    assert (result.status, result.error) == ("not_run", "the run ended before this task did")
    assert result.leaf("cp1-1").score == 9.0


def test_what_was_spent_on_an_interrupted_task_counts(board: Scoreboard, tmp_path: Path) -> None:
    asked = Usage(calls=2, tokens=Tokens(input=80, output=8), cost_usd=0.5)
    directory = RunDirectory(tmp_path).task("planning_2")
    directory.write_agent(an_agent())
    for leaf in ("cp1-1", "cp1-2"):
        directory.add_verdict(scored(leaf, 9, usage=asked))
    board.restart("planning_2", "n")
    board.add_verdict("planning_2", scored("cp1-1", 9, usage=asked).model_dump_json())
    result = board.task_results()[1]
    assert (result.status, result.judge.usage, result.agent) == ("not_run", asked + asked, an_agent())
    assert [leaf.score for leaf in result.leaves()] == [9, 9, None]
    crashed = board.add_crash("planning_2", "worker 'gw0' crashed")
    assert (crashed.status, crashed.judge.usage) == ("error", asked + asked)
    assert summarize(board.task_results(), 7)["cost_usd"] == {"agent": 0.25, "judge": 1.0}


def test_a_score_on_disk_stands_whatever_happens_after_it(board: Scoreboard, tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.task("planning_1").write_result(graded("1", 8))
    run.task("planning_2").write_result(not_graded("2", TaskStatus.UNSCORED))
    crashed = [board.add_crash(key, "worker 'gw0' crashed") for key in KEYS[:2]]
    assert [(r.status, r.root_score, r.error) for r in crashed] == [
        ("graded", 8, None),
        ("error", None, "worker 'gw0' crashed"),
    ]
    assert crashed[0].feedback is None
    run.task("planning_3").write_result(graded("3", 6.5))
    assert [(r.status, r.root_score, r.success) for r in board.task_results()] == [
        ("graded", 8, True),
        ("error", None, None),
        ("graded", 6.5, False),
    ]


def test_a_lost_second_attempt_is_said_and_what_it_took_counts(tmp_path: Path) -> None:
    run, asked = RunDirectory(tmp_path), Usage(calls=1, tokens=Tokens(input=40, output=4), cost_usd=0.25)
    for task_id in ("1", "2"):
        run.task(f"planning_{task_id}").write_result(graded(task_id, 6))
    again = run.task("planning_1").after_feedback
    again.write_agent(an_agent())
    again.add_verdict(scored("cp2", 9, usage=asked))
    board = Scoreboard([a_task("1"), a_task("2")], run, threshold=5, feedback="coarse")
    board.expect(KEYS[:2])
    board.add_crash("planning_1", "worker 'gw0' crashed")
    one, two = board.task_results()
    assert (one.status, one.root_score, one.success, two.status, two.success) == ("graded", 6, True, "graded", True)
    assert one.feedback and two.feedback
    assert (one.feedback.mode, one.feedback.status, one.feedback.error) == ("coarse", "error", "worker 'gw0' crashed")
    assert (one.feedback.agent, one.feedback.judge.usage, one.feedback.root_score) == (an_agent(), asked, None)
    assert (two.feedback.status, two.feedback.error) == ("not_run", "the run ended before this task did")


def test_a_score_of_another_judge_does_not_stand_for_this_ones(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    for task_id in ("1", "2"):
        run.task(f"planning_{task_id}").write_result(graded(task_id, 8))
    board = Scoreboard([a_task("1"), a_task("2")], run, threshold=7, keeps=False)
    board.expect(KEYS[:2])
    run.task("planning_2").write_result(graded("2", 3))
    assert [(r.status, r.root_score) for r in board.task_results()] == [("not_run", None), ("graded", 3)]


def test_nothing_known_to_be_spent_is_not_shown_as_no_cost(board: Scoreboard) -> None:
    board.add_result("planning_1", not_graded("1", TaskStatus.ERROR).model_dump_json())
    assert board.cost_usd is None
    given_out = an_agent(stop_reason=StopReason.UNAVAILABLE)
    board.add_result("planning_2", not_graded("2", TaskStatus.ERROR, agent=given_out).model_dump_json())
    assert board.cost_usd == 0.25


def test_a_new_attempt_forgets_the_one_before(board: Scoreboard) -> None:
    board.restart("planning_1", "n")
    board.add_verdict("planning_1", scored("cp2", 1).model_dump_json())
    board.add_result("planning_1", graded("1", 1).model_dump_json())
    board.restart("planning_1", "n")
    assert not board.has_result("planning_1")
    assert (board.leaves_judged, board.tasks_finished) == (0, 0)
    board.add_result("planning_1", graded("1", 9).model_dump_json())
    assert board.task_results()[0].root_score == 9.0


def test_a_skipped_task_is_left_out_unless_it_has_a_result(board: Scoreboard) -> None:
    board.add_result("planning_1", graded("1", 9).model_dump_json())
    board.forget("planning_1")
    board.forget("planning_2")
    assert [r.run_key for r in board.task_results()] == ["planning_1", "planning_3"]


def test_a_verdict_that_came_twice_is_one_leaf(board: Scoreboard) -> None:
    for score in (3, 8):
        board.add_verdict("planning_1", scored("cp2", score).model_dump_json())
    assert board.leaves_judged == 1


def test_money_spent_is_unknown_when_a_price_is(board: Scoreboard) -> None:
    assert board.cost_usd is None
    board.add_result("planning_1", graded("1", 9).model_dump_json())
    assert board.cost_usd == pytest.approx(0.26)
    unknown = an_agent(usage=Usage(calls=1, cost_usd=None))
    board.add_result("planning_2", graded("2", 9, agent=unknown).model_dump_json())
    assert board.cost_usd is None
