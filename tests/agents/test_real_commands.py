"""Known programs themselves, on a local model, with the benchmark's tools over MCP.

Runs those that are asked for and installed:

    npm install --global @openai/codex opencode-ai
    GTA_TEST_COMMANDS=codex,opencode pytest tests/agents/test_real_commands.py
"""

from __future__ import annotations

import os
import shutil
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
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import Confinement
from pytest_gta.workspace.workspace import Workspace
from tests.agents.conftest import brief
from tests.openai_server import Answer, OpenAIServer, RecordedRequest, calls, says

# Before the tests' own settings take such variables away.
ASKED_FOR = os.environ.get("GTA_TEST_COMMANDS", "").replace(",", " ").split()


def model(request: RecordedRequest) -> Answer:
    """Write a table by a tool of the benchmark, then say so."""
    tool = next((name for name in request.tool_names if name.endswith("CsvFileGenerator")), None)
    if tool is None:
        return says("A table")  # some programs have a model find a title first
    if any("sum.csv" in text for _, text in request.tool_results):
        return says("I wrote sum.csv.")
    return calls((tool, {"filename": "sum.csv", "data_str": "fruit,number\napples,42"}))


@pytest.mark.parametrize("secluded", [True, False], ids=["secluded", "exposed"])
@pytest.mark.parametrize("name", ["codex", "opencode"])
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
    agent = CommandAgent(name, name, Limits(task_timeout_s=300), seclusion, base=tmp_path, environment=told)
    transcript = tmp_path / "task" / "transcript.jsonl"
    record = run_agent(
        agent,
        brief("Put the fruit of the notes in a table, sum.csv.", inputs=workspace.inputs),
        Toolbox(workspace, Confinement("process", "")),
        workspace,
        deadline_s=300,
        transcript=transcript,
    )
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "I wrote sum.csv."), record.stop_detail
    assert [d.path for d in workspace.deliverables().files] == ["sum.csv"]
    assert (workspace.root / "sum.csv").read_text(encoding="utf-8-sig").split() == ["fruit,number", "apples,42"]
    assert (record.tool_calls, record.tool_errors) == (1, 0)
    assert [step.name for step in read_transcript(transcript) if step.kind == "tool_call"] == ["CsvFileGenerator"]
    assert {request.api_key for request in server.requests} == {"sk-test-0123456789abcdef"}
