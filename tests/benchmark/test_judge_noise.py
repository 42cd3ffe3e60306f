from __future__ import annotations

import random

import pytest

from pytest_gta.benchmark.comparison import SIGNIFICANCE, exact_mcnemar
from pytest_gta.benchmark.judge_noise import ScorePair, judge_noise, smallest_seen

ROOTS = [
    ScorePair("a", "", 8, 8),
    ScorePair("b", "", 7, 6),
    ScorePair("c", "", 2, 3),
    ScorePair("d", "", 6.5, 7),
]
LEAVES = [ScorePair("a", "1", 9, 9), ScorePair("a", "2", 7, 6.5), ScorePair("b", "1", 3, 1)]


def test_flips_and_differences() -> None:
    noise = judge_noise(LEAVES, ROOTS, 7)
    assert (noise.tasks.pairs, noise.tasks.flipped, noise.tasks.flip_rate) == (4, 2, 50)
    assert noise.tasks.flip_rate_ci == pytest.approx((15.004, 84.996), abs=0.001)
    assert noise.tasks.mean_difference == pytest.approx(2.5 / 4)
    assert noise.tasks.drift == pytest.approx(0.5 / 4)
    assert (noise.leaves.pairs, noise.leaves.flipped, noise.leaves.identical) == (3, 1, 1)
    assert noise.leaves.mean_difference == pytest.approx(2.5 / 3)
    assert noise.leaves.drift == pytest.approx(-2.5 / 3)
    assert noise.flipped_tasks == ("b", "d")
    assert noise.gate is not None
    assert noise.gate.root_sr == (50, 50)
    assert noise.gate.change == pytest.approx(100 * 1.96 * (0.5 / 4) ** 0.5, abs=0.01)
    assert noise.gate.seen is None


def test_the_threshold_is_reached_from_below_and_above() -> None:
    assert judge_noise([], [ScorePair("a", "", 7, 6.999)], 7).tasks.flipped == 1
    assert judge_noise([], [ScorePair("a", "", 7, 10)], 7).tasks.flipped == 0


def test_nothing_measured_is_no_number() -> None:
    noise = judge_noise([], [], 7)
    assert (noise.tasks.flip_rate, noise.leaves.mean_difference, noise.gate) == (None, None, None)


def test_without_noise_seven_lost_tasks_are_seen() -> None:
    assert exact_mcnemar(7, 0) <= SIGNIFICANCE < exact_mcnemar(6, 0)
    assert smallest_seen(132, 0) == pytest.approx(100 * 7 / 132)
    assert smallest_seen(7, 0) == 100
    assert smallest_seen(6, 0) is None


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_the_smallest_drop_is_seen_four_times_in_five(rate: float) -> None:
    tasks = 60
    seen = smallest_seen(tasks, rate)
    assert seen is not None
    lost = round(seen * tasks / 100)

    def shown(really_lost: int) -> float:
        draw = random.Random(7)
        hits = 0
        for _ in range(3000):
            flips = [draw.random() < 0.5 for _ in range(tasks - really_lost) if draw.random() < rate]
            won = sum(flips)
            more = really_lost + len(flips) - won
            hits += more > won and exact_mcnemar(more, won) <= SIGNIFICANCE
        return hits / 3000

    assert shown(lost) > 0.77
    assert shown(lost - 1) < 0.83
