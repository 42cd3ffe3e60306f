from __future__ import annotations

from html.parser import HTMLParser

import pytest

from pytest_gta.benchmark.results import StopReason, TaskResult, TaskStatus
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.benchmark.usage import Usage
from pytest_gta.reporters.outcome import GateLimits, judge_run
from pytest_gta.reporters.pytest_html import HEADER_CELLS, row_cells, score_sheet_block, summary_block
from tests.domain import a_file, a_run, an_agent, by_id, graded, inner, leaf, not_graded, scored, unscored

HOSTILE = """<img src=x onerror=alert(1)></script><script>alert("2")</script></pre></td>&amp;'"""


class _Page(HTMLParser):
    """Collects the tags and the text of a piece of HTML, and whether its tags are balanced."""

    VOID = ("br", "img", "hr")

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_result() -> TaskResult:
    nodes = (inner("cp1", 2, leaf(HOSTILE, 1, HOSTILE)), leaf("cp2", 1, HOSTILE))
    verdicts = by_id(scored(HOSTILE, 8, HOSTILE, evidence_note=HOSTILE), unscored("cp2", analysis=HOSTILE))
    root = score_tree(nodes, verdicts)
    agent = an_agent(label=HOSTILE, stop_reason=StopReason.AGENT_ERROR, stop_detail=HOSTILE, final_answer=HOSTILE)
    return not_graded(
        "1",
        TaskStatus.UNSCORED,
        root.bounds,
        checkpoints=root.checkpoints,
        agent=agent,
        deliverables=(a_file(HOSTILE, evidence=HOSTILE, note=HOSTILE),),
        notes=(HOSTILE,),
        error=HOSTILE,
    )


def test_a_score_sheet_shows_whatever_it_is_given_as_text() -> None:
    page = _Page(score_sheet_block(hostile_result(), 7, [(HOSTILE, HOSTILE)]))
    assert page.open == []
    assert {"img", "script"} & set(page.tags) == set()
    # four of the first leaf, two of the second, the file's three, note, headline, the agent's three, two of the output
    assert page.text.count("<img src=x onerror=alert(1)></script><script>") == 16


def test_the_summary_shows_whatever_it_is_given_as_text() -> None:
    run = a_run(
        graded("1", 9, category=HOSTILE),
        agent={"kind": HOSTILE, "label": HOSTILE, "model": HOSTILE},
        judge={"model": HOSTILE, "prompt_version": HOSTILE},
        dataset={"name": HOSTILE, "sha256": "ab" * 32, "tasks": 1},
        sandbox=HOSTILE,
    )
    outcome = judge_run(run.summary, GateLimits(None, None, 0, 7))
    page = _Page(summary_block(run, outcome))
    assert page.open == []
    assert {"img", "script"} & set(page.tags) == set()
    assert page.text.count("<img src=x onerror=alert(1)></script>") == 7


def test_the_summary_says_what_the_last_line_says() -> None:
    run = a_run(graded("1", 9), graded("2", 4), not_graded("3", TaskStatus.UNSCORED))
    outcome = judge_run(run.summary, GateLimits(None, None, 0, 7))
    html = summary_block(run, outcome)
    text = _Page(html).text
    assert outcome.line in text
    assert "class=fail" in html
    assert "Root SR@7 50.0 %" in text
    assert "1 of 2 graded tasks" in text
    assert "1 task without a score: 1 unscored, 0 in error, 0 not run; Root SR between 33.3 and 66.7 %" in text


def test_a_sheet_has_a_row_a_checkpoint_and_a_row_a_file() -> None:
    nodes = (inner("cp1", 2, leaf("cp1-1"), leaf("cp1-2")), leaf("cp2", 1))
    root = score_tree(nodes, by_id(scored("cp1-1", 8), scored("cp1-2", 2), scored("cp2", 7)))
    result = graded(
        "1", 6, root_score=root.score, checkpoints=root.checkpoints, deliverables=(a_file(), a_file("b.csv"))
    )
    page = _Page(score_sheet_block(result, 7, []))
    assert page.tags.count("tr") == 1 + 4 + 1 + 2
    assert "No files delivered" not in page.text
    assert "No files delivered" in _Page(score_sheet_block(graded("1", 6), 7, [])).text


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (None, ["-", "-", "-"]),
        (graded("1", 9), ["\u2007\u20079.00"[1:], "\u20071 / 1", "\u2007\u20070.2600"]),
        (graded("1", 3), ["\u20073.00", "\u20070 / 1", "\u2007\u20070.2600"]),
        (not_graded("1", TaskStatus.ERROR), ["-", "\u20070 / 0", "\u2007\u20070.0000"]),
        (graded("1", 9, agent=an_agent(usage=Usage(cost_usd=None))), ["\u20079.00", "\u20071 / 1", "unknown"]),
    ],
)
def test_cells_of_a_row(result: TaskResult | None, expected: list[str]) -> None:
    cells = row_cells(result, 7)
    assert len(cells) == len(HEADER_CELLS)
    assert [_Page(cell).text for cell in cells] == expected
