from __future__ import annotations

from pathlib import Path

import docx
import pytest
from pptx import Presentation

from pytest_gta.benchmark.task import Brief
from pytest_gta.formats.renderers import Renderer, Renderers, find_renderers
from pytest_gta.judge.drawing import Drawer
from pytest_gta.judge.drawing_cache import DrawingCache
from pytest_gta.judge.evidence import Evidence, EvidenceBudget, PicturePart, TextPart, build_evidence
from pytest_gta.workspace.confined_process import ConfinedProcess
from pytest_gta.workspace.confinement import choose_confinement
from pytest_gta.workspace.workspace import Workspace
from tests.formats.office import png

FOUND = find_renderers()
needs_both = pytest.mark.skipif(len(FOUND.names) < 2, reason="LibreOffice and Chromium are not both installed")


def build(
    folder: Path,
    renderers: Renderers,
    pictures: int = 24,
    seconds: float = 60.0,
    cache: DrawingCache | None = None,
) -> Evidence:
    workspace = Workspace.open(folder, ())
    with (
        Drawer(renderers, folder, seconds, cache) as drawer,
        ConfinedProcess(choose_confinement(), readable=[folder, drawer.folder]) as process,
    ):
        made = build_evidence(
            Brief("1", "planning", ("Make a deck.",), ()),
            "done",
            workspace,
            workspace.deliverables(),
            process=process,
            budget=EvidenceBudget(pictures=pictures),
            drawer=drawer,
        )
    assert not drawer.folder.exists()
    return made


def labels(evidence: Evidence) -> list[str]:
    return [part.label for part in evidence.parts if isinstance(part, PicturePart)]


def text(evidence: Evidence) -> str:
    return "\n".join(part.text for part in evidence.parts if isinstance(part, TextPart))


def deliver(folder: Path, slides: int = 3) -> None:
    deck = Presentation()
    for number in range(1, slides + 1):
        deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = f"Slide {number}"
    deck.save(str(folder / "deck.pptx"))
    (folder / "index.html").write_text("<h1>Hello</h1>")


@needs_both
def test_slides_and_pages_are_shown_as_drawn(tmp_path: Path) -> None:
    deliver(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    evidence = build(tmp_path, FOUND)
    assert labels(evidence) == [
        "picture: deck.pptx slide 1 (drawn)",
        "picture: deck.pptx slide 2 (drawn)",
        "picture: deck.pptx slide 3 (drawn)",
        "picture: index.html page (drawn)",
    ]
    assert [record.evidence for record in evidence.files] == ["full", "full"]
    assert evidence.files[0].note == "drawn by LibreOffice"
    assert "embedded pictures" not in text(evidence)
    assert "Slide 2" in text(evidence)
    assert sorted(tmp_path.rglob("*")) == before, "nothing is written beside the deliverables"
    again = build(tmp_path, FOUND)
    assert again.digest == evidence.digest, "the same file drawn twice is the same evidence"


@needs_both
def test_slides_are_spread_over_the_deck_within_the_budget(tmp_path: Path) -> None:
    deliver(tmp_path, slides=9)
    (tmp_path / "index.html").unlink()
    evidence = build(tmp_path, FOUND, pictures=3)
    assert labels(evidence) == [f"picture: deck.pptx slide {number} (drawn)" for number in (1, 5, 9)]
    assert evidence.files[0].note == "drawn by LibreOffice: slides 1, 5, 9 of 9"


def test_drawn_pictures_count_by_their_source_and_program(tmp_path: Path) -> None:
    """The digest must not hang on pixels, but on the file and on the program that draws it."""
    deliver(tmp_path)
    (tmp_path / "index.html").unlink()

    def drawn(version: str) -> str:
        program = Renderer("LibreOffice", fake_office(tmp_path.parent / "program"), version)
        return build(tmp_path, Renderers(program, None, confined=False)).digest

    assert drawn("1") == drawn("1")
    assert drawn("1") != drawn("2")


def test_a_failing_renderer_costs_a_note_and_the_file_still_counts(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("The report.")
    document.add_picture(_picture(tmp_path.parent / "inside.png"))
    document.save(str(tmp_path / "report.docx"))
    broken = Renderers(Renderer("LibreOffice", Path("/bin/false"), "1"), None, confined=False)
    evidence = build(tmp_path, broken)
    assert evidence.files[0].evidence == "full"
    assert evidence.files[0].note == "not drawn: LibreOffice ended with code 1"
    assert "The report." in text(evidence)
    assert labels(evidence) == ["picture: report.docx picture 1"]
    silent = Renderers(Renderer("LibreOffice", Path("/bin/true"), "1"), None, confined=False)
    assert build(tmp_path, silent).files[0].note == "not drawn: LibreOffice could not read it"
    slow = Renderers(Renderer("LibreOffice", _script(tmp_path.parent / "slow", "sleep 60"), "1"), None, confined=False)
    assert build(tmp_path, slow, seconds=0.5).files[0].note.startswith("not drawn: LibreOffice took longer than")


def test_without_renderers_or_pictures_nothing_changes(tmp_path: Path) -> None:
    deliver(tmp_path)
    plain = build(tmp_path, Renderers())
    assert labels(plain) == []
    assert "given as text and embedded pictures" in text(plain)
    assert labels(build(tmp_path, Renderers(Renderer("LibreOffice", Path("/bin/false"), "1")), pictures=0)) == []


def _picture(place: Path) -> str:
    place.write_bytes(png())
    return str(place)


def _script(place: Path, body: str) -> Path:
    place.write_text(f"#!/bin/sh\n{body}\n")
    place.chmod(0o755)
    return place


def fake_office(place: Path) -> Path:
    """A program that draws something else each time: a page whose size is the clock's."""
    pdf = (
        "import sys, time, pypdfium2, pathlib\n"
        "out = pathlib.Path(sys.argv[sys.argv.index('--outdir') + 1]); out.mkdir()\n"
        "made = pypdfium2.PdfDocument.new(); made.new_page(300 + time.time_ns() // 1000 % 200, 400)\n"
        "made.save(out / 'document.pdf')\n"
    )
    place.with_suffix(".py").write_text(pdf)
    import sys

    return _script(place, f'exec {sys.executable} {place.with_suffix(".py")} "$@"')
