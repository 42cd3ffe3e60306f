from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from pytest_gta.benchmark.release import Release
from pytest_gta.benchmark.results import TaskResult, TaskStatus
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.benchmark.task import Task
from pytest_gta.cli import main
from pytest_gta.reporters.junit import junit_xml
from tests.domain import a_run, an_agent, graded, not_graded, scored
from tests.release_factory import make_release


@pytest.fixture
def killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDirectory:
    """A run of four tasks: two judged, one in the middle of it, one that never began."""
    monkeypatch.chdir(tmp_path)
    dataset = make_release(tmp_path / "data", tasks=4)
    release = Release(dataset)
    tasks = [task for task in release.tasks() if isinstance(task, Task)]
    run = RunDirectory(tmp_path / "run")
    run.write_manifest(
        {
            **a_run().run,
            "dataset": {"name": "data", "path": str(dataset), "sha256": release.sha256, "tasks": 4},
            "options": {"agent": "outputs:x", "dataset": str(dataset), "threshold": "6"},
            "threshold": 6.0,
            "selected": [task.slug for task in tasks],
        }
    )
    for task, score in zip(tasks[:2], (9.0, 6.5), strict=True):
        run.task(task.slug).write_result(judged(task, score))
    third = run.task(tasks[2].slug)
    third.write_agent(an_agent())
    third.add_verdict(scored("cp1", 10))
    return run


def judged(task: Task, score: float) -> TaskResult:
    return graded(task.id, score, category=task.category, threshold=6)


def test_a_killed_run_is_reported_as_far_as_it_got(killed: RunDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "run"]) == 10
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "================================= GTA-Workflow ================================="
    assert out[1].startswith("Root SR@6 100.0 % [34.2, 100.0]  (2 of 2 graded tasks)")
    assert "2 tasks not run; Root SR between 50.0 and 100.0 %" in out
    assert "Time     unknown" in out
    assert "Reports  run/results.json" in out
    assert out[-1] == "INCONCLUSIVE (exit 10): 2 of 4 tasks without a score (2 not run), 0 % allowed"

    results = json.loads((killed.root / "results.json").read_text())
    assert results["summary"]["not_run"] == 2
    assert results["run"]["dataset"]["name"] == "data"
    assert {"options", "selected"} & set(results["run"]) == set()
    third, fourth = results["tasks"][2:]
    assert third["checkpoints"][0]["score"] == 10.0
    assert third["agent"]["label"] == "tools"
    assert third["root_bounds"][0] > 0
    assert (fourth["status"], fourth["error"]) == ("not_run", "the run ended before this task began")
    assert fourth["checkpoints"][0]["status"] == "not_run"


def test_results_go_to_another_file_as_well(killed: RunDirectory, tmp_path: Path) -> None:
    main(["report", str(killed.root), "--json", "ci/gta.json"])
    assert (tmp_path / "ci" / "gta.json").read_bytes() == (killed.root / "results.json").read_bytes()


def test_a_run_that_is_over_is_held_against_another(
    killed: RunDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["report", "run"])
    results = json.loads((killed.root / "results.json").read_text())
    before = [judged_again(task, score) for task, score in zip(results["tasks"][:2], (4.0, 8.5), strict=True)]
    (tmp_path / "main.json").write_text(json.dumps({**results, "tasks": before}))
    capsys.readouterr()
    assert main(["report", "run", "--baseline", "main.json", "--html", "r.html", "--markdown", "r.md"]) == 10
    assert "Against the baseline, over 2 common tasks" in capsys.readouterr().out
    change = json.loads((killed.root / "results.json").read_text())["gate"]["baseline"]
    assert [(one["before"], one["after"]) for one in change["by_task"]] == [(4.0, 9.0), (8.5, 6.5)]
    page = html.document_fromstring((tmp_path / "r.html").read_bytes())
    assert [span.text for span in page.cssselect("#table td.n > .score")][:2] == ["6.50", "\N{MINUS SIGN}2.00"]
    assert "| 4.00 | 9.00 | +5.00 |" in (tmp_path / "r.md").read_text()
    assert main(["report", "run"]) == 10  # not remembered: the run itself has no baseline
    assert json.loads((killed.root / "results.json").read_text())["gate"]["baseline"] is None


def test_a_baseline_that_does_not_fit_is_refused_by_its_own_name(
    killed: RunDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["report", str(killed.root), "--baseline", str(tmp_path / "nowhere.json")])
    said = capsys.readouterr().err
    assert "--baseline: " in said
    assert "--gta-baseline" not in said


def judged_again(task: dict[str, Any], score: float) -> dict[str, Any]:
    return {**task, "root_score": score, "root_bounds": [score, score], "success": score >= 6}


def test_a_killed_run_has_its_page_and_its_summary(killed: RunDirectory, tmp_path: Path) -> None:
    main(["report", str(killed.root), "--html", str(tmp_path / "r.html"), "--markdown", str(tmp_path / "r.md")])
    page = html.document_fromstring((tmp_path / "r.html").read_bytes())
    rebuilt = killed.results()
    assert rebuilt is not None
    places = {article.get("id") for article in page.iter("article")}
    assert places == {f"task-{task.run_key}" for task in rebuilt.tasks}
    states = [row.get("data-state") for row in page.iter("tr") if row.get("data-task")]
    assert states.count("not_run") == rebuilt.summary["not_run"] > 0
    assert "**Not all is measured**" in (tmp_path / "r.md").read_text()


def test_another_threshold_needs_no_judge(killed: RunDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    main(["report", "run"])
    own = (killed.root / "results.json").read_bytes()
    capsys.readouterr()
    assert main(["report", "run", "--threshold", "7", "--json", "at_seven.json"]) == 1
    out = capsys.readouterr().out
    assert "Root SR@7 50.0 %" in out
    assert "FAIL (exit 1): 1 of 2 graded tasks below 7 points" in out
    assert [task["success"] for task in json.loads(Path("at_seven.json").read_text())["tasks"]] == [
        True,
        False,
        None,
        None,
    ]
    assert (killed.root / "results.json").read_bytes() == own


def test_a_look_at_another_threshold_needs_no_file(killed: RunDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "run", "--threshold", "7"]) == 1
    assert not (killed.root / "results.json").exists()
    assert "Reports" not in capsys.readouterr().out


def test_a_finished_run_keeps_its_times_and_says_the_same_twice(
    killed: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    release = Release(Path("data"))
    for task in release.tasks()[2:]:
        assert isinstance(task, Task)
        killed.task(task.slug).write_result(judged(task, 8))
    killed.write_results(a_run(finished_at="2026-01-01T00:00:00+00:00"))
    assert main(["report", "run"]) == 0
    first = capsys.readouterr().out
    assert "Time     1 min 35 s" in first
    assert main(["report", "run"]) == 0
    assert capsys.readouterr().out == first
    assert json.loads((killed.root / "results.json").read_text())["run"]["finished_at"].startswith("2026-01-01")


@pytest.mark.parametrize("change", ["gone", "changed"])
def test_without_its_dataset_a_run_is_reported_all_the_same(
    killed: RunDirectory, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    if change == "gone":
        (killed.root.parent / "data" / "end.json").unlink()
    else:
        make_release(killed.root.parent / "data", tasks=5)
    assert main(["report", "run"]) == 10
    captured = capsys.readouterr()
    assert "unfinished tasks are shown without their rubric" in captured.err
    assert captured.err.count("\n") == 1
    results = json.loads((killed.root / "results.json").read_text())
    assert [task["status"] for task in results["tasks"]] == ["graded", "graded", "not_run", "not_run"]
    assert results["tasks"][2]["checkpoints"] == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["report", "nope"], "nope is not a run directory (it has no readable run.json)"),
        (["report", "run", "--threshold", "11"], "--threshold: '11' is not a number from 0 to 10"),
    ],
)
def test_usage(killed: RunDirectory, capsys: pytest.CaptureFixture[str], arguments: list[str], text: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("pytest-gta: ")
    assert err.rstrip().endswith(text)


def test_a_gate_of_the_run_is_the_gate_of_its_report(killed: RunDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    manifest: dict[str, Any] = killed.manifest()
    manifest["options"] |= {"fail_under": "60", "max_error_rate": "50"}
    killed.write_manifest(manifest)
    assert main(["report", "run"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "PASS (exit 0): Root SR 100.0 % >= 60 %"


def test_junit_of_a_killed_run(killed: RunDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "run", "--threshold", "8", "--junit", "out/junit.xml"]) == 1
    assert "out/junit.xml" in capsys.readouterr().out
    suite = ElementTree.parse("out/junit.xml").find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "0", "skipped": "2"}
    assert [[child.tag for child in case][1:] for case in cases] == [[], ["failure"], ["skipped"], ["skipped"]]
    failure = cases[1].find("failure")
    assert failure is not None
    assert failure.get("message") == "root score 6.50 < 8"
    values = {p.get("name"): p.get("value") for p in suite.findall("properties/property")}
    assert values["gta_root_sr"] == "50.0000"
    assert values["gta_not_run"] == "2"


def test_junit_takes_any_text() -> None:
    hostile = "\x00 \x1b[31m \ufffe \U0001f600 ]]> <b>&"
    task = not_graded("1", TaskStatus.ERROR, (0, 10), error=hostile)
    case = ElementTree.fromstring(junit_xml(a_run(task), gated=True)).find("testsuite/testcase")
    assert case is not None
    error = case.find("error")
    assert error is not None
    assert error.get("message") == "#x00 #x1B[31m #xFFFE \U0001f600 ]]> <b>&"
