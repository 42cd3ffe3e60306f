"""Labels by people from CSV and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_gta.judge.calibration.labels import LabelError, read_labels
from pytest_gta.judge.calibration.ratings import Mark


def write(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content, encoding="utf-8")
    return folder / name


def test_json_with_scores_pass_and_fail_and_remarks(tmp_path: Path) -> None:
    labels = {
        "7": {"root_score": 4.5, "leaves": {"cp1": {"score": 8, "analysis": "fine"}, "cp2": "fail", "cp3": True}},
        "8": {"leaves": {"cp1": 0}},
    }
    (rater,) = read_labels(write(tmp_path, "labels.json", json.dumps(labels)))
    assert rater.roots == {"7": Mark(4.5)}
    assert rater.leaves == {
        ("7", "cp1"): Mark(8.0),
        ("7", "cp2"): Mark(success=False),
        ("7", "cp3"): Mark(success=True),
        ("8", "cp1"): Mark(0.0),
    }


def test_json_of_two_people_under_tasks(tmp_path: Path) -> None:
    labels = {"tasks": {"7": {"root": {"alice": 4, "bob": 6, "note": "hard"}, "leaves": {"cp1": {"alice": "pass"}}}}}
    alice, bob = read_labels(write(tmp_path, "labels.json", json.dumps(labels)))
    assert (alice.rater, alice.roots, alice.leaves) == ("alice", {"7": Mark(4.0)}, {("7", "cp1"): Mark(success=True)})
    assert (bob.rater, bob.roots, bob.leaves) == ("bob", {"7": Mark(6.0)}, {})


def test_csv_with_a_column_a_rater(tmp_path: Path) -> None:
    text = "task_id,leaf_id,alice,bob,note\n7,,6.5,7,root\n7,cp1,8,,\n7,cp2,pass,fail,unsure\n"
    alice, bob = read_labels(write(tmp_path, "labels.csv", text))
    assert alice.roots == {"7": Mark(6.5)}
    assert alice.leaves == {("7", "cp1"): Mark(8.0), ("7", "cp2"): Mark(success=True)}
    assert bob.leaves == {("7", "cp2"): Mark(success=False)}


def test_csv_as_a_spreadsheet_in_german_saves_it(tmp_path: Path) -> None:
    text = "\ufeffTask;Leaf;Rater;Score\r\n7;root;alice;6,5\r\n7;cp1;bob;8\r\n"
    alice, bob = read_labels(write(tmp_path, "labels.csv", text))
    assert (alice.roots, bob.leaves) == ({"7": Mark(6.5)}, {("7", "cp1"): Mark(8.0)})


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", '{"7": {"leaves": {"cp1": 11}}}', "task 7, leaf cp1: 11 is not a number of points from 0 to 10"),
        ("a.json", '{"7": {"leaves": {"cp1": "good"}}}', "'good' is neither a number of points"),
        ("a.json", '{"7": {"leaves": {"cp1": NaN}}}', "nan is not a number of points"),
        ("a.json", '{"7": [1]}', "task 7: the labels are to be an object"),
        ("a.json", "{}", "holds no labels"),
        ("a.json", '{"7":', "not readable as JSON"),
        ("a.csv", "task,leaf,score\n7,cp1,8\n7,cp1,9\n", "line 3: 'labels' labels it twice"),
        ("a.csv", "task,leaf,score\n7,cp1,85 %\n", "line 2: '85 %' is neither"),
        ("a.csv", "id,score\n7,8\n", "name the columns task and leaf"),
        ("a.csv", "", "name the columns task and leaf"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, name: str, content: str, words: str) -> None:
    with pytest.raises(LabelError, match=r"(?s).") as caught:
        read_labels(write(tmp_path, name, content))
    assert words in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabelError, match=r"no\.csv cannot be read"):
        read_labels(tmp_path / "no.csv")
