"""Statistics of agreement against published and hand-computed numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from pytest_gta.judge.calibration import agreement as module
from pytest_gta.judge.calibration.agreement import (
    StatisticsUnavailable,
    agreement,
    cohen_kappa,
    icc_2_1,
    kendall,
    kendall_w,
    mean_absolute_error,
    pearson,
    spearman,
)
from pytest_gta.judge.calibration.ratings import Mark, Ratings, consensus

SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
"""Table 2 of Shrout & Fleiss (1979): six targets, four judges; ICC(2,1) is .29."""


def row(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64)


def binary(both: int, first: int, second: int, neither: int) -> tuple[list[float], list[float]]:
    return ([1.0] * (both + first) + [0.0] * (second + neither)), (
        [1.0] * both + [0.0] * first + [1.0] * second + [0.0] * neither
    )


def test_icc_is_that_of_the_paper_that_defines_it() -> None:
    assert icc_2_1(*np.array(SHROUT_FLEISS, dtype=float).T) == pytest.approx(0.2898, abs=5e-5)


def test_icc_counts_a_constant_bias_which_correlation_does_not() -> None:
    people, judge = row(2, 4, 6, 8), row(4, 6, 8, 10)
    assert pearson(people, judge) == pytest.approx(1)
    # By hand: MSR 40/3, MSC 8, MSE 0; (40/3) / (40/3 + 2 * 8 / 4) = 10/13.
    assert icc_2_1(people, judge) == pytest.approx(10 / 13)


@pytest.mark.parametrize(
    ("counts", "kappa"),
    [((20, 5, 10, 15), 0.4), ((45, 15, 25, 15), 0.1304), ((25, 35, 5, 35), 0.2593), ((10, 0, 0, 10), 1.0)],
)
def test_kappa_of_textbook_tables(counts: tuple[int, int, int, int], kappa: float) -> None:
    a, b = binary(*counts)
    assert cohen_kappa(row(*a), row(*b)) == pytest.approx(kappa, abs=5e-5)


def test_kappa_is_not_defined_when_both_say_the_same_of_everything() -> None:
    assert math.isnan(cohen_kappa(row(1, 1), row(1, 1)))


def test_rank_correlations_with_ties_by_hand() -> None:
    a, b = row(1, 2, 2, 4), row(1, 3, 2, 4)
    assert spearman(a, b) == pytest.approx(4.5 / math.sqrt(4.5 * 5))
    # 5 of 6 pairs are concordant, one is tied in a: 5 / sqrt(5 * 6).
    assert kendall(a, b) == pytest.approx(5 / math.sqrt(30))


def test_spearman_and_pearson_are_scipys() -> None:
    from scipy import stats

    rng = np.random.default_rng(3)
    a = rng.integers(0, 11, 60).astype(float)
    b = np.clip(a + rng.integers(-2, 3, 60), 0, 10)
    assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic)
    assert pearson(a, b) == pytest.approx(stats.pearsonr(a, b).statistic)


def test_kendalls_w() -> None:
    assert kendall_w([[1, 2, 3, 4]] * 3) == pytest.approx(1)
    # Three judges, sums of ranks 4, 5, 9 around 6: S = 14, W = 12 S / (9 * 24).
    assert kendall_w([[1, 2, 3], [2, 1, 3], [1, 2, 3]]) == pytest.approx(12 * 14 / (9 * 24))
    assert kendall_w([[1, 2, 3], [1, 2, 3]]) is None
    assert kendall_w([[5, 5, 5]] * 3) is None


def rated(name: str, roots: Sequence[float], leaves: Sequence[Sequence[float]] = ()) -> Ratings:
    return Ratings(
        name,
        {f"t{n}": Mark(score) for n, score in enumerate(roots)},
        {(f"t{n}", f"cp{m}"): Mark(score) for n, task in enumerate(leaves) for m, score in enumerate(task)},
    )


def test_two_raters_over_tasks_and_leaves() -> None:
    people = rated("people", [0, 4, 6, 10], [[0, 7], [5, 3], [7, 6], [10, 10]])
    judge = rated("judge", [1, 4, 7, 9], [[0, 8], [7, 3], [6, 6], [10, 9]])
    found = agreement(people, judge, threshold=7)
    assert (found.first, found.second, found.roots.tasks) == ("people", "judge", 4)
    assert found.roots.mae.value == pytest.approx(0.75)
    assert found.roots.spearman.value == pytest.approx(1)
    assert (found.leaves.scored, found.leaves.judged, found.leaves.tasks) == (8, 8, 4)
    assert found.leaves.mae.value == pytest.approx(5 / 8)
    assert found.leaves.accuracy.value == 75.0
    assert (found.leaves.both_pass, found.leaves.both_fail) == (3, 3)
    assert (found.leaves.only_first, found.leaves.only_second) == (1, 1)
    assert found.leaves.kappa.value == pytest.approx(0.5)
    assert found.root_scores["t2"] == (6, 7)


def test_intervals_hold_the_value_and_are_the_same_each_time() -> None:
    people = rated("people", [0, 2, 4, 6, 8, 10, 3, 7])
    judge = rated("judge", [1, 2, 5, 5, 9, 10, 3, 6])
    first, again = (agreement(people, judge, resamples=300).roots for _ in range(2))
    assert first == again
    for estimate in (first.pearson, first.spearman, first.kendall, first.icc, first.mae):
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.value is not None
        assert estimate.low <= estimate.value <= estimate.high
        assert estimate.low < estimate.high


def test_leaves_are_drawn_with_their_task() -> None:
    """Ten leaves of one task that all agree, and two tasks that do not: leaves alone would look precise."""
    people = rated("people", [], [[9] * 10, [1], [9]])
    judge = rated("judge", [], [[9] * 10, [9], [1]])
    accuracy = agreement(people, judge).leaves.accuracy
    assert accuracy.value == pytest.approx(100 * 10 / 12)
    assert accuracy.low == 0


def test_what_is_not_defined_is_no_number() -> None:
    found = agreement(rated("people", [5, 5, 5]), rated("judge", [1, 2, 3]))
    assert found.roots.pearson.value is None
    assert found.roots.mae.value == 3
    assert found.leaves.kappa.value is None
    nothing = agreement(Ratings("a"), Ratings("b"))
    assert (nothing.roots.tasks, nothing.roots.mae.value, nothing.leaves.accuracy.value) == (0, None, None)


def test_pass_and_fail_count_for_kappa_and_not_for_the_error() -> None:
    people = Ratings("people", {}, {("t", "a"): Mark(success=True), ("t", "b"): Mark(2.0), ("t", "c"): Mark(9.0)})
    judge = Ratings("judge", {}, {("t", "a"): Mark(8.0), ("t", "b"): Mark(7.0)})
    leaves = agreement(people, judge).leaves
    assert (leaves.judged, leaves.scored, leaves.mae.value) == (2, 1, 5)
    assert (leaves.both_pass, leaves.only_second) == (1, 1)
    assert agreement(people, judge).unmatched == 1


def test_people_together() -> None:
    alice = Ratings("alice", {"t": Mark(6.0)}, {("t", "a"): Mark(success=True), ("t", "b"): Mark(success=True)})
    bob = Ratings("bob", {"t": Mark(9.0), "u": Mark(1.0)}, {("t", "a"): Mark(success=True), ("t", "b"): Mark(3.0)})
    both = consensus([alice, bob])
    assert both.roots == {"t": Mark(7.5), "u": Mark(1.0)}
    assert both.leaves == {("t", "a"): Mark(success=True), ("t", "b"): Mark(success=True)}


def test_mean_absolute_error_is_in_points() -> None:
    assert mean_absolute_error(row(0, 10), row(1, 7)) == 2


@pytest.mark.parametrize("score", [-0.1, 10.1, math.nan, math.inf])
def test_a_mark_is_from_0_to_10(score: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 10"):
        Mark(score)


def test_without_scipy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(module, "import_module", missing)
    with pytest.raises(StatisticsUnavailable, match=r"pytest-gta\[calibrate\]"):
        agreement(Ratings("a"), Ratings("b"))
