"""How much of what was delivered each leaf's judge call showed: counted in what was sent."""

from __future__ import annotations

import re
from pathlib import Path

import openpyxl
import pptx
import pytest
from reportlab.pdfgen.canvas import Canvas

from pytest_gta.benchmark.coverage import Coverage, least
from pytest_gta.benchmark.results import LeafStatus, Verdict
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.benchmark.task import Checkpoint
from pytest_gta.formats.extract import Extract
from pytest_gta.judge.cache import VerdictCache
from pytest_gta.judge.evidence import EvidenceBudget, TextPart
from pytest_gta.judge.excerpts import Span
from pytest_gta.judge.panel import Panel
from pytest_gta.judge.presentation import Presentation
from pytest_gta.judge.prompt import PromptStyle
from pytest_gta.judge.reduction import half_of, without_pictures
from pytest_gta.judge.search import Passage
from pytest_gta.judge.shown import Content, Shown, content_of, coverage, page_of
from tests.formats.office import png
from tests.judge.conftest import BRIEF, EVIDENCE, MakeJudge, StartServer, leaves, run
from tests.judge.test_evidence import build
from tests.openai_server import RecordedRequest, fails, in_turn, judge

SMALL = EvidenceBudget(characters=20_000, pictures=2)
SECRET = b"secret"


def report(folder: Path, pages: int = 60, scanned: int = 0) -> None:
    (folder / "scan.png").write_bytes(png())
    canvas = Canvas(str(folder / "report.pdf"))
    for number in range(1, pages + 1):
        for line in range(30):
            fact = "Attendance reached 4812 visitors." if (number, line) == (40, 15) else ""
            canvas.drawString(72, 800 - 20 * line, fact or f"Page {number}, line {line}: the usual matters.")
        canvas.showPage()
    for _ in range(scanned):
        canvas.drawImage(str(folder / "scan.png"), 0, 0, 500, 700)
        canvas.showPage()
    canvas.save()
    (folder / "scan.png").unlink()


def counted(shown: object, requirement: str = "The style is friendly.") -> Coverage:
    found = Presentation(BRIEF, "Done.", shown, SECRET, PromptStyle.FULL).coverage_for(requirement)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_everything_that_fits_is_counted_as_shown(tmp_path: Path) -> None:
    report(tmp_path, 2)
    deck = pptx.Presentation()
    for title in ("One", "Two", "Three"):
        deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = title
    deck.save(str(tmp_path / "deck.pptx"))
    book = openpyxl.Workbook()
    book.active["A1"] = "sum"
    book.create_sheet("3")["A1"] = 12
    book.save(tmp_path / "book.xlsx")
    (tmp_path / "chart.png").write_bytes(png())
    (tmp_path / "notes.md").write_text("twelve signs")
    shown = build(tmp_path)
    found = counted(shown)
    assert (found.files, found.files_shown) == (5, 5)
    assert (found.pages, found.pages_shown) == (2 + 3 + 2, 7)
    assert found.characters == found.characters_shown == sum(content.characters for content in shown.contents)
    assert {c.path: c.characters for c in shown.contents}["notes.md"] == 12
    assert (found.pictures_shown, found.passages) == (3, 0), "two pages and the chart"


def test_of_a_long_document_what_is_shown_is_counted_and_the_passages_of_the_leaf(tmp_path: Path) -> None:
    report(tmp_path)
    shown = build(tmp_path, budget=SMALL)
    (text,) = [part.text for part in shown.parts if isinstance(part, TextPart) and part.shown]
    (hidden,) = [content.characters for content in shown.contents]
    gaps = sum(int(n.replace(",", "")) for n in re.findall(r"\[\.\.\. ([\d,]+) characters not shown", text))
    found = counted(shown)
    assert (found.characters, found.characters_shown) == (hidden, hidden - gaps)
    assert found.passages == 0
    assert found.pages == 60
    marked = {int(n) for n in re.findall(r"=== page (\d+)", text)}
    assert len(marked | {1, 60}) <= found.pages_shown < 40, "a page whose end is shown counts, without its mark"
    assert found.pictures_shown == 2
    asked = counted(shown, "The report says how many visitors attended.")
    assert asked.passages >= 1
    assert asked.characters_shown > found.characters_shown
    assert asked.pages_shown > found.pages_shown


def test_a_page_without_text_is_shown_by_its_picture_only(tmp_path: Path) -> None:
    report(tmp_path, 2, scanned=3)
    found = counted(build(tmp_path, budget=EvidenceBudget(pictures=2)))
    assert (found.pages, found.pages_shown, found.pictures_shown) == (5, 4, 2)
    assert counted(build(tmp_path, budget=EvidenceBudget(pictures=0))).pages_shown == 2


def test_what_cannot_be_shown_is_not_counted_and_what_is_empty_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "blob.bin").write_bytes(bytes(range(256)) * 20)
    found = counted(build(tmp_path))
    assert (found.files, found.files_shown, found.pictures_shown) == (2, 1, 0)
    (tmp_path / "chart.png").write_bytes(png())
    assert counted(build(tmp_path, budget=EvidenceBudget(pictures=0))).files_shown == 1


def test_inputs_are_not_counted(tmp_path: Path) -> None:
    (tmp_path / "resources" / "files").mkdir(parents=True)
    (tmp_path / "resources" / "files" / "7-1.txt").write_text("given to the agent")
    (tmp_path / "plan.md").write_text("# Plan")
    found = counted(build(tmp_path, inputs=("resources/files/7-1.txt",)))
    assert (found.files, found.files_shown, found.characters_shown) == (1, 1, 6)


def test_evidence_made_smaller_is_counted_as_it_is_sent(tmp_path: Path) -> None:
    report(tmp_path, 20)
    shown = build(tmp_path)
    whole, half, blind = counted(shown), counted(half_of(shown)), counted(without_pictures(shown))
    assert whole.characters_shown == whole.characters
    assert whole.pages_shown == 20
    (text,) = [part.text for part in half_of(shown).parts if isinstance(part, TextPart) and part.shown]
    gaps = sum(int(n.replace(",", "")) for n in re.findall(r"\[\.\.\. ([\d,]+) characters not shown", text))
    assert half.characters_shown == whole.characters - gaps
    assert 0.3 < half.characters_shown / whole.characters < 0.7
    assert half.pictures_shown == whole.pictures_shown // 2
    assert (blind.pictures_shown, blind.characters_shown) == (0, whole.characters)
    halved_twice = half_of(half_of(shown))
    assert 0.1 < counted(halved_twice).characters_shown / whole.characters < 0.4


def test_each_piece_of_text_counts_once(tmp_path: Path) -> None:
    content = Content("a.pdf", 100, pages=2, stretches=((0, 50), (50, 100)))
    shown = [Shown("a.pdf", (Span(7, 0, 30), Span(40, 20, 20))), Shown("other.pdf", (Span(0, 0, 99),))]
    passages = [Passage("a.pdf", "page 1", "x" * 20, 30), Passage("the final answer", "", "x" * 9, 0)]
    assert coverage([content], shown, passages) == Coverage(
        files=1, files_shown=1, pages=2, pages_shown=1, characters=100, characters_shown=50, passages=1
    )
    assert coverage([], []) == Coverage(files=0, files_shown=0)


def test_pages_of_a_document_whose_text_does_not_tell_them() -> None:
    text = "=== page 1 ===\nwritten by the author of a Word file"
    content = content_of("a.docx", Extract("word", "", {}, text), whole=True, drawn_pages=9)
    assert (content.pages, content.stretches) == (9, ())
    pictures = [Shown("a.docx", pictures=1, page=page) for page in (1, 5, 5)]
    part = Shown("a.docx", (Span(0, 0, 10),))
    assert coverage([content], [part, *pictures]).pages_shown == 2
    assert coverage([content], [Shown("a.docx", (Span(0, 0, len(text)),))]).pages_shown == 9


def test_what_looks_like_the_mark_of_a_page_makes_no_page() -> None:
    text = "=== page 1 ===\nabc\n=== page 7 ===\n=== page 3 ===\n=== page 2 ===\ndef\n=== page 3 ===\nghi"
    content = content_of("a.pdf", Extract("pdf", "", {"pages": 2}, text), whole=True)
    assert [text[start:end] for start, end in content.stretches] == [
        "=== page 1 ===\nabc\n=== page 7 ===\n=== page 3 ===\n",
        "=== page 2 ===\ndef\n=== page 3 ===\nghi",
    ]


@pytest.mark.parametrize(
    ("kind", "where", "page"),
    [
        ("pdf", "page 12", 12),
        ("slides", "slide 3, picture 1", 3),
        ("sheets", "sheet 2, part 1 of 4 (drawn)", 2),
        ("sheets", "sheet 2, picture 1", 0),
        ("web", "part 2 of 3 (drawn)", 0),
        ("image", "", 0),
    ],
)
def test_the_page_of_a_picture(kind: str, where: str, page: int) -> None:
    assert page_of(kind, where) == page


def test_the_verdict_keeps_it_from_the_call_to_the_result(
    tmp_path: Path, openai_server: StartServer, make_judge: MakeJudge
) -> None:
    report(tmp_path)
    shown = build(tmp_path, budget=SMALL)
    server = openai_server(judge({}, default=8))
    cache = VerdictCache(tmp_path / "cache")
    asking = [
        Checkpoint("1", "The report says how many visitors attended.", 1.0),
        Checkpoint("2", "The style is friendly.", 1.0),
    ]
    fresh = make_judge(server, cache=cache).judge_task(BRIEF, asking, shown, final_answer="Done.")
    assert fresh["1"].coverage == counted(shown, asking[0].requirements)
    assert fresh["2"].coverage == counted(shown, asking[1].requirements)
    assert Verdict.model_validate_json(fresh["1"].model_dump_json()) == fresh["1"]
    again = make_judge(server, cache=cache).judge_task(BRIEF, asking, shown, final_answer="Done.")
    assert [v.cached for v in again.values()] == [True, True]
    assert [v.coverage for v in again.values()] == [v.coverage for v in fresh.values()]
    assert [node.coverage for node in score_tree(asking, again).checkpoints] == [v.coverage for v in fresh.values()]


def test_it_is_what_the_answered_call_showed(tmp_path: Path, openai_server: StartServer, make_judge: MakeJudge) -> None:
    report(tmp_path, 20)
    shown = build(tmp_path)
    too_long = fails(400, "maximum context length is 9 tokens", code="context_length_exceeded")

    def respond(request: RecordedRequest) -> object:
        return judge({}, default=7)(request) if "left out for length" in request.texts[-1] else too_long

    verdicts = run(make_judge(openai_server(respond)), 2, shown)
    assert {v.coverage for v in verdicts.values()} == {counted(half_of(shown))}


def test_without_a_reply_or_a_record_of_the_files_nothing_is_claimed(
    openai_server: StartServer, make_judge: MakeJudge, tmp_path: Path
) -> None:
    (tmp_path / "plan.md").write_text("# Plan")
    down = openai_server(in_turn(fails(400, "no")))
    verdict = run(make_judge(down), 1, build(tmp_path))["cp1-1"]
    assert (verdict.status, verdict.coverage) == (LeafStatus.JUDGE_ERROR, None)
    well = openai_server(judge({}, default=7))
    assert run(make_judge(well), 1, EVIDENCE)["cp1-1"].coverage is None, "evidence that was not built here"


def test_of_several_calls_what_all_of_them_showed(
    openai_server: StartServer, make_judge: MakeJudge, tmp_path: Path
) -> None:
    (tmp_path / "chart.png").write_bytes(png())
    shown = build(tmp_path)
    seeing = openai_server(judge({}, default=8))
    blind_one = fails(400, "image_url is only supported by certain models")
    blind = openai_server(lambda request: blind_one if request.pictures else judge({}, default=6)(request))
    panel = Panel({"a": make_judge(seeing, label="a"), "b": make_judge(blind, label="b")})
    verdict = panel.judge_task(BRIEF, leaves(1), shown, final_answer="Done.")["cp1-1"]
    assert [o.coverage.pictures_shown for o in verdict.panel if o.coverage] == [1, 0]
    assert verdict.coverage == Coverage(files=1, files_shown=0)
    again = panel.judge_task(BRIEF, leaves(1), shown, known={"cp1-1": verdict}, final_answer="Done.")["cp1-1"]
    assert [o.coverage for o in again.panel] == [o.coverage for o in verdict.panel]
    assert least([verdict.coverage, None]) is None
    assert least([]) is None


def test_an_older_verdict_has_none() -> None:
    old = '{"leaf_id": "cp1", "status": "scored", "score": 7.5, "analysis": "good", "key": "k"}'
    assert Verdict.model_validate_json(old).coverage is None
