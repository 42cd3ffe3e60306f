from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gta.benchmark.answer_key import OPEN, PICTURE
from pytest_gta.benchmark.atomic import AtomicDataset
from pytest_gta.benchmark.capability import CapabilityBasis
from pytest_gta.benchmark.dataset import DatasetError
from pytest_gta.benchmark.finding import Level
from pytest_gta.benchmark.task import Resource
from pytest_gta.benchmark.validation import validate
from tests.atomic_factory import Index, make_atomic
from tests.release_factory import make_release, png_bytes


@pytest.fixture(params=["gta_dataset.zip", "gta_dataset"])
def dataset(request: pytest.FixtureRequest, tmp_path: Path) -> AtomicDataset:
    return AtomicDataset(make_atomic(tmp_path / request.param))


def test_only_questions_with_a_key_are_tasks(dataset: AtomicDataset) -> None:
    assert dataset.name == "atomic"
    assert dataset.task_ids == ("0", "1", "2", "10")
    assert dataset.left_out == {OPEN: 1, PICTURE: 1}
    assert dataset.answer_keys["1"].wanted == (("Oslo",), ("Norway",))
    assert list(dataset.answer_keys) == ["0", "1", "2", "10"]


def test_a_question_as_a_task(dataset: AtomicDataset) -> None:
    task = dataset.task("1")
    assert task.turns == ("Which city is it, and in which country?",)
    assert task.resources == (Resource("image/image_1.png", "image"),)
    assert (task.category, task.slug) == ("tools_2", "tools_2_1")
    assert [(leaf.id, leaf.weight) for leaf in task.leaves] == [("answer", 1.0)]
    assert task.leaves[0].requirements == "The answer says 'Oslo'; and 'Norway'; and not 'Sweden'."
    assert task.capabilities.names == ("perception", "operation")
    assert task.capabilities.basis is CapabilityBasis.TOOLS
    assert "Oslo" not in str(task.brief)
    with dataset.open_resource(task, task.resources[0]) as picture:
        assert picture.read() == png_bytes()


def test_only_the_questions_own_tools_are_offered(dataset: AtomicDataset) -> None:
    assert list(dataset.tools_of(dataset.task("2"))) == ["OCR", "Calculator"]
    assert dataset.tools_of(dataset.task("2"))["OCR"]["description"] == "Does what OCR does."
    assert dataset.task("2").notes == ()
    assert dataset.task("10").notes == ("the question offers TextToBbox, which pytest-gta does not have",)


def test_a_spoilt_question_hides_no_other(tmp_path: Path) -> None:
    def spoil(index: Index) -> None:
        index["0"]["gt_answer"] = {"whitelist": []}
        index["1"]["dialogs"] = []
        index["2"]["gt_answer"] = "12"

    dataset = AtomicDataset(make_atomic(tmp_path / "d", edit=spoil))
    assert dataset.task_ids == ("0", "1", "2", "10")
    assert [str(fault) for task_id in dataset.task_ids for fault in dataset.faults(task_id)] == [
        "task 0: `whitelist` has no answers",
        "task 1: the request is empty",
        "task 2: `gt_answer` is neither a key with a `whitelist`, nor a list of texts, nor null",
    ]
    assert list(dataset.answer_keys) == ["1", "10"]


def test_it_validates(dataset: AtomicDataset) -> None:
    found = validate(dataset)
    assert found.ok
    assert [(finding.level, finding.where) for finding in found.findings] == [(Level.NOTE, "task 10")]


def test_another_dataset(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no dataset\.json in this folder"):
        AtomicDataset(make_release(tmp_path / "d", tasks=1))


def test_what_is_asked_and_how_it_is_scored_has_a_digest(tmp_path: Path) -> None:
    def change(index: Index) -> None:
        index["0"]["gt_answer"]["whitelist"] = [["8"]]

    one, other = (AtomicDataset(make_atomic(tmp_path / name, edit=edit)) for name, edit in (("a", None), ("b", change)))
    assert one.sha256 != other.sha256
