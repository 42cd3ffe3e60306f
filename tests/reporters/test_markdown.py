# ruff: noqa: RUF001 - the signs the summary shows
from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from markdown_it import MarkdownIt

from pytest_gta.benchmark.comparison import compare
from pytest_gta.benchmark.gate import Gate
from pytest_gta.benchmark.results import RunResult, TaskStatus
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.reporters.markdown import MOST_CHARACTERS, markdown_summary, plain, write_markdown
from tests.domain import a_run, an_agent, by_id, graded, inner, leaf, not_graded, scored

HOSTILE = (
    "<img src=x onerror=alert(1)> | @octocat #12 [x](http://evil.example) ![i](http://evil.example/i.png) `code` "
    "**bold** _it_ ~~no~~ $x$ https://evil.example www.evil.example a@b.example </details>\n\n# head\n\n---\n\x1b\u202e"
)


def rendered(text: str) -> html.HtmlElement:
    """The summary as a reader of GitHub's dialect sees it: HTML allowed, tables, addresses found by themselves."""
    reader = MarkdownIt("gfm-like", {"html": True, "linkify": False}).enable("table")
    return html.fragment_fromstring(reader.render(text), create_parent="div")


def rows(text: str, number: int) -> list[list[str]]:
    table = rendered(text).findall(".//table")[number]
    return [[" ".join(cell.text_content().split()) for cell in row] for row in table.iter("tr")]


def test_the_headline_is_a_table_of_numbers_with_their_intervals() -> None:
    text = markdown_summary(a_run(graded("1", 9), graded("2", 5), graded("3", 4)))
    assert text.splitlines()[0] == "## GTA-Workflow: Root SR 33.3 %, tools on m1"
    assert rows(text, 0) == [
        ["", "This run"],
        ["Root SR@7", "33.3 % [6.1, 79.2], 1 of 3 graded tasks"],
        ["Root Score", "6.00 / 10 [4.00, 9.00]"],
        ["Leaf SR", "33.3 %"],
        ["Tool SR", "-"],
        ["Cost", "$0.78 (judge $0.0300)"],
        ["Time", "1 min 35 s"],
    ]
    assert rows(text, 1)[1] == ["planning", "3", "33.3 %", "6.00", "33.3 %"]


def test_groups_are_tables_and_say_what_is_inferred() -> None:
    tasks = (
        graded("1", 9, capabilities=("perception", "logic"), capability_basis="stated"),
        graded("2", 5, capabilities=("logic",), capability_basis="inferred"),
    )
    run = a_run(*tasks)
    assert rows(markdown_summary(run), 1)[1:] == [["planning", "2", "50.0 %", "7.00", "50.0 %"]]
    assert rows(markdown_summary(run), 2) == [
        ["Capability", "Tasks", "Root SR", "Root Score", "Leaf SR"],
        ["perception", "1", "100.0 %", "9.00", "100.0 %"],
        ["logic (1 of 2 inferred)", "2", "50.0 %", "7.00", "50.0 %"],
    ]
    del run.summary["by_capability"]
    assert "Capability" not in markdown_summary(run)


def test_a_gate_and_what_is_missing_are_said_first() -> None:
    gate = Gate(verdict="inconclusive", reasons=("1 of 2 tasks without a score",))
    text = markdown_summary(a_run(graded("1", 9), not_graded("2", TaskStatus.ERROR), gate=gate))
    assert "**Inconclusive**: 1 of 2 tasks without a score" in text
    assert "**Not all is measured**: 1 task in error; Root SR lies between 50.0 and 100.0 %." in text


def test_the_tasks_to_look_at_first_say_what_lost_most() -> None:
    nodes = (inner("cp1", 3, leaf("cp1-1", 1), leaf("cp1-2", 3)), leaf("cp2", 1))
    verdicts = by_id(scored("cp1-1", 8), scored("cp1-2", 2, "Only one price."), scored("cp2", 10))
    low = graded("3", 5, checkpoints=score_tree(nodes, verdicts).checkpoints)
    text = markdown_summary(a_run(graded("9", 9), low, not_graded("4", TaskStatus.ERROR, error="no input a.pdf")))
    assert rows(text, 2) == [
        ["Task", "Score", "What lost most"],
        ["planning_4", "-", "no input a.pdf"],
        ["planning_3", "5.00", "cp1-2, −4.50 points: Only one price."],
    ]
    assert rows(text, 3)[1:] == [
        ["planning_4", "error", "-", "0 / 0", "-"],
        ["planning_3", "below", "5.00", "2 / 3", "$0.26"],
        ["planning_9", "success", "9.00", "1 / 1", "$0.26"],
    ]


def test_a_baseline_is_compared_task_by_task() -> None:
    before = a_run(graded("1", 9), graded("2", 5), graded("3", 8), graded("5", 6))
    now = a_run(graded("1", 4), graded("2", 7.5), graded("3", 8), graded("4", 9), not_graded("5", TaskStatus.UNSCORED))
    text = markdown_summary(now, before)
    assert rows(text, 0)[1] == ["Root SR@7", "75.0 % [30.1, 95.4], 3 of 4 graded tasks", "50.0 %", "+25.0"]
    assert rows(text, 0)[2][2:] == ["7.00", "+0.12"]
    assert rows(text, 1) == [
        ["", "Baseline", "This run", "Change", "95 %"],
        ["Root SR, %", "66.7", "66.7", "+0.0", "[-100.0, 100.0]"],
        ["Root Score", "7.33", "6.50", "−0.83", "[-5.00, 2.50]"],
    ]
    assert "Over 3 tasks measured in both." in text
    assert "- 1 lost: planning_1\n- 1 won: planning_2\n" in text
    assert rows(text, 2) == [
        ["Task", "Baseline", "This run", "Change"],
        ["planning_1", "9.00", "4.00", "−5.00"],
        ["planning_2", "5.00", "7.50", "+2.50"],
    ]
    assert "like for like" not in text


def test_repeats_have_their_rates() -> None:
    runs = [graded("1", score, run_key=f"planning_1_r{n}", repeat=n) for n, score in enumerate((9, 4), 1)]
    text = markdown_summary(a_run(*runs))
    assert rows(text, 1) == [
        ["k", "1", "2"],
        ["pass@\u200bk, one of k succeeds", "50.0 %", "100.0 %"],
        ["pass^k, all k succeed", "50.0 %", "0.0 %"],
    ]
    assert "Least steady: planning_1 (4.00 to 9.00)" in text
    assert "1 of 2 graded runs of 1 task" in text


def test_runs_that_cannot_be_compared_are_told_apart() -> None:
    before = a_run(graded("1", 9), judge={"model": "j0", "prompt_version": "p1"}, dataset={"name": "x", "sha256": "0"})
    text = markdown_summary(a_run(graded("1", 9)), before)
    assert "**The runs are not like for like**: another dataset" in text
    assert "another judge model" in text
    assert "No task was measured in both." in markdown_summary(a_run(graded("2", 9)), before)


def test_the_comparison_the_gate_made_is_shown_without_the_baseline() -> None:
    before, now = [graded("1", 9), graded("2", 5)], [graded("1", 4), graded("2", 5)]
    gate = Gate(verdict="fail", reasons=("it fell",), baseline=compare(before, now, 7).as_json())
    text = markdown_summary(a_run(*now, gate=gate))
    assert rows(text, 1)[1][:4] == ["Root SR, %", "50.0", "0.0", "−50.0"]
    assert "- 1 lost: planning_1\n" in text


def hostile_run() -> RunResult:
    tree = score_tree((leaf(HOSTILE, 1, HOSTILE),), by_id(scored(HOSTILE, 1, HOSTILE)))
    return a_run(
        graded("1", 1, run_key=HOSTILE, category=HOSTILE, checkpoints=tree.checkpoints, agent=an_agent(label=HOSTILE)),
        not_graded("2", TaskStatus.ERROR, error=HOSTILE),
        gate=Gate(verdict="fail", reasons=(HOSTILE,)),
        agent={"kind": "cmd", "label": HOSTILE, "model": HOSTILE},
        judge={"model": HOSTILE, "prompt_version": HOSTILE},
        dataset={"name": HOSTILE, "sha256": HOSTILE, "tasks": 2},
    )


def test_whatever_a_stranger_wrote_is_shown_as_text() -> None:
    text = markdown_summary(hostile_run(), hostile_run())
    page = rendered(text)
    found = {element.tag for element in page.iter()}
    assert found <= {"div", "h2", "h3", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "sub", "details",
                     "summary"}  # fmt: skip
    assert len(page.findall(".//details")) == 1
    assert {element.text_content() for element in page.iter("h2", "h3") if "GTA" not in element.text_content()} == {
        "Change against the baseline",
        "Look at first",
    }
    assert all(len(row) == len(table[0][0]) for table in page.iter("table") for row in table.iter("tr"))
    shown = page.text_content()
    assert "<img src=x onerror=alert(1)> | @\u200boctocat #\u200b12 [x](http://evil.example)" in shown
    assert not re.search(r"(?<!SR)@\w|#\d", shown)
    assert not re.search(r"://|www\.|(?<!SR)@", text)


@given(st.text(max_size=300))
def test_plain_text_is_read_as_itself(text: str) -> None:
    (paragraph,) = rendered(f"| a |\n|---|\n| x{plain(text, 10_000)}x |").iter("td")
    assert len(paragraph) == 0
    shown = paragraph.text_content().replace("\u200b", "")
    assert "".join(shown.split()) == "x" + "".join(plain_signs(text)) + "x"


def plain_signs(text: str) -> str:
    from pytest_gta.reporters.visible_text import visible

    return "".join(visible(text).split())


@pytest.mark.parametrize("tasks", [132, 3_000])
def test_it_is_small_enough_for_a_comment(tasks: int) -> None:
    many = [graded(str(n), n % 10, analysis=HOSTILE * 200) for n in range(tasks)]
    text = markdown_summary(a_run(*many), a_run(*many))
    assert len(text) <= MOST_CHARACTERS
    assert text.endswith("</details>\n")
    assert ("more" in text.splitlines()[-3]) == (tasks == 3_000)


def test_a_run_of_nothing_has_a_summary() -> None:
    text = markdown_summary(a_run())
    assert text.startswith("## GTA-Workflow: Root SR -, tools on m1")
    assert "Look at first" not in text


def test_it_is_written_and_added_to_the_summary_of_a_job(tmp_path: Path) -> None:
    run, job = a_run(graded("1", 9)), tmp_path / "step"
    job.write_text("before\n")
    target = write_markdown(run, tmp_path / "out" / "summary.md", job_summary=str(job))
    assert target.read_text() == markdown_summary(run)
    assert job.read_text() == "before\n" + markdown_summary(run) + "\n"
