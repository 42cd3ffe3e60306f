"""Collecting the 132 tasks of a release against a bare file with as many parametrized tests. Aim: at most 1.3 times.

Whole processes, `pytest --collect-only -q`, in turns: ``python benchmarks/collection.py``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.interleaved import measure, ratio, table  # noqa: E402
from pytest_gta.benchmark.release import Release  # noqa: E402
from tests.release_factory import make_release  # noqa: E402

AIM = 1.3

SUITE = '''"""The benchmark's own suite."""

def test_workflow(gta_result):
    gta_result.check()
'''

BARE = '''"""As many tests with the same ids, and nothing else."""

import pytest

@pytest.mark.parametrize("task", {slugs!r})
def test_workflow(task):
    assert task
'''


def main() -> int:
    """Measure, print, and return 1 when the aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        release = make_release(folder / "release")
        zipped = make_release(folder / "release.zip")
        outputs = folder / "outputs"
        for task_id in Release(release).task_ids:
            (outputs / task_id).mkdir(parents=True)
            (outputs / task_id / "final.txt").write_text("Done.\n")
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "test_suite.py").write_text(SUITE)
        slugs = [task.slug for task in Release(release).tasks()]
        (folder / "test_bare.py").write_text(BARE.format(slugs=slugs))
        pytest = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
        servers = ["--gta-base-url=http://localhost:9/v1", "--gta-judge-base-url=http://localhost:9/v1"]
        live = ["--gta-model=m", *servers, "test_suite.py"]
        finished = ["--gta-agent=outputs:outputs", *servers, "test_suite.py"]
        commands = {
            "bare file, no plugin": [*pytest, "-p", "no:gta", "test_bare.py"],
            "bare file, plugin unused": [*pytest, "test_bare.py"],
            "132 tasks from a folder": [*pytest, f"--gta-dataset={release}", *live],
            "132 tasks from a zip": [*pytest, f"--gta-dataset={zipped}", *live],
            "132 tasks with finished outputs": [*pytest, f"--gta-dataset={release}", *finished],
        }
        timings = measure(commands, folder, runs=runs)
    base = "bare file, no plugin"
    print(table(timings, base))
    worst = max(ratio(timings, name, base) for name in commands if name.startswith("132"))
    print(f"\n132 tasks cost {worst:.2f} times a bare file (aim: at most {AIM})")
    return 0 if worst <= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
