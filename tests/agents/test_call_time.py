"""No tool call outlasts the task: each agent's calls get what is left of its time, and never more than any call may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.agents.imported import ImportedAgent
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.recorded_tools import RecordedTools
from pytest_gta.agents.transcript import Transcript
from pytest_gta.tools.specification import ToolSpec
from pytest_gta.tools.tool import ToolResult
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import Confinement
from tests.agents.conftest import Bench
from tests.openai_server import OpenAIServer, calls, in_turn, says

LIMITS = Limits(task_timeout_s=500)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that each call was given."""
    seconds: list[float] = []
    call = Toolbox.call

    def watched(self: Toolbox, name: str, arguments: Any, *, timeout_s: float | None = None) -> ToolResult:
        seconds.append(timeout_s if timeout_s is not None else -1)
        return call(self, name, arguments, timeout_s=timeout_s)

    monkeypatch.setattr(Toolbox, "call", watched)
    return seconds


def test_a_models_calls(bench: Bench, openai_server: Callable[..., OpenAIServer], given: list[float]) -> None:
    bench.ask(openai_server(in_turn(calls(("Echo", {"text": "a"})), says("done"))), limits=LIMITS)
    assert len(given) == 1 and 200 < given[0] <= 500


def test_an_imported_agents_calls(bench: Bench, modules: Callable[..., Path], given: list[float]) -> None:
    folder = modules(agent="def run(tools):\n    return tools.call('Echo', {'text': 'a'}).text")
    record = bench.run(ImportedAgent("agent:run", "mine", LIMITS, import_paths=[folder]), deadline_s=900)
    assert record.final_answer == "echo a"
    assert len(given) == 1 and 200 < given[0] <= 500


def test_calls_of_an_agent_in_this_process(bench: Bench, given: list[float]) -> None:
    record = bench.run(lambda tools: tools.call("Echo", {"text": "a"}).text, deadline_s=500)
    assert record.final_answer == "echo a"
    assert len(given) == 1 and 200 < given[0] <= 500


def test_what_is_left_ends_a_running_tool(bench: Bench) -> None:
    with Toolbox(bench.workspace, Confinement("off", "off"), timeout_s=100) as toolbox:
        result = toolbox.call("Solver", {"command": "while True: pass"}, timeout_s=1.26)
        assert (result.is_error, result.text) == (
            True, "Solver failed: it was ended after 1.3 s, the time a call may take",
        )  # fmt: skip
        # Never more than any call may take, and always enough for an answer.
        toolbox_s = Toolbox(bench.workspace, Confinement("off", "off"), timeout_s=1)
        with toolbox_s:
            assert "after 1 s" in toolbox_s.call("Solver", {"command": "while True: pass"}, timeout_s=50).text
        assert "after 0.1 s" in toolbox.call("Solver", {"command": "while True: pass"}, timeout_s=-3).text


def test_a_toolbox_of_the_users_own_need_not_know_of_it() -> None:
    class Own:
        specs: tuple[ToolSpec, ...] = ()

        def call(self, name: str, arguments: str | Mapping[str, Any]) -> ToolResult:
            return ToolResult(f"own {name}")

    tools = RecordedTools(Own(), Transcript(None))
    tools.end_by(1e9)
    assert tools.call("Echo", {}).text == "own Echo"
