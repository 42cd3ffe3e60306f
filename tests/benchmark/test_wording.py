"""What is said of a task's words: each sign by task and node, and nothing of words that are fine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_gta.benchmark.finding import Finding, Level
from pytest_gta.benchmark.task import Checkpoint, Resource, Task
from pytest_gta.benchmark.wording import step_in, wording_findings

FINE = (
    "report.docx states net revenue as EUR 4,137.43, within 1.00.",
    "report.docx names July as the best month.",
    "report.docx is at most two pages long.",
)


def task(request: str = "Write report.docx.", leaves: tuple[str, ...] = FINE, given: tuple[str, ...] = ()) -> Task:
    nodes = tuple(Checkpoint(f"cp{n}", text, 1.0) for n, text in enumerate(leaves, 1))
    return Task("7", "planning", (request,), tuple(Resource(path) for path in given), nodes)


def signs(subject: Task) -> list[tuple[str, str | None]]:
    return [(finding.check, finding.node_id) for finding in wording_findings(subject)]


def test_nothing_is_said_of_a_task_that_is_fine() -> None:
    assert signs(task()) == []


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("Read all four PDFs.", "Read all"),
        ("First, search the web for prices.", "First, search"),
        ("Step 2: the totals.", "Step 2"),
        ("Extract the figures from report.pdf.", "Extract the"),
        ("Open orders.xlsx and clean it.", "Open orders.xlsx"),
        ("The agent reads the file carefully.", "The agent reads"),
        ("The assistant must first verify the dates.", "The assistant must first verify"),
        ("The totals are stated after reading the sheet.", "after reading"),
        ("A web search tool is there and the answer used the calculator tool.", "used the calculator tool"),
        ("The chart has a title.", ""),
        ("Search 19.45 and Radio 30.82 are stated.", ""),
        ("Opening hours are given for each day.", ""),
        ("The model number of each kettle is listed.", ""),
        ("The page explains how to use the pump.", ""),
        ("Review of the year: three paragraphs.", ""),
        ("The script runs without errors and prints 12.", ""),
    ],
)
def test_a_step_is_told_from_a_result(text: str, step: str) -> None:
    assert step_in(text) == step


def test_a_leaf_that_is_a_step() -> None:
    subject = task(leaves=(*FINE, "Use the OCR tool on each page of the scan."))
    found = list(wording_findings(subject))
    assert [(f.check, f.node_id, f.level) for f in found] == [
        ("leaf-names-tool", "cp4", Level.WARNING),
        ("leaf-is-step", "cp4", Level.WARNING),
    ]
    assert found[1].message == (
        "'Use the' is a step, which the deliverables do not show; state what must be true of the result"
    )


@pytest.mark.parametrize(
    ("first", "second", "near"),
    [
        ("The report lists the three risks with their owners.", "The report is listing three risks and owners.", True),
        ("The report states sales of 12 units.", "The report states sales of 15 units.", False),
        ("The report states sales of North.", "The report states sales of South.", False),
        ("Prices: Sprig 22, Leafly 17.", "Prices: Sprig 17, Leafly 22.", False),
        ("The chart has labelled axes.", "The deck ends with three recommendations.", False),
    ],
)  # fmt: skip
def test_leaves_that_ask_for_nearly_the_same(first: str, second: str, near: bool) -> None:
    found = signs(task("Write it.", (first, second, "The whole is in plain English.")))
    assert found == ([("leaf-near", "cp2")] if near else [])


def test_an_answer_that_the_request_gives_away() -> None:
    request = "Write report.docx. Net revenue should come out as 4137.43 EUR, for 2025. The limit is 25 EUR."
    assert signs(task(request)) == [("answer-given", "cp1")]
    leaves = ("report.docx states net revenue as EUR 4,137.43.", "report.docx is about 2025 alone.", FINE[1])
    (found,) = wording_findings(task(request, leaves))
    assert (found.check, found.node_id) == ("answer-given", "cp1")
    assert found.message == "the request already states what this leaf expects (4,137.43); ask for it, do not tell it"


@pytest.mark.parametrize(
    ("more", "check"),
    [
        (" Use ReadPDF.", "request-names-tool"),
        (" Fulfil cp1-2 first.", "request-names-rubric"),
        (" You will be graded by a model.", "request-names-rubric"),
        (" Add a grading rubric for the pupils.", None),
    ],
)
def test_a_request_that_gives_things_away(more: str, check: str | None) -> None:
    assert signs(task("Write report.docx." + more)) == ([(check, None)] if check else [])


def test_files_of_request_and_leaves() -> None:
    subject = task(
        "Write report.docx and song.mp3 from data.csv.", (*FINE, "deck.pptx has five slides."), ("data.csv",)
    )
    assert signs(subject) == [("deliverable-not-judged", None), ("deliverable-not-asked", "cp4")]


def test_a_file_that_only_the_group_names_is_noted() -> None:
    group = Checkpoint("cp4", "song.mp3 can be used.", 1.0, (Checkpoint("cp4-1", "It lasts about two minutes.", 1.0),))
    subject = task("Write report.docx and song.mp3.")
    (found,) = wording_findings(replace(subject, checkpoints=(*subject.checkpoints, group)))
    assert (found.level, found.check, found.node_id) == (Level.NOTE, "deliverable-in-group", "cp4")


def test_more_or_fewer_leaves_than_usual_is_noted() -> None:
    few = list(wording_findings(task(leaves=FINE[:1])))
    many = list(wording_findings(task(leaves=tuple(f"report.docx states figure {n}." for n in range(20)))))
    assert [(f.level, f.check) for f in (*few, *many)] == [(Level.NOTE, "leaf-count")] * 2
    assert few[0] == Finding(Level.NOTE, "leaf-count", "7", None, "has 1 leaf; tasks of the benchmark have 3 to 19")
