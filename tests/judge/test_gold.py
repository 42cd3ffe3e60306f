"""The gold set: what is spoiled is spoiled, the rest is as it was, and every label is of a leaf."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pytest

from pytest_gta.benchmark.release import Release
from pytest_gta.benchmark.task import Task
from pytest_gta.benchmark.validation import validate
from pytest_gta.judge.calibration.labels import read_labels
from pytest_gta.judge.calibration.ratings import Mark
from pytest_gta.judge.gold import building
from pytest_gta.judge.gold.building import FINAL_ANSWER, FolderInUse, GoldSet, build_gold
from pytest_gta.judge.gold.cases import CASES, Case
from pytest_gta.judge.gold.edits import EditFault, emptied, matched, replaced, word_replaced

TASKS = ("11", "24", "32", "54", "61", "62", "63")


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> GoldSet:
    return build_gold(tmp_path_factory.mktemp("gold"))


def files(gold: GoldSet, case: str) -> Path:
    return gold.folder / "outputs" / case / "files"


def labels(gold: GoldSet) -> Mapping[str, Any]:
    return json.loads((gold.folder / "labels.json").read_text())["tasks"]  # type: ignore[no-any-return]


def test_seven_tasks_in_up_to_five_states(gold: GoldSet) -> None:
    assert len(gold.cases) == 34
    assert {case.partition("-")[0] for case in gold.cases} == set(TASKS)
    kinds = {case.partition("-")[2] for case in gold.cases}
    assert kinds == {"complete", "broken", "empty", "wrong-numbers", "wrong-content"}
    assert gold.left_out == {}


def test_the_dataset_is_a_release_with_all_its_inputs(gold: GoldSet) -> None:
    found = validate(Release(gold.folder / "dataset"))
    assert found.ok
    assert (found.counts.tasks, found.counts.missing_inputs) == (34, 0)


def test_every_label_is_of_a_leaf_and_reads_as_labels(gold: GoldSet) -> None:
    tasks = {task.id: task for task in Release(gold.folder / "dataset").tasks() if isinstance(task, Task)}
    (rater,) = read_labels(gold.folder / "labels.json")
    assert len(rater.leaves) == gold.leaves == 299
    for task_id, leaf_id in rater.leaves:
        assert leaf_id in {leaf.id for leaf in tasks[task_id].leaves}
    complete = {task: mark for task, mark in rater.roots.items() if task.endswith("-complete")}
    assert complete == {f"{task}-complete": Mark(10.0) for task in TASKS}
    # The script's section weighs 4 of 12, and nothing of it is left.
    assert rater.roots["24-empty"] == Mark(10 * 8 / 12)
    assert rater.leaves["24-empty", "cp2-1"] == Mark(0.0)
    assert rater.leaves["62-wrong-numbers", "cp1-3"] == Mark(success=False)
    assert ("24-wrong-numbers", "cp2-1") not in rater.leaves


@pytest.mark.parametrize("case", [case for case in CASES if case.edits], ids=lambda case: case.id)
def test_each_case_spoils_one_file_and_names_what_that_breaks(gold: GoldSet, case: Case) -> None:
    spoiled, complete = files(gold, case.id), files(gold, f"{case.task_id}-complete")
    assert sorted(p.name for p in spoiled.iterdir()) == sorted(p.name for p in complete.iterdir())
    text = [p.name for p in spoiled.iterdir() if p.suffix in (".csv", ".md", ".html", ".json", ".py")]
    changed = [name for name in text if (spoiled / name).read_bytes() != (complete / name).read_bytes()]
    assert len(changed) <= 1
    assert any(mark != 10 for mark in labels(gold)[case.id]["leaves"].values())
    assert (gold.folder / "outputs" / case.id / "final.txt").read_text() == FINAL_ANSWER
    if case.kind == "empty":
        assert [p.name for p in spoiled.iterdir() if p.stat().st_size == 0] != []


def test_wrong_numbers_are_wrong(gold: GoldSet) -> None:
    summary = (files(gold, "11-wrong-numbers") / "Q3_Summary.md").read_text()
    assert "EUR 4,675.30 (after refunds)" in summary
    assert "4,137.43" not in summary
    with (files(gold, "24-wrong-numbers") / "Grades.csv").open(newline="") as lines:
        grades = {row["pupil"].partition(",")[0]: (row["mark"], row["letter"]) for row in csv.DictReader(lines)}
    assert grades["Adeyemi"] == ("96.2", "A")
    assert grades["Hughes"] == ("38.9", "D")
    minutes = " ".join(p.text for p in docx.Document(str(files(gold, "62-wrong-numbers") / "Minutes.docx")).paragraphs)
    assert "17 members came" in minutes
    assert "21 June" not in minutes


def test_the_right_file_with_other_content_opens_and_is_about_tides(gold: GoldSet) -> None:
    book = openpyxl.load_workbook(files(gold, "11-wrong-content") / "Q3_Clean.xlsx")
    assert book.sheetnames == ["Tides"]
    text = docx.Document(str(files(gold, "62-wrong-content") / "Minutes.docx")).paragraphs[0].text
    assert text == "How tides come about"
    assert (files(gold, "54-wrong-content") / "Badges.pdf").read_bytes().startswith(b"%PDF-")
    assert "tides" in (files(gold, "24-wrong-content") / "Conference.html").read_text()


def test_line_ends_stay_as_they_were(gold: GoldSet) -> None:
    assert b"\r\n" in (files(gold, "63-wrong-numbers") / "Answers.csv").read_bytes()


def test_it_replaces_an_earlier_gold_set_and_nothing_else(tmp_path: Path) -> None:
    few = [case for case in CASES if case.task_id == "62"][:2]
    build_gold(tmp_path, few)
    (tmp_path / "outputs" / "62-broken" / "files" / "stray.txt").write_text("x")
    assert build_gold(tmp_path, few).cases == ("62-complete", "62-broken")
    assert not (tmp_path / "outputs" / "62-broken" / "files" / "stray.txt").exists()
    (tmp_path / "thesis.docx").write_text("mine")
    with pytest.raises(FolderInUse, match=r"thesis\.docx"):
        build_gold(tmp_path, few)


def test_a_missing_library_leaves_the_case_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = building.import_module

    def without(name: str) -> Any:
        if name.endswith("garden_meeting"):
            raise ModuleNotFoundError("No module named 'docx'")
        return real(name)

    monkeypatch.setattr(building, "import_module", without)
    made = build_gold(tmp_path, [case for case in CASES if case.id in ("62-complete", "63-complete")])
    assert made.cases == ("63-complete",)
    assert made.left_out == {"62-complete": "No module named 'docx'; install it to make these deliverables"}
    assert not (tmp_path / "outputs" / "62-complete").exists()


def test_an_edit_that_finds_nothing_to_change_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    docx.Document().save(str(tmp_path / "a.docx"))
    for edit, words in (
        (replaced("a.md", ("two", "2")), "a.md does not hold 'two'"),
        (matched("a.md", "t.o", ""), "a.md holds nothing like 't.o'"),
        (word_replaced("a.docx", ("two", "2")), "a.docx does not hold 'two'"),
        (emptied("b.md"), "there is no b.md"),
    ):
        with pytest.raises(EditFault, match=words):
            edit(tmp_path)
