"""What judging costs: wall in calls, requests, uploads, bytes and input that no prompt cache holds.

    python benchmarks/judging.py [--tasks 132] [--processes 8] [--call-ms 200]

Against a server on loopback that takes `--call-ms` a call: first one task alone, then all tasks over several processes
under one limit of 16 calls in flight. Only ratios mean anything elsewhere; nothing here is paid for.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pytest_gta.benchmark.results import DeliverableRecord, LeafStatus  # noqa: E402
from pytest_gta.benchmark.task import Brief, Checkpoint  # noqa: E402
from pytest_gta.judge.evidence import Evidence, PicturePart, TextPart  # noqa: E402
from pytest_gta.judge.judge import Judge  # noqa: E402
from pytest_gta.llm.client import ChatClient  # noqa: E402
from pytest_gta.llm.endpoint import Endpoint  # noqa: E402
from pytest_gta.llm.run_control import RunControl  # noqa: E402
from tests.openai_server import OpenAIServer, RecordedRequest, judge  # noqa: E402

SLOTS = 16
LEAVES_A_TASK = 9
"""The release has 8.76 on average, 3 to 19."""


def task(number: int) -> tuple[Brief, list[Checkpoint], Evidence]:
    """Return a made-up task: its brief, 3 to 15 leaves (9 for task 0), a text of 12,000 characters and a picture."""
    draw = random.Random(number)
    count = LEAVES_A_TASK if number == 0 else draw.randint(3, 15)
    leaves = [
        Checkpoint(f"cp{i}", f"Task {number}, requirement {i}: the report names item {i}.", 1.0) for i in range(count)
    ]
    text = " ".join(f"item{draw.randint(0, 99999)}" for _ in range(1200))
    parts = (TextPart(text), PicturePart(label="chart.png", media_type="image/png", data=draw.randbytes(20_000)))
    file = DeliverableRecord(
        path="report.md", bytes=len(text), sha256=None, media_type="text/markdown", evidence="full"
    )
    digest = hashlib.sha256(text.encode()).hexdigest()
    brief = Brief(str(number), "planning", (f"Write report {number}.",), ())
    return brief, leaves, Evidence(parts=parts, files=(file,), digest=digest, note="")


def judge_some(url: str, control_folder: str, numbers: list[int]) -> dict[str, int]:
    """Judge tasks one after the other and return how many leaves ended in which state."""
    control = RunControl(Path(control_folder), slots=SLOTS)
    made = Judge(ChatClient(Endpoint("judge", url, "none"), control=control), control=control)
    states: Counter[str] = Counter()
    for number in numbers:
        brief, leaves, evidence = task(number)
        verdicts = made.judge_task(brief, leaves, evidence, final_answer="Done.")
        states.update(verdict.status.value for verdict in verdicts.values())
    return dict(states)


def uncached(requests: list[RecordedRequest]) -> tuple[int, int]:
    """Return the characters of all user texts, and how many of them a prefix cache would not have held."""
    total = fresh = 0
    seen: list[str] = []
    for request in requests:
        text = "".join(request.texts)
        total += len(text)
        fresh += len(text) - max((_shared_prefix(text, old) for old in seen), default=0)
        seen.append(text)
    return total, fresh


def _shared_prefix(one: str, other: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def one_task(call_s: float) -> None:
    """Print what one task of nine leaves takes."""
    with OpenAIServer(judge({}, default=7, delay_s=call_s)) as server, tempfile.TemporaryDirectory() as folder:
        judge_some(server.base_url, folder, [1])  # imports, connections
        warm = len(server.requests)
        started = time.perf_counter()
        cpu = time.process_time()
        judge_some(server.base_url, folder, [0])
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        requests = server.requests[warm:]
    leaves = len(task(0)[1])
    total, fresh = uncached(requests)
    print(f"one task, {leaves} leaves, {call_s * 1000:.0f} ms a call")
    print(f"  wall                  {wall / call_s:6.2f} calls   (goal: at most 2.5)")
    print(f"  requests              {len(requests) / leaves:6.2f} a leaf")
    print(f"  uploads               {len(server.uploads):6d}         (goal: at most files; pictures go inline)")
    print(f"  bytes sent            {sum(len(r.body) for r in requests) / len(requests[0].body):6.2f} prompts")
    print(f"  uncached input        {fresh / total:6.2f} of all  (requirement first: about 1; goal: at most 0.2)")
    print(f"  CPU, server included  {cpu / leaves * 1000:6.1f} ms a call")


def many_tasks(tasks: int, processes: int, call_s: float) -> bool:
    """Print what many tasks over several processes take; return whether every leaf was judged exactly once."""
    wanted = Counter(leaf.requirements for number in range(tasks) for leaf in task(number)[1])
    with OpenAIServer(judge({}, default=7, delay_s=call_s)) as server, tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--worker", server.base_url, folder]
        started = time.perf_counter()
        workers = [
            subprocess.Popen([*command, json.dumps(list(range(i, tasks, processes)))], stdout=subprocess.PIPE)
            for i in range(processes)
        ]
        states: Counter[str] = Counter()
        for worker in workers:
            out, _ = worker.communicate()
            states.update(json.loads(out or b"{}"))
        wall = time.perf_counter() - started
    asked = Counter(request.last_user_text.rpartition("\n")[2] for request in server.chats)
    busy = max(r.at for r in server.chats) - min(r.at for r in server.chats) + call_s
    once = asked == wanted
    leaves = wanted.total()
    print(f"{tasks} tasks, {leaves} leaves, {processes} processes, {SLOTS} calls in flight at most")
    print(f"  judged                {states[LeafStatus.SCORED] / leaves:6.2f} of the leaves")
    print(f"  asked exactly once    {'yes' if once else 'NO':>6}")
    print(f"  in flight at most     {server.peak:6d}")
    print(f"  wall from first call  {busy / (leaves * call_s / SLOTS):6.2f} of leaves x call / {SLOTS}")
    print(f"  wall with start-up    {wall / (leaves * call_s / SLOTS):6.2f} of the same")
    return once and states[LeafStatus.SCORED] == leaves and server.peak <= SLOTS


def main() -> int:
    """Run both measurements; the exit code is 1 when a leaf was missed or judged twice."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tasks", type=int, default=132)
    options.add_argument("--processes", type=int, default=8)
    options.add_argument("--call-ms", type=float, default=200.0)
    options.add_argument("--worker", nargs=3, metavar=("URL", "FOLDER", "TASKS"), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.worker:
        url, folder, numbers = given.worker
        print(json.dumps(judge_some(url, folder, json.loads(numbers))))
        return 0
    one_task(given.call_ms / 1000)
    return 0 if many_tasks(given.tasks, given.processes, given.call_ms / 1000) else 1


if __name__ == "__main__":
    sys.exit(main())
