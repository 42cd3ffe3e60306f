"""A disk that is full or read-only: errors in words, never a score, and the run can go on later."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.plugin.conftest import WITHOUT, Project

FULL = """
import errno, os
from pathlib import Path

sync = os.fsync

def full(fd):
    if CONDITION:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    sync(fd)

os.fsync = full
"""


def fill_disk(project: Project, condition: str) -> None:
    """Let whole files be refused, in processes of the project's own, when the condition on their `name` is met."""
    name = condition.replace("name", "os.readlink(f'/proc/self/fd/{fd}')")
    project.pytester.makeconftest(FULL.replace("CONDITION", name))


def run_apart(project: Project, *args: str) -> pytest.RunResult:
    return project.pytester.runpytest_subprocess(*project.arguments(), *args)


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_full_disk_costs_its_task_only_and_the_run_goes_on(
    make_project: Callable[..., Project], workers: str
) -> None:
    project = make_project(3)
    fill_disk(project, "'tasks/education_2/' in name")
    result = run_apart(project, workers)
    assert result.ret == 10
    output = result.stdout.str()
    assert "INTERNALERROR" not in output
    assert "Traceback" not in output
    task = project.tasks()["2"]
    assert (task["status"], task["root_score"]) == ("error", None)
    assert "agent_run.json cannot be written: No space left on device; put that right, then go on" in task["error"]
    assert [t["status"] for t in project.tasks().values()] == ["graded", "error", "graded"]
    (project.pytester.path / "conftest.py").unlink()
    assert project.pytester.runpytest_inprocess("--gta-resume=run", *WITHOUT).ret == 0
    assert {t["status"] for t in project.tasks().values()} == {"graded"}


def test_a_run_that_can_write_nothing_still_says_what_it_measured(make_project: Callable[..., Project]) -> None:
    project = make_project(2)
    fill_disk(project, "'run.json' not in name")
    result = run_apart(project)
    assert result.ret == 10
    assert "INTERNALERROR" not in result.stdout.str()
    result.stdout.fnmatch_lines(["INCONCLUSIVE (exit 10)*", "gta: *results.json was not written: No space left on*"])


@pytest.mark.parametrize("place", ["a file", "/proc/none"])
def test_a_run_directory_that_cannot_be_made_is_a_usage_error(make_project: Callable[..., Project], place: str) -> None:
    project = make_project(1)
    Path(project.pytester.path / "a file").write_text("")
    result = project.run(f"--gta-run-dir={place}")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*pytest-gta: the run directory *cannot be written (*); keep the run elsewhere *"])
    assert "Traceback" not in result.stderr.str() + result.stdout.str()
    assert project.judged() == []


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("--gta-json=outputs", "it is a folder; name a file"),
        ("--gta-markdown=a file/s.md", "*a file is not a folder"),
        ("--gta-report=a file/x/r.html", "*a file is not a folder"),
    ],
)
def test_a_report_with_no_place_is_a_usage_error(make_project: Callable[..., Project], option: str, why: str) -> None:
    project = make_project(1)
    Path(project.pytester.path / "a file").write_text("")
    result = project.run(option)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: pytest-gta: {option.partition('=')[0]}: * cannot be written: {why}"])
    assert project.judged() == []


def test_an_input_that_cannot_be_read_is_an_error_of_its_task(make_project: Callable[..., Project]) -> None:
    project = make_project(3, files=True)
    archive = project.pytester.path / "broken.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for file in sorted(project.dataset.rglob("*")):
            if file.is_file():
                made.write(file, file.relative_to(project.dataset))
        info = made.getinfo("resources/files/2-0.pdf")
    data = bytearray(archive.read_bytes())
    start = info.header_offset + 30 + len(info.filename)
    data[start : start + 8] = b"\xff" * 8
    archive.write_bytes(data)
    project.pytester.makepyfile(my_agent="def run(task):\n    return 'done'\n")
    project.dataset = archive
    result = project.run(agent="import:my_agent:run")
    assert result.ret == 10
    assert "Traceback" not in result.stdout.str()
    task = project.tasks()["2"]
    assert task["status"] == "error"
    assert "the inputs cannot be put into" in task["error"]
    assert "Bad CRC-32 for file 'resources/files/2-0.pdf'" in task["error"]


def test_a_cache_of_no_use_is_said_and_costs_no_verdict(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    (project.pytester.path / "taken").write_text("a file")
    result = project.run("--gta-cache=taken")
    result.stdout.fnmatch_lines(["gta: --gta-cache taken: it is not a folder, so no verdict is reused or kept"])
    assert result.ret == 0
    assert [task["status"] for task in project.tasks().values()] == ["graded"]
    assert "gta: --gta-cache" not in project.run("--gta-cache=kept", "--gta-run-dir=other").stdout.str()
    assert len(list((project.pytester.path / "kept").glob("*/*.json"))) == len(project.leaves("1"))
