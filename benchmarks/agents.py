"""What our part of an agent's work costs: a turn of the `tools` agent, and the start of a command.

    python benchmarks/agents.py [--turns 60] [--starts 5]

A turn is everything but the model (a process of its own) and the tool (a function that returns at once): reading the
reply, the history, the transcript, the next request. It is the difference between a long and a short conversation, so
that what a process does once is not in it. The start of a command is the time until its own first statement, beyond
that of the same command started by hand; `first` includes what a process imports once.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pytest_gta.agents.building import EXPOSED  # noqa: E402
from pytest_gta.agents.command import CommandAgent  # noqa: E402
from pytest_gta.agents.limits import Limits  # noqa: E402
from pytest_gta.agents.protocol import Agent  # noqa: E402
from pytest_gta.agents.running import run_agent  # noqa: E402
from pytest_gta.agents.seclusion import Seclusion, choose_seclusion  # noqa: E402
from pytest_gta.agents.tool_calling import ToolCallingAgent  # noqa: E402
from pytest_gta.benchmark.results import AgentRecord, StopReason  # noqa: E402
from pytest_gta.benchmark.task import Brief  # noqa: E402
from pytest_gta.llm.endpoint import Endpoint  # noqa: E402
from pytest_gta.tools.specification import ToolParameter, ToolSpec  # noqa: E402
from pytest_gta.tools.tool import Tool  # noqa: E402
from pytest_gta.tools.toolbox import Toolbox  # noqa: E402
from pytest_gta.workspace.confinement import Confinement  # noqa: E402
from pytest_gta.workspace.workspace import Workspace  # noqa: E402

AIM_TURN_MS, AIM_START_S = 10.0, 0.5

MODEL = """
import sys, time
sys.path.insert(0, sys.argv[1])
from tests.openai_server import OpenAIServer, calls

def respond(request):
    turns = int(request.first_user_text.split()[-1])
    if request.turn >= turns:
        return "Done."
    return calls(("Note", {"text": f"remark {request.turn}: " + 400 * "x"}))

with OpenAIServer(respond) as server:
    print(server.base_url, flush=True)
    sys.stdin.read()
"""


def run(agent: Agent, request: str, tools: list[Tool] | None) -> AgentRecord:
    """Run an agent on a task of its own; all tools of the benchmark unless some are given."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "task", "workspace")
        root.mkdir(parents=True)
        workspace = Workspace.open(root, [])
        only = [tool.name for tool in tools] if tools else None
        toolbox = Toolbox(workspace, Confinement("off", ""), extra=tools or (), only=only)
        transcript = Path(folder, "task", "transcript.jsonl")
        return run_agent(
            agent, Brief("1", "planning", (request,), ()), toolbox, workspace, deadline_s=300, transcript=transcript
        )


def turn_ms(base_url: str, turns: int) -> float:
    """Return the processor milliseconds of a turn."""
    # As many tools as the benchmark has: their schemas go along with every request.
    text = ToolParameter("text", "text", "What to remember, in one line of plain words.")
    tools = [
        Tool(ToolSpec("Note" if n == 0 else f"Note{n}", "logic", 12 * "Keeps a remark. ", (text,)), lambda text: "kept")
        for n in range(37)
    ]

    def spent(count: int) -> float:
        limits = Limits(max_turns=count + 5, identical_calls=count + 1, task_timeout_s=300)
        agent = ToolCallingAgent(Endpoint("m", base_url, "not-needed"), "m", limits)
        before = time.process_time()
        record = run(agent, f"Make remarks: {count}", tools)
        if (record.turns, record.stop_reason) != (count + 1, StopReason.FINISHED):
            raise RuntimeError(f"the conversation ended otherwise: {record}")
        return time.process_time() - before

    spent(3)
    return 1e3 * (spent(turns) - spent(turns // 6)) / (turns - turns // 6)


def start_s(seclusion: Seclusion, starts: int) -> list[float]:
    """Return the seconds until a command's first statement, beyond those of the bare command."""
    source = "import time; print(time.time())"
    found = []
    for _ in range(starts):
        began = time.time()
        told = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout
        bare = float(told) - began
        agent = CommandAgent(
            f"{sys.executable} -c '{source}'", "cmd", Limits(task_timeout_s=60), seclusion, bases=[Path("/")]
        )
        began = time.time()
        record = run(agent, "Do nothing.", None)
        if record.stop_reason is not StopReason.FINISHED:
            raise RuntimeError(f"the command ended otherwise: {record}")
        found.append(float(record.final_answer) - began - bare)
    return found


def main() -> int:
    """Measure, print, and return 1 when an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--starts", type=int, default=5)
    given = parser.parse_args()
    model = subprocess.Popen(
        [sys.executable, "-c", MODEL, str(ROOT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert model.stdin is not None and model.stdout is not None
    try:
        spent = turn_ms(model.stdout.readline().strip(), given.turns)
    finally:
        model.stdin.close()
        model.wait()
    print(f"a turn of the tools agent, over {given.turns} turns  {spent:6.2f} ms of CPU   (aim: under {AIM_TURN_MS:g})")
    missed = spent >= AIM_TURN_MS
    ways = {"exposed": EXPOSED, "secluded": choose_seclusion("auto", [], [])}
    for name, seclusion in ways.items():
        if name == "secluded" and not seclusion.program:
            print(f"secluded: not measured ({seclusion.note})")
            continue
        first, *later = start_s(seclusion, given.starts + 1)
        usual = median(later)
        print(f"a command's start, {name:<9}  {usual:6.3f} s more, first {first:.3f} s   (aim: under {AIM_START_S:g})")
        missed |= usual >= AIM_START_S
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
