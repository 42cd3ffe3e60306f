"""Several agents of one run side by side: which decides, and what the table says."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from pytest_gta.benchmark.results import StopReason
from pytest_gta.benchmark.usage import Usage
from pytest_gta.reporters.harnesses import write_json, write_page, write_summary
from pytest_gta.reporters.junit import junit_of_several
from pytest_gta.reporters.leaderboard import entries_of, text_lines
from pytest_gta.reporters.outcome import GateLimits, Measured, Outcome, judge_run, over_agents
from pytest_gta.reporters.terminal import lines_of
from tests.domain import a_run, an_agent, graded

GATED = GateLimits(50, None, 0, threshold=7, baseline=False)


def measured(label: str, *scores: float, cost: float | None = 0.25) -> Measured:
    """An agent with a task for each score."""
    agent = an_agent(label=label, stop_reason=StopReason.FINISHED, usage=Usage(calls=1, cost_usd=cost), wall_s=60.0)
    tasks = [graded(str(number), score, agent=agent) for number, score in enumerate(scores, 1)]
    result = a_run(*tasks, agent={"kind": "cmd", "label": label, "model": "m1"})
    return Measured(label, result, judge_run(result.summary, GATED))


HALF, NONE = measured("half", 9, 3), measured("none", 3, 3, cost=None)


def whole(*parts: Measured, others: int = 0) -> Outcome:
    return over_agents({part.label: part.outcome for part in parts}, others, gated=True)


def outcome(code: int, *reasons: str) -> Outcome:
    from pytest_gta.benchmark.gate import Gate

    return Outcome(Gate(verdict="x", reasons=reasons), code, "")


@pytest.mark.parametrize(
    ("codes", "others", "code", "line"),
    [
        ({"a": 0, "b": 0}, 0, 0, "PASS (exit 0): a: why 0; b: why 0"),
        ({"a": 0, "b": 1}, 0, 1, "FAIL (exit 1): b: why 1"),
        ({"a": 10, "b": 1, "c": 1}, 0, 1, "FAIL (exit 1): b: why 1; c: why 1"),
        ({"a": 0, "b": 10}, 0, 10, "INCONCLUSIVE (exit 10): b: why 10"),
        ({"a": 0, "b": 5}, 0, 5, "NOTHING MEASURED (exit 5): b: why 5"),
        ({"a": 0, "b": 0}, 2, 1, "FAIL (exit 1): a: why 0; b: why 0; 2 other tests failed"),
        ({"a": 10}, 1, 10, "INCONCLUSIVE (exit 10): a: why 10; 1 other test failed"),
        ({}, 0, 5, "NOTHING MEASURED (exit 5): no task was selected"),
    ],
)
def test_the_worst_agent_decides_and_is_named(codes: dict[str, int], others: int, code: int, line: str) -> None:
    found = over_agents({label: outcome(one, f"why {one}") for label, one in codes.items()}, others, gated=True)
    assert (found.exit_code, found.line) == (code, line)


def test_without_a_gate_there_is_no_verdict_but_of_what_is_missing() -> None:
    assert over_agents({"a": outcome(1, "low")}, gated=False).gate.verdict == "none"
    assert over_agents({"a": outcome(10, "down")}, gated=False).gate.verdict == "inconclusive"
    assert over_agents({"a": outcome(1, "low")}, gated=True).gate.verdict == "fail"


def test_the_table_in_text() -> None:
    lines = list(text_lines(entries_of([HALF, NONE]), 7, published=False))
    assert lines[:2] == ["A  half on m1, 2 of 2 tasks graded", "B  none on m1, 2 of 2 tasks graded"]
    # 6 points for $0.50; the other's cost is not told.
    assert lines[4].split()[-2:] == ["$0.50", "12.000"]
    assert lines[5].split()[-2:] == ["unknown", "-"]
    assert "Agents' time  A 1 min 0 s a task, 2 min 0 s in all;" in lines
    assert "B against A: lower, may be noise, over 2 common tasks" in lines


def test_a_significantly_better_agent_is_said_to_be() -> None:
    lines = list(text_lines(entries_of([measured("a", *[3] * 8), measured("b", *[9] * 8)]), 7, published=False))
    assert "B against A: significantly better over 8 common tasks" in lines
    few = list(text_lines(entries_of([measured("a", 3), measured("b", 9)]), 7, published=False))
    assert "B against A: no drop shown over 1 common task" in few


def test_the_summary_has_each_agent_and_one_last_line() -> None:
    run = Path("run")
    files = [*(run / "agents" / label / "results.json" for label in ("half", "none")), run / "comparison.json"]
    lines = [line.text for line in lines_of([HALF, NONE], whole(HALF, NONE), files)]
    assert lines[0] == "-- half on m1 --"
    assert lines[1].startswith("Root SR@7 50.0 % ")
    assert "-- none on m1 --" in lines
    assert lines[-2] == "Reports  run/comparison.json\n         run/agents/*/results.json"
    assert lines[-1] == "FAIL (exit 1): none: Root SR 0.0 % < 50 %"
    quiet = [line.text for line in lines_of([HALF, NONE], whole(HALF, NONE), files, quiet=True)]
    assert len(quiet) == 7


def test_the_table_as_files(tmp_path: Path) -> None:
    decided = whole(HALF, NONE)
    table = json.loads(write_json([HALF, NONE], decided, tmp_path / "t.json", wall_s=9.5).read_text())
    assert table["wall_s"] == 9.5
    assert table["gate"]["reasons"] == ["none: Root SR 0.0 % < 50 %"]
    assert [(run["label"], run["seconds_a_task"], run["gate"]["verdict"]) for run in table["runs"]] == [
        ("half", 60.0, "pass"),
        ("none", 60.0, "fail"),
    ]
    page = write_page([HALF, NONE], decided, tmp_path / "p.html", {"half": "a%20b.html"}).read_text()
    assert "<title>GTA-Workflow: 2 agents</title>" in page
    assert '<a href="a%20b.html">A: half</a>' in page
    assert "mini (sha256 abababababab), judged by j1 (prompt p1)" in page
    summary = tmp_path / "summary"
    text = write_summary([HALF, NONE], decided, tmp_path / "s.md", job_summary=str(summary)).read_text()
    assert "| planning_1 | **9.00** | 3.00 |" in text
    assert summary.read_text() == f"{text}\n"


def test_junit_has_a_suite_for_each_agent() -> None:
    suites = ElementTree.fromstring(junit_of_several([HALF, NONE], gated=False)).findall("testsuite")
    assert [(suite.get("name"), suite.get("tests"), suite.get("failures")) for suite in suites] == [
        ("half", "2", "1"),
        ("none", "2", "2"),
    ]
