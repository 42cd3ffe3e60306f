from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.benchmark.finding import Level
from pytest_gta.benchmark.release import Release
from pytest_gta.benchmark.tool_names import TOOL_CAPABILITIES
from pytest_gta.benchmark.validation import Validation, validate
from pytest_gta.benchmark.wording import named_tools
from tests.release_factory import make_release

Index = dict[str, Any]


def check(target: Path, **options: Any) -> Validation:
    return validate(Release(make_release(target, **options)))


def found(validation: Validation) -> list[tuple[str, str, str | None, str | None]]:
    return [(f.level.value, f.check, f.task_id, f.node_id) for f in validation.findings]


@pytest.mark.parametrize("name", ["data", "data.zip"])
def test_the_full_release_has_two_oddities_and_no_more(tmp_path: Path, name: str) -> None:
    validation = check(tmp_path / name)
    assert found(validation) == [("note", "oddity", "126", None)] * 2
    assert validation.ok
    counts = validation.counts
    assert (counts.tasks, counts.usable, counts.leaves, counts.top_leaves) == (132, 132, 1156, 231)
    assert (counts.tasks_with_inputs, counts.inputs, counts.missing_inputs) == (46, 70, 0)
    assert {name: tasks for name, (tasks, _) in counts.categories.items()} == {
        "data_analysis": 34,
        "education": 31,
        "planning": 21,
        "marketing": 16,
        "creative_design": 16,
        "retrieval_qa": 14,
    }
    assert sum(leaves for _, leaves in counts.categories.values()) == 1156


def test_every_fault_of_every_task_is_reported_by_task_and_node(tmp_path: Path) -> None:
    def plant(index: Index) -> None:
        index["1"]["sub_tasks"][0]["weight"] = 0
        index["1"]["sub_tasks"][1]["weight"] = "2"
        index["2"]["dialogs"] = None
        index["3"]["sub_tasks"][0]["id"] = "cp2"
        index["5"]["sub_tasks"][0]["requirements"] = " "

    validation = check(tmp_path / "d", tasks=6, edit=plant)
    assert [x for x in found(validation) if x[1] == "structure"] == [
        ("error", "structure", "1", "cp2"),
        ("error", "structure", "1", "cp1"),
        ("error", "structure", "2", None),
        ("error", "structure", "3", "cp2"),
        ("error", "structure", "5", "cp1"),
    ]
    assert (validation.counts.tasks, validation.counts.usable) == (6, 2)
    assert not validation.ok


@pytest.mark.parametrize("name", ["data", "data.zip"])
def test_a_missing_input_is_an_error(tmp_path: Path, name: str) -> None:
    validation = check(tmp_path / name, tasks=6, leave_out=("resources/files/2-0.pdf",))
    (error,) = validation.of(Level.ERROR)
    assert (error.check, error.task_id) == ("input-missing", "2")
    assert error.message == "resources/files/2-0.pdf is not in the dataset; a live agent cannot be given the task"
    assert validation.counts.missing_inputs == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\n", "is a Git LFS pointer, not the file"),
    ],
)
@pytest.mark.parametrize("name", ["data", "data.zip"])
def test_an_input_that_is_not_the_file_is_an_error(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    validation = check(tmp_path / name, tasks=2, extra_files={"resources/files/2-0.pdf": content})
    (error,) = validation.of(Level.ERROR)
    assert error.check == "input-unreadable"
    assert error.message.startswith(f"resources/files/2-0.pdf {reason}")


def test_a_web_page_under_the_name_of_an_office_file_is_an_error(tmp_path: Path) -> None:
    def plant(index: Index) -> None:
        index["1"]["files"] = [{"type": "file", "path": "resources/a.xlsx"}]

    validation = check(tmp_path / "d", tasks=1, edit=plant, extra_files={"resources/a.xlsx": b"<html>login</html>"})
    assert [e.check for e in validation.of(Level.ERROR)] == ["input-unreadable"]


def test_a_damaged_or_encrypted_member_of_a_zip_is_an_error_and_is_not_unpacked(tmp_path: Path) -> None:
    path = make_release(tmp_path / "d.zip", tasks=2)
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("gta_workflow_dataset/resources/files/2-0.pdf")
    data = bytearray(path.read_bytes())
    start = info.header_offset + 30 + len(info.filename)
    data[start : start + 20] = b"\xff" * 20
    path.write_bytes(data)
    before = set(tmp_path.rglob("*"))
    (error,) = validate(Release(path)).of(Level.ERROR)
    assert (error.check, error.task_id) == ("input-unreadable", "2")
    assert set(tmp_path.rglob("*")) == before


def test_leaves_that_repeat_each_other_or_say_too_little(tmp_path: Path) -> None:
    def plant(index: Index) -> None:
        first, second, third = index["1"]["sub_tasks"][:3]
        first["requirements"] = "The  report names THREE regions."
        second["requirements"] = "the report names three regions."
        third["sub_tasks"][0]["requirements"] = "Good."

    validation = check(tmp_path / "d", tasks=1, edit=plant)
    assert found(validation) == [
        ("warning", "leaf-short", "1", "cp3-1"),
        ("warning", "leaf-twice", "1", "cp2"),
    ]
    assert validation.findings[1].message == "has the same requirement as cp1: it counts 2 times"
    assert validation.ok


def test_a_request_or_leaf_that_names_a_tool(tmp_path: Path) -> None:
    def plant(index: Index) -> None:
        index["1"]["dialogs"][0]["content"] += " Read it with ReadPDF, then call the Plot tool."
        index["1"]["sub_tasks"][0]["requirements"] = "GoogleSearch was called before report_1.docx was written."

    warnings = check(tmp_path / "d", tasks=1, edit=plant).of(Level.WARNING)
    assert [(w.check, w.node_id) for w in warnings] == [
        ("leaf-names-tool", "cp1"),
        ("request-names-tool", None),
        ("request-names-tool", None),
    ]
    assert "ReadPDF" in warnings[2].message
    assert "Plot" in warnings[1].message


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        ("Plot the data with a calculator; OCR errors and a prover are known.", []),
        ("Use the OCR tool or `Solver`", ["OCR", "Solver"]),
        ("a videoclip, a VideoClip and VideoClips", ["VideoClip"]),
        ("\"Plot\" and 'Calculator'", ["Calculator", "Plot"]),
    ],
)
def test_a_plain_word_is_no_tool_name(text: str, tools: list[str]) -> None:
    assert named_tools(text) == tools


def test_deliverables_of_request_and_leaves_are_compared(tmp_path: Path) -> None:
    def plant(index: Index) -> None:
        index["1"]["dialogs"][0]["content"] = "Write Plan.docx and a song as song.mp3. Use resources/in.csv."
        for node in index["1"]["sub_tasks"]:
            node.pop("sub_tasks", None)
        texts = ("plan.docx has a title page.", "extra.pptx has five slides.", "Totals equal those of in.csv.")
        for node, text in zip(index["1"]["sub_tasks"], texts, strict=False):
            node["requirements"] = text
        index["1"]["sub_tasks"] = index["1"]["sub_tasks"][:3]
        index["1"]["files"] = [{"type": "file", "path": "resources/in.csv"}]

    validation = check(tmp_path / "d", tasks=1, edit=plant, extra_files={"resources/in.csv": b"a,b\n"})
    assert [(f.check, f.node_id, f.message) for f in validation.findings] == [
        ("deliverable-not-judged", None, "the request asks for song.mp3, and no leaf speaks of it"),
        ("deliverable-not-asked", "cp2", "the requirement expects extra.pptx, and the request does not name it"),
    ]


def test_categories_outside_the_six_are_noted(tmp_path: Path) -> None:
    def plant(index: Index) -> None:
        index["1"]["workflow_category_6class"] = "Customer care"
        index["2"].pop("workflow_category_6class")
        index["3"]["tools"] = ["OCR", "Hammer"]
        index["3"]["capabilities"] = ["logic", "magic"]

    validation = check(tmp_path / "d", tasks=3, edit=plant)
    assert found(validation) == [
        ("warning", "category", "2", None),
        ("warning", "tool-unknown", "3", None),
        ("warning", "capability-unknown", "3", None),
        ("note", "category", "1", None),
    ]
    assert "`capabilities` names 'magic', which is none of perception, " in validation.of(Level.WARNING)[2].message
    assert validation.counts.capabilities["logic"] == (1, 0)


def test_ids_that_make_the_same_test_id_are_an_error(tmp_path: Path) -> None:
    def plant(index: Index) -> None:
        index["a-1"] = index["1"]
        index["a 1"] = index["1"]

    (error,) = check(tmp_path / "d", tasks=1, edit=plant).of(Level.ERROR)
    assert error.message == "has the same test id as task a 1: data_analysis_a_1; rename one"


TOOL_FAULTS: dict[str, tuple[Callable[[Index], object], str, str]] = {
    "unknown": (
        lambda t: t.update(Hammer=dict(t["OCR"])),
        "warning",
        "benchmark's and are not offered: Hammer",
    ),
    "lacking": (lambda t: t.pop("OCR"), "note", "lacks 1 of the benchmark's tools: OCR"),
    "inputs": (lambda t: t["OCR"].update(inputs={}), "error", "OCR: `inputs` is not a list of parameters"),
    "parameter": (lambda t: t["OCR"]["inputs"].append("x"), "error", "OCR: `inputs` 3 is not an object"),
    "type": (
        lambda t: t["OCR"]["inputs"][0].update(type="string"),
        "error",
        "OCR: `inputs` query: type 'string' is none of text, int, float, bool, image, audio, video, file",
    ),
    "name": (lambda t: t["OCR"]["inputs"][0].update(name=None), "error", "OCR: `inputs` 1: name None is not a name"),
    "description": (lambda t: t["OCR"].update(description=3), "error", "OCR: `description` is not text"),
    "not an object": (lambda t: t.update(OCR="reads"), "error", "toolmeta.json: OCR is a str, not an object"),
}


@pytest.mark.parametrize(("plant", "level", "message"), TOOL_FAULTS.values(), ids=TOOL_FAULTS.keys())
def test_toolmeta(tmp_path: Path, plant: Callable[[Index], object], level: str, message: str) -> None:
    (finding,) = check(tmp_path / "d", tasks=1, edit_tools=plant).findings
    assert (finding.level, finding.task_id, finding.where) == (level, None, "dataset")
    assert message in finding.message


def test_the_37_tools_by_what_they_take_of_an_agent() -> None:
    sizes = {name: list(TOOL_CAPABILITIES.values()).count(name) for name in set(TOOL_CAPABILITIES.values())}
    assert sizes == {"perception": 9, "operation": 19, "logic": 6, "creativity": 3}


def test_a_dataset_without_tasks_is_not_ok(tmp_path: Path) -> None:
    validation = check(tmp_path, tasks=1, edit=lambda index: index.clear())
    assert [(f.level, f.where, f.message) for f in validation.findings] == [
        (Level.ERROR, "dataset", "there are no tasks in it")
    ]
