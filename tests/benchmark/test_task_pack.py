"""A folder of YAML tasks: which files are tasks, where inputs come from, what the digest covers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_gta.benchmark.dataset import DatasetError
from pytest_gta.benchmark.task import Resource, Task, TaskFault
from pytest_gta.benchmark.task_pack import TaskPack
from pytest_gta.benchmark.yaml_document import MAX_BYTES
from tests.release_factory import make_release
from tests.task_files import TASK, write_task


def test_every_yaml_below_is_a_task_but_for_inputs_and_hidden_ones(tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    write_task(pack / "b.yml", inputs={"settings.yaml": b"port: 80\n"})
    write_task(pack / "deep" / "down" / "a.yaml")
    write_task(pack / "2" / "task.yaml")
    write_task(pack / ".drafts" / "x.yaml")
    (pack / "README.md").write_text("mine")
    dataset = TaskPack(pack)
    assert (dataset.name, dataset.task_ids, dataset.location) == ("pack", ("2", "a", "b"), str(pack))
    assert all(isinstance(task, Task) for task in dataset.tasks())
    assert (dataset.tool_metadata, dataset.members) == ({}, (dataset,))


def test_a_bad_file_does_not_hide_the_others(tmp_path: Path) -> None:
    write_task(tmp_path / "good.yaml")
    write_task(tmp_path / "bad.yaml", "request: [\n")
    bad, good = TaskPack(tmp_path).tasks()
    assert isinstance(bad, TaskFault)
    assert str(bad).startswith("task bad: bad.yaml, line 2: is not YAML: ")
    assert isinstance(good, Task)
    assert len(TaskPack(tmp_path).faults("bad")) == 1


def test_one_file_is_a_pack(tmp_path: Path) -> None:
    write_task(tmp_path / "other.yaml")
    path = write_task(tmp_path / "farm" / "task.yaml", inputs={"in/a.csv": b"x"})
    pack = TaskPack(path)
    assert (pack.name, pack.task_ids) == ("farm", ("farm",))
    task = pack.task("farm")
    assert task.resources == (Resource("in/a.csv", "file"),)
    with pack.open_resource(task, task.resources[0]) as source:
        assert source.read() == b"x"


def test_tasks_of_one_pack_may_have_inputs_of_the_same_name(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_task(tmp_path / name / "task.yaml", inputs={"data.csv": name.encode()})
    pack = TaskPack(tmp_path)
    for name in ("a", "b"):
        task = pack.task(name)
        pack.copy_resource(task, task.resources[0], tmp_path / "out" / name)
        assert (tmp_path / "out" / name).read_text() == name


def test_a_missing_input_is_said_to_be_missing(tmp_path: Path) -> None:
    write_task(tmp_path / "a.yaml", inputs={"in.csv": b"x"})
    (tmp_path / "in.csv").unlink()
    pack = TaskPack(tmp_path)
    task = pack.task("a")
    assert not pack.has_resource(task, task.resources[0])
    with pytest.raises(FileNotFoundError, match=r"in\.csv"):
        pack.copy_resource(task, task.resources[0], tmp_path / "x")
    assert len(pack.sha256) == 64


def test_the_digest_covers_every_file_wherever_the_pack_lies(tmp_path: Path) -> None:
    def make(name: str) -> Path:
        write_task(tmp_path / name / "a.yaml", inputs={"in.csv": b"1"})
        write_task(tmp_path / name / "b" / "task.yaml")
        return tmp_path / name

    first, second = make("one"), make("two")
    assert TaskPack(first).sha256 == TaskPack(second).sha256
    (second / "README.md").write_text("not of the dataset")
    assert TaskPack(first).sha256 == TaskPack(second).sha256
    (second / "in.csv").write_bytes(b"2")
    changed = TaskPack(second).sha256
    assert changed != TaskPack(first).sha256
    (second / "in.csv").write_bytes(b"1")
    (second / "b" / "task.yaml").write_text((second / "b" / "task.yaml").read_text() + "# more\n")
    assert TaskPack(second).sha256 not in (changed, TaskPack(first).sha256)


def test_what_is_no_pack_says_so(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"neither end\.json nor a task as a YAML file"):
        TaskPack(tmp_path)


def test_an_id_in_two_files_is_a_fault_beside_all_others(tmp_path: Path) -> None:
    write_task(tmp_path / "a.yaml", inputs={"in.csv": b"1"})
    write_task(tmp_path / "a" / "task.yaml", "request: [\n")
    write_task(tmp_path / "b.yaml")
    pack = TaskPack(tmp_path)
    assert pack.task_ids == ("a", "b")
    twice, other = (fault.reason for fault in pack.faults("a"))
    assert twice == "a/task.yaml and a.yaml have the same id; give one another `id`"
    assert other.startswith("a/task.yaml, line 2: is not YAML: ")
    assert isinstance(pack.tasks()[1], Task)
    digest = pack.sha256
    (tmp_path / "in.csv").write_bytes(b"2")
    assert TaskPack(tmp_path).sha256 != digest


def test_a_link_out_of_the_pack_is_not_followed(tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    write_task(tmp_path / "theirs.yaml")
    (tmp_path / "secret.csv").write_bytes(b"secret")
    write_task(pack / "a.yaml", inputs={"in.csv": b"1", "out.csv": b"1", "folder/secret.csv": b"1"})
    (pack / "in.csv").rename(pack / "real.csv")
    (pack / "in.csv").symlink_to("real.csv")
    (pack / "out.csv").unlink()
    (pack / "out.csv").symlink_to("../secret.csv")
    (pack / "folder" / "secret.csv").unlink()
    (pack / "folder").rmdir()
    (pack / "folder").symlink_to(tmp_path)
    (pack / "loop.csv").symlink_to("loop.csv")
    (pack / "b.yaml").symlink_to("../theirs.yaml")
    write_task(pack / "c.yaml", TASK + "files: [real.csv, loop.csv]\n")
    opened = TaskPack(pack)
    why = f"is a link that leads out of {pack}; put the file itself there"
    assert [fault.reason for fault in opened.faults("a")] == [f"out.csv {why}", f"folder/secret.csv {why}"]
    assert [fault.reason for fault in opened.faults("b")] == [f"b.yaml {why}"]
    task = opened.task("c")
    assert [opened.has_resource(task, resource) for resource in task.resources] == [True, False]
    assert len(opened.sha256) == 64


@pytest.mark.parametrize("size", [None, MAX_BYTES + 1])
def test_a_task_is_no_pipe_and_no_huge_file(tmp_path: Path, size: int | None) -> None:
    path = tmp_path / "a.yaml"
    if size is None:
        os.mkfifo(path)
    else:
        with path.open("wb") as file:
            file.truncate(size)
    pack = TaskPack(path)
    why = "it is a device or a pipe, not a file" if size is None else "it has 8,388,609 bytes; 8,388,608 are the most"
    assert [fault.reason for fault in pack.faults("a")] == [f"a.yaml cannot be read ({why})"]
    assert len(pack.sha256) == 64


def test_a_release_below_yaml_tasks_is_not_passed_over(tmp_path: Path) -> None:
    write_task(tmp_path / "a.yaml")
    make_release(tmp_path / "theirs", tasks=1)
    with pytest.raises(DatasetError, match=r"theirs/end\.json is a dataset of its own"):
        TaskPack(tmp_path)


def test_what_an_agent_must_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_task(tmp_path / "pack" / "a" / "task.yaml", inputs={"in.csv": b"x"})
    record, given = path.parent / "authoring.json", path.parent / "in.csv"
    assert TaskPack(tmp_path / "pack").paths == (tmp_path / "pack",)
    assert TaskPack(path).paths == (path, record, given)
    monkeypatch.chdir(tmp_path / "pack")
    whole = TaskPack(tmp_path / "pack")
    assert whole.paths == (path, record, given)  # hiding the project would hide the agent as well
    assert whole.location == str(tmp_path / "pack")
