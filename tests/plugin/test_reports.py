"""JUnit, pytest-html and results.json of a run, in one process and over workers, hostile texts included."""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import pytest

from tests.openai_server import Answer
from tests.plugin.conftest import Project

HOSTILE = "\x00 \x1b[31mred\x12 \ufffe \U0001f600 ]]> <img src=x onerror=alert(1)> </script><script>alert(2)</script>"


def hostile_answer(score: float) -> Answer:
    return Answer(text=json.dumps({"analysis": HOSTILE, "score": score}))


@pytest.fixture(scope="module", params=["-n0", "-n2"])
def workers(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def reported(make_project: Callable[..., Project], workers: str) -> Project:
    """A run of four tasks: passed, too low with hostile reasons, unscored, passed."""
    project = make_project(4, files=True)
    project.fail_task("2", hostile_answer(2))
    project.scores[project.leaf("3", 0)] = Answer(
        text="\ud83d is not a verdict".encode("utf-16", "surrogatepass").hex()
    )
    result = project.run(workers, "--junitxml=junit.xml", "--html=report.html", "--self-contained-html")
    assert result.ret == 1
    return project


def test_every_report(reported: Project) -> None:
    root = reported.pytester.path
    check_junit((root / "junit.xml").read_bytes())
    check_page((root / "report.html").read_text())
    check_results(reported.results())


def check_junit(data: bytes) -> None:
    suite = ElementTree.fromstring(data).find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    assert int(suite.get("tests", "")) == len(cases) == 4
    assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure")) == 1
    assert int(suite.get("errors", "")) == len(suite.findall("testcase/error")) == 1
    assert suite.get("skipped") == "0"
    run = {p.get("name"): p.get("value") for p in suite.findall("properties/property")}
    assert run["gta_root_sr"] == f"{200 / 3:.4f}"
    assert run["gta_judge_model"] == "judge"
    assert run["gta_graded"] == "3"
    assert run["gta_agent_cost_usd"] == "unknown"
    failed = next(case for case in cases if case.find("failure") is not None)
    failure = failed.find("failure")
    assert failure is not None
    assert "root score 2.00 < 7" in (failure.get("message") or "")
    properties = {p.get("name"): p.get("value") for p in failed.findall("properties/property")}
    assert properties["gta_root_score"] == "2.0000"
    assert properties["gta_leaf_cp1"] == "2"
    unscored = next(case for case in cases if case.find("error") is not None)
    properties = {p.get("name"): p.get("value") for p in unscored.findall("properties/property")}
    assert properties["gta_status"] == "unscored"
    assert "gta_root_score" not in properties


def check_page(page: str) -> None:
    assert "<img src=x" not in page
    assert "<script>alert" not in page
    blob = re.search(r'data-jsonblob="(.*?)"', page)
    assert blob is not None
    data = json.loads(html.unescape(blob[1]))
    rows = [entry for entries in data["tests"].values() for entry in entries]
    assert sorted(row["result"] for row in rows) == ["Error", "Failed", "Passed", "Passed"]
    failed = next(row for row in rows if row["result"] == "Failed")
    assert "2.00" in "".join(failed["resultsTableRow"])
    assert "&lt;img src=x onerror=alert(1)&gt;" in failed["log"]
    assert "<img" not in failed["log"]
    assert "Root SR@7 66.7 %" in page


def leaves(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [leaf for child in node["checkpoints"] for leaf in leaves(child)] or [node]


def check_results(results: dict[str, object]) -> None:
    assert results["schema_version"] == 1
    reasons = ["1 of 3 graded tasks below 7 points"]
    assert results["gate"] == {"verdict": "none", "reasons": reasons, "baseline": None}
    tasks = results["tasks"]
    assert isinstance(tasks, list)
    assert [task["status"] for task in tasks] == ["graded", "graded", "unscored", "graded"]
    assert tasks[0]["deliverables"][0]["path"] == "table.csv"
    assert tasks[0]["deliverables"][0]["evidence"] == "full"
    size = tasks[0]["deliverables"][0]["bytes"]
    shown = {"files": 1, "files_shown": 1, "characters": size, "characters_shown": size, "pictures_shown": 0}
    assert leaves(tasks[0])[0]["coverage"] == {**shown, "pages": 0, "pages_shown": 0, "passages": 0}
    run = results["run"]
    assert isinstance(run, dict)
    assert run["dataset"]["tasks"] == 4
    assert len(run["dataset"]["sha256"]) == 64
    assert run["finished_at"] >= run["started_at"]


def test_results_file_where_asked(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    project.run("--gta-json=elsewhere/results.json")
    assert json.loads((project.pytester.path / "elsewhere/results.json").read_text()) == project.results()


def test_secrets_stay_out_of_every_output(
    make_project: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-judge-0123456789abcdefghij"
    monkeypatch.setenv("EVAL_OPENAI_API_KEY", key)
    project = make_project(1)
    echo = Answer(status=400, body={"error": {"message": f"bad request with Authorization: Bearer {key}"}})
    project.fail_task("1", echo)
    result = project.run("--junitxml=junit.xml", "--html=report.html", "--self-contained-html", "-v")
    assert result.ret == 10
    assert all(request.api_key == key for request in project.server.chats)
    written = [path.read_bytes() for path in project.pytester.path.rglob("*") if path.is_file()]
    assert written
    assert not any(key.encode() in data for data in [*written, result.stdout.str().encode()])


def test_half_a_character_ends_no_run(make_project: Callable[..., Project], workers: str) -> None:
    """A worker that cannot send a text takes the whole session with it."""

    suite = """
def test_workflow(gta_result):
    gta_result.check()

def test_own(gta_result):
    raise ValueError("own \\ud83d")
"""
    project = make_project(3, suite=suite)
    project.index["1"]["sub_tasks"][0]["requirements"] = "The middle of an emoji: \ufffd"
    cut = json.dumps(project.index).replace(r"\ufffd", r"\ud83d")
    (project.dataset / "end.json").write_text(cut)
    project.pytester.makeconftest(
        """
import pytest

@pytest.fixture
def gta_tools(gta_tools, gta_task):
    if gta_task.id == "2":
        raise RuntimeError("fixture \\ud83d")
    return gta_tools
"""
    )
    result = project.run(workers, "--junitxml=junit.xml")
    assert "INTERNALERROR" not in result.stdout.str()
    assert result.ret == 10
    assert [task["status"] for task in project.tasks().values()] == ["graded", "error", "graded"]
    assert project.tasks()["2"]["error"] == r"RuntimeError: fixture \ud83d"
    ElementTree.fromstring((project.pytester.path / "junit.xml").read_bytes())
