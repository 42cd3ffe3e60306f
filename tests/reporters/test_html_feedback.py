"""Feedback in the report: what was gained over all tasks, and what became of each."""

from __future__ import annotations

from pathlib import Path

from lxml import html

from pytest_gta.benchmark.results import FeedbackResult, JudgeRecord, RunResult, StopReason, TaskStatus
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.benchmark.usage import Usage
from pytest_gta.reporters.html.page import write_report
from tests.domain import a_run, an_agent, by_id, graded, leaf, scored

NODES = (leaf("cp1", 1), leaf("cp2", 1), leaf("cp3", 2))
HOSTILE = "<script>hit=1</script>{{7*7}}"


def text(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


def improved_run() -> RunResult:
    first = score_tree(NODES, by_id(scored("cp1", 9), scored("cp2", 2, "No map."), scored("cp3", 5)))
    second = score_tree(NODES, by_id(scored("cp1", 9), scored("cp2", 8, f"A map. {HOSTILE}"), scored("cp3", 4.5)))
    agent = an_agent(stop_reason=StopReason.MAX_TURNS, stop_detail="the limit", final_answer=f"Better. {HOSTILE}")
    made = FeedbackResult(
        mode="checkpoint", status=TaskStatus.GRADED, root_score=second.score, success=False, agent=agent,
        checkpoints=second.checkpoints, judge=JudgeRecord(usage=Usage(calls=2, cost_usd=0.5), cached_leaves=1),
    )  # fmt: skip
    task = graded("1", 5.25, root_score=first.score, checkpoints=first.checkpoints, success=False, feedback=made)
    well = FeedbackResult(mode="checkpoint", status=TaskStatus.GRADED, carried_over=True, root_score=9)
    broken = FeedbackResult(mode="checkpoint", status=TaskStatus.ERROR, error="the endpoint is gone")
    return a_run(task, graded("2", 9, feedback=well), graded("3", 1, feedback=broken))


def page_of(result: RunResult, root: Path) -> html.HtmlElement:
    run = RunDirectory(root)
    for task in result.tasks:
        directory = run.task(task.run_key).after_feedback
        directory.root.mkdir(parents=True)
        directory.transcript.write_text('{"kind": "user", "text": "Do it."}\n')
    return html.fromstring(write_report(result, run, root / "report.html").read_text())


def test_the_gain_is_a_card_of_its_own(tmp_path: Path) -> None:
    page = page_of(improved_run(), tmp_path)
    (card,) = page.xpath("//section[@aria-labelledby='feedback']")
    assert text(card.xpath("h2")[0]) == "After checkpoint feedback 2 tasks, 1 of them with nothing to improve"
    rows = [[text(cell) for cell in row.xpath("th|td")] for row in card.xpath(".//tbody/tr")]
    assert rows[0][:4] == ["Root Score", "7.12", "7.75", "+0.62"]
    assert rows[1][:4] == ["Root SR", "50.0 %", "50.0 %", "+0.0"]
    told = text(card)
    assert "1 second attempt without a score: 1 in error." in told
    assert "the first attempt is the one that counts" in told
    assert "on top: agent $0.25, judge $0.50" in told
    # The headline stays that of the first attempts.
    assert text(page.xpath("//p[@class='big']")[0]).startswith("33.3")


def test_each_task_shows_both_scores_and_what_changed(tmp_path: Path) -> None:
    page = page_of(improved_run(), tmp_path)
    row = page.xpath("//tr[@data-task='task-planning_1']/td[contains(@class, 'scored')]")[0]
    assert text(row).startswith("5.25 → 6.50")
    article = page.get_element_by_id("task-planning_1")
    (section,) = article.xpath(".//section[@aria-label='After feedback']")
    assert text(section.xpath("h2")[0]) == "After checkpoint feedback 6.50 (+1.25)"
    leaves = [" ".join(" ".join(item.itertext()).split()) for item in section.xpath(".//ul/li")]
    assert leaves == [f"8.00 was 2.00 cp2 A map. {HOSTILE}", "4.50 was 5.00 cp3"]
    assert f"Better. {HOSTILE}" in text(section)
    facts = {text(fact.xpath("dt")[0]): text(fact.xpath("dd")[0]) for fact in section.xpath(".//dl/div")}
    assert facts["Ended"] == "max turns: the limit" and facts["Judge calls"] == "2, 1 leaf reused"
    assert section.xpath(".//a/@href") == ["tasks/planning_1/after_feedback/transcript.jsonl"]
    assert not page.xpath("//script[contains(text(), 'hit=1')]")


def test_a_second_attempt_that_was_not_needed_or_failed_says_so(tmp_path: Path) -> None:
    page = page_of(improved_run(), tmp_path)
    second, third = (
        text(page.get_element_by_id(f"task-planning_{n}").xpath(".//section[@aria-label='After feedback']")[0])
        for n in (2, 3)
    )
    assert second == "After checkpoint feedback nothing to improve"
    assert third == "After checkpoint feedback error the endpoint is gone"


def test_without_feedback_there_is_nothing_of_it(tmp_path: Path) -> None:
    page = page_of(a_run(graded("1", 5)), tmp_path)
    assert "feedback" not in text(page.xpath("//main")[0]).lower()
