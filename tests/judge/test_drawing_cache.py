"""Drawings kept between runs: the same file with the same program is drawn once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_gta.formats.renderers import Renderer, Renderers
from pytest_gta.judge import drawing, drawing_cache
from pytest_gta.judge.cache import fault_of
from pytest_gta.judge.drawing_cache import DrawingCache, site_digest
from pytest_gta.judge.evidence import Evidence, PicturePart
from tests.judge.test_drawing import FOUND, build, deliver, fake_office, needs_both


@pytest.fixture
def delivered(tmp_path: Path) -> Path:
    folder = tmp_path / "delivered"
    folder.mkdir()
    deliver(folder)
    (folder / "index.html").unlink()
    return folder


@pytest.fixture
def office(tmp_path: Path) -> Renderers:
    """A program that draws something else each time."""
    return Renderers(Renderer("LibreOffice", fake_office(tmp_path / "program"), "1"), None, confined=False)


BROKEN = Renderers(Renderer("LibreOffice", Path("/bin/false"), "1"), None, confined=False)


def drawn(evidence: Evidence) -> list[bytes]:
    return [part.data for part in evidence.parts if isinstance(part, PicturePart)]


def test_a_second_run_starts_no_renderer_and_shows_the_same(tmp_path: Path, delivered: Path, office: Renderers) -> None:
    cache = DrawingCache(tmp_path / "kept")
    first = build(delivered, office, cache=cache)
    assert len(drawn(first)) == 1
    again = build(delivered, BROKEN, cache=DrawingCache(tmp_path / "kept"))
    assert (drawn(again), again.digest, again.parts) == (drawn(first), first.digest, first.parts)
    assert again.contents == first.contents
    assert build(delivered, BROKEN).files[0].note.startswith("not drawn: "), "without the cache"


@pytest.mark.parametrize("change", ["content", "version", "pictures", "suffix"])
def test_what_a_drawing_depends_on_is_drawn_anew(
    tmp_path: Path, delivered: Path, office: Renderers, change: str
) -> None:
    cache = DrawingCache(tmp_path / "kept")
    build(delivered, office, cache=cache)
    other, pictures = BROKEN, 24
    deck = delivered / "deck.pptx"
    if change == "content":
        deck.unlink()
        deliver(delivered, slides=4)
        (delivered / "index.html").unlink()
    elif change == "version":
        other = Renderers(Renderer("LibreOffice", Path("/bin/false"), "2"), None, confined=False)
    elif change == "pictures":
        pictures = 5
    else:
        deck.rename(delivered / "deck.pptm")
    evidence = build(delivered, other, pictures=pictures, cache=cache)
    assert drawn(evidence) == []
    assert evidence.files[0].note.startswith("not drawn: LibreOffice ended with code 1")


def test_the_name_of_a_file_is_no_part_of_its_drawing(tmp_path: Path, delivered: Path, office: Renderers) -> None:
    cache = DrawingCache(tmp_path / "kept")
    first = drawn(build(delivered, office, cache=cache))
    (delivered / "deck.pptx").rename(delivered / "Talk.pptx")
    assert drawn(build(delivered, BROKEN, cache=cache)) == first


def test_a_drawing_that_failed_is_not_kept(tmp_path: Path, delivered: Path, office: Renderers) -> None:
    cache = DrawingCache(tmp_path / "kept")
    assert drawn(build(delivered, BROKEN, cache=cache)) == []
    assert list(tmp_path.glob("kept/**/*")) == []
    assert len(drawn(build(delivered, office, cache=cache))) == 1


@pytest.mark.parametrize("damage", ["cut", "empty", "binary", "other content", "folder"])
def test_a_damaged_entry_is_a_miss_and_is_written_anew(tmp_path: Path, damage: str) -> None:
    cache = DrawingCache(tmp_path)
    cache.put("abc", {"pictures": [], "note": "drawn"})
    (entry,) = tmp_path.glob("*/*.json")
    whole = entry.read_bytes()
    if damage == "folder":
        entry.unlink()
        entry.mkdir()
    else:
        damaged = {"cut": whole[:-3], "empty": b"", "binary": b"\xff\x00" * 9, "other content": whole + b" "}
        entry.write_bytes(damaged[damage])
    assert cache.get("abc") is None
    cache.put("abc", {"note": "again"})
    if damage != "folder":
        assert cache.get("abc") == {"note": "again"}


def test_a_place_that_cannot_be_written_costs_the_entry_only(
    tmp_path: Path, delivered: Path, office: Renderers
) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert len(drawn(build(delivered, office, cache=DrawingCache(tmp_path / "file")))) == 1


def test_what_was_not_used_for_longest_makes_room(tmp_path: Path) -> None:
    writer = DrawingCache(tmp_path)
    for number in range(10):
        writer.put(f"{number}0", "x" * 1_000)
        os.utime(tmp_path / f"{number}0" / f"{number}0.json", (number, number))
    assert writer.get("00") is not None, "it is the newest now"
    DrawingCache(tmp_path, most_bytes=6_000).put("new", "x" * 1_000)
    left = sorted(path.stem for path in tmp_path.glob("*/*.json"))
    assert left == ["00", "80", "90", "new"]
    DrawingCache(tmp_path, most_bytes=6_000).put("newer", "x")
    assert len(list(tmp_path.glob("*/*.json"))) == 5, "there is room"


WRITER = """
import sys
from pathlib import Path
from pytest_gta.judge.drawing_cache import DrawingCache
cache = DrawingCache(Path(sys.argv[1]), most_bytes=50_000)
for number in range(100):
    cache.put("ab", "x" * 20_000)
    assert cache.get("ab") in (None, "x" * 20_000)
"""


def test_processes_share_a_directory(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stderr=subprocess.PIPE) for _ in "12"]
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert writer.returncode == 0, errors.decode()
    assert [entry.name for entry in tmp_path.rglob("*") if entry.is_file()] == ["ab.json"]


def test_a_page_depends_on_the_files_around_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "css").mkdir()
    style = tmp_path / "css" / "style.css"
    style.write_text("h1 { color: red }")
    before = site_digest(tmp_path)
    assert before == site_digest(tmp_path) != ""
    style.write_text("h1 { color: blue }")
    changed = site_digest(tmp_path)
    assert changed != before
    (tmp_path / "logo.png").symlink_to(style)
    linked = site_digest(tmp_path)
    assert linked != changed
    (tmp_path / "logo.png").unlink()
    (tmp_path / "logo.png").symlink_to("/dev/null")
    assert site_digest(tmp_path) != linked
    monkeypatch.setattr(drawing_cache, "_MOST_SITE_BYTES", 1)
    assert site_digest(tmp_path) == "", "too large to look at"


def test_too_many_files_around_a_page_are_not_even_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def listing(site: Path, _: str) -> Iterator[Path]:
        for number in range(3):
            (site / f"{number}.txt").touch()
            yield site / f"{number}.txt"
        pytest.fail("looked at one more than it needs to know")

    monkeypatch.setattr(Path, "rglob", listing)
    monkeypatch.setattr(drawing_cache, "_MOST_FILES", 2)
    assert site_digest(tmp_path) == ""


def test_the_files_around_are_looked_at_once_for_all_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    for name in ("a.html", "b.html", "c.html"):
        (folder / name).write_text(f"<h1>{name}</h1>")
    looked_at = []
    monkeypatch.setattr(drawing, "site_digest", lambda site: looked_at.append(site) or "digest")
    broken = Renderers(None, Renderer("Chromium", Path("/bin/false"), "1"), confined=False)
    build(folder, broken, cache=DrawingCache(tmp_path / "kept"))
    assert looked_at == [folder.resolve()]


@needs_both
def test_a_web_page_is_drawn_anew_when_its_style_changed(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text('<link rel="stylesheet" href="style.css"><h1>Hello</h1>')
    (folder / "style.css").write_text("h1 { color: red }")
    cache = DrawingCache(tmp_path / "kept")
    first = drawn(build(folder, FOUND, cache=cache))
    without = Renderers(None, Renderer("Chromium", Path("/bin/false"), FOUND.browser.version if FOUND.browser else ""))
    assert drawn(build(folder, without, cache=cache)) == first
    (folder / "style.css").write_text("h1 { color: blue }")
    assert drawn(build(folder, FOUND, cache=cache)) != first


def test_why_a_cache_is_of_no_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fault_of(tmp_path) == fault_of(tmp_path / "not" / "yet") == ""
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    assert fault_of(tmp_path / "file") == "it is not a folder"
    assert fault_of(tmp_path / "file" / "below") == f"{tmp_path / 'file'} is not a folder"
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode & os.W_OK == 0 and access(path, mode))
    assert fault_of(tmp_path) == fault_of(tmp_path / "new") == "it cannot be written"
    monkeypatch.setattr(os, "access", lambda path, mode: mode & os.R_OK == 0)
    assert fault_of(tmp_path) == "it cannot be read"
