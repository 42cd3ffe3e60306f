from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gta.benchmark.results import LeafStatus, TaskStatus, Verdict
from pytest_gta.benchmark.scoring import score_tree, unmeasured
from pytest_gta.benchmark.task import Checkpoint, TaskFault
from tests.domain import a_task, by_id, inner, leaf, scored, unscored

THREE_LEVELS = (
    inner("a", 3, inner("b", 2, leaf("l1", 1), leaf("l2", 3)), leaf("l3", 1)),
    leaf("l4", 1),
)


def test_means_are_weighted_bottom_up() -> None:
    # b = (1*4 + 3*8)/4 = 7; a = (2*7 + 1*1)/3 = 5; root = (3*5 + 1*9)/4 = 6
    root = score_tree(THREE_LEVELS, by_id(scored("l1", 4), scored("l2", 8), scored("l3", 1), scored("l4", 9)))
    assert root.score == 6.0
    assert root.bounds == (6.0, 6.0)
    a = root.checkpoints[0]
    assert (a.score, a.checkpoints[0].score, a.status, a.valid) == (5.0, 7.0, "scored", True)


@pytest.mark.parametrize("status", [LeafStatus.JUDGE_ERROR, LeafStatus.JUDGE_REFUSED, LeafStatus.NOT_RUN])
def test_a_leaf_without_a_score_makes_every_node_above_it_invalid_and_gives_bounds(status: LeafStatus) -> None:
    verdicts = by_id(scored("l1", 4), unscored("l2", status), scored("l3", 1), scored("l4", 9))
    root = score_tree(THREE_LEVELS, verdicts)
    a = root.checkpoints[0]
    b = a.checkpoints[0]
    assert root.score is None
    assert [(n.score, n.valid, n.status) for n in (a, b)] == [(None, False, "invalid")] * 2
    # l2 = 0: b = 1, a = 1, root = (3 + 9)/4 = 3; l2 = 10: b = 8.5, a = 6, root = 6.75
    assert (b.bounds, a.bounds, root.bounds) == ((1.0, 8.5), (1.0, 6.0), (3.0, 6.75))
    assert (b.checkpoints[1].status, b.checkpoints[1].bounds) == (status.value, (0.0, 10.0))
    assert root.checkpoints[1].valid  # another branch is not touched


def test_nothing_delivered_is_a_zero_and_not_a_missing_score() -> None:
    nothing = [Verdict(leaf_id=f"l{n}", status=LeafStatus.NOT_DELIVERED, score=0) for n in (1, 2, 3, 4)]
    root = score_tree(THREE_LEVELS, by_id(*nothing))
    assert (root.score, root.bounds) == (0.0, (0.0, 0.0))


def test_no_verdicts_is_not_run_with_all_bounds_open() -> None:
    root = score_tree(THREE_LEVELS, {})
    assert (root.score, root.bounds) == (None, (0.0, 10.0))
    assert {x.status for n in root.checkpoints for x in n.leaves()} == {"not_run"}


def test_a_mean_of_seven_is_seven() -> None:
    """Rounded at each level, this one comes to 7.000000000000001."""
    groups = (([8, 5, 7], [3, 1, 3], 1), ([6, 6, 5], [1, 1, 1], 3), ([7, 6, 9, 10, 10, 7, 9], [1] * 7, 3))
    nodes, verdicts = [], {}
    for g, (scores_, weights_, weight) in enumerate(groups):
        leaves = [leaf(f"g{g}-{n}", w) for n, w in enumerate(weights_)]
        verdicts |= {node.id: scored(node.id, score) for node, score in zip(leaves, scores_, strict=True)}
        nodes.append(inner(f"g{g}", weight, *leaves))
    assert score_tree(nodes, verdicts).score == 7.0


def test_changed_weights_give_a_new_score_from_the_same_verdicts() -> None:
    verdicts = by_id(scored("l1", 10), scored("l2", 0))
    before = score_tree((leaf("l1", 1), leaf("l2", 1)), verdicts)
    after = score_tree((leaf("l1", 3), leaf("l2", 1)), verdicts)
    assert (before.score, after.score) == (5.0, 7.5)


def test_extreme_weights_stay_finite() -> None:
    verdicts = by_id(scored("l1", 10), scored("l2", 0))
    assert score_tree((leaf("l1", 1e308), leaf("l2", 1e308)), verdicts).score == 5.0
    assert score_tree((leaf("l1", 5e-324), leaf("l2", 5e-324)), verdicts).score == 5.0


def test_verdicts_of_other_leaves_are_not_counted() -> None:
    assert score_tree((leaf("l1"),), by_id(scored("l1", 8), scored("gone", 0))).score == 8.0


def test_a_task_without_a_result_keeps_what_was_judged() -> None:
    task = a_task()
    result = unmeasured(task, "n", TaskStatus.ERROR, "worker died", by_id(scored("cp1-1", 9)))
    assert (result.status, result.root_score, result.success, result.error) == ("error", None, None, "worker died")
    assert result.leaf("cp1-1").score == 9.0
    assert result.leaf("cp2").status == "not_run"
    # cp1 = (2*9 + 0)/3 = 6 or (18 + 10)/3; root = (3*cp1 + cp2)/4
    assert result.root_bounds == (4.5, 9.5)
    fault = unmeasured(TaskFault("12", "cp1", "weight 0"), "n", TaskStatus.ERROR, "bad", {})
    assert (fault.run_key, fault.category, fault.checkpoints) == ("invalid_12", "invalid", ())


# -- properties -------------------------------------------------------------------------------------------------------

weights = st.floats(min_value=1e-6, max_value=1e6)
scores = st.one_of(st.none(), st.floats(min_value=0, max_value=10))


@st.composite
def rubrics(draw: st.DrawFn) -> tuple[tuple[Checkpoint, ...], dict[str, Verdict]]:
    verdicts: dict[str, Verdict] = {}

    def nodes(prefix: str, depth: int) -> tuple[Checkpoint, ...]:
        found = []
        for n in range(draw(st.integers(1, 3))):
            node_id = f"{prefix}{n}"
            weight = draw(weights)
            if depth < 2 and draw(st.booleans()):
                found.append(inner(node_id, weight, *nodes(f"{node_id}-", depth + 1)))
            else:
                score = draw(scores)
                verdicts[node_id] = unscored(node_id) if score is None else scored(node_id, score)
                found.append(leaf(node_id, weight))
        return tuple(found)

    return nodes("n", 0), verdicts


def _reference(nodes: tuple[Checkpoint, ...], verdicts: dict[str, Verdict], missing: int) -> Fraction:
    """The mean by its definition."""
    total, value = Fraction(0), Fraction(0)
    for node in nodes:
        weight = Fraction(node.weight)
        if node.is_leaf:
            score = verdicts[node.id].score
            value += weight * (Fraction(missing) if score is None else Fraction(score))
        else:
            value += weight * _reference(node.children, verdicts, missing)
        total += weight
    return value / total


def _rebuilt(node: Checkpoint, factor: float, shuffle: random.Random | None) -> Checkpoint:
    children = [_rebuilt(child, factor, shuffle) for child in node.children]
    if shuffle:
        shuffle.shuffle(children)
    return Checkpoint(node.id, node.requirements, node.weight * factor, tuple(children))


@given(rubrics())
def test_bounds_contain_the_score_and_equal_it_when_it_is_known(rubric: tuple) -> None:
    nodes, verdicts = rubric
    root = score_tree(nodes, verdicts)
    low, high = root.bounds
    assert 0 <= low <= high <= 10
    assert (low, high) == (float(_reference(nodes, verdicts, 0)), float(_reference(nodes, verdicts, 10)))
    complete = all(verdict.score is not None for verdict in verdicts.values())
    assert (root.score is not None) == complete
    if complete:
        assert root.score == low == high


@given(rubrics(), st.randoms(use_true_random=False))
def test_the_order_of_siblings_does_not_matter(rubric: tuple, shuffle: random.Random) -> None:
    nodes, verdicts = rubric
    other = [_rebuilt(node, 1, shuffle) for node in nodes]
    shuffle.shuffle(other)
    assert score_tree(other, verdicts).bounds == score_tree(nodes, verdicts).bounds


@given(rubrics(), st.sampled_from([0.25, 2.0, 1024.0]))
def test_the_scale_of_weights_does_not_matter(rubric: tuple, factor: float) -> None:
    nodes, verdicts = rubric
    other = [_rebuilt(node, factor, None) for node in nodes]
    assert score_tree(other, verdicts).bounds == score_tree(nodes, verdicts).bounds


@given(rubrics())
def test_a_better_leaf_never_lowers_the_score(rubric: tuple) -> None:
    nodes, verdicts = rubric
    first = next(iter(verdicts))
    better = verdicts | {first: scored(first, 10)}
    assert score_tree(nodes, better).bounds[0] >= score_tree(nodes, verdicts).bounds[0]


@given(rubrics(), st.floats(min_value=0, max_value=10))
def test_leaves_that_agree_are_the_score(rubric: tuple, score: float) -> None:
    nodes, verdicts = rubric
    assert score_tree(nodes, {leaf_id: scored(leaf_id, score) for leaf_id in verdicts}).score == score
