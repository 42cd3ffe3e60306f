"""How near a run over workers comes to the shortest there could be: no worker idle, or the longest task alone.

    python benchmarks/spreading.py [--tasks 48] [--processes 8] [--seconds 8]

Runs the whole plugin twice with an agent that sleeps, `--seconds` on average and a few tasks much longer, and a judge
on loopback: first with nothing known of the tasks, then with the first run to go by. The bound is the larger of the
longest task and of all tasks' seconds over the processes, as measured in the same run; starting pytest and its workers
and writing the reports is on top.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.openai_server import OpenAIServer, judge  # noqa: E402
from tests.release_factory import make_release  # noqa: E402

GOAL = 1.15
SPREAD = 0.9
"""Sigma of the log-normal seconds: one task in twenty takes about three times the mean."""
AGENT = """\
import json, time
from pathlib import Path

SECONDS = json.loads(Path(__file__).with_name("seconds.json").read_text())


def run(task, tools, workspace):
    time.sleep(SECONDS[task.id])
    workspace.resolve("answer.md", writing=True).write_text("done")
    return "done"
"""


def run(folder: Path, server: OpenAIServer, processes: int, number: int) -> float:
    """Run the benchmark once and return its wall time over the bound."""
    name = f".gta/runs/2026010{number}T000000Z-run"
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"-n{processes}",
        "--gta-agent=import:agent:run", "--gta-dataset=dataset", f"--gta-judge-base-url={server.base_url}",
        "--gta-judge-model=judge", "--gta-cache=off", f"--gta-run-dir={name}", "--gta-report=off",
    ]  # fmt: skip
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if ended.returncode:
        raise RuntimeError(ended.stdout[-2000:] + ended.stderr[-2000:])
    results = json.loads((folder / name / "results.json").read_text())
    took = [task["agent"]["wall_s"] + task["judge"]["wall_s"] for task in results["tasks"]]
    bound = max(max(took), sum(took) / processes)
    return float(results["summary"]["wall_s"]) / bound


def main() -> int:
    """Print both ratios."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tasks", type=int, default=48)
    options.add_argument("--processes", type=int, default=8)
    options.add_argument("--seconds", type=float, default=8.0)
    given = options.parse_args()
    draw = random.Random(3)
    with OpenAIServer(judge({}, default=8)) as server, tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        index = json.loads((make_release(folder / "dataset", tasks=given.tasks) / "end.json").read_text())
        weights = {task_id: draw.lognormvariate(0, SPREAD) for task_id in index}
        scale = given.seconds * len(weights) / sum(weights.values())
        (folder / "seconds.json").write_text(json.dumps({key: value * scale for key, value in weights.items()}))
        (folder / "agent.py").write_text(AGENT)
        (folder / "test_suite.py").write_text("def test_workflow(gta_result):\n    gta_result.check()\n")
        (folder / "pytest.ini").write_text("[pytest]\n")
        print(f"{given.tasks} tasks of {given.seconds:g} s on average over {given.processes} processes")
        print(f"  nothing known of the tasks   {run(folder, server, given.processes, 1):5.2f} of the bound")
        print(f"  with an earlier run          {run(folder, server, given.processes, 2):5.2f}   (goal: at most {GOAL})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
