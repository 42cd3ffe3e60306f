"""`pytest-gta diagnose`: labels with evidence, and none where there is no evidence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.cli import main
from tests.openai_server import Answer, RecordedRequest, fails, refuses, says
from tests.plugin.conftest import Project

STAGE, LEVEL = "REASON", "B"


def answer(label: str, quote: str, **more: Any) -> Answer:
    return says(json.dumps({"quote": quote, "reason": "scripted reason", "label": label} | more))


def is_leaf(request: RecordedRequest) -> bool:
    assert request.schema is not None
    return "PLAN" in request.schema["properties"]["label"]["enum"]


def measure(project: Project) -> Project:
    """Run its two tasks: every leaf of the second fails, and one of the first, which succeeds."""
    first, second = project.index
    project.fail_task(second)
    project.scores[project.leaf(first, 0)] = 6.9
    project.run("-q")
    project.server.requests.clear()
    project.server.respond = lambda r: answer(STAGE if is_leaf(r) else LEVEL, "finished  task")
    return project


@pytest.fixture
def measured(make_project: Callable[..., Project]) -> Project:
    """A run of two tasks."""
    return measure(make_project(2))


def diagnosed(*more: str) -> tuple[int, dict[str, Any]]:
    code = main(["diagnose", "run", *more])
    return code, json.loads(Path("run/diagnosis.json").read_text())


def counts(project: Project) -> tuple[int, int]:
    """Failed leaves: of both tasks, and of the second."""
    second = len(project.leaves(list(project.index)[1]))
    return second + 1, second


def test_every_failure_is_labelled_with_its_evidence(measured: Project, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = diagnosed()
    leaves, _ = counts(measured)
    assert code == 0
    assert len(measured.server.chats) == leaves + 1
    assert {(e["label"], e["quote"]) for e in found["leaves"]} == {("REASON", "finished task")}
    assert [(e["label"], e["score"]) for e in found["tasks"]] == [("B", 2)]
    assert found["shares"]["stages"]["REASON"] == {"count": leaves, "percent": 100}
    assert found["shares"]["stages"]["PLAN"] == {"count": 0, "percent": 0}
    assert found["shares"]["levels"]["B"] == {"count": 1, "percent": 100}
    out = capsys.readouterr().out
    assert f"failed leaves by stage: {leaves} of {leaves} labelled" in out
    assert "failed tasks by level: 1 of 1 labelled" in out
    assert [line.split() for line in out.splitlines() if "REASON" in line] == [["REASON", str(leaves), "100.0", "%"]]


def test_the_model_is_shown_what_happened_as_data(make_project: Callable[..., Project]) -> None:
    measured = measure(make_project(2, files=True))
    diagnosed()
    of_second = [r for r in measured.server.chats if not is_leaf(r)]
    text = of_second[0].first_user_text
    second = list(measured.index)[1]
    token = text.split()[2]
    assert text.count(f"<<<{token} BEGIN ") == text.count(f"<<<{token} END ") - 1 == 5
    assert f"Finished task {second}." in text
    assert "table.csv: " in text
    assert "2 of 10, FAILED): " in text
    assert "judge: scripted reason" in text
    assert text.rstrip().splitlines()[-1].startswith("- C: ")


def test_only_what_has_no_label_is_asked_again(measured: Project, capsys: pytest.CaptureFixture[str]) -> None:
    measured.server.respond = lambda r: answer(STAGE, "Finished task") if is_leaf(r) else fails(400, "not today")
    code, found = diagnosed()
    assert code == 10
    assert found["tasks"][0]["label"] is None
    assert "not today" in found["tasks"][0]["reason"]
    assert "no label: " in capsys.readouterr().out
    measured.server.requests.clear()
    measured.server.respond = lambda _: answer("C", "Finished task")
    code, found = diagnosed()
    assert (code, found["tasks"][0]["label"], len(measured.server.chats)) == (0, "C", 1)
    assert {entry["label"] for entry in found["leaves"]} == {STAGE}
    measured.server.requests.clear()
    assert diagnosed()[0] == 0
    assert measured.server.chats == []
    measured.server.respond = lambda r: answer("PLAN" if is_leaf(r) else "A", "Finished task")
    assert diagnosed("--judge-model=another")[1]["tasks"][0]["label"] == "A"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (answer("A", "words that nobody wrote there"), "the quoted passage is not in the material"),
        (answer("A", "task"), "the quoted passage is not in the material"),
        (answer("D", "Finished task"), "label: Input should be 'A', 'B' or 'C'"),
        (answer("A", "Finished task", score=3), "score: Extra inputs"),
        (says("The label is A."), "not the JSON object asked for"),
        (refuses("I will not."), "the model declined: I will not."),
    ],
    ids=["no evidence", "evidence of one word", "unknown label", "another field", "prose", "refusal"],
)
def test_what_is_no_label_is_not_guessed(measured: Project, given: Answer, reason: str) -> None:
    measured.server.respond = lambda r: answer(STAGE, "Finished task") if is_leaf(r) else given
    code, found = diagnosed()
    assert code == 10
    assert (found["tasks"][0]["label"], found["tasks"][0]["quote"]) == (None, "")
    assert reason in found["tasks"][0]["reason"]
    assert found["shares"]["levels"] == {}
    asked = [r for r in measured.server.chats if not is_leaf(r)]
    assert len(asked) == 3
    assert "Your last reply did not count: " in asked[1].last_user_text


def test_fences_thoughts_and_cuts_in_a_quote_are_read(measured: Project) -> None:
    body = json.dumps({"quote": "FINISHED ... task", "reason": "r", "label": "A"})
    measured.server.respond = lambda r: (
        answer(STAGE, "Finished task") if is_leaf(r) else says(f"<think>B?</think>\n```json\n{body}\n```")
    )
    assert diagnosed()[1]["tasks"][0]["label"] == "A"


def test_json_and_another_threshold(measured: Project, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = diagnosed("--json", "--threshold=5")
    assert code == 0
    assert len(found["leaves"]) == counts(measured)[1]
    assert json.loads(capsys.readouterr().out) == found
    code, found = diagnosed("--threshold=1")
    assert (code, found["leaves"], found["shares"]) == (0, [], {"stages": {}, "levels": {}})


def test_without_a_judge_nothing_has_a_label(measured: Project) -> None:
    measured.server.respond = lambda _: fails(401, "wrong key")
    code, found = diagnosed()
    assert code == 5
    assert {entry["label"] for entry in (*found["leaves"], *found["tasks"])} == {None}
    assert len(measured.server.chats) <= 2
