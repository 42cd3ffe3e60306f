from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.benchmark.dataset import DatasetError
from pytest_gta.benchmark.release import Release
from pytest_gta.benchmark.task import Task, TaskFault
from pytest_gta.benchmark.task_pack import TaskPack
from pytest_gta.option_values import datasets
from pytest_gta.run.selection import dataset_folder, find_datasets, open_dataset, select_tasks, task_id
from pytest_gta.settings import Settings, SettingsError, resolve
from tests.release_factory import make_release
from tests.task_files import write_task


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    def plant(index: dict[str, Any]) -> None:
        index["3"]["sub_tasks"] = []

    return Release(make_release(tmp_path_factory.mktemp("data") / "d", tasks=12, edit=plant))


def settings(**given: str) -> Settings:
    texts = {f"gta_{key}": value for key, value in ({"model": "m"} | given).items()}
    resolved = resolve(texts.get, lambda name: "", {})
    assert resolved is not None
    return resolved


def ids(tasks: tuple[Task | TaskFault, ...]) -> list[str]:
    return [task.id if isinstance(task, Task) else f"!{task.task_id}" for task in tasks]


ALL = ["1", "2", "!3", "5", "6", "7", "9", "10", "11", "13", "14", "15"]


def test_everything_in_id_order_with_bad_tasks_in_their_place(release: Release) -> None:
    assert ids(select_tasks(release, settings())) == ALL


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"task": "9,2"}, ["2", "9"]),
        ({"task": "3"}, ["!3"]),
        ({"category": "planning"}, ["11"]),
        ({"category": "education,marketing"}, ["2", "5", "10", "14", "15"]),
        ({"limit": "3"}, ["1", "2", "!3"]),
        ({"limit": "99"}, ALL),
        ({"shard": "1/3"}, ["1", "5", "9", "13"]),
        ({"shard": "3/3"}, ["!3", "7", "11", "15"]),
        ({"shard": "9/9", "limit": "4"}, []),
        ({"task": "1,2,5", "category": "education", "limit": "1"}, ["2"]),
    ],
)
def test_a_selection(release: Release, given: dict[str, str], expected: list[str]) -> None:
    assert ids(select_tasks(release, settings(**given))) == expected


def test_shards_are_a_partition(release: Release) -> None:
    shards = [ids(select_tasks(release, settings(shard=f"{i}/5"))) for i in range(1, 6)]
    assert sorted(task_id for shard in shards for task_id in shard) == sorted(ALL)
    assert {len(shard) for shard in shards} == {2, 3}


def test_only_tasks_with_outputs(release: Release) -> None:
    assert ids(select_tasks(release, settings(), only={"2", "9", "99"})) == ["2", "9"]
    assert ids(select_tasks(release, settings(limit="1"), only={"9", "2"})) == ["2"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"task": "1,8"}, "--gta-task: '8' is not in the dataset; it has 1, 2, 3, 5, 6, 7, 9, 10, 11, 13 (of 12)"),
        ({"task": "15b"}, "--gta-task: '15b' is not in the dataset; it has 15, 5, 1 (of 12)"),
        (
            {"category": "plannin"},
            "--gta-category: 'plannin' is not in the dataset; it has planning, marketing, education (of 6)",
        ),
    ],
)
def test_an_unknown_name_is_refused_with_near_ones(release: Release, given: dict[str, str], text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        select_tasks(release, settings(**given))
    assert str(caught.value) == text


def test_ids_that_make_the_same_test_id_are_refused_when_both_are_selected(tmp_path: Path) -> None:
    def plant(index: dict[str, Any]) -> None:
        index["a-1"] = index["1"]
        index["a 1"] = index["1"]

    release = Release(make_release(tmp_path / "d", tasks=1, edit=plant))
    with pytest.raises(
        SettingsError, match="tasks 'a 1' and 'a-1' have the same test id data_analysis_a_1; rename one"
    ):
        select_tasks(release, settings())
    assert ids(select_tasks(release, settings(task="1"))) == ["1"]


def test_the_fetched_release_else_the_bundled_tasks(tmp_path: Path) -> None:
    assert open_dataset((), tmp_path / "empty").name == "mini"
    assert open_dataset(("mini",), tmp_path).name == "mini"
    with pytest.raises(
        SettingsError,
        match=r"^--gta-dataset=workflow: the release is not in .*empty; get it by: pytest-gta fetch workflow",
    ):
        open_dataset(("workflow",), tmp_path / "empty")
    make_release(tmp_path / "gta_workflow_dataset.zip", tasks=2)
    assert open_dataset((), tmp_path).name == "workflow"
    assert open_dataset(("workflow",), tmp_path).task_ids == ("1", "2")
    make_release(tmp_path / "gta_workflow_dataset", tasks=3)
    assert dataset_folder("workflow", tmp_path) == tmp_path / "gta_workflow_dataset"


def test_a_dataset_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_release(tmp_path / "mine", tasks=1)
    monkeypatch.chdir(tmp_path)
    release = open_dataset(("mine",), tmp_path)
    assert (release.name, release.path) == ("mine", tmp_path / "mine")
    with pytest.raises(DatasetError, match=r"no such file or folder$"):
        open_dataset(("elsewhere",), tmp_path)
    with pytest.raises(DatasetError, match=r"mimi: .*; did you mean mini, of the datasets mini, workflow, atomic\?$"):
        open_dataset(("mimi",), tmp_path)


def test_several_datasets_are_one(tmp_path: Path) -> None:
    make_release(tmp_path / "theirs", tasks=2)
    write_task(tmp_path / "mine" / "orders.yaml", inputs={"data/a.csv": b"a,b\n"})
    write_task(tmp_path / "more" / "10" / "task.yaml")
    both = open_dataset((str(tmp_path / "mine"), str(tmp_path / "theirs"), str(tmp_path / "more")), tmp_path)
    assert (both.name, both.task_ids) == ("mine + theirs + more", ("1", "2", "10", "orders"))
    assert both.location == f"{tmp_path}/mine,{tmp_path}/theirs,{tmp_path}/more"
    assert open_dataset(list(datasets(both.location)), tmp_path).sha256 == both.sha256
    orders, first = both.task("orders"), both.task("2")
    assert (dict(both.tools_of(orders)), len(both.tools_of(first))) == ({}, 37)
    for task in (orders, first):
        assert both.has_resource(task, task.resources[0])
    both.copy_resource(orders, orders.resources[0], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == b"a,b\n"


def test_an_id_in_two_datasets_is_a_fault_of_its_own(tmp_path: Path) -> None:
    make_release(tmp_path / "theirs", tasks=2)
    write_task(tmp_path / "mine" / "2.yaml")
    both = open_dataset((str(tmp_path / "theirs"), str(tmp_path / "mine")), tmp_path)
    first, second = both.tasks()
    assert isinstance(first, Task)
    assert str(second) == (
        f"task 2: its id is in {tmp_path}/theirs and in {tmp_path}/mine; rename one, or run them one at a time"
    )
    assert len(both.faults("2")) == 1


def test_an_id_with_a_comma_or_a_blank_is_chosen_in_quotes(tmp_path: Path) -> None:
    for name in ("a,b", "a b", "a"):
        write_task(tmp_path / f"{name}.yaml")
    chosen = settings(dataset=str(tmp_path), task='a, "a,b"')
    assert chosen.task == ("a", "a,b")
    assert [task_id(task) for task in select_tasks(TaskPack(tmp_path), chosen)] == ["a", "a,b"]
    with pytest.raises(SettingsError, match=re.escape('\'c\' is not in the dataset; it has a, "a b", "a,b"')):
        select_tasks(TaskPack(tmp_path), settings(dataset=str(tmp_path), task="c"))
    with pytest.raises(SettingsError, match="has a double quote that is not closed"):
        settings(task='"a,b')


def test_a_name_of_a_source_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"'tracker:web' is known to no plugin or conftest.py"):
        open_dataset(("tracker:web",), tmp_path)
    assert find_datasets(("mini", "tracker:web", "/x"), {"tracker:web": Path("/d"), "mini": "no"}.get) == {
        "tracker:web": "/d"
    }


def test_a_list_of_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a,b").mkdir()
    assert datasets("mini, x,mini,tracker:web") == ("mini", f"{tmp_path}/x", "tracker:web")
    assert datasets("a,b") == (f"{tmp_path}/a,b",)
    with pytest.raises(ValueError, match="names no dataset"):
        datasets(",")
    chosen = settings(dataset="mini,x")
    assert (chosen.dataset, dict(chosen.given)["dataset"]) == (("mini", f"{tmp_path}/x"), f"mini,{tmp_path}/x")
    several = resolve({"gta_model": "m", "gta_dataset": ["x", "y"]}.get, lambda name: "", {})
    assert several is not None
    assert several.dataset == (f"{tmp_path}/x", f"{tmp_path}/y")
