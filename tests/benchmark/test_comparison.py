from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest

from pytest_gta.benchmark.comparison import (
    ChangeVerdict,
    NothingInCommon,
    compare,
    exact_mcnemar,
    exact_sign_flip,
    paired_bootstrap,
    sign_flip,
    tasks_to_decide,
    unlike,
)
from pytest_gta.benchmark.results import TaskResult, TaskStatus
from tests.domain import a_run, graded, not_graded

PASS, FAIL, INCONCLUSIVE = ChangeVerdict.PASS, ChangeVerdict.FAIL, ChangeVerdict.INCONCLUSIVE


def run_of(*scores: float) -> list[TaskResult]:
    return [graded(str(number), score) for number, score in enumerate(scores, 1)]


@pytest.mark.parametrize(
    ("lost", "won", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (5, 0, 2 / 32),
        (6, 0, 2 / 64),
        (0, 6, 2 / 64),
        (8, 1, 2 * (1 + 9) / 512),
        (10, 2, 2 * (1 + 12 + 66) / 4096),
        (3, 3, 1.0),
    ],
)
def test_exact_mcnemar(lost: int, won: int, p: float) -> None:
    assert exact_mcnemar(lost, won) == pytest.approx(p)


def test_the_sign_flip_test_is_mcnemar_for_single_runs() -> None:
    assert exact_sign_flip([Fraction(-1)] * 8 + [Fraction(1)] + [Fraction(0)] * 20) == exact_mcnemar(8, 1)
    assert exact_sign_flip([Fraction(0)] * 3) is None
    assert sign_flip([-1.0] * 8 + [1.0]) == pytest.approx(exact_mcnemar(8, 1))


def test_the_sign_flip_test_by_hand() -> None:
    # Sums of +-1/2 +-1: +-1.5, +-0.5. As far out as -1.5: two of four.
    assert exact_sign_flip([Fraction(-1, 2), Fraction(-1)]) == 0.5
    # +-1/2 +-1 with one of each sign: all four are at least 0.5 away.
    assert exact_sign_flip([Fraction(1, 2), Fraction(-1)]) == 1.0
    assert exact_sign_flip([Fraction(-1, 3)] * 6) == pytest.approx(2 / 64)
    assert sign_flip([-0.5, -1.0]) == 0.5


def test_many_values_agree_with_the_exact_test() -> None:
    values = [-1.0] * 9 + [1.0] * 4
    assert sign_flip(values) == pytest.approx(exact_mcnemar(9, 4), abs=0.02)
    assert sign_flip(values) == sign_flip(values)


def test_paired_bootstrap() -> None:
    assert paired_bootstrap([-1.0]) is None
    assert paired_bootstrap([-1.0] * 5) == (-1.0, -1.0)
    low, high = paired_bootstrap([-1.0, 1.0] * 50) or (0, 0)
    assert low == pytest.approx(-0.196, abs=0.05)
    assert high == pytest.approx(0.196, abs=0.05)


def test_a_drop_by_hand() -> None:
    compared = compare(run_of(*[9] * 8, 2, 2), run_of(*[3] * 7, 9, 8, 2), 7)
    assert compared.tasks == tuple(f"planning_{n}" for n in range(1, 11))
    assert compared.lost == tuple(f"planning_{n}" for n in range(1, 8))
    assert compared.won == ("planning_9",)
    assert (compared.root_sr.before, compared.root_sr.after) == (80.0, 20.0)
    assert compared.root_sr.difference == pytest.approx(-60)
    assert compared.root_sr.p == pytest.approx(2 * (1 + 8) / 256)
    assert compared.root_score.difference == pytest.approx((-6 * 7 + 6) / 10)
    assert compared.root_score.p == pytest.approx(2 * (1 + 8) / 256)
    # 7 lost and 1 won are not enough: p = 0.07.
    assert compared.verdict is INCONCLUSIVE


def test_both_tests_share_the_error_that_is_allowed() -> None:
    # 6 of 6 lost: p = 0.031, above 0.025; 7 of 7: p = 0.016.
    assert compare(run_of(*[9] * 6), run_of(*[3] * 6), 7).verdict is INCONCLUSIVE
    assert compare(run_of(*[9] * 7), run_of(*[3] * 7), 7).verdict is FAIL


def test_no_change_and_a_gain_pass() -> None:
    same = compare(run_of(9, 3, 5), run_of(9, 3, 5), 7)
    assert (same.verdict, same.root_sr.p, same.root_score.p) == (PASS, None, None)
    assert compare(run_of(*[3] * 8), run_of(*[9] * 8), 7).verdict is PASS


def test_few_tasks_never_fail_and_say_how_many_would_decide() -> None:
    compared = compare(run_of(9, 9, 9, 3), run_of(9, 3, 4, 3), 7)
    assert compared.verdict is INCONCLUSIVE
    assert compared.root_sr.p == 0.5
    # Mean -0.5, spread sqrt(1/3): (3.08 * 0.57735 / 0.5) ** 2 = 12.65
    assert compared.root_sr.tasks_to_decide == 13
    assert compare(run_of(9), run_of(2), 7).verdict is INCONCLUSIVE


def test_tasks_to_decide_takes_the_nearer_way() -> None:
    # Mean -2, spread 4: to show it 37.9; to exclude -10 only 1.96, but always more than there are.
    assert tasks_to_decide([-6.0, -2.0, 2.0], 1) == 38
    assert tasks_to_decide([-6.0, -2.0, 2.0], 10) == 4
    assert tasks_to_decide([-1.0], 10) is tasks_to_decide([1.0, 2.0], 10) is None


def test_a_small_drop_over_many_tasks_passes() -> None:
    before = [9.0] * 100
    compared = compare(run_of(*before), run_of(*before[:-1], 6.0), 7)
    assert compared.root_sr.difference == pytest.approx(-1)
    assert compared.verdict is PASS


def test_repeats_are_means_of_their_task() -> None:
    def repeats(task_id: str, *scores: float) -> list[TaskResult]:
        return [graded(task_id, x, repeat=n, run_key=f"planning_{task_id}_r{n}") for n, x in enumerate(scores, 1)]

    before = [*repeats("1", 9, 9), *repeats("2", 9, 3)]
    after = [*repeats("1", 9, 3), *repeats("2", 3, 3, 3)]
    compared = compare(before, after, 7)
    assert compared.tasks == compared.lost == ("planning_1", "planning_2")
    assert (compared.root_sr.before, compared.root_sr.after) == (75.0, 25.0)
    assert (compared.root_score.before, compared.root_score.after) == (7.5, 4.5)
    assert compared.root_sr.p == 0.5


def test_tasks_of_one_run_only_are_named_and_left_out() -> None:
    before = [*run_of(9, 9), graded("5", 9), not_graded("3", TaskStatus.UNSCORED)]
    after = [*run_of(9, 9, 9), not_graded("5", TaskStatus.ERROR)]
    compared = compare(before, after, 7)
    assert compared.tasks == ("planning_1", "planning_2")
    assert (compared.only_before, compared.only_after) == (("planning_5",), ("planning_3",))
    with pytest.raises(NothingInCommon):
        compare(run_of(9), [graded("8", 9)], 7)


def test_a_failure_is_certain_when_no_missing_score_could_turn_it() -> None:
    before = run_of(*[9] * 9, *[3] * 9)
    lost = run_of(*[2] * 9)
    one_missing = [*lost, not_graded("10", TaskStatus.UNSCORED)]
    many_missing = [*lost, *(not_graded(str(n), TaskStatus.ERROR) for n in range(10, 19))]
    assert compare(before, one_missing, 7).certain
    worse = compare(before, many_missing, 7)
    assert worse.verdict is FAIL
    assert not worse.certain


def test_what_makes_runs_unlike() -> None:
    one = a_run().run
    assert unlike(one, one) == ()
    other = a_run(dataset={"name": "mini", "sha256": "cd" * 32}, judge={"model": "j2", "prompt_version": "p2"}).run
    assert unlike(one, other) == (
        "another dataset (abababababab, now cdcdcdcdcdcd)",
        "another judge model (j1, now j2)",
        "another judge prompt version (p1, now p2)",
    )
    assert unlike({}, one)[0] == "another dataset (unknown, now abababababab)"


# -- error rates ------------------------------------------------------------------------------------------------------


def shares(verdicts: Counter[str]) -> str:
    whole = verdicts.total()
    return ", ".join(f"{verdict} {100 * verdicts[verdict] / whole:.1f} %" for verdict in ChangeVerdict)


def _noisy(rng: random.Random, skills: list[float], drop: float = 0.0) -> list[TaskResult]:
    """A run of tasks that are each as hard as ever: what differs is noise of two points, and a planted drop."""
    return run_of(*(min(10.0, max(0.0, rng.gauss(skill - drop, 2.0))) for skill in skills))


@pytest.mark.parametrize(("tasks", "seeds"), [(24, 100), (132, 25)])
def test_noise_alone_does_not_fail(tasks: int, seeds: int) -> None:
    verdicts: Counter[str] = Counter()
    for seed in range(seeds):
        rng = random.Random(seed)
        skills = [rng.uniform(1, 10) for _ in range(tasks)]
        verdicts[compare(_noisy(rng, skills), _noisy(rng, skills), 7).verdict] += 1
    print(f"\nnoise alone, {tasks} tasks, {seeds} pairs of runs: {shares(verdicts)}")
    assert verdicts[FAIL] / seeds <= 0.05
    assert verdicts[PASS] / seeds >= 0.4


@pytest.mark.parametrize(("tasks", "drop", "least"), [(24, 3.0, 0.9), (132, 1.5, 0.95)])
def test_a_planted_drop_fails(tasks: int, drop: float, least: float) -> None:
    seeds = 20
    verdicts: Counter[str] = Counter()
    for seed in range(seeds):
        rng = random.Random(seed)
        skills = [rng.uniform(1, 10) for _ in range(tasks)]
        verdicts[compare(_noisy(rng, skills), _noisy(rng, skills, drop), 7).verdict] += 1
    print(f"\na drop of {drop:g} points, {tasks} tasks, {seeds} pairs of runs: {shares(verdicts)}")
    assert verdicts[FAIL] / seeds >= least
    assert verdicts[PASS] == 0
