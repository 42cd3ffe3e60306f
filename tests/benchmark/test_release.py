from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.benchmark.dataset import DatasetError
from pytest_gta.benchmark.release import Release
from pytest_gta.benchmark.task import Resource, Task, TaskFault
from tests.release_factory import make_release, png_bytes, release_index, tool_metadata


@pytest.fixture(params=["folder", "zip", "zip without top folder"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Release]:
    def build(**options: Any) -> Release:
        if request.param == "folder":
            return Release(make_release(tmp_path / "data", **options))
        top = "gta_workflow_dataset" if request.param == "zip" else ""
        return Release(make_release(tmp_path / "data.zip", top_folder=top, **options))

    return build


def test_the_full_release_loads_unchanged(make: Callable[..., Release]) -> None:
    release = make()
    tasks = [task for task in release.tasks() if isinstance(task, Task)]
    assert len(tasks) == len(release.task_ids) == 132
    assert sum(len(task.leaves) for task in tasks) == 1156
    assert sum(node.is_leaf for task in tasks for node in task.checkpoints) == 231
    assert Counter(task.category for task in tasks) == {
        "data_analysis": 34,
        "education": 31,
        "planning": 21,
        "marketing": 16,
        "creative_design": 16,
        "retrieval_qa": 14,
    }
    assert len(release.tool_metadata) == 37
    assert all(release.has_resource(task, r) for task in tasks for r in task.resources if r.bundled)
    assert {task.id for task in tasks if not all(r.bundled for r in task.resources)} == {"126"}


def test_bare_file_names_are_named_and_not_staged(make: Callable[..., Release]) -> None:
    task = make().task("126")
    assert task.resources == (Resource("LatencyReport.pdf", "", False), Resource("LatencyData.csv", "", False))
    assert task.brief.inputs == ()
    assert task.notes == (
        "names the file 'LatencyReport.pdf', which the dataset does not ship",
        "names the file 'LatencyData.csv', which the dataset does not ship",
    )


def test_ids_are_strings_in_numeric_order_others_after(tmp_path: Path) -> None:
    def more(index: dict[str, Any]) -> None:
        for key in ("b1", "10", "a1", "²"):
            index[key] = index["1"]

    release = Release(make_release(tmp_path / "d", tasks=3, edit=more))
    assert release.task_ids == ("1", "2", "3", "10", "a1", "b1", "²")


def test_an_input_file_is_copied_from_a_folder_and_out_of_a_zip(make: Callable[..., Release], tmp_path: Path) -> None:
    release = make(tasks=12)
    tasks = [task for task in release.tasks() if isinstance(task, Task)]
    task, resource = next((task, r) for task in tasks for r in task.resources if r.path.endswith(".png"))
    release.copy_resource(task, resource, tmp_path / "out" / "deep" / "p.png")
    assert (tmp_path / "out" / "deep" / "p.png").read_bytes() == png_bytes()


def test_a_missing_input_is_said_to_be_missing(make: Callable[..., Release], tmp_path: Path) -> None:
    release = make(tasks=2, leave_out=("resources/files/2-0.pdf",))
    task = release.task("2")
    assert not release.has_resource(task, task.resources[0])
    with pytest.raises(FileNotFoundError, match=r"resources/files/2-0\.pdf is not in "):
        release.copy_resource(task, task.resources[0], tmp_path / "x")


def test_the_digest_is_of_questions_and_tools_however_they_are_packed(tmp_path: Path) -> None:
    folder = Release(make_release(tmp_path / "a", tasks=2))
    packed = Release(make_release(tmp_path / "a.zip", tasks=2))

    def change(tools: dict[str, Any]) -> None:
        tools["OCR"]["description"] = "Reads."

    other = Release(make_release(tmp_path / "b", tasks=2, edit_tools=change))
    assert folder.sha256 == packed.sha256 != other.sha256


def test_a_folder_or_zip_named_by_its_parent_is_found(tmp_path: Path) -> None:
    make_release(tmp_path / "unpacked" / "gta_workflow_dataset", tasks=1)
    assert Release(tmp_path / "unpacked").task_ids == ("1",)


@pytest.mark.parametrize("content", ["{", "[]", "null", '"x"', "[" * 100_000, "\x00"])
def test_an_index_that_is_not_one_is_a_dataset_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "end.json").write_text(content)
    with pytest.raises(DatasetError, match=r"end\.json") as caught:
        Release(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_dataset_says_so(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no such file or folder"):
        Release(tmp_path / "nope")
    with pytest.raises(DatasetError, match="/dev/zero: it is a device or a pipe"):
        Release(Path("/dev/zero"))
    with pytest.raises(DatasetError, match=r"no end\.json in this folder"):
        Release(tmp_path)
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(DatasetError, match="not a folder and not a readable zip"):
        Release(tmp_path / "x.zip")
    with zipfile.ZipFile(tmp_path / "y.zip", "w") as archive:
        archive.writestr("a/b/start.json", "{}")
    with pytest.raises(DatasetError, match=r"no end\.json in this zip"):
        Release(tmp_path / "y.zip")


def test_the_topmost_index_counts_and_two_are_one_too_many(tmp_path: Path) -> None:
    deep = make_release(tmp_path / "deep.zip", tasks=2, top_folder="Größe/data set")
    assert Release(deep).task_ids == ("1", "2")
    with zipfile.ZipFile(deep, "a") as archive:
        archive.writestr("Größe/data set/old/end.json", "{}")
    assert Release(deep).task_ids == ("1", "2")
    with zipfile.ZipFile(deep, "a") as archive:
        archive.writestr("a/b/end.json", "{}")
    with pytest.raises(DatasetError, match=r"end\.json is in 2 folders of this zip \('Größe/data set/', 'a/b/'\)"):
        Release(deep)
    for name in ("one", "two"):
        make_release(tmp_path / "both" / name, tasks=1)
    with pytest.raises(DatasetError, match=r"in 2 folders of this folder \('one', 'two'\)"):
        Release(tmp_path / "both")
    assert Release(tmp_path / "both" / "two").task_ids == ("1",)


def test_an_id_of_any_length_is_sorted(tmp_path: Path) -> None:
    make_release(tmp_path, tasks=2, edit=lambda index: index.update({"8" * 5000: index.pop("1")}))
    assert Release(tmp_path).task_ids == ("2", "8" * 5000)


def test_a_damaged_index_inside_a_zip_is_a_dataset_error(tmp_path: Path) -> None:
    path = make_release(tmp_path / "d.zip", tasks=1)
    data = bytearray(path.read_bytes())
    data[80:120] = b"\xff" * 40
    path.write_bytes(data)
    with pytest.raises(DatasetError, match=r"end\.json cannot be read"):
        Release(path)


@pytest.mark.parametrize("content", ["[]", '{"OCR": "reads"}', "{"])
def test_a_bad_toolmeta_is_an_error_and_not_an_empty_tool_list(tmp_path: Path, content: str) -> None:
    make_release(tmp_path / "d", tasks=1)
    (tmp_path / "d" / "toolmeta.json").write_text(content)
    with pytest.raises(DatasetError, match=r"toolmeta\.json"):
        _ = Release(tmp_path / "d").tool_metadata


def test_without_a_toolmeta_there_is_none(tmp_path: Path) -> None:
    make_release(tmp_path / "d", tasks=1)
    (tmp_path / "d" / "toolmeta.json").unlink()
    assert Release(tmp_path / "d").tool_metadata == {}


def _node(index: dict[str, Any]) -> dict[str, Any]:
    return index["2"]["sub_tasks"][0]


RECORD_FAULTS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "not an object": (lambda i: i.update({"2": "x"}), "task 2: the record is a text, expected an object"),
    "no dialogs": (lambda i: i["2"].pop("dialogs"), "task 2: `dialogs` is not a list of messages"),
    "dialog of text": (lambda i: i["2"].update(dialogs=["hi"]), "task 2: `dialogs` is not a list of messages"),
    "content": (
        lambda i: i["2"]["dialogs"][0].update(content=["a"]),
        "task 2: a message's `content` is a list, expected text",
    ),
    "empty request": (lambda i: i["2"]["dialogs"][0].update(content=" "), "task 2: the request is empty"),
    "no rubric": (lambda i: i["2"].pop("sub_tasks"), "task 2: `sub_tasks` is missing or null, expected a list"),
    "empty rubric": (lambda i: i["2"].update(sub_tasks=[]), "task 2: the rubric has no checkpoints"),
    "node": (lambda i: i["2"]["sub_tasks"].insert(0, 5), "task 2, checkpoint #1: is a number, expected an object"),
    "weight null": (lambda i: _node(i).update(weight=None), "task 2, checkpoint cp1: weight None is not a number"),
    "weight text": (lambda i: _node(i).update(weight="2"), "task 2, checkpoint cp1: weight '2' is not a number"),
    "weight bool": (lambda i: _node(i).update(weight=True), "task 2, checkpoint cp1: weight True is not a number"),
    "weight 0": (lambda i: _node(i).update(weight=0), "task 2, checkpoint cp1: weight 0.0 is not a finite number"),
    "weight NaN": (lambda i: _node(i).update(weight=float("nan")), "cp1: weight nan is not a finite number above 0"),
    "weight inf": (lambda i: _node(i).update(weight=float("inf")), "cp1: weight inf is not a finite number above 0"),
    "weight of 400 digits": (lambda i: _node(i).update(weight=10**400), "cp1: weight inf is not a finite number"),
    "no requirement": (lambda i: _node(i).pop("requirements"), "cp1: `requirements` is missing or not text"),
    "sub_tasks": (lambda i: _node(i).update(sub_tasks="x"), "cp1: `sub_tasks` is a text, expected a list"),
    "leaf text": (lambda i: _node(i).update(requirements="\t"), "cp1: a leaf needs a requirement"),
    "id twice": (lambda i: i["2"]["sub_tasks"].append(dict(_node(i))), "task 2, checkpoint cp1: this id is used twice"),
    "files": (lambda i: i["2"].update(files={}), "task 2: `files` is an object, expected a list"),
    "no path": (lambda i: i["2"].update(files=[{"type": "file"}]), "task 2: an input file entry has no path"),
    "number": (lambda i: i["2"].update(files=[3]), "task 2: an input file entry has no path: 3"),
    "escape": (
        lambda i: i["2"].update(files=[{"path": "../../etc/passwd"}]),
        "task 2: the input path '../../etc/passwd' leaves the dataset folder",
    ),
    "absolute": (lambda i: i["2"].update(files=["/etc/passwd"]), "task 2: the input path '/etc/passwd' leaves the"),
    "drive": (lambda i: i["2"].update(files=["C:\\x"]), "task 2: the input path 'C:\\\\x' leaves the dataset folder"),
    "NUL": (lambda i: i["2"].update(files=["a\0b"]), "leaves the dataset folder"),
}


@pytest.mark.parametrize(("plant", "expected"), RECORD_FAULTS.values(), ids=RECORD_FAULTS.keys())
def test_a_bad_record_is_one_fault_and_hides_no_other_task(
    tmp_path: Path, plant: Callable[[dict[str, Any]], object], expected: str
) -> None:
    release = Release(make_release(tmp_path / "d", tasks=3, edit=plant))
    tasks = release.tasks()
    assert [type(task) for task in tasks] == [Task, TaskFault, Task]
    assert expected in str(tasks[1])
    assert str(release.faults("2")[0]) == str(tasks[1])
    assert release.faults("1") == ()
    with pytest.raises(TaskFault):
        release.task("2")


def test_all_faults_of_a_task_are_found_at_once(tmp_path: Path) -> None:
    def plant(index: dict[str, Any]) -> None:
        record = index["1"]
        record["files"] = record["dialogs"][0]["resources"] = [{"path": "/abs"}]
        first, second, third = record["sub_tasks"][:3]
        first["weight"] = -2
        second["requirements"] = None
        third["sub_tasks"][0]["weight"] = "heavy"
        third["sub_tasks"][1]["id"] = first["id"]

    release = Release(make_release(tmp_path / "d", tasks=1, edit=plant))
    assert [(f.node_id, f.reason.split(" ")[0]) for f in release.faults("1")] == [
        (None, "the"),
        ("cp2", "`requirements`"),
        ("cp3-1", "weight"),
        ("cp1", "weight"),
        ("cp1", "this"),
    ]


def test_half_a_character_is_marked_wherever_it_stands(tmp_path: Path) -> None:
    def plant(index: dict[str, Any]) -> None:
        index["1"]["dialogs"][0]["content"] = "Cut \ud83d here, whole \U0001f600 there."
        index["1"]["sub_tasks"][0]["requirements"] = "\ude00 half"
        index["t\ud83d"] = index.pop("2")

    release = Release(make_release(tmp_path / "d", tasks=2, edit=plant))
    assert release.task_ids == ("1", "t\ufffd")
    task = release.task("1")
    assert task.request == "Cut \ufffd here, whole \U0001f600 there."
    assert task.checkpoints[0].requirements == "\ufffd half"
    raw = (tmp_path / "d" / "end.json").read_bytes().replace(b"\\ude00 half", b"\xed\xb8\x80 half")
    (tmp_path / "d" / "end.json").write_bytes(raw)
    assert "half" in Release(tmp_path / "d").task("1").checkpoints[0].requirements.encode().decode()


def test_an_id_that_is_there_twice_is_a_fault_of_that_task(tmp_path: Path) -> None:
    index = release_index(2)
    text = json.dumps(index)[:-1] + ', "1": ' + json.dumps(index["2"]) + "}"
    (tmp_path / "end.json").write_text(text)
    first, second = Release(tmp_path).tasks()
    assert str(first) == "task 1: end.json has this id more than once; only the last record is read"
    assert isinstance(second, Task)


def test_a_rubric_without_end_is_refused(tmp_path: Path) -> None:
    def plant(index: dict[str, Any]) -> None:
        node: dict[str, Any] = {"id": "deepest", "requirements": "Is met indeed.", "weight": 1}
        for depth in range(30):
            node = {"id": f"n{depth}", "requirements": "Above.", "weight": 1, "sub_tasks": [node]}
        index["1"]["sub_tasks"] = [node]

    release = Release(make_release(tmp_path / "d", tasks=1, edit=plant))
    assert [f.reason for f in release.faults("1")] == ["is nested more than 20 levels deep"]


def test_the_two_lists_of_inputs_are_one_and_paths_are_plain(tmp_path: Path) -> None:
    def plant(index: dict[str, Any]) -> None:
        index["1"]["dialogs"][0]["resources"] = [{"type": "file", "path": "./resources/a.csv", "url": None}]
        index["1"]["files"] = [
            {"type": "other", "path": "resources\\a.csv"},
            {"type": "file", "path": "resources/b.csv"},
            {"type": "file", "path": None, "url": "https://example.org/c.csv"},
        ]

    files = {"resources/a.csv": b"1", "resources/b.csv": b"2"}
    for target in (tmp_path / "d", tmp_path / "d.zip"):
        release = Release(make_release(target, tasks=1, edit=plant, extra_files=files))
        task = release.task("1")
        assert task.resources == (Resource("resources/a.csv", "file"), Resource("resources/b.csv", "file"))
        assert all(release.has_resource(task, resource) for resource in task.resources)
        assert task.notes == ("an input is only a link and is not staged: https://example.org/c.csv",)


def test_listing_tasks_reads_no_input_file(make: Callable[..., Release], monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    open_file, open_member = Path.open, zipfile.ZipFile.open

    def file(self: Path, *arguments: Any, **more: Any) -> Any:
        opened.append(self.as_posix())
        return open_file(self, *arguments, **more)

    def member(self: zipfile.ZipFile, name: Any, *arguments: Any, **more: Any) -> Any:
        opened.append(getattr(name, "filename", name))
        return open_member(self, name, *arguments, **more)

    made = make(tasks=12)
    monkeypatch.setattr(Path, "open", file)
    monkeypatch.setattr(zipfile.ZipFile, "open", member)
    release = Release(made.path)
    assert all(isinstance(task, Task) for task in release.tasks()) and release.tool_metadata
    assert {name.rpartition("/")[2] for name in opened} == {"end.json", "toolmeta.json"}


def test_metadata_of_the_factory_is_that_of_the_index(make: Callable[..., Release]) -> None:
    assert make(tasks=1).tool_metadata == tool_metadata()
