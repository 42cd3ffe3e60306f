"""What an agent left is taken under its own name; everything odd is listed with a reason and never opened."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import socket
import zipfile
from pathlib import Path

import pytest

from pytest_gta.benchmark.run_directory import make_removable
from pytest_gta.workspace import deliverables
from pytest_gta.workspace.deliverables import media_type_of
from pytest_gta.workspace.workspace import Workspace

INPUT = "resources/in.csv"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "workspace"
    (root / "resources").mkdir(parents=True)
    (root / INPUT).write_text("a,b\n")
    return Workspace(root, (INPUT,), (), {INPUT: hashlib.sha256(b"a,b\n").hexdigest()}, "Write history.json for me.")


def taken(workspace: Workspace) -> list[str]:
    return [file.path for file in workspace.deliverables().files]


def reasons(workspace: Workspace) -> dict[str, str]:
    return {item.path: item.reason for item in workspace.deliverables().not_taken}


def test_files_are_taken_under_their_own_names_sorted(workspace: Workspace) -> None:
    for name in ("Report.docx", "Report.xlsx", "data/Übersicht 1.csv", "a.txt", "资料.md", "empty.pdf", "x'y\"z.txt"):
        path = workspace.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("" if name == "empty.pdf" else name, "utf-8")
    found = workspace.deliverables().files
    assert [file.path for file in found] == [
        "Report.docx", "Report.xlsx", "a.txt", "data/Übersicht 1.csv", "empty.pdf", "x'y\"z.txt", "资料.md",
    ]  # fmt: skip
    first = found[0]
    assert (first.bytes, first.sha256) == (11, hashlib.sha256(b"Report.docx").hexdigest())
    assert reasons(workspace) == {}


def test_nothing_left_is_no_deliverable(workspace: Workspace) -> None:
    assert workspace.deliverables() == deliverables.Deliverables()


def test_links_and_special_files_are_listed_and_never_followed(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    root = workspace.root
    (root / "x.txt").symlink_to(tmp_path / "secret.txt")
    (root / "inside.txt").symlink_to(INPUT)
    (root / "a").symlink_to("/proc/self")
    (root / "up").symlink_to(tmp_path)
    (root / "gone").symlink_to("nowhere")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "sock"))
    os.link(tmp_path / "secret.txt", root / "hard.txt")
    assert taken(workspace) == []
    assert reasons(workspace) == {
        "a": "a link, not a file of its own",
        "gone": "a link, not a file of its own",
        "hard.txt": "a hard link to a file outside what is delivered",
        "inside.txt": "a link, not a file of its own",
        "pipe": "a named pipe, not a file of its own",
        "sock": "a socket, not a file of its own",
        "up": "a link, not a file of its own",
        "x.txt": "a link, not a file of its own",
    }


def test_a_file_with_two_names_in_the_workspace_is_taken_twice(workspace: Workspace) -> None:
    (workspace.root / "one.txt").write_text("1")
    os.link(workspace.root / "one.txt", workspace.root / "two.txt")
    assert taken(workspace) == ["one.txt", "two.txt"]


def test_hidden_files_caches_and_own_records_are_not_deliverables(workspace: Workspace) -> None:
    for name in (".git/config", ".env", "node_modules/p/i.js", "src/__pycache__/m.pyc", ".cache/x", ".DS_Store",
                 "chat_history.json", "agent.log", "trajectory.jsonl", "~$Report.docx", "venv/pyvenv.cfg", "venv/bin/p",
                 "src/m.py", "logs/agent.log", "Report.docx", "history.json"):  # fmt: skip
        (workspace.root / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace.root / name).write_text("x")
    assert taken(workspace) == ["Report.docx", "history.json", "logs/agent.log", "src/m.py"]
    assert reasons(workspace) == {
        ".DS_Store": "a hidden file",
        ".cache/": "a hidden folder",
        ".env": "a hidden file",
        ".git/": "a hidden folder",
        "agent.log": "an agent's own record, by its name, which the request does not mention",
        "chat_history.json": "an agent's own record, by its name, which the request does not mention",
        "node_modules/": "a folder of caches or installed packages",
        "src/__pycache__/": "a folder of caches or installed packages",
        "trajectory.jsonl": "an agent's own record, by its name, which the request does not mention",
        "venv/": "a Python environment",
        "~$Report.docx": "a file of the desktop or office program",
    }


def test_an_input_that_was_changed_or_removed_is_told(workspace: Workspace) -> None:
    (workspace.root / INPUT).write_text("changed")
    assert reasons(workspace) == {INPUT: "an input that the agent changed"}
    (workspace.root / INPUT).unlink()
    assert reasons(workspace) == {INPUT: "an input that the agent removed"}
    (workspace.root / INPUT).symlink_to("/etc/hostname")
    assert reasons(workspace)[INPUT] in ("an input that the agent changed", "a link, not a file of its own")
    assert taken(workspace) == []


def test_a_name_that_is_no_utf8_is_listed_readably(workspace: Workspace) -> None:
    Path(os.fsdecode(os.fsencode(workspace.root) + b"/caf\xe9.txt")).write_text("x")
    assert reasons(workspace) == {"caf\\xe9.txt": "its name is not valid UTF-8"}


def test_a_huge_sparse_file_is_not_read(workspace: Workspace) -> None:
    with (workspace.root / "big.bin").open("wb") as out:
        out.truncate(3 * 1024**3)
    assert reasons(workspace) == {"big.bin": "larger than 2 GiB (3,221,225,472 bytes)"}


def test_the_look_is_bounded(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliverables, "MAX_ENTRIES", 10)
    monkeypatch.setattr(deliverables, "MAX_DEPTH", 3)
    (workspace.root / "a/b/c/d/e").mkdir(parents=True)
    (workspace.root / "a/b/c/d/deep.txt").write_text("x")
    assert reasons(workspace) == {"a/b/c/d/": "nested more than 3 folders deep"}
    for number in range(20):
        (workspace.root / f"f{number:02}").write_text("x")
    found = workspace.deliverables()
    assert len(found.files) == 6
    assert "more than 10 entries; the rest is left" in [item.reason for item in found.not_taken]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_is_listed(workspace: Workspace) -> None:
    (workspace.root / "locked.txt").write_text("x")
    (workspace.root / "locked.txt").chmod(0)
    assert reasons(workspace) == {"locked.txt": "cannot be read (Permission denied)"}


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x", "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "head", "media_type"),
    [
        ("a.docx", zipped(), "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("a.zip", zipped(), "application/zip"),
        ("a.pdf", zipped(), "application/zip"),
        ("a.docx", b"%PDF-1.4", "application/pdf"),
        ("a.docx", b"just text", "text/plain"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
        ("a.jpg", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("a", b"RIFF....WAVEfmt ", "audio/wav"),
        ("a.webp", b"RIFF....WEBPVP8 ", "image/webp"),
        ("a.mp4", b"\0\0\0\x20ftypisom", "video/mp4"),
        ("a.m4a", b"\0\0\0\x20ftypM4A ", "audio/mp4"),
        ("a.csv", b"a,b\n", "text/csv"),
        ("a.md", b"# hi", "text/markdown"),
        ("a.html", b"<!doctype html>", "text/html"),
        ("a.json", b"{}", "application/json"),
        ("a.svg", b"<svg/>", "image/svg+xml"),
        ("a.unknown", b"text", "text/plain"),
        ("a.unknown", b"\0\1\2", "application/octet-stream"),
        ("a.csv", b"\xff\xfea\0", "text/csv"),
        ("a.pdf", b"", "text/plain"),
    ],
)
def test_media_types_are_by_content_then_suffix(name: str, head: bytes, media_type: str) -> None:
    assert media_type_of(name, head) == media_type


@pytest.mark.parametrize("left", ["nothing", "file", "link"])
def test_an_agent_that_took_its_folder_away_has_delivered_nothing(
    workspace: Workspace, tmp_path: Path, left: str
) -> None:
    secret = tmp_path / "elsewhere"
    secret.mkdir()
    (secret / "secret.txt").write_text("planted")
    make_removable(workspace.root)
    shutil.rmtree(workspace.root)
    if left == "file":
        workspace.root.write_text("not a folder")
    elif left == "link":
        workspace.root.symlink_to(secret)
    assert workspace.deliverables().files == ()
    assert workspace.root.is_dir()
    assert not workspace.root.is_symlink()
    assert (secret / "secret.txt").read_text() == "planted"
