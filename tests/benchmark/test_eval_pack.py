"""The reference's eval pack: read as its producers write it, written with its exact fields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.benchmark.eval_pack import (
    PackedTask,
    PackError,
    deliverable_names,
    find_file,
    pack_text,
    read_pack,
    tree_of,
)
from pytest_gta.benchmark.task import Checkpoint


def write(folder: Path, *tasks: Any, **top: Any) -> Path:
    file = folder / "pack.json"
    file.write_text(json.dumps({"schema_version": 1, "generated_from": {}, "tasks": list(tasks), **top}))
    return file


def one(folder: Path, **entry: Any) -> PackedTask:
    (task,) = read_pack(write(folder, {"task_id": 7, **entry})).values()
    return task


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    tree = (Checkpoint("cp1", "All.", 2.0, (Checkpoint("cp1-1", "One.", 1.0), Checkpoint("cp1-2", "Two.", 1.5))),)
    task = PackedTask("7", ("Do it.",), "Done 完.", ("/a/x.csv",), ("x.csv",), tree_of(tree), {"backend": "me"})
    text = pack_text([task, PackedTask("b-2"), PackedTask("007")], {"script": "s"})
    content = json.loads(text)
    assert list(content) == ["schema_version", "generated_from", "tasks"] and content["schema_version"] == 1
    assert content["tasks"][0] == {
        "task_id": 7,
        "sample_idx": 1,
        "origin_prompt": ["Do it."],
        "assistant_outputs": [[{"role": "assistant", "content": "Done 完."}]],
        "attached_files": ["/a/x.csv"],
        "full_tree": [
            {
                "id": "cp1",
                "requirements": "All.",
                "weight": 2,
                "sub_tasks": [
                    {"id": "cp1-1", "requirements": "One.", "weight": 1},
                    {"id": "cp1-2", "requirements": "Two.", "weight": 1.5},
                ],
            }
        ],
        "meta": {"backend": "me", "workspace_paths": ["x.csv"]},
    }
    assert [(t["task_id"], t["sample_idx"]) for t in content["tasks"]] == [(7, 1), ("b-2", 2), ("007", 3)]
    (tmp_path / "pack.json").write_text(text)
    read = read_pack(tmp_path / "pack.json")
    assert list(read) == ["7", "b-2", "007"]
    assert (read["7"].final_answer, read["7"].files, read["7"].names) == ("Done 完.", ("/a/x.csv",), ("x.csv",))


@pytest.mark.parametrize(
    ("outputs", "answer"),
    [
        ([[{"role": "assistant", "content": "a"}, {"role": "assistant", "content": " b \n"}]], "b"),
        ([[{"role": "assistant", "content": "round 1"}], [{"role": "assistant", "content": "round 2"}]], "round 2"),
        ([[{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "  "}]], "a"),
        ([[{"role": "assistant", "content": "a"}, {"role": "assistant", "tool_calls_summary": []}]], "a"),
        ([[{"role": "assistant", "content": "a"}, {"role": "tool", "content": "b"}]], "a"),
        ([{"role": "assistant", "content": "flat"}], "flat"),
        ("bare", "bare"),
        ([], ""),
        (None, ""),
    ],
)
def test_the_final_answer_is_the_last_text_of_the_assistant(tmp_path: Path, outputs: Any, answer: str) -> None:
    assert one(tmp_path, assistant_outputs=outputs).final_answer == answer


@pytest.mark.parametrize(
    ("attached", "files"),
    [
        (["a.csv", " b.csv "], ("a.csv", "b.csv")),
        ("a.csv", ("a.csv",)),
        (None, ()),
        ([], ()),
        ([["a.csv"], ["b.csv"]], ("a.csv", "b.csv")),
        ([None, ""], ()),
    ],
)
def test_attached_files_in_every_form(tmp_path: Path, attached: Any, files: tuple[str, ...]) -> None:
    assert one(tmp_path, attached_files=attached).files == files


def test_files_are_found_below_the_pack_the_repository_and_anywhere(tmp_path: Path, monkeypatch: Any) -> None:
    repository = tmp_path / "repository"
    pack = repository / "packs" / "mini" / "pack.json"
    pack.parent.mkdir(parents=True)
    for path in (pack.parent / "near.csv", repository / "out" / "far.csv", tmp_path / "x" / "here.csv"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    monkeypatch.chdir(tmp_path / "x")
    assert find_file("near.csv", pack) == pack.parent / "near.csv"
    assert find_file("out/far.csv", pack) == repository / "out" / "far.csv"
    assert find_file("out\\far.csv", pack) == repository / "out" / "far.csv"
    assert find_file("here.csv", pack) == tmp_path / "x" / "here.csv"
    assert find_file(f"sandbox:{repository}/out/far.csv", pack) == repository / "out" / "far.csv"
    for gone in ("gone.csv", "/gone.csv", "out", "https://example.org/a.csv", "a\0b", "x" * 5000):
        assert find_file(gone, pack) is None


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (("results/7/files/a.csv", "results/7/files/charts/a.csv"), ("a.csv", "charts/a.csv")),
        (("/tmp/out/a.csv", "b.csv"), ("a.csv", "b.csv")),
        (("x/one/a.csv", "x/two/a.csv", "b.csv"), ("one/a.csv", "two/a.csv", "b.csv")),
        (("/a.csv", "/b/a.csv"), ("a.csv", "b/a.csv")),
        (("C:\\out\\a.csv",), ("a.csv",)),
        (("same/a.csv", "same/a.csv"), ("same/a.csv", "same/a.csv")),
        ((), ()),
    ],
)
def test_names_of_deliverables(files: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert deliverable_names(PackedTask("7", files=files)) == names


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("", "is not JSON"),
        ("[]", "it has no list `tasks`"),
        ('{"tasks": {}}', "it has no list `tasks`"),
        ('{"tasks": []}', "holds no tasks"),
        ('{"tasks": ["x"]}', "entry 1 of `tasks` is not an object"),
        ('{"tasks": [{"task_id": 1}, {}]}', "entry 2 of `tasks` has no usable `task_id`"),
        ('{"tasks": [{"task_id": true}]}', "no usable `task_id`"),
        ('{"tasks": [{"task_id": 7}, {"task_id": 8}, {"task_id": "7"}]}', "more than one entry for task 7;"),
        ('{"tasks": [{"task_id": 7, "attached_files": 5}]}', r"\(task 7\): `attached_files` is 5"),
    ],
)
def test_faults_name_the_place(tmp_path: Path, content: str, fault: str) -> None:
    (tmp_path / "p.json").write_text(content)
    with pytest.raises(PackError, match=fault) as error:
        read_pack(tmp_path / "p.json")
    assert "p.json" in str(error.value) and "\n" not in str(error.value)


def test_a_pack_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="cannot be read: No such file"):
        read_pack(tmp_path / "gone.json")
