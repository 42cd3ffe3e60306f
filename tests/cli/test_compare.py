from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from pytest_gta.benchmark.published import HARNESSES, MODELS
from pytest_gta.benchmark.results import RunResult, TaskResult
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.cli import main
from tests.domain import a_run, an_agent, graded


def saved(folder: Path, *scores: float, **run: Any) -> Path:
    return RunDirectory(folder).write_results(run_of(*scores, **run))


def run_of(*scores: float, **run: Any) -> RunResult:
    tasks: list[TaskResult] = [graded(str(number), score) for number, score in enumerate(scores, 1)]
    return a_run(*tasks, **run)


def out(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["compare", *arguments])
    return code, capsys.readouterr().out


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_runs_side_by_side(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(here / "a", 9, 9, 9, 3, agent={"label": "tools", "model": "m1"})
    saved(here / "b", 9, 9, 3, 9, agent={"label": "react", "model": "m2"})
    code, text = out(capsys, "a", "b/results.json")
    assert code == 0
    lines = text.splitlines()
    assert lines[0] == "A  a: tools on m1, 4 of 4 tasks graded"
    assert lines[1] == "B  b/results.json: react on m2, 4 of 4 tasks graded"
    assert lines[3].split() == ["Root", "SR@7", "%", "Root", "Score", "Leaf", "Tool", "Cost", "Score/$"]
    # 4 agents at $0.25: 7.5 / 1 = 7.5 points a dollar.
    assert lines[4].split()[:2] == ["A", "75.0"]
    assert lines[4].split()[-2:] == ["$1.00", "7.500"]
    assert "B against A: no drop shown over 4 common tasks" in lines
    assert "  won        1: planning_4" in lines
    assert "  lost       1: planning_3" in lines
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("scores", "code", "words"),
    [
        ([9] * 8, 0, "no drop shown over 8 common tasks"),
        ([3] * 8, 1, "significantly worse over 8 common tasks"),
        ([9] * 7 + [3], 10, "lower, may be noise, over 8 common tasks"),
    ],
)
def test_the_exit_code_says_whether_a_run_is_worse(
    here: Path, capsys: pytest.CaptureFixture[str], scores: list[float], code: int, words: str
) -> None:
    saved(here / "a", *[9] * 8)
    saved(here / "b", *scores)
    assert out(capsys, "a", "b")[0] == 0
    found, text = out(capsys, "a", "b", "--gate")
    assert found == code
    assert f"B against A: {words}" in text


def test_unlike_runs_are_warned_of_and_no_gate(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(here / "a", 9, 9)
    saved(here / "b", 9, 9, judge={"model": "j2", "prompt_version": "p1"})
    code, text = out(capsys, "a", "b", "--gate")
    assert code == 10
    assert "WARNING: B is not like A: another judge model (j1, now j2)" in text
    _, markdown = out(capsys, "a", "b", "--markdown")
    assert "- **B is not like A**: another judge model" in markdown


def test_other_tools_are_warned_of(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, tools in (("a", ("Calculator", "OCR")), ("b", ("OCR",))):
        task = graded("1", 9, agent=an_agent(tools_offered=tools))
        RunDirectory(here / name).write_results(a_run(task))
    assert "WARNING: B is not like A: other tools offered (2, now 1)" in out(capsys, "a", "b")[1]


def test_runs_without_a_common_task(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(here / "a", 9)
    RunDirectory(here / "b").write_results(a_run(graded("5", 9)))
    code, text = out(capsys, "a", "b", "--gate")
    assert code == 10
    assert "no task that both have a score for" in text


def test_one_threshold_for_all(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(here / "a", 9, 6)
    RunDirectory(here / "b").write_results(a_run(graded("1", 9), graded("2", 6, threshold=5), threshold=5))
    values = json.loads(out(capsys, "a", "b", "--json")[1])
    assert [run["summary"]["root_sr"] for run in values["runs"]] == [50.0, 50.0]
    values = json.loads(out(capsys, "a", "b", "--json", "--threshold", "6")[1])
    assert [run["summary"]["root_sr"] for run in values["runs"]] == [100.0, 100.0]


def test_published_figures_are_labelled(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(here / "a", 9)
    code, text = out(capsys, "a", "--published")
    assert code == 0
    assert "Table VI, models, 132 tasks (published, not measured)" in text
    assert any(line.split() == ["GPT-5", "11.36", "3.66", "26.30", "87.31", "-", "-"] for line in text.splitlines())
    markdown = out(capsys, "a", "--published", "--markdown")[1]
    row = next(line for line in markdown.splitlines() if "Manus" in line)
    assert "*published, not measured* (Table VII)" in row
    assert row.endswith("| $15 | 2 h 18 min | 0.463 |")
    values = json.loads(out(capsys, "a", "--published", "--json")[1])
    assert [(len(t["rows"]), t["measured"]) for t in values["published"]] == [(13, False), (4, False)]


def test_published_rates_are_whole_tasks_and_leaves() -> None:
    for rows, tasks, leaves in ((MODELS, 132, 1156), (HARNESSES, 30, 276)):
        for row in rows:
            assert abs(row.root_sr - 100 * round(row.root_sr * tasks / 100) / tasks) < 0.05
            assert abs(row.leaf_sr - 100 * round(row.leaf_sr * leaves / 100) / leaves) < 0.006
    for row in HARNESSES:
        assert row.cost_usd is not None
        assert row.score_per_usd == pytest.approx(row.root_score / row.cost_usd, abs=0.0006)


def test_names_cannot_act_as_markup(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(here / "a", 9, agent={"label": "<img src=x> | @team", "model": None})
    markdown = out(capsys, "a", "--published", "--markdown")[1]
    assert "<img" not in markdown
    assert "@team" not in markdown


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["a"], "compare needs two runs, or one and --published"),
        (["a", "nope"], "nope cannot be read: No such file or directory"),
        (["a", "empty"], "empty is not a run directory: it has neither results.json nor run.json"),
        (["a", "e.json"], "e.json is not a results.json of this version (run: Field required)"),
        (
            ["a", "table.json"],
            "table.json is the table of several agents; name one of them: table-weak.json, table-strong.json",
        ),
        (
            ["a", "empty/table.json"],
            "empty/table.json is the table of several agents; name one of them: the run directory of weak, strong",
        ),
        (["a", "a", "--threshold", "11"], "--threshold: '11' is not a number from 0 to 10"),
    ],
)
def test_usage(here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], text: str) -> None:
    saved(here / "a", 9)
    (here / "empty").mkdir()
    (here / "e.json").write_text('{"a": 1}')
    for table in (here / "table.json", here / "empty" / "table.json"):
        table.write_text(json.dumps({"runs": [{"label": "weak"}, {"label": "strong"}]}))
    for part in ("table-weak.json", "table-strong.json"):
        (here / part).write_text("{}")
    with pytest.raises(SystemExit) as ended:
        main(["compare", *arguments])
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"pytest-gta: {text}\n"


def test_the_comparison_as_a_page(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "<img src=x onerror=alert(1)>|**m**"
    saved(here / "a", 9, 9, 9, 3, agent={"label": "tools", "model": "m1"})
    saved(here / "b", 9, 9, 3, 3, agent={"label": hostile, "model": "m2"})
    code, _ = out(capsys, "a", "b", "--published", "--html", "pages/compared.html")
    assert code == 0
    page = html.fromstring((here / "pages" / "compared.html").read_text())
    rows, tasks = (
        [[cell.text_content() for cell in row.xpath("./td")] for row in table.xpath("./tbody/tr")]
        for table in page.xpath("//table")
    )
    assert rows[0][0] == "A: a"
    assert rows[0][3].startswith("75.0 %")
    assert rows[1][3].startswith("50.0 %")
    assert hostile in rows[1][1]
    assert len(rows) == 2 + len(MODELS) + len(HARNESSES)
    assert tasks[2:] == [["planning_3", "9.00", "3.00"], ["planning_4", "3.00", "3.00"]]
    assert page.xpath("//table")[1].xpath(".//tr[3]//strong/text()") == ["9.00"]
    assert page.xpath("//img | //script | //strong[text()='m']") == []
    # A bar to scroll by is at each table, not at the end of the page.
    assert [table.getparent().get("class") for table in page.xpath("//table")] == ["wide"] * 2
