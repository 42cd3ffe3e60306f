"""An agent that left nothing, and whose model may be down."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.agents import model_check
from pytest_gta.agents.building import EXPOSED
from pytest_gta.agents.command import CommandAgent
from pytest_gta.agents.imported import ImportedAgent
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.model_check import outage_behind, why_not_serving
from pytest_gta.agents.protocol import AgentRun, AgentUnavailable
from pytest_gta.benchmark.results import StopReason
from tests.agents.conftest import Bench, brief
from tests.openai_server import Answer, OpenAIServer, fails, says

Serve = Callable[..., OpenAIServer]


def told(server: OpenAIServer) -> Mapping[str, str]:
    return {"GTA_MODEL": "m", "GTA_BASE_URL": server.base_url}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (says("Hello!"), ""),
        (fails(429, "You exceeded your current quota", code="insufficient_quota"), "quota"),
        (fails(501, "down for maintenance"), "down for maintenance"),
        # The agent may have another key, or the server another API.
        (fails(401, "wrong key"), ""),
        (fails(404, "no such route"), ""),
        # It serves, even if there is no room for what it thinks.
        (Answer(text="", finish_reason="length"), ""),
    ],
)
def test_whether_a_model_serves(answer: Answer, why: str, openai_server: Serve) -> None:
    server = openai_server(lambda _request: answer)
    found = why_not_serving(told(server))
    assert (why in found) if why else found == ""
    assert len(server.chats) == 1


def test_a_server_that_is_gone(openai_server: Serve) -> None:
    server = openai_server()
    address = told(server)
    server.close()
    assert "no connection" in why_not_serving(address)


@pytest.mark.parametrize("known", [{}, {"GTA_MODEL": "m"}, {"GTA_BASE_URL": "http://127.0.0.1:9/v1"}])
def test_a_model_that_is_not_known_is_not_asked(known: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_check, "ChatClient", None)
    assert why_not_serving(known) == ""


@pytest.mark.parametrize(
    ("run", "asked"),
    [
        (AgentRun(StopReason.FINISHED, "It is 42."), False),
        (AgentRun(StopReason.FINISHED, "Error code: 429 - Too Many Requests"), True),
        (AgentRun(StopReason.FINISHED, "503 Service Unavailable was frequent. " + "More of it. " * 60), False),
        (AgentRun(StopReason.FINISHED, ""), True),
        (AgentRun(StopReason.TIMEOUT, ""), True),
        (AgentRun(StopReason.AGENT_ERROR, "Trying again."), True),
    ],
)
def test_which_endings_are_doubted(run: AgentRun, asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_check, "why_not_serving", lambda _told: "down")
    assert outage_behind(run, {}) == ("down" if asked else "")


def no_credit(_request: Any) -> Answer:
    return fails(429, "You exceeded your current quota", code="insufficient_quota")


def test_a_command_that_ends_with_words_of_its_own(bench: Bench, tmp_path: Path, openai_server: Serve) -> None:
    def run(server: OpenAIServer, source: str) -> Any:
        limits = Limits(task_timeout_s=60)
        (tmp_path / "agent.py").write_text(source)
        command = f"{sys.executable} {tmp_path / 'agent.py'}"
        agent = CommandAgent(command, "cmd", limits, EXPOSED, bases=[tmp_path], environment=told(server))
        return bench.run(agent, brief("Add it up."), deadline_s=60)

    gives_up = "import sys; sys.exit('Error: the assistant is asleep')"
    with pytest.raises(AgentUnavailable, match=r"its model endpoint does not serve: .*quota"):
        run(openai_server(no_credit), gives_up)
    assert run(openai_server(), gives_up).stop_reason is StopReason.AGENT_ERROR
    server = openai_server(no_credit)
    assert run(server, f"open('part.txt', 'w').write('x'); {gives_up}").stop_reason is StopReason.AGENT_ERROR
    assert server.chats == []  # what it left is judged, whatever became of its model


def test_an_agent_that_swallows_the_error(bench: Bench, tmp_path: Path, openai_server: Serve) -> None:
    (tmp_path / "meek.py").write_text("def run(task):\n    return None\n")
    agent = ImportedAgent(
        "meek:run", "meek", Limits(), import_paths=[tmp_path], environment=told(openai_server(no_credit))
    )
    with pytest.raises(AgentUnavailable, match=r"its model endpoint does not serve: .*quota"):
        bench.run(agent, brief("Add it up."), deadline_s=60)


def test_the_key_is_that_of_the_agent(openai_server: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = openai_server()
    assert why_not_serving(told(server), {"OPENAI_API_KEY": "sk-test-0123456789abcdef"}) == ""
    assert why_not_serving(told(server), {}) == ""
    assert [request.api_key for request in server.chats] == ["sk-test-0123456789abcdef", "not-needed"]
