"""Plain agents of the real frameworks, on a local model: a deliverable, several messages, limits, a model that is down.

Each runs where its framework is installed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pytest_gta.agents.frameworks.recognition import FRAMEWORKS
from pytest_gta.agents.protocol import AgentUnavailable
from pytest_gta.agents.specification import HARNESSES
from pytest_gta.benchmark.results import StopReason
from pytest_gta.benchmark.usage import Tokens
from pytest_gta.llm.client import ChatClient
from tests.agents.conftest import QUICK, Bench
from tests.agents.frameworks.conftest import PACKAGES, Frameworks
from tests.openai_server import Answer, Responder, calls, fails, says, script

ALL = sorted(PACKAGES)
NATIVE = [name for name in ALL if name != "lagent"]
USED = {"input": 100, "cached": 40, "output": 10}
WRITE = {"filename": "greeting.txt", "text": "Good morning"}


def model(name: str, *turns: str | tuple[str, dict[str, Any]]) -> Responder:
    """A model that takes these turns, an answer or a tool call, in the words of a framework."""
    return script(*(_turn(name, turn) for turn in turns))


def _turn(name: str, turn: str | tuple[str, dict[str, Any]]) -> Answer:
    if name == "lagent":
        if isinstance(turn, str):
            return says(f"Thought: done\nFinal Answer: {turn}", usage=USED)
        return says(f"Thought: use it\nAction: {turn[0]}\nAction Input: {json.dumps(turn[1])}", usage=USED)
    if isinstance(turn, str) and name != "smolagents":
        return says(turn, usage=USED)
    return calls(("final_answer", {"answer": turn}) if isinstance(turn, str) else turn, usage=USED)


def test_every_framework_is_tested_and_can_be_named() -> None:
    assert {framework.name for framework in FRAMEWORKS} == set(PACKAGES) == set(HARNESSES)


@pytest.mark.parametrize("name", ALL)
def test_a_task_with_a_tool_call_that_leaves_a_deliverable(
    name: str, bench: Bench, frameworks: Frameworks, openai_server: Callable[..., Any]
) -> None:
    server = openai_server(model(name, ("Write", WRITE), "I wrote greeting.txt."))
    record = frameworks.imported(name, server, HARNESSES[name])
    assert (record.stop_reason, record.stop_detail, record.final_answer) == (
        StopReason.FINISHED, "", "I wrote greeting.txt.",
    )  # fmt: skip
    assert (bench.workspace.root / "greeting.txt").read_text() == "Good morning"
    assert [d.path for d in bench.workspace.deliverables().files] == ["greeting.txt"]
    assert (record.turns, record.tool_calls, record.tool_errors) == (2, 1, 0)
    cached = 0 if name == "smolagents" else 80
    assert record.usage.tokens == Tokens(input=200, cached=cached, output=20)
    assert (record.usage.calls, record.usage.cost_usd) == (2, None)
    first, second = server.chats
    assert first.model == "gpt-4.1-mini" and first.api_key == "sk-test-0123456789abcdef"
    asked = "\n".join(first.texts)
    assert "Write a greeting." in asked and "resources/notes.txt (9 bytes)" in asked
    assert "wrote greeting.txt" in "\n".join(second.texts)
    told = [step for step in bench.steps if step.kind == "assistant"]
    assert [step.turn for step in told] == [1, 2] and told[0].usage is not None
    assert told[0].usage["tokens"]["input"] == 100


@pytest.mark.parametrize("name", NATIVE)
def test_tools_are_offered_in_the_benchmarks_words(
    name: str, bench: Bench, frameworks: Frameworks, openai_server: Callable[..., Any]
) -> None:
    server = openai_server(model(name, "Nothing to do."))
    frameworks.plain(name, server)
    offered = {tool["function"]["name"]: tool["function"] for tool in server.chats[0].json["tools"]}
    assert set(offered) - {"final_answer"} == {"Echo", "Broken", "Faulty", "Long", "Write"}
    assert offered["Echo"]["description"] == "Says it again."
    parameters = offered["Write"]["parameters"]
    assert parameters["required"] == ["filename", "text"]
    assert {n: (p["type"], p["description"]) for n, p in parameters["properties"].items()} == {
        "filename": ("string", "Its name."),
        "text": ("string", "Some text."),
    }


@pytest.mark.parametrize("name", ALL)
def test_a_call_that_fails_is_told_and_counted(
    name: str, bench: Bench, frameworks: Frameworks, openai_server: Callable[..., Any]
) -> None:
    server = openai_server(model(name, ("Faulty", {"text": "x"}), ("Echo", {"text": "y"}), "Sorry."))
    record = frameworks.plain(name, server)
    assert (record.tool_calls, record.tool_errors, record.final_answer) == (2, 1, "Sorry.")
    assert "Error: text must be a number, for example 3" in "\n".join(server.chats[1].texts)


@pytest.mark.parametrize("name", ALL)
def test_all_messages_of_the_user_are_answered_and_the_replies_kept(
    name: str, bench: Bench, frameworks: Frameworks, openai_server: Callable[..., Any]
) -> None:
    def respond(request: Any) -> Answer:
        return _turn(name, "Second answer." if "Now another." in "\n".join(request.texts) else "First answer.")

    server = openai_server(respond)
    record = frameworks.plain(name, server, "Say one thing.", "Now another.")
    assert (record.final_answer, record.turns) == ("Second answer.", 2)
    asked = json.dumps(server.chats[1].json["messages"])
    assert "Say one thing." in asked and "First answer." in asked


@pytest.mark.parametrize("name", ALL)
def test_it_goes_on_with_its_work(
    name: str, bench: Bench, frameworks: Frameworks, openai_server: Callable[..., Any]
) -> None:
    server = openai_server(model(name, "Better."))
    record = frameworks.plain(
        name, server, task=frameworks.task("Say one thing.").going_on("Earlier.", "Say it better.")
    )
    assert record.final_answer == "Better."
    asked = "\n".join(server.chats[0].texts)
    assert [asked.index(said) for said in ("Say one thing.", "Earlier.", "Say it better.")] == sorted(
        asked.index(said) for said in ("Say one thing.", "Earlier.", "Say it better.")
    )


@pytest.mark.parametrize("name", ALL)
def test_the_limit_of_turns(name: str, bench: Bench, frameworks: Frameworks, openai_server: Callable[..., Any]) -> None:
    def respond(request: Any) -> Answer:
        return _turn(name, ("Write", {"filename": f"{len(server.chats)}.txt", "text": "x"}))

    server = openai_server(respond)
    record = frameworks.plain(name, server, max_turns=3)
    assert (record.stop_reason, record.stop_detail) == (StopReason.MAX_TURNS, "the limit of 3 turns was reached")
    assert record.turns in (3, 4) and len(server.chats) == record.turns
    assert "1.txt" in [d.path for d in bench.workspace.deliverables().files]


DOWN = {"x-should-retry": "false"}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (fails(503, "overloaded"), "does not serve"),
        (fails(401, "Incorrect API key provided", code="invalid_api_key"), "."),
        (fails(402, "Insufficient credits", code="insufficient_quota"), "."),
        (fails(404, "model not found"), "404"),
        (fails(400, "invalid model ID"), "does not take the first request"),
    ],
    ids=["down", "wrong key", "no credit", "no such model", "rejected"],
)
def test_a_model_that_does_not_serve_is_an_error_not_a_zero(
    name: str, fault: Answer, said: str, bench: Bench, frameworks: Frameworks, openai_server: Callable[..., Any]
) -> None:
    if name == "lagent":
        module = pytest.importorskip("pytest_gta.agents.frameworks.lagent", exc_type=ImportError)
        frameworks.monkeypatch.setattr(module, "ChatClient", partial(ChatClient, retry=QUICK))
    server = openai_server(lambda _: Answer(status=fault.status, body=fault.body, headers=DOWN))
    with pytest.raises(AgentUnavailable, match=said) as raised:
        frameworks.plain(name, server)
    assert "sk-test" not in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ALL)
def test_a_conversation_that_is_too_long(
    name: str, bench: Bench, frameworks: Frameworks, openai_server: Callable[..., Any]
) -> None:
    too_long = fails(400, "This model's maximum context length is 8192 tokens", code="context_length_exceeded")
    server = openai_server(script(_turn(name, ("Write", WRITE)), too_long))
    record = frameworks.plain(name, server)
    assert record.stop_reason is StopReason.CONTEXT_EXCEEDED
    assert [d.path for d in bench.workspace.deliverables().files] == ["greeting.txt"]


@pytest.mark.parametrize("name", ALL)
def test_without_a_model_it_is_an_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    for package in PACKAGES[name]:
        pytest.importorskip(package)
    monkeypatch.delenv("GTA_MODEL", raising=False)
    module = importlib.import_module(HARNESSES[name].partition(":")[0])
    with pytest.raises(AgentUnavailable, match="add --gta-model=NAME"):
        module.build()


def test_a_model_of_lagents_own_is_bound_once_however_many_tasks_it_is_used_for() -> None:
    module = pytest.importorskip("pytest_gta.agents.frameworks.lagent", exc_type=ImportError)

    class Model:
        def __init__(self) -> None:
            self.waits = 0

        def _wait(self) -> None:
            self.waits += 1

        def chat(self) -> None:
            for _ in range(module.MAX_TRIES + 1):
                self._wait()

    model = Model()
    module._bound(model)
    bound = model._wait, model.chat
    module._bound(model)
    assert (model._wait, model.chat) == bound
    for tries in (1, 2):
        with pytest.raises(AgentUnavailable, match=f"does not serve: tried {module.MAX_TRIES} times"):
            model.chat()
        assert model.waits == tries * module.MAX_TRIES
