"""The copy of a workspace that an agent goes on in."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_gta.workspace.continuation import continued
from pytest_gta.workspace.workspace import PathRefused, Workspace


@pytest.fixture
def first(tmp_path: Path) -> Workspace:
    root = tmp_path / "first"
    (root / "resources").mkdir(parents=True)
    (root / "resources" / "notes.txt").write_text("42 apples")
    (root / "resources" / "notes.txt").chmod(0o444)
    (root / "out").mkdir()
    (root / "out" / "report.md").write_text("# Report")
    (root / ".state").write_text("kept")
    (root / "resources").chmod(0o555)
    return Workspace.open(root, ["resources/notes.txt"], request="Count.")


def copied(first: Workspace, root: Path) -> tuple[Workspace, tuple[str, ...]]:
    return continued(first, root, [file.path for file in first.deliverables().files])


def test_all_that_the_agent_left_is_there_and_the_first_stays_as_it_was(first: Workspace, tmp_path: Path) -> None:
    second, left_out = copied(first, tmp_path / "task" / "again")
    assert (left_out, second.inputs, second.request) == ((), first.inputs, "Count.")
    assert (second.root / ".state").read_text() == "kept"
    assert [(f.path, f.sha256) for f in second.deliverables().files] == [
        (f.path, f.sha256) for f in first.deliverables().files
    ]
    second.resolve("out/report.md", writing=True).write_text("# Better")
    assert (first.root / "out" / "report.md").read_text() == "# Report"
    with pytest.raises(PathRefused, match="is an input"):
        second.resolve("resources/notes.txt", writing=True)
    assert (second.root / "resources").stat().st_mode & 0o777 == 0o555


def test_links_stay_links_and_lead_nowhere(first: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("rubric")
    (first.root / "look").symlink_to(tmp_path / "secret.txt")
    second, left_out = copied(first, tmp_path / "again")
    assert left_out == () and (second.root / "look").is_symlink()
    assert [file.path for file in second.deliverables().files] == ["out/report.md"]


def test_special_files_and_foreign_hard_links_are_left_out(first: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("rubric")
    os.link(tmp_path / "secret.txt", first.root / "mine.txt")
    os.link(first.root / "out" / "report.md", first.root / "out" / "copy.md")
    os.mkfifo(first.root / "out" / "pipe")
    second, left_out = copied(first, tmp_path / "again")
    assert sorted(left_out) == ["mine.txt", "out/pipe"]
    assert [file.path for file in second.deliverables().files] == ["out/copy.md", "out/report.md"]


def test_a_file_too_large_to_be_a_deliverable_is_left_out(
    first: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_gta.workspace.continuation.MAX_BYTES", 8)
    (first.root / "out" / "huge.bin").write_bytes(b"123456789")
    second, left_out = continued(first, tmp_path / "again", ["out/report.md"])
    assert left_out == ("out/huge.bin",)
    assert (second.root / "resources" / "notes.txt").read_text() == "42 apples"


def test_a_copy_that_would_fill_the_disk_is_not_begun(
    first: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (first.root / "out" / "holes.bin").open("wb") as file:
        file.truncate(1_000_000_000)
    (first.root / "out" / "look").symlink_to("holes.bin")
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: SimpleNamespace(free=1_200_000_000))
    with pytest.raises(OSError, match=r"it has 1\.0 GB, and 1\.2 GB are free"):
        copied(first, tmp_path / "again")
    assert not (tmp_path / "again").exists()
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: SimpleNamespace(free=1))
    (first.root / "out" / "holes.bin").unlink()
    with pytest.raises(OSError, match=r"it has 0\.0 GB, and 0\.0 GB are free"):
        copied(first, tmp_path / "again")
