from __future__ import annotations

from pytest_gta.benchmark.results import StopReason, TaskStatus
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.reporters.score_sheet import headline, score_sheet
from tests.domain import a_file, an_agent, by_id, graded, inner, leaf, not_graded, scored, unscored


def test_the_headline_says_how_the_task_did() -> None:
    assert headline(graded("1", 5.5), 7) == "root score 5.50 < 7"
    assert headline(graded("1", 7), 7) == "root score 7.00 >= 7"
    assert headline(graded("1", 4.2998), 7) == "root score 4.29 < 7"
    assert headline(graded("1", 6.998), 7) == "root score 6.99 < 7"
    task = not_graded("1", TaskStatus.UNSCORED, (2, 8), error="1 of 9 leaves have no score")
    assert headline(task, 7) == "no root score (1 of 9 leaves have no score); bounds 2.00 to 8.00"


def test_a_leaf_just_below_the_threshold_is_not_shown_at_it() -> None:
    root = score_tree((leaf("cp1"),), by_id(scored("cp1", 6.999)))
    assert "  6.9  cp1 (x1)" in score_sheet(graded("1", 6.999, checkpoints=root.checkpoints), 7)


def test_no_text_of_a_stranger_reaches_the_terminal_as_a_command() -> None:
    hostile = "red \x1b[31m \u202e end"
    root = score_tree((leaf("cp1", 1, hostile),), by_id(scored("cp1", 3, hostile)))
    agent = an_agent(stop_detail=hostile)
    sheet = score_sheet(graded("1", 3, checkpoints=root.checkpoints, agent=agent, notes=(hostile,)), 7)
    assert sheet.count("red \u241b[31m \u2039U+202E\u203a end") == 4
    assert "\x1b" not in sheet
    assert "\u202e" not in sheet


def test_the_whole_sheet() -> None:
    nodes = (inner("cp1", 3, leaf("cp1-1", 2, "The report names 3 regions."), leaf("cp1-2")), leaf("cp2"))
    verdicts = by_id(scored("cp1-1", 8, "Page 2 names them."), unscored("cp1-2"), scored("cp2", 6.5))
    root = score_tree(nodes, verdicts)
    result = not_graded(
        "1",
        TaskStatus.UNSCORED,
        root.bounds,
        checkpoints=root.checkpoints,
        agent=an_agent(stop_reason=StopReason.MAX_TURNS, stop_detail="50 turns", tool_calls=4, tool_errors=1),
        deliverables=(a_file(), a_file("x.bin", evidence="none", note="not readable")),
        notes=("an input is only a link",),
        error="1 of 3 leaves have no score",
    )
    assert score_sheet(result, 7).splitlines() == [
        "no root score (1 of 3 leaves have no score); bounds 5.62 to 8.12",
        "agent tools: max_turns (50 turns), 3 turns, 4 tool calls, 1 error",
        "",
        "  -    cp1 (x3) [invalid] Section cp1.",
        "  8.0    cp1-1 (x2) The report names 3 regions.",
        "         | Page 2 names them.",
        "  -      cp1-2 (x1) [judge_error] Requirement cp1-2 is met.",
        "         | timed out",
        "  6.5  cp2 (x1) Requirement cp2 is met.",
        "",
        "delivered: report.docx (2,048 bytes, evidence full)",
        "delivered: x.bin (2,048 bytes, evidence none) - not readable",
        "note: an input is only a link",
    ]


def test_a_long_rubric_stays_readable() -> None:
    nodes = [leaf("deep", 1, "word " * 100)]
    for depth in range(19):
        nodes = [inner(f"n{depth}", 1, *nodes)]
    root = score_tree(nodes, by_id(scored("deep", 5, "reason " * 200)))
    sheet = score_sheet(graded("1", 5, checkpoints=root.checkpoints), 7)
    assert max(map(len, sheet.splitlines())) <= 150
    assert sheet.count("reason") < 80


def test_no_files_is_said() -> None:
    assert "delivered: no files" in score_sheet(graded("1", 5), 7)
    link = a_file("out/a", evidence="not_taken", note="a link")
    assert score_sheet(graded("1", 5, deliverables=(link,)), 7).splitlines()[-2:] == [
        "delivered: no files",
        "not taken: out/a - a link",
    ]


def test_of_many_files_the_first_are_shown() -> None:
    files = tuple(a_file(f"{n}.txt") for n in range(3000))
    sheet = score_sheet(graded("1", 5, deliverables=files), 7).splitlines()
    assert sum(line.startswith("delivered: ") for line in sheet) == 20
    assert sheet[-1] == "           and 2,980 more files"


def test_one_turn_is_no_plural() -> None:
    sheet = score_sheet(graded("1", 5, agent=an_agent(turns=1, tool_calls=1, tool_errors=0)), 7)
    assert "finished, 1 turn, 1 tool call, 0 errors" in sheet
