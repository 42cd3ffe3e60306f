from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_gta.benchmark import published_statistics as published
from pytest_gta.benchmark.release import Release
from pytest_gta.benchmark.statistics import Spread, asked_kinds, statistics_of
from pytest_gta.benchmark.task import Checkpoint, Resource, Task
from tests.release_factory import make_release


def leaf(node_id: str, text: str = "It is complete.", weight: float = 1.0) -> Checkpoint:
    return Checkpoint(node_id, text, weight)


def task(request: str, *leaves: str, inputs: tuple[str, ...] = ()) -> Task:
    checkpoints = tuple(leaf(f"cp{n}", text) for n, text in enumerate(leaves or ("It is complete.",)))
    return Task("1", "planning", (request,), tuple(Resource(path) for path in inputs), checkpoints)


def test_the_full_release(tmp_path: Path) -> None:
    found = statistics_of(Release(make_release(tmp_path / "d.zip")))
    assert (found.tasks, found.unusable) == (132, 0)
    assert (found.leaves.total, found.leaves.number) == (1156, 132)
    assert found.leaves.mean == pytest.approx(8.7576, abs=1e-4)
    assert found.top_leaves == found.depths.counts[1] == 231
    assert found.depths.total == sum(level * number for level, number in found.depths.counts.items())
    assert found.depths.number == 1156
    assert list(found.depths.counts) == [1, 2, 3]
    assert found.categories == {
        "data_analysis": 34,
        "education": 31,
        "planning": 21,
        "marketing": 16,
        "creative_design": 16,
        "retrieval_qa": 14,
    }
    assert sum(found.category_leaves.values()) == 1156
    assert found.tasks_with_inputs == 46
    assert found.inputs == {"csv": 20, "pdf": 20, "audio": 15, "image": 15}
    assert found.inputs_a_task.total == 70
    assert found.deliverables == {"csv": 22, "docx": 22, "html": 22, "pdf": 22, "pptx": 22, "xlsx": 22}
    assert found.capabilities["operation"] == found.capabilities_inferred == 132
    assert found.tools == {"perception": 9, "operation": 19, "logic": 6, "creativity": 3}
    assert (found.other_tools, found.tasks_naming_tools) == (0, 0)


def rubric(index: dict[str, Any]) -> None:
    for record in index.values():
        record["sub_tasks"] = [
            {"id": "a", "requirements": "", "weight": 2, "sub_tasks": [
                {"id": "a1", "requirements": "It is there.", "weight": 0.5},
                {"id": "a2", "requirements": "", "weight": 3, "sub_tasks": [
                    {"id": "a21", "requirements": "It is whole.", "weight": 4},
                ]},
            ]},
            {"id": "b", "requirements": "It is right.", "weight": 4},
        ]  # fmt: skip
    index["1"]["sub_tasks"] = []
    index["2"]["workflow_category_6class"] = "Zoology"
    index["2"]["tools"] = ["OCR"]
    index["3"]["dialogs"][0]["content"] = "Write  two\nwords."


def test_levels_weights_and_what_is_unusable(tmp_path: Path) -> None:
    def tools(metadata: dict[str, Any]) -> None:
        metadata["Abacus"] = metadata.pop("OCR")

    found = statistics_of(Release(make_release(tmp_path / "d", tasks=3, edit=rubric, edit_tools=tools)))
    assert (found.tasks, found.unusable) == (2, 1)
    assert found.leaves == Spread({3: 2})
    assert found.depths == Spread({1: 2, 2: 2, 3: 2})
    assert found.leaf_weights == Spread({0.5: 2, 4: 4})
    assert (found.leaf_weights.mean, found.leaf_weights.least, found.leaf_weights.most) == (
        pytest.approx(17 / 6),
        0.5,
        4,
    )
    assert found.inner_weights == Spread({2: 2, 3: 2})
    assert (found.top_leaves, found.inner) == (2, 4)
    assert list(found.categories) == [slug for slug in found.categories if slug != "zoology"] + ["zoology"]
    assert found.request_words.least == 3
    assert found.capabilities == {"perception": 1}
    assert found.capabilities_inferred == 1
    assert found.tools == {"perception": 8, "operation": 19, "logic": 6, "creativity": 3}
    assert (found.other_tools, found.tasks_naming_tools) == (1, 1)


def test_tools_that_cannot_be_read(tmp_path: Path) -> None:
    release = make_release(tmp_path / "d", tasks=1)
    (release / "toolmeta.json").write_text("[")
    found = statistics_of(Release(release))
    assert (found.tools, found.other_tools) == ({}, -1)


def test_nothing_usable(tmp_path: Path) -> None:
    found = statistics_of(Release(make_release(tmp_path / "d", tasks=1, edit=rubric_of_nothing)))
    assert (found.tasks, found.unusable) == (0, 1)
    assert (found.leaves.mean, found.leaves.least, found.leaves.total) == (None, None, 0)
    assert (found.categories, found.inputs, found.deliverables) == ({}, {}, {})


def rubric_of_nothing(index: dict[str, Any]) -> None:
    index["1"]["sub_tasks"] = []


@pytest.mark.parametrize(
    ("made", "kinds"),
    [
        (task("Deliver report.docx and table.csv."), ("csv", "docx")),
        (task("Do it.", "summary.pdf states the total.", "The total is right."), ("pdf",)),
        (task("Compare resources/files/a.pdf and b.pdf.", inputs=("resources/files/a.pdf", "b.pdf")), ("text",)),
        (task("Compare a.pdf and write a.html.", inputs=("resources/files/a.pdf",)), ("html",)),
        (task("Make a poster of the photo.", inputs=("resources/images/p.png",)), ("text",)),
        (task("Make a slide deck and a Word report."), ("docx", "pptx")),
        (task("Turn the PDF into a web page.", inputs=("resources/files/a.pdf",)), ("html",)),
        (task("What is the capital of Iceland?"), ("text",)),
    ],
)
def test_the_kinds_a_task_asks_for(made: Task, kinds: tuple[str, ...]) -> None:
    assert asked_kinds(made) == kinds


def test_what_is_published_adds_up() -> None:
    leaves = published.LEAVES_A_TASK
    assert sum(leaves.values()) == sum(published.CATEGORIES.values()) == published.TASKS == 132
    assert sum(number * tasks for number, tasks in leaves.items()) == published.LEAVES == 1156
    assert sum(published.TOOLS_BY_CAPABILITY.values()) == published.TOOLS == 37
    assert sum(published.DELIVERABLES.values()) == pytest.approx(100)
