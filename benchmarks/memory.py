"""How much memory a worker takes at most, against a bare worker of pytest-xdist that asks the same judge.

    python benchmarks/memory.py [--tasks 40]

Both answer their test items in one worker process: ours judges finished outputs of every kind of text file, the other
sends one request a test with openai's client. Tools, drawings and extraction run in processes of their own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.openai_server import OpenAIServer, judge  # noqa: E402
from tests.release_factory import make_release  # noqa: E402

GOAL = 1.5
# Not ru_maxrss: a process starts with that of the one which started it.
CONFTEST = """\
from pathlib import Path


def pytest_unconfigure(config):
    if hasattr(config, "workerinput"):
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        Path(__file__).with_name("kilobytes").write_text(status["VmHWM"].split()[0])
"""
OURS = "def test_workflow(gta_result):\n    gta_result.check()\n"
BARE = """\
import openai
import pytest

CLIENT = openai.OpenAI(base_url={url!r}, api_key="none")


@pytest.mark.parametrize("number", range({tasks}))
def test_workflow(number):
    messages = [{{"role": "user", "content": "Grade this."}}]
    assert CLIENT.chat.completions.create(model="judge", messages=messages)
"""


def megabytes(folder: Path, suite: str, *options: str) -> float:
    """Run a suite in one worker and return the most memory it took, in MB."""
    folder.mkdir()
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_suite.py").write_text(suite)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-n1", "-p", "no:cacheprovider", *options]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if ended.returncode:
        raise RuntimeError(ended.stdout[-2000:] + ended.stderr[-2000:])
    return int((folder / "kilobytes").read_text()) / 1024


def main() -> int:
    """Print both and their ratio."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tasks", type=int, default=40)
    tasks = options.parse_args().tasks
    with OpenAIServer(judge({}, default=8)) as server, tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        index = json.loads((make_release(folder / "dataset", tasks=tasks) / "end.json").read_text())
        for task_id in index:
            files = folder / "outputs" / task_id / "files"
            files.mkdir(parents=True)
            (files / "report.md").write_text(f"# Report {task_id}\n" + "All is well. " * 2000)
            (files / "table.csv").write_text("town,units\n" + "Elm,12\n" * 2000)
        bare = megabytes(folder / "bare", BARE.format(url=server.base_url, tasks=tasks), "-p", "no:gta")
        ours = megabytes(
            folder / "ours", OURS, f"--gta-agent=outputs:{folder / 'outputs'}", f"--gta-dataset={folder / 'dataset'}",
            f"--gta-judge-base-url={server.base_url}", "--gta-judge-model=judge", "--gta-cache=off",
        )  # fmt: skip
    print(f"{tasks} tasks in one worker")
    print(f"  bare worker with openai   {bare:6.0f} MB")
    print(f"  ours                      {ours:6.0f} MB")
    print(f"  ratio                     {ours / bare:6.2f}   (goal: at most {GOAL})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
