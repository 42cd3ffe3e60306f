"""What a judge call costs this machine, against a bare client of openai's that sends the same requests.

    python benchmarks/judge_cost.py [--tasks 110] [--runs 3]

Processor time of whole processes, in turns, against a server on loopback in another process; 110 tasks have
about 1,000 leaves. The bare client sends what was recorded of ours, as many requests at a time: it does what nobody can
do without, and neither builds a prompt nor reads a verdict, retries, counts or writes anything.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

GOAL = 1.5
SLOTS = 16


async def send(url: str, bodies: list[dict[str, object]]) -> None:
    """Send recorded requests, so many at a time, and forget the answers."""
    from openai import AsyncOpenAI

    client, slots = AsyncOpenAI(base_url=url, api_key="none"), asyncio.Semaphore(SLOTS)

    async def one(body: dict[str, object]) -> None:
        async with slots:
            await client.chat.completions.create(**body)  # type: ignore[call-overload]

    await asyncio.gather(*map(one, bodies))


def work(kind: str, url: str, given: str) -> None:
    """Do one kind of work in this process and print its processor seconds."""
    with tempfile.TemporaryDirectory() as folder:
        if kind == "ours":
            from benchmarks.judging import judge_some

            judge_some(url, folder, list(range(int(given))))
        else:
            asyncio.run(send(url, json.loads(Path(given).read_text())))
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime)


def measured(kind: str, url: str, given: str) -> float:
    """Return the processor seconds of a process that does one kind of work."""
    command = [sys.executable, __file__, "--work", kind, url, given]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def serve() -> None:
    """Serve until standard input ends; print the address."""
    from tests.openai_server import OpenAIServer, judge

    with OpenAIServer(judge({}, default=7, delay_s=0.01)) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


def recorded(tasks: int, file: Path) -> int:
    """Write the requests that judging so many tasks sends, and return how many those are."""
    from benchmarks.judging import judge_some
    from tests.openai_server import OpenAIServer, judge

    with OpenAIServer(judge({}, default=7)) as server, tempfile.TemporaryDirectory() as folder:
        judge_some(server.base_url, folder, list(range(tasks)))
        bodies = [request.json for request in server.chats]
    file.write_text(json.dumps(bodies))
    return len(bodies)


def main() -> int:
    """Print both and their ratio."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tasks", type=int, default=110)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.serve:
        serve()
        return 0
    if given.work:
        work(*given.work)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "requests.json"
        calls = recorded(given.tasks, file)
        server = subprocess.Popen(
            [sys.executable, __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None and server.stdin is not None
        url = server.stdout.readline().strip()
        turns = [(measured("ours", url, str(given.tasks)), measured("bare", url, str(file))) for _ in range(given.runs)]
        server.stdin.close()
        server.wait()
    print(f"{calls} calls, {SLOTS} in flight; start-up and imports included; {os.cpu_count()} cores")
    for name, place in (("ours", 0), ("bare client", 1)):
        print(f"  {name:<12} {median(turn[place] for turn in turns) / calls * 1000:6.2f} CPU s a 1,000 calls")
    print(f"  ratio        {median(ours / bare for ours, bare in turns):6.2f}   (goal: at most {GOAL})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
