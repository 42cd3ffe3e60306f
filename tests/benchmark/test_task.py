from __future__ import annotations

import re

import pytest

from pytest_gta.benchmark.task import CATEGORIES, Resource, Task, TaskFault, category_slug
from tests.domain import a_task, inner, leaf


def test_leaves_come_in_the_rubrics_order_at_any_depth() -> None:
    task = a_task("7", "planning", leaf("a"), inner("b", 1, inner("c", 1, leaf("d"), leaf("e")), leaf("f")))
    assert [node.id for node in task.leaves] == ["a", "d", "e", "f"]
    assert [node.id for node in task.nodes()] == ["a", "b", "c", "d", "e", "f"]


def test_slug_is_made_of_letters_digits_and_underscores() -> None:
    assert a_task("2", "data_analysis").slug == "data_analysis_2"
    assert a_task("My Task/é#1", "planning").slug == "planning_my_task_1"
    assert TaskFault("9 b", None, "x").slug == "invalid_9_b"


def test_the_brief_leaves_the_rubric_out_and_holds_only_files_that_are_shipped() -> None:
    files = (Resource("resources/a.pdf", "file"), Resource("Named.pdf", bundled=False))
    task = a_task("7", "planning", resources=files, turns=("First.", "Then."))
    assert task.brief.inputs == ("resources/a.pdf",)
    assert task.brief.request == "First.\n\nThen."
    assert "Requirement" not in repr(task.brief)
    assert task.kinds == ("pdf",)


@pytest.mark.parametrize(
    ("nodes", "node_id", "reason"),
    [
        ((leaf("a", 0),), "a", "weight 0 is not a finite number above 0"),
        ((leaf("a", -1),), "a", "weight -1 is not a finite number above 0"),
        ((leaf("a", float("nan")),), "a", "weight nan is not a finite number above 0"),
        ((leaf("a", float("inf")),), "a", "weight inf is not a finite number above 0"),
        ((inner("b", 0, leaf("a")),), "b", "weight 0 is not a finite number above 0"),
        ((leaf("a"), inner("b", 1, leaf("a"))), "a", "this id is used twice"),
        ((leaf("a", 1, "  \n"),), "a", "a leaf needs a requirement, and this one has none"),
    ],
)
def test_a_bad_rubric_is_refused_with_task_and_checkpoint(nodes: tuple, node_id: str, reason: str) -> None:
    with pytest.raises(TaskFault) as caught:
        a_task("12", "planning", *nodes)
    fault = caught.value
    assert (fault.task_id, fault.node_id, fault.reason) == ("12", node_id, reason)
    assert str(fault) == f"task 12, checkpoint {node_id}: {reason}"


def test_a_task_needs_a_request_and_a_rubric() -> None:
    with pytest.raises(TaskFault, match=r"^task 7: the request is empty$"):
        a_task("7", "planning", turns=("  ", ""))
    with pytest.raises(TaskFault, match=r"^task 7: the rubric has no checkpoints$"):
        Task("7", "planning", ("Go.",), (), ())


def test_the_six_categories_and_what_else_a_dataset_may_call_them() -> None:
    assert [category_slug(name) for name in CATEGORIES] == list(CATEGORIES.values())
    assert category_slug(" Planning & Decision Support ") == "planning"
    assert category_slug("Customer Care (EU)") == "customer_care_eu"
    assert category_slug("") == category_slug("日本") == "other"


def test_an_id_that_no_folder_could_be_named_after_has_a_short_slug_of_its_own() -> None:
    slugs = [a_task(name, "planning").slug for name in ("日本語", "中文", "", "9" * 300, "9" * 301, "x" * 5000)]
    assert len(set(slugs)) == 6
    assert all(re.fullmatch(r"planning_[a-z0-9_]{8,69}", slug) for slug in slugs)
    assert slugs == [a_task(name, "planning").slug for name in ("日本語", "中文", "", "9" * 300, "9" * 301, "x" * 5000)]
    assert a_task("x" * 60, "planning").slug == "planning_" + "x" * 60
    assert TaskFault("日本語", None, "x").slug != TaskFault("中文", None, "x").slug
    assert category_slug("c" * 300) == "c" * 60
