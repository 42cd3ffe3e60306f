"""What a run means: every combination of states, and that the last line and the exit code say the same."""

from __future__ import annotations

import functools
import itertools
import re
from typing import Any

import pytest

from pytest_gta.benchmark.comparison import compare
from pytest_gta.benchmark.metrics import summarize
from pytest_gta.benchmark.results import TaskResult, TaskStatus
from pytest_gta.reporters.outcome import GateLimits, Outcome, judge_run
from tests.domain import graded, not_graded

WORDS = {0: "PASS", 1: "FAIL", 5: "NOTHING MEASURED", 10: "INCONCLUSIVE"}


def limits(
    fail_under: float | None = None, fail_under_score: float | None = None, max_error_rate: float = 0
) -> GateLimits:
    return GateLimits(fail_under, fail_under_score, max_error_rate, threshold=7)


def outcome(tasks: str, gate: GateLimits | None = None, other_failures: int = 0) -> Outcome:
    """Judge a run of tasks, each a letter.

    ``s`` succeeds with 9 points, ``f`` fails with 3, ``u`` is unscored, ``U`` is unscored but sure to fail, ``e`` is in
    error, ``n`` was not run.
    """
    return judge_run(_summary(tasks), gate or limits(), other_failures)


@functools.cache
def _summary(tasks: str) -> dict[str, Any]:
    made: list[TaskResult] = []
    for number, letter in enumerate(tasks):
        task_id = str(number)
        if letter in "sf":
            made.append(graded(task_id, 9 if letter == "s" else 3))
        elif letter == "U":
            made.append(not_graded(task_id, TaskStatus.UNSCORED, (1, 3)))
        else:
            states = {"u": TaskStatus.UNSCORED, "e": TaskStatus.ERROR, "n": TaskStatus.NOT_RUN}
            made.append(not_graded(task_id, states[letter]))
    return summarize(made, 7)


@pytest.mark.parametrize(
    ("tasks", "gate", "code", "line"),
    [
        # no gate: each task for itself
        ("", limits(), 5, "NOTHING MEASURED (exit 5): no task was selected"),
        ("ss", limits(), 0, "PASS (exit 0): all 2 graded tasks reach 7 points"),
        ("sf", limits(), 1, "FAIL (exit 1): 1 of 2 graded tasks below 7 points"),
        ("u", limits(), 10, "INCONCLUSIVE (exit 10): the task has no score"),
        ("e", limits(), 10, "INCONCLUSIVE (exit 10): the task has no score"),
        ("nn", limits(), 10, "INCONCLUSIVE (exit 10): none of 2 tasks has a score"),
        ("ee", limits(max_error_rate=100), 10, "INCONCLUSIVE (exit 10): none of 2 tasks has a score"),
        (
            "ssue",
            limits(),
            10,
            "INCONCLUSIVE (exit 10): 2 of 4 tasks without a score (1 unscored, 1 in error), 0 % allowed",
        ),
        ("sn", limits(), 10, "INCONCLUSIVE (exit 10): 1 of 2 tasks without a score (1 not run), 0 % allowed"),
        ("fu", limits(), 1, "FAIL (exit 1): 1 of 1 graded task below 7 points"),
        ("su", limits(max_error_rate=50), 0, "PASS (exit 0): the graded task reaches 7 points"),
        (
            "suu",
            limits(max_error_rate=50),
            10,
            "INCONCLUSIVE (exit 10): 2 of 3 tasks without a score (2 unscored), 50 %",
        ),
        # a gate on Root SR
        ("sf", limits(50), 0, "PASS (exit 0): Root SR 50.0 % >= 50 %"),
        ("sff", limits(50), 1, "FAIL (exit 1): Root SR 33.3 % < 50 %"),
        ("fffu", limits(50), 1, "FAIL (exit 1): Root SR 0.0 % < 50 %"),
        ("fu", limits(50), 10, "INCONCLUSIVE (exit 10): 1 of 2 tasks without a score (1 unscored), 0 % allowed"),
        ("fU", limits(50), 1, "FAIL (exit 1): Root SR 0.0 % < 50 %"),
        ("fn", limits(50), 10, "INCONCLUSIVE (exit 10): 1 of 2 tasks without a score (1 not run), 0 % allowed"),
        ("fffn", limits(50), 1, "FAIL (exit 1): Root SR 0.0 % < 50 %"),
        ("fffnnnnn", limits(50), 10, "INCONCLUSIVE (exit 10): 5 of 8 tasks without a score (5 not run), 0 % allowed"),
        ("fu", limits(50, max_error_rate=50), 1, "FAIL (exit 1): Root SR 0.0 % < 50 %"),
        # a gate on the mean score
        ("sf", limits(None, 6), 0, "PASS (exit 0): Root Score 6.00 >= 6"),
        ("sff", limits(None, 6), 1, "FAIL (exit 1): Root Score 5.00 < 6"),
        ("sffu", limits(None, 6), 10, "INCONCLUSIVE (exit 10): 1 of 4 tasks without a score (1 unscored), 0 % allowed"),
        ("fffu", limits(None, 6), 1, "FAIL (exit 1): Root Score 3.00 < 6"),
        ("fn", limits(None, 6.5), 10, "INCONCLUSIVE (exit 10): 1 of 2 tasks without a score (1 not run), 0 % allowed"),
        # both
        ("sf", limits(60, 7), 1, "FAIL (exit 1): Root SR 50.0 % < 60 %; Root Score 6.00 < 7"),
        ("sf", limits(40, 5), 0, "PASS (exit 0): Root SR 50.0 % >= 40 %; Root Score 6.00 >= 5"),
        ("", limits(10), 5, "NOTHING MEASURED (exit 5): no task was selected"),
    ],
)
def test_a_run_means(tasks: str, gate: GateLimits, code: int, line: str) -> None:
    result = outcome(tasks, gate)
    assert result.exit_code == code
    assert result.line.startswith(line)


GATES = [
    limits(),
    limits(50),
    limits(None, 5),
    limits(50, 5),
    limits(max_error_rate=40),
    limits(50, 5, max_error_rate=40),
    limits(0, 0),
    limits(100, 10),
]


@pytest.mark.parametrize("other_failures", [0, 2])
@pytest.mark.parametrize("gate", GATES, ids=str)
def test_line_code_and_verdict_agree_over_all_states(gate: GateLimits, other_failures: int) -> None:
    for length in range(5):
        for letters in itertools.combinations_with_replacement("sfuen", length):
            result = outcome("".join(letters), gate, other_failures)
            match = re.fullmatch(r"([A-Z ]+) \(exit (\d+)\): (.+)", result.line)
            assert match, result.line
            assert match[1] == WORDS[result.exit_code]
            assert int(match[2]) == result.exit_code
            assert match[3] == "; ".join(result.gate.reasons)
            assert (result.exit_code == 0) <= (other_failures == 0)
            verdicts = {0: "pass", 1: "fail", 5: "inconclusive", 10: "inconclusive"}
            decided = gate.gated or result.exit_code > 1
            assert result.gate.verdict == (verdicts[result.exit_code] if decided else "none")


def test_missing_scores_never_turn_a_failure_into_a_pass_or_a_pass_into_a_failure() -> None:
    """FAIL stands whatever the missing tasks would have scored; so does PASS when nothing may be missing."""
    for gate in (limits(50), limits(None, 6), limits(50, 6)):
        for letters in itertools.product("sfu", repeat=4):
            tasks = "".join(letters)
            code = outcome(tasks, gate).exit_code
            completions = {
                outcome("".join(choice), gate).exit_code
                for choice in itertools.product(*("sf" if letter == "u" else letter for letter in tasks))
            }
            if code == 1 and "u" in tasks:
                assert completions == {1}, tasks
            if code == 0:
                assert "u" not in tasks


def test_other_failing_tests_fail_a_session_whose_tasks_are_fine() -> None:
    assert outcome("ss", other_failures=1).line == (
        "FAIL (exit 1): all 2 graded tasks reach 7 points; 1 other test failed"
    )
    assert outcome("", other_failures=2).exit_code == 1
    assert outcome("su", other_failures=2).exit_code == 10
    assert outcome("sf", limits(50), other_failures=2).line == (
        "FAIL (exit 1): Root SR 50.0 % >= 50 %; 2 other tests failed"
    )


def test_a_number_just_below_its_limit_is_not_written_as_the_limit() -> None:
    tasks = [graded("1", 6.998)]
    line = judge_run(summarize(tasks, 7), limits(None, 7)).line
    assert line == "FAIL (exit 1): Root Score 6.99 < 7"


def against(before: list[float], after: list[float], missing: int = 0, **more: Any) -> Outcome:
    """Judge a run that has to be no worse than a baseline; `missing` further tasks have no score now."""
    tasks = [graded(str(number), score) for number, score in enumerate(after)]
    tasks += [not_graded(str(len(after) + number), TaskStatus.ERROR) for number in range(missing)]
    baseline = [graded(str(number), score) for number, score in enumerate(before)]
    gate = GateLimits(None, None, more.pop("max_error_rate", 0), threshold=7, baseline=True)
    return judge_run(summarize(tasks, 7), gate, comparison=compare(baseline, tasks, 7), **more)


@pytest.mark.parametrize(
    ("before", "after", "missing", "more", "code"),
    [
        ([9] * 8, [9] * 8, 0, {}, 0),
        ([3] * 8, [3] * 8, 0, {}, 0),
        ([9] * 8, [3] * 8, 0, {}, 1),
        ([9] * 8, [9] * 7 + [3], 0, {}, 10),
        # A score is missing: more than allowed, allowed, allowed but a drop stays one.
        ([9] * 8, [9] * 7, 1, {}, 10),
        ([9] * 8, [9] * 7, 1, {"max_error_rate": 20}, 0),
        ([9] * 8, [3] * 7, 1, {}, 1),
        # What is missing could turn the drop.
        ([9] * 8 + [3] * 8, [3] * 8, 8, {}, 10),
        ([9] * 8, [9] * 8, 0, {"other_failures": 1}, 1),
        # Part of the run is not there at all.
        ([9] * 8, [9] * 8, 0, {"gap": "shard 2/3 missing"}, 10),
        # Stopped, with everything measured, and with something not measured.
        ([9] * 8, [9] * 8, 0, {"stopped": "budget reached"}, 0),
    ],
)
def test_a_baseline_is_part_of_the_gate(
    before: list[float], after: list[float], missing: int, more: dict[str, Any], code: int
) -> None:
    found = against(before, after, missing, **more)
    assert found.exit_code == code
    assert found.line.startswith(f"{WORDS[code]} (exit {code}): ")
    assert found.gate.verdict == {0: "pass", 1: "fail", 10: "inconclusive"}[code]
    assert found.gate.baseline is not None


def test_a_baseline_without_a_common_score_is_no_pass() -> None:
    found = judge_run(_summary("ss"), GateLimits(None, None, 0, threshold=7, baseline=True))
    assert found.line == "INCONCLUSIVE (exit 10): no task has a score in both the baseline and this run"


def test_a_budget_that_left_tasks_out_is_no_pass_whatever_is_allowed() -> None:
    found = judge_run(
        _summary("sn"), limits(fail_under=10, max_error_rate=100), stopped="budget reached: $5 of $5 spent"
    )
    assert found.line == "INCONCLUSIVE (exit 10): 1 of 2 tasks not run: budget reached: $5 of $5 spent"


@pytest.mark.parametrize(
    ("score", "limit", "said"),
    [(5.396, 0, "5.39 >= 0"), (5.396, 5.397, "5.39 < 5.397"), (5.396, 5.395, "5.396 >= 5.395"), (7, 7, "7.00 >= 7")],
)
def test_a_score_is_shown_as_in_the_headline_or_with_what_tells_it_from_its_limit(
    score: float, limit: float, said: str
) -> None:
    line = judge_run(summarize([graded("1", score)], 7), limits(None, limit)).line
    assert line.endswith(f": Root Score {said}")
