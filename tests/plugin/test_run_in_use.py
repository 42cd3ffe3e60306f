"""One run at a time works in a run directory; what a crash left is free again."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from pytest_gta.benchmark.run_directory import LOCK, InUse, RunDirectory
from tests.plugin.conftest import Project

HOLDER = """
import sys, time
from pathlib import Path
from pytest_gta.benchmark.run_directory import RunDirectory
held = RunDirectory(Path(sys.argv[1])).hold()
print("held", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("workers", ["-n0", "-n1"])
def test_a_second_run_in_the_same_second_is_refused_in_one_line(
    make_project: Callable[..., Project], workers: str
) -> None:
    project = make_project(1)
    root = project.pytester.path / "run"
    command = [sys.executable, "-c", HOLDER, str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None and first.stdout.readline() == "held\n"
        # It has not yet written that it is there.
        assert [path.name for path in root.iterdir()] == [LOCK]
        second = project.run(workers)
        first.send_signal(signal.SIGKILL)
    assert second.ret == pytest.ExitCode.USAGE_ERROR
    said = [line for line in [*second.outlines, *second.errlines] if "pytest-gta:" in line]
    assert said == [
        f"ERROR: pytest-gta: --gta-run-dir: another run is at work in {root}; wait for its end, or name another "
        "directory with --gta-run-dir"
    ]
    assert not project.server.chats
    # Killed, it holds nothing.
    assert project.run(workers).ret == 0
    resumed = project.pytester.runpytest_inprocess("--gta-resume=run", "-p", "no:cacheprovider")
    assert resumed.ret == 0


def test_a_run_that_is_at_work_is_not_gone_on_with(make_project: Callable[..., Project]) -> None:
    project = make_project(1)
    assert project.run().ret == 0
    with RunDirectory(project.pytester.path / "run").hold():
        with pytest.raises(InUse):
            RunDirectory(project.pytester.path / "run").hold()
        resumed = project.pytester.runpytest_inprocess("--gta-resume=run", "-p", "no:cacheprovider")
    assert resumed.ret == pytest.ExitCode.USAGE_ERROR
    resumed.stderr.fnmatch_lines(["*pytest-gta: --gta-resume: another run is at work in */run; wait for its end"])
