"""The ReAct agent against a local server."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable

import pytest

from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import AgentUnavailable
from pytest_gta.agents.react import ReactAgent
from pytest_gta.benchmark.results import AgentRecord, StopReason
from pytest_gta.benchmark.task import Brief
from pytest_gta.llm.endpoint import Endpoint
from tests.agents.conftest import QUICK, Bench, brief
from tests.openai_server import Answer, OpenAIServer, RecordedRequest, calls, fails, in_turn, refuses, says

Start = Callable[..., OpenAIServer]


@pytest.fixture(autouse=True, scope="module")
def _imported_before_the_clock_starts() -> None:
    importlib.import_module("openai")


def act(tool: str, arguments: str, thought: str = "I go on.") -> str:
    return f"Thought: {thought}\nAction: {tool}\nAction Input: {arguments}"


def final(text: str) -> str:
    return f"Thought: done\nFinal Answer: {text}"


def ask(bench: Bench, server: OpenAIServer, task: Brief | None = None, limits: Limits | None = None) -> AgentRecord:
    endpoint = Endpoint("text-model", server.base_url, "sk-test-0123456789abcdef")
    limits = limits or Limits(max_turns=10, task_timeout_s=20.0)
    return bench.run(ReactAgent(endpoint, "react-text-model", limits, retry=QUICK), task)


def roles_alternate(request: RecordedRequest) -> bool:
    roles = [message["role"] for message in request.messages]
    return roles[0] == "system" and all(a != b for a, b in itertools.pairwise(roles))


def test_an_action_then_an_answer(bench: Bench, openai_server: Start) -> None:
    server = openai_server(
        in_turn(
            says(act("Write", '{"filename": "report.txt", "text": "42"}'), usage={"input": 100, "output": 7}),
            says(final("Done: report.txt"), usage={"input": 150, "output": 5}),
        )
    )
    record = ask(bench, server)
    assert (record.stop_reason, record.stop_detail, record.final_answer) == (
        StopReason.FINISHED, "", "Done: report.txt",
    )  # fmt: skip
    assert (record.turns, record.tool_calls, record.tool_errors) == (2, 1, 0)
    assert (record.usage.calls, record.usage.tokens.input, record.usage.tokens.output) == (2, 250, 12)
    assert record.label == "react-text-model"
    assert (bench.workspace.root / "report.txt").read_text() == "42"
    first, second = server.chats
    assert set(first.json) == {"model", "messages", "stop"}  # no tools, no output limit, no temperature
    assert first.json["stop"] == ["\nResponse:"]
    assert "- Echo: Says it again.\n    text (text): Some text." in first.texts[0]
    assert first.texts[1] == "The input files, read-only: `resources/notes.txt`\n\nDo it."
    assert second.texts[2:] == [act("Write", '{"filename": "report.txt", "text": "42"}'), "Response: wrote report.txt"]
    assert all(roles_alternate(request) for request in server.chats)
    kinds = [step.kind.value for step in bench.steps]
    assert kinds == ["system", "user", "user", "assistant", "tool_call", "tool_result", "assistant", "end"]
    assert [(s.name, s.turn, s.files) for s in bench.steps_of("tool_result")] == [("Write", 1, ("report.txt",))]


def test_what_a_model_makes_up_after_its_action_is_dropped(bench: Bench, openai_server: Start) -> None:
    made_up = act("Echo", '{"text": "a"}') + "\nResponse: made up\nThought: good\nFinal Answer: made up"
    server = openai_server(in_turn(says(made_up), says(final("echo a"))))
    record = ask(bench, server)
    assert (record.final_answer, bench.seen) == ("echo a", [("Echo", "a")])
    assert not any("made up" in text for text in server.chats[1].texts)


@pytest.mark.parametrize("arguments", ['{}""', "", "null", '{"text": "a', '{"text": "a"} {"text": "b"}', '["a"]'])
def test_malformed_input_is_answered_and_not_run(bench: Bench, openai_server: Start, arguments: str) -> None:
    server = openai_server(in_turn(says(act("Echo", arguments)), says(final("sorry"))))
    record = ask(bench, server)
    assert (record.final_answer, record.tool_calls, record.tool_errors, bench.seen) == ("sorry", 1, 1, [])
    answer = server.chats[1].last_user_text
    assert answer.startswith("Response: Error: Echo was not run: ") and '{"text": ' in answer


def test_unknown_tools_and_failures_are_answered(bench: Bench, openai_server: Start) -> None:
    server = openai_server(
        in_turn(says(act("Ecko", '{"text": "a"}')), says(act("Broken", '{"text": "a"}')), says(final("no luck")))
    )
    record = ask(bench, server)
    assert (record.stop_reason, record.tool_calls, record.tool_errors) == (StopReason.FINISHED, 2, 2)
    assert "there is no tool 'Ecko'; did you mean Echo" in server.chats[1].last_user_text
    assert "the tool fell over" in server.chats[2].last_user_text


def test_a_reply_without_a_form_is_told_the_form_and_costs_a_turn(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(says("Sure, I can help!"), says(""), says(final("42"))))
    record = ask(bench, server)
    assert (record.final_answer, record.turns, record.tool_calls) == ("42", 3, 0)
    assert server.chats[1].last_user_text.startswith("Response: Your message could not be read")


def test_hidden_reasoning_is_not_read(bench: Bench, openai_server: Start) -> None:
    thinking = "<think>\nAction: Broken\nAction Input: {}\nFinal Answer: 1\n</think>\n" + final("2")
    assert ask(bench, openai_server(in_turn(says(thinking)))).final_answer == "2"


def test_the_last_turn_asks_for_an_answer(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(*[says(act("Echo", f'{{"text": "{n}"}}')) for n in range(9)], says(final("late"))))
    record = ask(bench, server)
    assert (record.stop_reason, record.final_answer, record.turns) == (StopReason.MAX_TURNS, "late", 10)
    assert record.stop_detail == "the limit of 10 turns was reached"
    assert "No more actions are possible" in server.chats[9].last_user_text
    assert "No more actions" not in server.chats[8].last_user_text


@pytest.mark.parametrize(("reply", "answer"), [("It is 42.", "It is 42."), (act("Echo", '{"text": "x"}'), "")])
def test_out_of_turns(bench: Bench, openai_server: Start, reply: str, answer: str) -> None:
    record = ask(bench, openai_server(in_turn(says(reply))), limits=Limits(max_turns=1, task_timeout_s=20.0))
    expected = StopReason.MAX_TURNS if answer else StopReason.NO_ANSWER
    assert (record.stop_reason, record.final_answer, record.tool_calls, bench.seen) == (expected, answer, 0, [])


def test_every_message_of_the_user_is_answered_and_replies_are_kept(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(says(final("first")), says(act("Echo", '{"text": "b"}')), says(final("second"))))
    record = ask(bench, server, brief("One.", "Two."))
    assert (record.final_answer, record.turns) == ("second", 3)
    assert server.chats[1].texts[2:] == [final("first"), "Two."]


def test_a_server_that_takes_no_stop_sequence(bench: Bench, openai_server: Start) -> None:
    refusal = Answer(
        status=400, body={"error": {"message": "Unsupported parameter: 'stop' is not supported.", "param": "stop"}}
    )
    server = openai_server(lambda request: refusal if "stop" in request.json else says(final("42")))
    record = ask(bench, server)
    assert (record.final_answer, record.turns, "stop" in server.chats[1].json) == ("42", 1, False)


def test_a_call_that_the_server_made_native(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(calls(("Echo", {"text": "a"}), text="Thought: x"), says(final("ok"))))
    record = ask(bench, server)
    assert (record.final_answer, bench.seen) == ("ok", [("Echo", "a")])
    assert server.chats[1].texts[2] == 'Thought: x\nAction: Echo\nAction Input: {"text": "a"}'


def test_the_same_action_over_and_over(bench: Bench, openai_server: Start) -> None:
    server = openai_server(
        lambda request: says(
            final("stuck") if "No more actions" in request.last_user_text else act("Echo", '{"text":"a"}')
        )
    )
    record = ask(bench, server, limits=Limits(max_turns=40, task_timeout_s=20.0))
    assert (record.stop_reason, record.final_answer, record.tool_calls) == (StopReason.MAX_TURNS, "stuck", 6)
    assert record.turns == 6 + 3 + 1


def test_a_refusal_is_an_answer(bench: Bench, openai_server: Start) -> None:
    record = ask(bench, openai_server(in_turn(refuses("I can't."))))
    assert (record.stop_reason, record.final_answer, record.stop_detail) == (
        StopReason.FINISHED, "I can't.", "the model declined",
    )  # fmt: skip


def test_an_input_that_the_output_limit_cut(bench: Bench, openai_server: Start) -> None:
    cut = says(act("Write", '{"filename": "a.txt", "text": "long'), finish_reason="length")
    server = openai_server(in_turn(cut, says(final("ok"))))
    assert ask(bench, server).final_answer == "ok"
    assert "cut off by the output limit" in server.chats[1].last_user_text


def test_a_conversation_that_is_too_long_is_shortened(bench: Bench, openai_server: Start) -> None:
    def respond(request: RecordedRequest) -> Answer:
        if sum(map(len, request.texts)) > 30_000:
            return fails(400, "This model's maximum context length is 8192 tokens", code="context_length_exceeded")
        return says(act("Long", f'{{"text": "{request.turn}"}}') if request.turn < 3 else final("read it all"))

    server = openai_server(respond)
    record = ask(bench, server)
    assert (record.stop_reason, record.final_answer, record.tool_calls) == (StopReason.FINISHED, "read it all", 3)
    assert all(roles_alternate(request) for request in server.chats)


def test_an_endpoint_that_does_not_serve_is_not_the_agents_fault(bench: Bench, openai_server: Start) -> None:
    with pytest.raises(AgentUnavailable, match="503"):
        ask(bench, openai_server(lambda _: fails(503, "overloaded")))
