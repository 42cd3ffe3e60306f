from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from pytest_gta.judge.evidence import EvidenceBudget
from pytest_gta.judge.search import PASSAGE, PassageIndex, SourceText, words
from tests.judge.conftest import BRIEF, MakeJudge, StartServer
from tests.judge.test_evidence import build, texts
from tests.openai_server import RecordedRequest, judge


def pages(count: int, fact: str, at: int) -> str:
    filler = "The committee met and spoke about the usual matters of the year. " * 6
    return "\n".join(f"=== page {n} ===\n{filler}{fact if n == at else ''}\n{filler}" for n in range(1, count + 1))


def test_the_page_that_a_requirement_asks_for_is_found() -> None:
    index = PassageIndex([SourceText("report.pdf", pages(60, "Attendance reached 4,812 visitors.", 40))])
    found = index.best("The report gives the number of visitors who attended.", 2_000)
    assert found[0].where == "page 40"
    assert "4,812 visitors" in found[0].text
    assert sum(len(passage.text) for passage in found) <= 2_000
    assert all(len(passage.text) <= PASSAGE for passage in found)


def test_what_is_shown_already_is_not_shown_twice() -> None:
    text = pages(3, "The zebra is striped.", 2)
    assert PassageIndex([SourceText("a", text)]).best("zebra", 5_000, shown=text) == ()


def test_passages_stand_in_the_order_of_the_texts() -> None:
    sources = [SourceText(name, pages(5, f"zebra {name}", 4)) for name in ("a.txt", "b.txt")]
    assert [(p.name, p.where) for p in PassageIndex(sources).best("zebra", 3_000)] == [
        ("a.txt", "page 4"),
        ("b.txt", "page 4"),
    ]


def test_without_pages_the_place_is_said_in_characters() -> None:
    text = "filler words here. " * 400 + "the zebra" + " more filler." * 400
    (found,) = PassageIndex([SourceText("a.txt", text)]).best("zebra", 1_500)
    assert found.where.startswith("characters ")
    first, last = (int(n.replace(",", "")) for n in found.where.removeprefix("characters ").split("-"))
    assert text[first - 1 : last] == found.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("visitors 4812", "4,812 Visitor"),
        ("planned studies", "planning a study"),
        ("北京旅行", "去北京的旅行计划"),
        ("Überblick", "ÜBERBLICK"),
        ("price 1234.5", "1,234.5"),
    ],
)
def test_words_that_are_the_same_to_a_reader(question: str, text: str) -> None:
    assert set(words(question)) & set(words(text))


def test_nothing_matches_nothing() -> None:
    assert PassageIndex([]).best("zebra", 1_000) == ()
    assert PassageIndex([SourceText("a", "text")]).best("", 1_000) == ()
    assert PassageIndex([SourceText("a", "text")]).best("zebra", 1_000) == ()


def long_report(folder: Path, fact: str = "Attendance reached 4812 visitors.") -> None:
    canvas = Canvas(str(folder / "long.pdf"))
    for number in range(1, 61):
        for line in range(30):
            words = (
                fact if (number, line) == (40, 15) else f"Page {number}, line {line}: the usual matters of the year."
            )
            canvas.drawString(72, 800 - 20 * line, words)
        canvas.showPage()
    canvas.save()


SMALL = EvidenceBudget(characters=20_000, pictures=0)


def test_a_fact_on_page_40_of_60_reaches_the_leaf_that_asks_for_it(
    tmp_path: Path, openai_server: StartServer, make_judge: MakeJudge
) -> None:
    long_report(tmp_path)
    shown = build(tmp_path, budget=SMALL)
    assert "4812" not in "".join(texts(shown)), "the excerpts for all leaves do not hold it"
    seen: dict[str, str] = {}

    def answer(request: RecordedRequest) -> Any:
        seen[request.last_user_text.rpartition("\n")[2]] = request.texts[-1]
        return 8

    server = openai_server(judge(answer))
    asking, other = "The report says how many visitors attended.", "The style is friendly."
    from pytest_gta.benchmark.task import Checkpoint

    leaves = [Checkpoint("1", asking, 1.0), Checkpoint("2", other, 1.0)]
    verdicts = make_judge(server).judge_task(BRIEF, leaves, shown, final_answer="Done.")
    assert "Attendance reached 4812 visitors." in seen[asking]
    assert "4812" not in seen[other]
    assert "shown for this requirement, found by its words: long.pdf: page 40" in verdicts["1"].evidence_note
    assert "found by its words" not in verdicts["2"].evidence_note or "page 40" not in verdicts["2"].evidence_note
    shared = seen[asking].index("BEGIN further passages")
    assert seen[asking][: shared - 40] == seen[other][: shared - 40], "the prefix is the same for the prompt cache"


def test_the_key_covers_what_is_searched_though_it_is_not_shown_to_all(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, fact in ((one, "Attendance reached 4812 visitors."), (two, "Attendance reached 4813 visitors.")):
        folder.mkdir()
        for name in ("a", "b"):
            filler = "".join(f"line {n} of {name}\n" for n in range(3_000))
            (folder / f"{name}.txt").write_text(filler + fact + filler)
    first, second = build(one, budget=SMALL), build(two, budget=SMALL)
    assert texts(first)[0] == texts(second)[0]
    assert first.digest != second.digest


def test_what_fits_is_not_searched(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A plan\n" + "text " * 500)
    shown = build(tmp_path)
    from pytest_gta.judge.presentation import Presentation
    from pytest_gta.judge.prompt import PromptStyle

    presentation = Presentation(BRIEF, "Done.", shown, b"secret", PromptStyle.FULL)
    assert "further passages" not in str(presentation.question("a plan of text"))
    assert presentation.note_for("a plan of text") == ""
