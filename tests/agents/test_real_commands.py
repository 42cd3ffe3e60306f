"""Known programs themselves, on a local model, with the benchmark's tools over MCP.

Runs those that are asked for and installed:

    npm install --global @openai/codex opencode-ai openclaw
    GTA_TEST_COMMANDS=codex,opencode,openclaw pytest tests/agents/test_real_commands.py
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_gta.agents.building import EXPOSED
from pytest_gta.agents.command import CommandAgent
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.running import run_agent
from pytest_gta.agents.seclusion import choose_seclusion
from pytest_gta.agents.transcript import read_transcript
from pytest_gta.benchmark.results import StopReason
from pytest_gta.tools.specification import ToolSpec
from pytest_gta.tools.tool import Tool
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import Confinement
from pytest_gta.workspace.workspace import Workspace
from tests.agents.conftest import brief
from tests.openai_server import Answer, OpenAIServer, RecordedRequest, calls, says

# Before the tests' own settings take such variables away.
ASKED_FOR = os.environ.get("GTA_TEST_COMMANDS", "").replace(",", " ").split()


TABLE = {"filename": "sum.csv", "data_str": "fruit,number\napples,42"}
SLOW_S = 65.0
"""Seconds of a tool that some programs would not wait for, unless they are told to."""


def model(request: RecordedRequest) -> Answer:
    """Weigh the fruit and write a table, by tools of the benchmark, then say so."""
    results = [text for _, text in request.tool_results]
    if any("sum.csv" in text for text in results):
        return says("I wrote sum.csv.")
    name, arguments = ("CsvFileGenerator", TABLE) if any("42 kg" in text for text in results) else ("Scales", {})
    tool = next((offered for offered in request.tool_names if offered.endswith(name)), None)
    if tool is not None:
        return calls((tool, arguments))
    if "tool_call" in request.tool_names:  # some have a model look for tools first
        return calls(("tool_call", {"id": f"gta__{name}", "args": arguments}))
    return says("A table")  # some have a model find a title first


@pytest.mark.parametrize("secluded", [True, False], ids=["secluded", "exposed"])
@pytest.mark.parametrize("name", ["codex", "opencode", "openclaw"])
def test_it_carries_out_a_task_with_our_tools(
    name: str,
    secluded: bool,
    workspace: Workspace,
    tmp_path: Path,
    openai_server: Callable[..., OpenAIServer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if name not in ASKED_FOR:
        pytest.skip(f"runs with GTA_TEST_COMMANDS={name}")
    assert shutil.which(name) is not None, f"{name} is not installed"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    seclusion = choose_seclusion("auto", [], []) if secluded else EXPOSED
    if secluded and not seclusion.program:
        pytest.skip(seclusion.note)
    server = openai_server(model, responses=True)
    told = {"GTA_MODEL": "test-model", "GTA_BASE_URL": server.base_url}

    def weigh() -> str:
        time.sleep(0.0 if secluded else SLOW_S)
        return "42 kg"

    scales = Tool(ToolSpec("Scales", "operation", "Weighs.", ()), weigh)
    agent = CommandAgent(name, name, Limits(task_timeout_s=300), seclusion, bases=[tmp_path], environment=told)
    transcript = tmp_path / "task" / "transcript.jsonl"
    record = run_agent(
        agent,
        brief("Put the fruit of the notes in a table, sum.csv.", inputs=workspace.inputs),
        Toolbox(workspace, Confinement("process", ""), extra=[scales]),
        workspace,
        deadline_s=300,
        transcript=transcript,
    )
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "I wrote sum.csv."), record.stop_detail
    assert [d.path for d in workspace.deliverables().files] == ["sum.csv"]
    assert (workspace.root / "sum.csv").read_text(encoding="utf-8-sig").split() == ["fruit,number", "apples,42"]
    assert (record.tool_calls, record.tool_errors) == (2, 0)
    called = [step.name for step in read_transcript(transcript) if step.kind == "tool_call"]
    assert called == ["Scales", "CsvFileGenerator"]
    assert {request.api_key for request in server.requests} == {"sk-test-0123456789abcdef"}
