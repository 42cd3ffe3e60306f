from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gta.benchmark.capability import CAPABILITIES, CapabilityBasis, capabilities_of, infer_capabilities
from pytest_gta.benchmark.metrics import summarize
from pytest_gta.benchmark.rebuilding import rebuild
from pytest_gta.benchmark.release import Release
from pytest_gta.benchmark.results import CheckpointResult, LeafStatus, TaskStatus
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.benchmark.scoring import unmeasured
from pytest_gta.benchmark.task import Brief, Resource, Task
from pytest_gta.run.selection import dataset_folder
from tests.domain import a_task, graded, not_graded
from tests.release_factory import make_release

INFERRED, STATED, TOOLS = CapabilityBasis.INFERRED, CapabilityBasis.STATED, CapabilityBasis.TOOLS


@pytest.mark.parametrize(
    ("request_text", "inputs", "names"),
    [
        ("Tell me a story.", (), ()),
        ("What does she say?", ("a.wav",), ("perception", "operation")),
        ("Type up the scanned sheets.", ("a.pdf",), ("perception", "operation")),
        ("I have a scan of it somewhere.", (), ()),
        ("Sum it up in a Word report.", ("a.pdf",), ("operation",)),
        ("Which month was best?", ("sales.xlsx",), ("operation", "logic")),
        ("Write it to Answers.csv.", (), ("operation",)),
        ("Make a PDF with a bar chart.", (), ("operation", "logic")),
        ("What would it cost in per cent? 3 % of it?", (), ("logic",)),
        ("Design a poster.", (), ("operation", "creativity")),
        ("Generate three short videos on tides.", (), ("operation", "creativity")),
        ("Cut the video.", ("a.mp4",), ("perception", "operation")),
    ],
)
def test_what_a_task_does_not_say_is_inferred_by_rule(
    request_text: str, inputs: tuple[str, ...], names: tuple[str, ...]
) -> None:
    assert infer_capabilities(request_text, inputs) == names


def test_what_is_stated_comes_before_the_tools_and_these_before_the_rule() -> None:
    def of(stated: tuple[str, ...], tools: tuple[str, ...]) -> tuple[tuple[str, ...], CapabilityBasis]:
        found = capabilities_of(stated, tools, "Design a poster.", ())
        return found.names, found.basis

    assert of(("logic", "perception", "logic"), ("GoogleSearch",)) == (("perception", "logic"), STATED)
    assert of((), ("Plot", "OCR", "Hammer")) == (("perception", "logic"), TOOLS)
    assert of(("magic",), ("Hammer",)) == (("operation", "creativity"), INFERRED)


def test_a_release_may_state_them_and_an_agent_is_not_told(tmp_path: Path) -> None:
    def state(index: dict[str, dict[str, object]]) -> None:
        index["1"]["capabilities"] = ["creativity"]
        index["2"]["tools"] = ["Calculator"]
        index["3"]["capabilities"] = "logic"

    first, second, third = Release(make_release(tmp_path / "d", tasks=3, edit=state)).tasks()
    assert isinstance(first, Task)
    assert isinstance(second, Task)
    assert (first.capabilities.names, first.capabilities.basis) == (("creativity",), STATED)
    assert (second.capabilities.names, second.capabilities.basis) == (("logic",), TOOLS)
    assert "`capabilities` is a text, expected a list" in str(third)
    assert isinstance(first.brief, Brief)
    assert "creativity" not in repr(first.brief)


def test_a_task_counts_in_each_capability_it_has() -> None:
    both = ("perception", "logic")
    tasks = [
        graded("1", 9.0, capabilities=both, capability_basis=STATED),
        graded("2", 4.0, capabilities=("logic",), capability_basis=INFERRED),
        not_graded("3", TaskStatus.UNSCORED, capabilities=("logic",), capability_basis=TOOLS),
        graded("4", 5.0),
    ]
    table = summarize(tasks, 7)["by_capability"]
    assert list(table) == ["perception", "logic"]
    assert table["perception"] == {
        "tasks": 1, "graded": 1, "root_score": 9.0, "root_sr": 100.0, "leaf_sr": 100.0, "inferred": 0
    }  # fmt: skip
    assert table["logic"] == {
        "tasks": 3, "graded": 2, "root_score": 6.5, "root_sr": 50.0, "leaf_sr": 50.0, "inferred": 1
    }  # fmt: skip
    assert summarize([graded("4", 5.0)], 7)["by_capability"] == {}


def test_a_task_without_a_score_has_them_too() -> None:
    task = a_task(resources=(Resource("a.png"),), stated_capabilities=("operation",))
    result = unmeasured(task, "", TaskStatus.NOT_RUN, "never began", {})
    assert (result.capabilities, result.capability_basis) == (("operation",), STATED)


def test_a_run_from_before_results_said_it_is_given_them_when_it_is_rebuilt(tmp_path: Path) -> None:
    run, task = RunDirectory(tmp_path), a_task("7", stated_capabilities=("logic",))
    run.write_manifest({"selected": ["planning_7", "planning_8"]})
    for key in ("planning_7", "planning_8"):
        run.task(key).write_result(graded("7", 8.0, run_key=key))
    found, unknown = rebuild(run, {"planning_7": task}, 7)
    assert (found.capabilities, found.capability_basis, found.success) == (("logic",), STATED, True)
    assert (unknown.capabilities, unknown.capability_basis) == ((), None)
    # What a result says stands, whatever the rule would say today.
    run.task("planning_7").write_result(
        graded("7", 8.0, run_key="planning_7", capabilities=("creativity",), capability_basis=INFERRED)
    )
    assert rebuild(run, {"planning_7": task}, 7)[0].capabilities == ("creativity",)


def test_the_rule_agrees_with_what_the_bundled_tasks_state() -> None:
    folder = dataset_folder("mini", Path())
    assert folder is not None
    agreed = answers = 0
    for task in Release(folder).tasks():
        assert isinstance(task, Task)
        stated = task.capabilities
        assert stated.basis is STATED
        guessed = infer_capabilities(task.request, [resource.path for resource in task.resources])
        agreed += sum((name in stated.names) == (name in guessed) for name in CAPABILITIES)
        answers += len(CAPABILITIES)
    assert agreed >= 0.9 * answers


def test_results_without_them_can_still_be_read() -> None:
    old = graded("1", 8.0).model_dump(mode="json", exclude={"capabilities", "capability_basis"})
    read = type(graded("1", 8.0)).model_validate(old)
    assert (read.capabilities, read.capability_basis) == ((), None)
    assert isinstance(read.checkpoints[0], CheckpointResult)
    assert read.checkpoints[0].status == LeafStatus.SCORED
