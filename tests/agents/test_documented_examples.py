"""The examples of the page on agents, run as they stand there."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.agents.building import EXPOSED
from pytest_gta.agents.command import CommandAgent
from pytest_gta.agents.command_presets import PRESETS
from pytest_gta.agents.imported import ImportedAgent, check_import
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import Tokens
from pytest_gta.agents.running import run_agent
from pytest_gta.agents.service import ServiceAgent
from pytest_gta.agents.specification import FORMS
from pytest_gta.benchmark.results import AgentRecord, StopReason
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import Confinement
from pytest_gta.workspace.workspace import Workspace
from tests.agents.conftest import Bench, brief
from tests.openai_server import calls, script

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
EXAMPLES = dict(re.findall(r"```python\n# (\w+)\.py\n(.*?)```", PAGE.read_text(), re.DOTALL))


COMMANDS = {
    name: source for source, name in re.findall(r"```bash\n(#!.*?\n# (\w+)\.sh\n.*?)```", PAGE.read_text(), re.DOTALL)
}


def run(target: str, folder: Path, workspace: Workspace, transcript: Path) -> AgentRecord:
    check_import(target, [folder])
    tools = Toolbox(workspace, Confinement("process", ""), only=["Calculator"])
    agent = ImportedAgent(target, "mine", Limits(task_timeout_s=60), import_paths=[folder])
    task = brief("Describe the inputs.\nBriefly.", inputs=workspace.inputs)
    return run_agent(agent, task, tools, workspace, deadline_s=60, transcript=transcript)


def test_the_page_has_the_examples_that_are_tested_here() -> None:
    assert set(EXAMPLES) == {
        "my_agent", "careful_agent", "conftest", "http_agent_server", "my_framework_agent", "my_graph",
    }  # fmt: skip
    assert len(EXAMPLES["my_agent"].strip().splitlines()) <= 10


def test_ten_lines(modules: Callable[..., Path], workspace: Workspace, tmp_path: Path) -> None:
    folder = modules(my_agent=EXAMPLES["my_agent"])
    record = run("my_agent:run", folder, workspace, tmp_path / "transcript.jsonl")
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "I wrote report.md.")
    assert (record.tool_calls, record.tool_errors) == (1, 0)
    report = "# Describe the inputs.\n\n- resources/notes.txt: 9 bytes\n- six times seven is 42"
    assert (workspace.root / "report.md").read_text() == report


def test_an_agent_that_tells_what_it_used(modules: Callable[..., Path], workspace: Workspace, tmp_path: Path) -> None:
    folder = modules(careful_agent=EXAMPLES["careful_agent"])
    record = run("careful_agent:CarefulAgent", folder, workspace, tmp_path / "transcript.jsonl")
    assert record.final_answer == "You asked: Describe the inputs.\nBriefly."
    assert (record.usage.cost_usd, record.usage.tokens) == (0.002, Tokens(input=900, output=80))


def test_a_fixture(bench: Bench) -> None:
    source = EXAMPLES["conftest"].replace("@pytest.fixture", "")
    made: dict[str, Callable[[], object]] = {}
    exec(source, {"pytest": pytest}, made)
    record = bench.run(made["gta_agent"]())
    assert record.final_answer == "The request has 2 words."


def test_a_command(bench: Bench, tmp_path: Path) -> None:
    script = tmp_path / "my_agent.sh"
    script.write_text(COMMANDS["my_agent"])
    script.chmod(0o755)
    agent = CommandAgent("./my_agent.sh", "mine", Limits(task_timeout_s=30), EXPOSED, bases=[tmp_path])
    record = bench.run(agent, brief("Describe the inputs.", inputs=bench.workspace.inputs))
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "I wrote report.md.")
    report = (bench.workspace.root / "report.md").read_text()
    assert report == "# Report\n9 resources/notes.txt\nDescribe the inputs.\n"


def test_every_form_is_on_the_page() -> None:
    page = PAGE.read_text()
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    for form, _ in FORMS:
        assert any(f"`{form}`" in row.split("|")[1] for row in rows), form
    for name in PRESETS:
        assert f"| `{name}` (" in page


@pytest.mark.parametrize(
    ("example", "packages"),
    [("my_framework_agent", ("agents",)), ("my_graph", ("langgraph", "langchain_openai"))],
)
def test_agents_of_frameworks(
    example: str, packages: Sequence[str], bench: Bench, openai_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in packages:
        pytest.importorskip(package)
    server = openai_server(script(calls(("Echo", {"text": "a"})), "Checked twice."))
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    # The example is for OpenAI itself, by its newer interface; the local server speaks the older one.
    source = EXAMPLES[example].replace('model="gpt-5-mini"', "model=chat_model")
    made: dict[str, Any] = {}
    if example == "my_framework_agent":
        import agents

        provider = agents.OpenAIProvider(base_url=server.base_url, use_responses=False)
        made["chat_model"] = provider.get_model("gpt-5-mini")
    exec(source, made)
    record = bench.run(made["agent"])
    assert (record.stop_reason, record.final_answer, record.tool_calls) == (
        StopReason.FINISHED, "Checked twice.", 1,
    )  # fmt: skip
    assert "Check every figure twice." in server.chats[0].texts[0]


def test_a_web_service(bench: Bench) -> None:
    made: dict[str, Any] = {"__name__": "http_agent_server"}
    exec(EXAMPLES["http_agent_server"], made)
    made["Service"].log_message = lambda *_: None
    server = ThreadingHTTPServer(("127.0.0.1", 0), made["Service"])
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        agent = ServiceAgent(f"http://127.0.0.1:{server.server_address[1]}", "mine", Limits(task_timeout_s=30))
        record = bench.run(agent, brief("Describe the inputs.", inputs=bench.workspace.inputs))
    finally:
        server.shutdown()
        server.server_close()
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "I wrote report.md.")
    assert (bench.workspace.root / "report.md").read_text() == "resources/notes.txt: 9 bytes\n"
