"""Staging a task's folder, and the one resolver all paths go through."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_gta.benchmark.release import Release
from pytest_gta.benchmark.task import Checkpoint, Resource, Task
from pytest_gta.workspace.workspace import MissingInputs, PathRefused, Workspace

PDF, CSV = "resources/files/2-1.pdf", "resources/files/data.csv"


def task(*resources: Resource) -> Task:
    return Task("2", "planning", ("Plan it.",), resources, (Checkpoint("cp1", "A plan.", 1.0),))


@pytest.fixture
def release(tmp_path: Path) -> Release:
    folder = tmp_path / "release"
    (folder / "resources" / "files").mkdir(parents=True)
    (folder / "end.json").write_text('{"2": {"sub_tasks": "the rubric"}}')
    (folder / PDF).write_bytes(b"%PDF-1.7 two")
    (folder / CSV).write_text("a,b\n1,2\n")
    (folder / "resources" / "of_another_task.txt").write_text("secret")
    return Release(folder)


@pytest.fixture
def workspace(tmp_path: Path, release: Release) -> Workspace:
    return Workspace.stage(tmp_path / "run" / "workspace", task(Resource(PDF), Resource(CSV)), release)


# -- staging ----------------------------------------------------------------------------------------------------------


def test_inputs_lie_where_the_request_names_them_and_nothing_else_does(workspace: Workspace) -> None:
    assert workspace.inputs == (PDF, CSV)
    assert (workspace.root / PDF).read_bytes() == b"%PDF-1.7 two"
    everything = sorted(path.relative_to(workspace.root).as_posix() for path in workspace.root.rglob("*"))
    assert everything == ["resources", "resources/files", PDF, CSV]


def test_inputs_are_read_only(workspace: Workspace) -> None:
    assert (workspace.root / PDF).stat().st_mode & 0o777 == 0o444
    assert (workspace.root / "resources/files").stat().st_mode & 0o777 == 0o555
    assert (workspace.root / "resources").stat().st_mode & 0o777 == 0o555
    assert os.access(workspace.root, os.W_OK)


def test_a_missing_input_is_named_before_anything_is_made(tmp_path: Path, release: Release) -> None:
    wanted = task(Resource(PDF), Resource("resources/files/gone.xlsx"))
    with pytest.raises(MissingInputs, match=r"task 2: the dataset does not hold its input resources/files/gone\.xlsx"):
        Workspace.stage(tmp_path / "workspace", wanted, release)
    assert not (tmp_path / "workspace").exists()


def test_a_missing_input_is_only_noted_when_none_is_required(tmp_path: Path, release: Release) -> None:
    wanted = task(Resource(PDF), Resource("resources/files/gone.xlsx"))
    staged = Workspace.stage(tmp_path / "workspace", wanted, release, inputs_required=False)
    assert staged.inputs == (PDF,)
    assert staged.missing == ("resources/files/gone.xlsx",)
    assert [(item.path, item.reason) for item in staged.deliverables().not_taken] == [
        ("resources/files/gone.xlsx", "an input that the dataset does not hold")
    ]


def test_a_bare_name_that_is_not_shipped_is_left_out(tmp_path: Path, release: Release) -> None:
    staged = Workspace.stage(tmp_path / "w", task(Resource(PDF), Resource("Report.docx", bundled=False)), release)
    assert staged.inputs == (PDF,)
    assert staged.missing == ()


def test_a_task_starts_in_a_fresh_folder(tmp_path: Path, release: Release) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "old.txt").write_text("old")
    with pytest.raises(FileExistsError, match="is not empty"):
        Workspace.stage(tmp_path / "w", task(), release)


def test_a_finished_workspace_is_opened(workspace: Workspace) -> None:
    opened = Workspace.open(workspace.root, [PDF, "resources/files/gone.csv"])
    assert opened.root == workspace.root
    assert opened.missing == ("resources/files/gone.csv",)
    with pytest.raises(NotADirectoryError):
        Workspace.open(workspace.root / "nowhere", [])


# -- what a path means ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    [
        CSV,
        f"./{CSV}",
        f"  {CSV}\n",
        f"`{CSV}`",
        f'"{CSV}"',
        f"sandbox:/{CSV}",
        f"sandbox:/mnt/data/{CSV}",
        f"/mnt/data/{CSV}",
        f"/workspace/{CSV}",
        "resources//files/./data.csv",
        "resources\\files\\data.csv",
        "data.csv",
        "{root}/" + CSV,
    ],
)
def test_forms_that_models_write_are_understood(workspace: Workspace, written: str) -> None:
    assert workspace.resolve(written.replace("{root}", str(workspace.root))) == workspace.root / CSV


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("/etc/passwd", "outside the workspace"),
        ("/proc/self/environ", "outside the workspace"),
        ("{root}2/x", "outside the workspace"),
        ("{root}/../secret.txt", "goes up"),
        ("../x", "goes up"),
        ("a/../../x", "goes up"),
        ("resources/..", "goes up"),
        ("sandbox:/../x", "goes up"),
        ("/mnt/data/../../etc/passwd", "goes up"),
        ("..\\..\\x", "goes up"),
        ("~", "home folder"),
        ("~/.ssh/id_rsa", "home folder"),
        ("~root/x", "home folder"),
        ("file:///etc/passwd", "file address"),
        ("FILE:/etc/passwd", "file address"),
        ("https://example.org/a.csv", "https: address"),
        ("data:text/csv,1", "data: address"),
        ("\\\\server\\share\\x", "network path"),
        ("//server/share/x", "network path"),
        ("C:\\Users\\x", "drive letter"),
        ("c:/x", "drive letter"),
        ("a\0b", "NUL"),
        ("a\nb", "control characters"),
        ("", "empty"),
        ("  ", "empty"),
        (".", "workspace folder itself"),
        ("{root}", "workspace folder itself"),
        ("a" * 300, "too long"),
        ("a/" * 1500 + "b", "too long"),
    ],
)
@pytest.mark.parametrize("writing", [False, True])
def test_all_else_is_refused_with_a_plain_reason(
    workspace: Workspace, written: str, reason: str, writing: bool
) -> None:
    with pytest.raises(PathRefused, match=reason):
        workspace.resolve(written.replace("{root}", str(workspace.root)), writing)


def test_links_that_leave_are_refused_wherever_they_stand(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    root = workspace.root
    (root / "last").symlink_to(tmp_path / "secret.txt")
    (root / "middle").symlink_to(tmp_path)
    (root / "chained").symlink_to("last")
    (root / "dangling").symlink_to(tmp_path / "not_yet.txt")
    (root / "loop").symlink_to("loop")
    for name in ("last", "middle/secret.txt", "chained", "dangling"):
        for writing in (False, True):
            with pytest.raises(PathRefused, match="a link that leaves the workspace"):
                workspace.resolve(name, writing)
    with pytest.raises(PathRefused):
        workspace.resolve("loop")
    assert not (tmp_path / "not_yet.txt").exists()


def test_a_link_within_the_workspace_may_be_read(workspace: Workspace) -> None:
    (workspace.root / "alias.csv").symlink_to(CSV)
    assert workspace.resolve("alias.csv") == workspace.root / CSV
    with pytest.raises(PathRefused, match="is an input"):
        workspace.resolve("alias.csv", writing=True)


def test_only_regular_files_are_read_or_replaced(workspace: Workspace) -> None:
    os.mkfifo(workspace.root / "pipe")
    for writing in (False, True):
        with pytest.raises(PathRefused, match="not a regular file"):
            workspace.resolve("pipe", writing)
        with pytest.raises(PathRefused, match="is a folder"):
            (workspace.root / "folder").mkdir(exist_ok=True)
            workspace.resolve("folder", writing)


@pytest.mark.parametrize("written", [CSV, f"/mnt/data/{CSV}", "resources/new.txt", "resources/files/deep/new.txt"])
def test_inputs_are_not_written_over_nor_beside(workspace: Workspace, written: str) -> None:
    with pytest.raises(PathRefused, match="write under another name"):
        workspace.resolve(written, writing=True)


def test_a_file_to_write_gets_its_folders(workspace: Workspace) -> None:
    path = workspace.resolve("reports/2024/summary.docx", writing=True)
    assert path == workspace.root / "reports/2024/summary.docx"
    assert path.parent.is_dir()
    with pytest.raises(PathRefused, match="a file is in the way"):
        (workspace.root / "taken").write_text("")
        workspace.resolve("taken/x.txt", writing=True)


def test_a_hidden_name_is_refused_because_it_would_be_lost(workspace: Workspace) -> None:
    with pytest.raises(PathRefused, match="would not be delivered"):
        workspace.resolve("out/.notes/x.md", writing=True)


def test_a_missing_file_is_answered_with_what_there_is(workspace: Workspace) -> None:
    with pytest.raises(PathRefused, match=r"did you mean 'resources/files/data\.csv'"):
        workspace.resolve("DATA.CVS")
    with pytest.raises(PathRefused, match=r"did you mean 'resources/files/data\.csv'"):
        workspace.resolve("resources/files/dat.csv")
    with pytest.raises(PathRefused, match=r"it holds resources/files/2-1\.pdf, resources/files/data\.csv"):
        workspace.resolve("something_else.zip")


def test_folders_are_resolved_too(workspace: Workspace) -> None:
    assert workspace.resolve_folder("") == workspace.root
    assert workspace.resolve_folder("/mnt/data/out", writing=True) == workspace.root / "out"
    with pytest.raises(PathRefused, match="outside the workspace"):
        workspace.resolve_folder("/tmp/out", writing=True)
    with pytest.raises(PathRefused, match="read-only input folder"):
        workspace.resolve_folder("resources/files", writing=True)
    with pytest.raises(PathRefused, match="no folder"):
        workspace.resolve_folder("nowhere")


def test_no_reason_names_a_path_of_the_host(workspace: Workspace) -> None:
    for written in ("nothing.csv", "../x", "resources", CSV):
        with pytest.raises(PathRefused) as refused:
            workspace.resolve(written, writing=True) if written == CSV else workspace.resolve(written)
        assert str(workspace.root) not in str(refused.value)
