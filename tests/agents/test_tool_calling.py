"""The tool-calling agent against a local server that speaks the OpenAI API."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import AgentUnavailable
from pytest_gta.benchmark.results import StopReason
from pytest_gta.tools.specification import ToolSpec
from pytest_gta.tools.tool import Tool
from pytest_gta.workspace.workspace import Workspace
from tests.agents.conftest import Bench, brief
from tests.openai_server import Answer, OpenAIServer, RecordedRequest, calls, fails, hangs, in_turn, refuses, says
from tests.waiting import JumpingClock

Start = Callable[..., OpenAIServer]


@pytest.fixture(autouse=True, scope="module")
def _imported_before_the_clock_starts() -> None:
    """The client's library is imported with the first request, which would count in tests of short deadlines."""
    importlib.import_module("openai")


def check_every_call_is_answered_once(request: RecordedRequest) -> None:
    """Each assistant message's calls are followed by exactly one tool message for each id, and by nothing else."""
    open_ids: list[str] = []
    for message in request.messages:
        if message["role"] == "tool":
            open_ids.remove(message["tool_call_id"])
            continue
        assert open_ids == [], f"unanswered: {open_ids}"
        open_ids = [call["id"] for call in message.get("tool_calls") or []]
        for call in message.get("tool_calls") or []:
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
    assert open_ids == []


def test_a_tool_call_then_an_answer(bench: Bench, openai_server: Start) -> None:
    server = openai_server(
        in_turn(
            calls(("Write", {"filename": "report.txt", "text": "42"}), usage={"input": 100, "cached": 60, "output": 7}),
            says("Done: report.txt", usage={"input": 150, "output": 5}),
        )
    )
    record = bench.ask(server)
    assert (record.stop_reason, record.stop_detail) == (StopReason.FINISHED, "")
    assert record.final_answer == "Done: report.txt"
    assert (record.turns, record.tool_calls, record.tool_errors) == (2, 1, 0)
    assert (record.usage.calls, record.usage.tokens.input, record.usage.tokens.cached) == (2, 250, 60)
    assert record.usage.tokens.output == 12
    assert record.label == "test-model"
    assert record.tools_offered == ("Broken", "Echo", "Faulty", "Long", "Write")
    assert (bench.workspace.root / "report.txt").read_text() == "42"
    first = server.chats[0]
    assert set(first.tool_names) == set(record.tools_offered)
    assert "resources/notes.txt (9 bytes)" in first.texts[0] and "read-only" in first.texts[0]
    assert str(bench.workspace.root) not in json.dumps(first.json)
    assert server.chats[1].tool_results == [(bench.steps_of("tool_call")[0].call_id, "wrote report.txt")]
    kinds = [step.kind.value for step in bench.steps]
    assert kinds == ["system", "user", "assistant", "tool_call", "tool_result", "assistant", "end"]
    result = bench.steps_of("tool_result")[0]
    assert (result.files, result.turn, result.is_error) == (("report.txt",), 1, False)
    end = bench.steps_of("end")[0]
    assert (end.name, end.text, end.turn) == ("finished", "Done: report.txt", 2)


def test_parallel_calls_one_raises_one_is_unknown_one_is_malformed(bench: Bench, openai_server: Start) -> None:
    server = openai_server(
        in_turn(
            calls(
                ("Echo", {"text": "a"}),
                ("Broken", {"text": "b"}),
                ("Nothing", {"text": "c"}),
                ("Echo", '{"text": "d"'),
                ("Echo", {"text": "e"}),
            ),
            says("ok"),
        )
    )
    record = bench.ask(server)
    check_every_call_is_answered_once(server.chats[1])
    texts = [text for _, text in server.chats[1].tool_results]
    assert texts[0] == "echo a" and texts[4] == "echo e"
    assert texts[1] == "Error: Broken failed: RuntimeError: the tool fell over"
    assert "there is no tool 'Nothing'" in texts[2]
    assert texts[3].startswith("Error: ")
    assert bench.seen == [("Echo", "a"), ("Broken", "b"), ("Echo", "e")]
    assert (record.tool_calls, record.tool_errors, record.final_answer) == (5, 3, "ok")


@pytest.mark.parametrize(
    "written", ['{}""', "", "null", '{"text": "x"', '{"text": "x"}{"text": "y"}', '["x"]', "{'text'"]
)
def test_malformed_arguments_are_answered_not_run(bench: Bench, openai_server: Start, written: str) -> None:
    server = openai_server(in_turn(calls(("Echo", written)), says("sorry")))
    record = bench.ask(server)
    check_every_call_is_answered_once(server.chats[1])
    assert bench.seen == []
    assert (record.tool_calls, record.tool_errors, record.stop_reason) == (1, 1, StopReason.FINISHED)
    assert server.chats[1].tool_results[0][1].startswith("Error: ")
    assert bench.steps_of("tool_call")[0].text == written


def test_what_the_model_wrote_stays_visible_to_it_inside_valid_json(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(calls(("Echo", '{"text": "half')), says("ok")))
    bench.ask(server)
    sent = next(m for m in server.chats[1].messages if m["role"] == "assistant")["tool_calls"][0]
    assert json.loads(sent["function"]["arguments"]) == {"unreadable_arguments": '{"text": "half'}


def test_a_quoted_final_answer_beside_a_call_does_not_end_the_task(bench: Bench, openai_server: Start) -> None:
    server = openai_server(
        in_turn(calls(("Echo", {"text": "a"}), text="I will say Final Answer: 12 once I know."), says("It is 13."))
    )
    record = bench.ask(server)
    assert (record.final_answer, bench.seen) == ("It is 13.", [("Echo", "a")])


def test_all_turns_are_asked_and_own_replies_kept(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(says("first reply"), calls(("Echo", {"text": "a"})), says("second reply")))
    record = bench.ask(server, brief("First?", "Second?"))
    roles = [(m["role"], m["content"]) for m in server.chats[1].messages[1:]]
    assert roles == [("user", "First?"), ("assistant", "first reply"), ("user", "Second?")]
    assert [m["role"] for m in server.chats[2].messages] == [
        "system", "user", "assistant", "user", "assistant", "tool",
    ]  # fmt: skip
    assert record.final_answer == "second reply"


# -- budgets ---------------------------------------------------------------------------------------------------------


def test_the_last_turn_asks_for_an_answer_without_tools(bench: Bench, openai_server: Start) -> None:
    def respond(request: RecordedRequest) -> Answer:
        return calls(("Echo", {"text": str(request.turn)})) if request.tool_names else says("what I have")

    server = openai_server(respond)
    record = bench.ask(server, limits=Limits(max_turns=3))
    assert (record.stop_reason, record.turns) == (StopReason.MAX_TURNS, 3)
    assert record.stop_detail == "the limit of 3 turns was reached"
    assert record.final_answer == "what I have"
    last = server.chats[2]
    assert last.tool_names == [] and "limit of 3 turns was reached" in last.last_user_text
    assert {m["role"] for m in last.messages} == {"system", "user", "assistant"}
    assert "echo 0" in json.dumps(last.json) and '[I called Echo with {\\"text\\": \\"0\\"}]' in json.dumps(last.json)


def test_out_of_turns_without_an_answer_is_no_answer_not_the_last_thought(bench: Bench, openai_server: Start) -> None:
    server = openai_server(
        lambda request: calls(("Echo", {"text": str(request.number)}), text="Let me look at one more thing.")
    )
    record = bench.ask(server, limits=Limits(max_turns=2))
    assert (record.stop_reason, record.final_answer) == (StopReason.NO_ANSWER, "")
    assert "limit of 2 turns" in record.stop_detail
    assert bench.seen == [("Echo", "0")]
    assert bench.steps_of("tool_result")[-1].not_run
    assert (record.tool_calls, record.tool_errors) == (1, 0)


@pytest.mark.parametrize(
    ("respond", "most", "why"),
    [
        (lambda r: calls(("Echo", {"text": "same"})), 6, "the same call of Echo was made more than 6 times"),
        (lambda r: calls(("Echo", {"text": "AB"[r.number % 2]})), 12, "the same call of Echo"),
        (lambda r: calls(("Nothing", {"n": r.number})), 6, "calling tools that do not exist"),
        (lambda r: calls(("Echo", "{oops")), 6, "the same call of Echo"),
    ],
    ids=["same", "alternating", "unknown", "malformed"],
)
def test_loops_are_told_and_ended(
    bench: Bench, openai_server: Start, respond: Callable[[RecordedRequest], Answer], most: int, why: str
) -> None:
    server = openai_server(lambda r: respond(r) if r.tool_names else says("I give up"))
    record = bench.ask(server, limits=Limits(max_turns=60))
    assert record.tool_calls == most
    assert record.turns == most + 4
    assert (record.stop_reason, record.final_answer) == (StopReason.MAX_TURNS, "I give up")
    assert why in record.stop_detail
    assert why in server.chats[-2].tool_results[-1][1]
    for request in server.chats[:-1]:
        check_every_call_is_answered_once(request)


def test_thousands_of_identical_calls_in_one_turn(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(calls(*[("Echo", {"text": "x"})] * 2_000), says("ok")))
    record = bench.ask(server)
    check_every_call_is_answered_once(server.chats[1])
    assert len(bench.seen) == 6 and record.tool_calls == 6
    assert len(server.chats[1].tool_results) == 128
    assert "1872 more tool calls" in bench.steps_of("note")[0].text
    assert record.final_answer == "ok"


def test_caps_on_calls_of_a_turn_and_of_a_task(bench: Bench, openai_server: Start) -> None:
    def respond(request: RecordedRequest) -> Answer:
        if not request.tool_names:
            return says("enough")
        return calls(*[("Echo", {"text": f"{request.number}.{i}"}) for i in range(10)])

    server = openai_server(respond)
    record = bench.ask(server, limits=Limits(calls_per_turn=4, calls_per_task=10))
    assert len(bench.seen) == 10
    assert (record.turns, record.tool_calls) == (4, 10)
    assert record.stop_detail == "the limit of 10 tool calls was reached"
    assert server.chats[1].tool_results[4][1] == "Not run: only 4 tool calls are run in one turn."
    for request in server.chats[:-1]:
        check_every_call_is_answered_once(request)


def test_a_timeout_in_the_middle_of_a_batch_answers_every_call(
    bench: Bench, openai_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []
    JumpingClock(lambda: called).stand_in(monkeypatch, "pytest_gta.agents.task_clock")
    bench.extra.append(Tool(ToolSpec("Slow", "logic", "Takes its time.", ()), lambda: called.append("") or "late"))
    server = openai_server(
        lambda r: calls(("Write", {"filename": "a.txt", "text": "1"}), ("Slow", {}), ("Write", {"filename": "b.txt"}))
    )
    record = bench.ask(server, limits=Limits(task_timeout_s=2_000))
    assert record.stop_reason is StopReason.TIMEOUT
    assert record.stop_detail == "the task's limit of 2000 s was reached"
    assert [(s.name, s.not_run) for s in bench.steps_of("tool_result")] == [
        ("Write", False), ("Slow", False), ("Write", True),
    ]  # fmt: skip
    assert [d.path for d in bench.workspace.deliverables().files] == ["a.txt"]
    assert (record.tool_calls, record.tool_errors, record.turns) == (2, 0, 1)


def test_a_model_that_never_answers_ends_at_the_deadline(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(calls(("Write", {"filename": "a.txt", "text": "1"})), hangs()))
    record = bench.ask(server, limits=Limits(task_timeout_s=4))
    assert (record.stop_reason, record.turns, record.usage.calls) == (StopReason.TIMEOUT, 1, 2)


def test_waiting_for_the_endpoint_is_not_charged_but_capped(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(fails(503), fails(429, retry_after=4.2), says("made it")))
    record = bench.ask(server, limits=Limits(task_timeout_s=4, wall_cap_s=60))
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "made it")
    waits = [step.text for step in bench.steps_of("wait")]
    assert len(waits) == 2 and waits[0].startswith("retrying in") and "503" in waits[0]
    assert record.usage.calls == 3


def test_the_wall_cap_holds_while_waiting(bench: Bench, openai_server: Start) -> None:
    server = openai_server(lambda r: fails(429, retry_after=0.4))
    with pytest.raises(AgentUnavailable, match=r"429|kept it waiting"):
        bench.ask(server, limits=Limits(task_timeout_s=60, wall_cap_s=3))


# -- whose fault -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "halted"),
    [
        (fails(503, "overloaded"), False),
        (fails(401, "Incorrect API key provided", code="invalid_api_key"), True),
        (fails(402, "no money"), True),
        (fails(429, "You exceeded your current quota", code="insufficient_quota"), True),
        (fails(404, "no such model", code="model_not_found"), False),
        (Answer(body="<html>proxy</html>"), False),
    ],
    ids=["503", "401", "402", "no credit", "404", "not an API"],
)
def test_an_endpoint_that_does_not_serve_is_not_a_judged_zero(
    bench: Bench, openai_server: Start, answer: Answer, halted: bool
) -> None:
    server = openai_server(lambda r: answer)
    with pytest.raises(AgentUnavailable) as fault:
        bench.ask(server)
    assert fault.value.halted is halted
    assert fault.value.usage.calls >= 1
    assert "sk-test" not in str(fault.value) and "\n" not in str(fault.value)
    assert bench.steps_of("end")[0].name == "unavailable"


def test_an_outage_after_good_work_is_still_the_endpoints_fault(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(calls(("Echo", {"text": "a"})), fails(503)))
    with pytest.raises(AgentUnavailable):
        bench.ask(server)


def test_a_request_the_endpoint_rejects_later_is_the_agents_error(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(calls(("Write", {"filename": "a.txt", "text": "1"})), fails(400, "bad message")))
    record = bench.ask(server)
    assert record.stop_reason is StopReason.AGENT_ERROR
    assert "bad message" in record.stop_detail
    assert record.usage.calls == 2


# -- context ---------------------------------------------------------------------------------------------------------


def small_window(limit: int, answer: Callable[[RecordedRequest], Answer]) -> Callable[[RecordedRequest], Answer]:
    def respond(request: RecordedRequest) -> Answer:
        size = len(json.dumps(request.messages))
        if size > limit:
            return fails(400, f"maximum context length is {limit}, you sent {size}", code="context_length_exceeded")
        return answer(request)

    return respond


def test_old_results_make_room_first(bench: Bench, openai_server: Start) -> None:
    def answer(request: RecordedRequest) -> Answer:
        done = request.number
        return calls(("Long", {"text": f"n{done} "})) if done < 4 else says("ok")

    server = openai_server(small_window(60_000, answer))
    record = bench.ask(server)
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "ok")
    last = server.chats[-1]
    check_every_call_is_answered_once(last)
    texts = [text for _, text in last.tool_results]
    assert texts[0].startswith("[This result of 24,999 characters was left out")
    assert texts[-1].startswith("n")
    assert any("old tool results were left out" in step.text for step in bench.steps_of("note"))


def test_pairs_go_and_the_newest_result_is_cut_when_that_is_not_enough(bench: Bench, openai_server: Start) -> None:
    def answer(request: RecordedRequest) -> Answer:
        return calls(("Long", {"text": "w"})) if request.number < 1 else says("ok")

    server = openai_server(small_window(12_000, answer))
    record = bench.ask(server)
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "ok")
    last = server.chats[-1]
    check_every_call_is_answered_once(last)
    assert len(last.tool_results) == 1 and "of 25,000 characters left out" in last.tool_results[0][1]


def test_a_tool_that_returns_megabytes_does_not_fill_the_window(bench: Bench, openai_server: Start) -> None:
    bench.extra.append(Tool(ToolSpec("Huge", "logic", "Says a lot.", ()), lambda: "h" * 5_000_000))
    server = openai_server(small_window(60_000, lambda r: calls(("Huge", {})) if r.number == 0 else says("ok")))
    record = bench.ask(server)
    assert (record.stop_reason, record.final_answer, record.tool_errors) == (StopReason.FINISHED, "ok", 0)
    assert "5,000,000 characters" in server.chats[1].tool_results[0][1]


def test_a_window_that_nothing_fits_ends_cleanly(bench: Bench, openai_server: Start) -> None:
    server = openai_server(
        lambda r: (
            calls(("Write", {"filename": "a.txt", "text": "1"}))
            if r.number == 0
            else fails(400, "maximum context length is 10", code="context_length_exceeded")
        )
    )
    record = bench.ask(server)
    assert record.stop_reason is StopReason.CONTEXT_EXCEEDED
    assert "maximum context length" in record.stop_detail
    assert [d.path for d in bench.workspace.deliverables().files] == ["a.txt"]
    assert record.turns == 1


# -- replies that are none -------------------------------------------------------------------------------------------


def test_an_answer_eaten_by_reasoning_gets_more_room_once(bench: Bench, openai_server: Start) -> None:
    eaten = Answer(text="", finish_reason="length", usage={"input": 10, "output": 500, "reasoning": 500})
    server = openai_server(in_turn(eaten, says("short and good")))
    record = bench.ask(server)
    assert record.final_answer == "short and good"
    asked = server.chats[1].json
    assert asked.get("max_completion_tokens") == 32_768
    assert "output limit" in server.chats[1].last_user_text
    assert record.usage.tokens.output > 500


def test_eaten_twice_is_no_answer(bench: Bench, openai_server: Start) -> None:
    server = openai_server(
        lambda r: Answer(text="", finish_reason="length", usage={"input": 10, "output": 500, "reasoning": 500})
    )
    record = bench.ask(server)
    assert record.stop_reason is StopReason.NO_ANSWER
    assert "hidden reasoning" in record.stop_detail


def test_an_empty_reply_is_told_once(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(says(""), says("here")))
    assert bench.ask(server).final_answer == "here"
    assert "empty" in server.chats[1].last_user_text
    server = openai_server(lambda r: says("  "))
    record = bench.ask(server)
    assert (record.stop_reason, record.stop_detail) == (
        StopReason.NO_ANSWER,
        "the model's reply was empty twice in a row",
    )


def test_a_refusal_is_the_answer_and_said(bench: Bench, openai_server: Start) -> None:
    record = bench.ask(openai_server(lambda r: refuses("I can't help with that.")))
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "I can't help with that.")
    assert record.stop_detail == "the model declined"


@pytest.mark.parametrize("text", ["<think>maybe 2</think>It is 9.", "maybe 2</think>\n\nIt is 9.", "It is 9."])
def test_thinking_in_the_text_is_not_the_answer(bench: Bench, openai_server: Start, text: str) -> None:
    assert bench.ask(openai_server(lambda r: says(text))).final_answer == "It is 9."


def test_a_cut_answer_is_kept_and_said(bench: Bench, openai_server: Start) -> None:
    record = bench.ask(openai_server(lambda r: says("The first half", finish_reason="length")))
    assert (record.final_answer, record.stop_detail) == (
        "The first half",
        "its answer was cut off by the output limit",
    )


def test_arguments_cut_by_the_output_limit_are_explained(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn(calls(("Echo", '{"text": "long'), finish_reason="length"), says("ok")))
    bench.ask(server)
    assert "cut off by the output limit" in server.chats[1].tool_results[0][1]


# -- pictures --------------------------------------------------------------------------------------------------------


@pytest.fixture
def picture_bench(tmp_path: Path) -> Bench:
    root = tmp_path / "task" / "workspace"
    (root / "resources").mkdir(parents=True)
    for name in ("a.png", "b.jpg", "c.png"):
        Image.new("RGB", (40, 30), (200, 10, 10)).save(root / "resources" / name)
    (root / "resources" / "bad.png").write_bytes(b"not a picture")
    inputs = ["resources/a.png", "resources/bad.png", "resources/b.jpg", "resources/c.png"]
    return Bench(Workspace.open(root, inputs), tmp_path / "task" / "transcript.jsonl")


def test_input_pictures_are_shown_bounded(picture_bench: Bench, openai_server: Start) -> None:
    server = openai_server(lambda r: says("red"))
    record = picture_bench.ask(server, limits=Limits(pictures=2))
    assert record.final_answer == "red"
    assert server.chats[0].pictures == 2
    text = server.chats[0].first_user_text
    assert "resources/bad.png is not shown: it cannot be read as a picture" in text
    assert "resources/c.png is not shown: only 2 pictures are" in text


def test_an_endpoint_without_pictures_is_told_in_words(picture_bench: Bench, openai_server: Start) -> None:
    def respond(request: RecordedRequest) -> Answer:
        return fails(400, "image input is not supported") if request.pictures else says("I used tools")

    server = openai_server(respond)
    record = picture_bench.ask(server)
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "I used tools")
    assert "pictures that you cannot see" in server.chats[-1].first_user_text
    assert "resources/a.png" in server.chats[-1].first_user_text


def test_no_pictures_when_switched_off(picture_bench: Bench, openai_server: Start) -> None:
    server = openai_server(lambda r: says("ok"))
    picture_bench.ask(server, limits=Limits(pictures=0))
    assert server.chats[0].pictures == 0


# -- models without tool calls ---------------------------------------------------------------------------------------


def test_a_model_without_native_tools(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn({"tool": "Echo", "arguments": {"text": "a"}}, {"final_answer": "it said a"}))
    record = bench.ask(server, native_tools=False)
    assert (record.final_answer, record.turns, bench.seen) == ("it said a", 2, [("Echo", "a")])


def test_a_model_without_native_tools_on_its_last_turn(bench: Bench, openai_server: Start) -> None:
    server = openai_server(in_turn({"tool": "Echo", "arguments": {"text": "a"}}, {"final_answer": "it said a"}))
    record = bench.ask(server, limits=Limits(max_turns=2), native_tools=False)
    assert (record.stop_reason, record.final_answer) == (StopReason.MAX_TURNS, "it said a")


def test_secrets_stay_out_of_the_transcript(
    bench: Bench, openai_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SEARCH_API_KEY", "zq81-very-secret-value")
    server = openai_server(in_turn(calls(("Echo", {"text": "zq81-very-secret-value"})), says("zq81-very-secret-value")))
    record = bench.ask(server)
    assert record.final_answer == "[secret]"
    assert "zq81" not in bench.transcript.read_text()


def test_the_request_is_not_shown_the_rubric(bench: Bench, openai_server: Start) -> None:
    server = openai_server(lambda r: says("ok"))
    bench.ask(server)
    sent: dict[str, Any] = server.chats[0].json
    assert set(sent) <= {"model", "messages", "tools", "stream"}
