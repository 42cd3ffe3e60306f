"""The client against a real server that misbehaves in every way we know of."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from pydantic import BaseModel

from pytest_gta.benchmark.usage import Tokens
from pytest_gta.llm import capabilities
from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.model_error import ModelError, ModelErrorKind
from pytest_gta.llm.retry import RetryPolicy
from pytest_gta.llm.run_control import RunControl
from tests.openai_server import Answer, calls, drips, fails, hangs, hangs_up, in_turn, refuses, says

KEY = "sk-live-0123456789abcdef"
ASK = [{"role": "user", "content": "hello"}]
QUICK = RetryPolicy(base_s=0.01, cap_s=0.02)
PATIENT = RetryPolicy(base_s=0.01, cap_s=0.1, rate_limited_attempts=1_000)
CALCULATOR = {
    "type": "function",
    "function": {
        "name": "Calculator",
        "description": "Computes.",
        "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
    },
}


class Grade(BaseModel):
    why: str
    score: float


@pytest.fixture(autouse=True)
def forget_endpoints():
    """Ports come back, and with them what was learnt of another test's server."""
    capabilities.capabilities_of.cache_clear()


@pytest.fixture
def client_for(openai_server):
    def make(respond, *, model="gpt-5", **settings):
        server = openai_server(respond)
        settings.setdefault("retry", QUICK)
        return server, ChatClient(Endpoint(model, server.base_url, KEY), **settings)

    return make


def failure(client, **settings) -> ModelError:
    settings.setdefault("deadline_s", 60)
    with pytest.raises(ModelError) as caught:
        client.chat_blocking(ASK, **settings)
    return caught.value


def test_a_reply_with_usage(client_for):
    _, client = client_for(lambda _r: says("hi", usage={"input": 100, "cached": 60, "output": 7}))
    reply = client.chat_blocking(ASK, deadline_s=30)
    assert (reply.text, reply.finish_reason, reply.refusal, reply.tool_calls) == ("hi", "stop", None, ())
    assert reply.usage.calls == 1
    assert reply.usage.tokens == Tokens(input=100, cached=60, output=7)
    assert reply.usage.cost_usd is None  # nobody knows what this server charges, whatever it calls its model
    assert reply.message == {"role": "assistant", "content": "hi"}


def test_an_answer_without_usage_has_an_unknown_price(client_for):
    _, client = client_for(lambda _r: says("hi", usage={}))
    assert client.chat_blocking(ASK, deadline_s=30).usage.cost_usd is None


def test_tool_calls_keep_the_raw_arguments_and_distinct_ids(client_for):
    raw = [
        {"id": "a", "type": "function", "function": {"name": "Plot", "arguments": '{}""'}, "signature": "s"},
        {"id": "a", "type": "function", "function": {"name": "Plot", "arguments": {"x": 1}}},
        {"function": {"name": None, "arguments": None}},
        "nonsense",
    ]
    body = {"choices": [{"message": {"content": None, "tool_calls": raw}, "finish_reason": "tool_calls"}]}
    _, client = client_for(lambda _r: Answer(body=body))
    reply = client.chat_blocking(ASK, tools=[CALCULATOR], deadline_s=30)
    assert [(c.id, c.name, c.arguments) for c in reply.tool_calls] == [
        ("a", "Plot", '{}""'),
        ("a_1", "Plot", '{"x": 1}'),
        ("call_2", "", "{}"),
    ]
    assert [c["id"] for c in reply.message["tool_calls"]] == ["a", "a_1", "call_2"]
    assert reply.message["tool_calls"][0]["signature"] == "s"


def test_an_endpoint_that_never_answers_meets_the_deadline(client_for):
    _, client = client_for(lambda _r: hangs())
    started = time.monotonic()
    error = failure(client, deadline_s=0.4)
    assert 0.35 < time.monotonic() - started < 30
    assert error.kind is ModelErrorKind.TIMEOUT
    assert "no whole answer within 0.4 s (1 request)" in str(error)
    assert error.usage.calls == 1


def test_an_endpoint_that_drips_meets_the_deadline(client_for):
    server, client = client_for(lambda _r: drips("x", 0.1))
    assert failure(client, deadline_s=1.5).kind is ModelErrorKind.TIMEOUT
    assert len(server.chats) == 1


def test_a_request_that_hangs_is_given_up_and_asked_again_within_the_deadline(client_for):
    said: list[str] = []
    policy = RetryPolicy(attempt_s=0.5, base_s=0.01, cap_s=0.02)
    _, client = client_for(
        lambda _r: "fine" if any("retrying" in line for line in said) else hangs(), on_wait=said.append, retry=policy
    )
    reply = client.chat_blocking(ASK, deadline_s=60)
    assert reply.text == "fine"
    assert reply.usage.calls >= 2
    assert said[0] == "no answer for 0.2 s; it is asked again after 0.5 s"
    assert said[1].startswith("retrying in ")
    assert said[1].endswith(" s: no whole answer within 0.5 s")


def test_an_endpoint_that_always_hangs_meets_the_deadline_with_more_than_one_request(client_for):
    policy = RetryPolicy(attempt_s=0.05, base_s=0.01, cap_s=0.02)
    error = failure(client_for(lambda _r: hangs(), retry=policy)[1], deadline_s=1.5)
    assert error.kind is ModelErrorKind.TIMEOUT
    assert "no whole answer within 1.5 s (" in str(error)
    assert "; before that: no whole answer within 0." in str(error)
    assert error.usage.calls >= 2


def test_requests_without_an_answer_are_bounded_as_others_are(client_for):
    policy = RetryPolicy(attempt_s=0.05, attempts=2, base_s=0.01, cap_s=0.02)
    error = failure(client_for(lambda _r: hangs(), retry=policy)[1], deadline_s=60)
    assert error.kind is ModelErrorKind.TIMEOUT
    assert "no whole answer within 0.1 s (2 times)" in str(error)


def test_a_slow_endpoint_is_given_twice_as_long_each_time():
    policy = RetryPolicy(attempt_s=150)
    assert [policy.attempt_limit_s(n) for n in (0, 1, 2)] == [150, 300, 600]
    assert RetryPolicy().attempt_limit_s(3) is None


def test_retries_are_bounded_reported_and_counted(client_for):
    said: list[str] = []
    server, client = client_for(lambda _r: fails(503, "overloaded"), on_wait=said.append)
    error = failure(client)
    assert error.kind is ModelErrorKind.UNAVAILABLE
    assert "503 overloaded (8 times)" in str(error)
    assert (len(server.chats), error.usage.calls, len(said)) == (8, 8, 7)
    assert said[0].startswith("retrying in 0.0")
    assert said[0].endswith(" s: 503 overloaded")


def test_waiting_is_kept_apart_from_the_models_time(client_for):
    _, client = client_for(in_turn(fails(503), fails(500), says("late")), retry=RetryPolicy(base_s=0.2, cap_s=0.2))
    started = time.monotonic()
    reply = client.chat_blocking(ASK, deadline_s=30)
    assert (reply.text, reply.usage.calls) == ("late", 3)
    assert 0.2 <= reply.waited_s <= time.monotonic() - started
    assert client.waited_s == pytest.approx(reply.waited_s)


@pytest.mark.parametrize("trouble", [hangs_up(), fails(429), Answer(text="<html>", body="<html>nginx</html>")])
def test_passing_trouble_is_retried(client_for, trouble):
    server, client = client_for(in_turn(trouble, says("fine")))
    assert client.chat_blocking(ASK, deadline_s=30).text == "fine"
    assert len(server.chats) == 2


def test_nobody_listens():
    client = ChatClient(Endpoint("m", "http://127.0.0.1:9/v1", KEY), retry=QUICK)
    error = failure(client)
    assert error.kind is ModelErrorKind.UNAVAILABLE
    assert "m at http://127.0.0.1:9/v1: no connection" in str(error)


def test_retry_after_is_kept_and_shared(client_for, tmp_path):
    control = RunControl(tmp_path, slots=4)
    server, client = client_for(in_turn(fails(429, retry_after=0.3), says("ok")), control=control)
    assert client.chat_blocking(ASK, deadline_s=30).text == "ok"
    assert server.chats[1].at - server.chats[0].at >= 0.3


def test_a_pause_asked_of_another_process_is_kept(client_for, tmp_path):
    said: list[str] = []
    server, client = client_for(lambda _r: "ok", control=RunControl(tmp_path, slots=4), on_wait=said.append)
    started = time.monotonic()
    RunControl(tmp_path, slots=4).pause_until(time.time() + 1, client.endpoint.host)
    client.chat_blocking(ASK, deadline_s=30)
    assert server.chats[0].at - started >= 0.98
    assert "asked for a pause" in said[0]


def test_a_retry_after_beyond_the_deadline_is_not_waited_for(client_for):
    server, client = client_for(lambda _r: fails(429, "slow down", retry_after=3600))
    error = failure(client, deadline_s=600)
    assert error.kind is ModelErrorKind.RATE_LIMITED
    assert "no time is left to wait" in str(error)
    assert len(server.chats) == 1


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (fails(429, "You exceeded your current quota", code="insufficient_quota"), ModelErrorKind.NO_CREDIT),
        (fails(402, "Insufficient Balance"), ModelErrorKind.NO_CREDIT),
        (fails(400, "Your credit balance is too low"), ModelErrorKind.NO_CREDIT),
        (fails(401, "Incorrect API key provided"), ModelErrorKind.AUTH),
        (fails(403, "no access to this model"), ModelErrorKind.AUTH),
    ],
)
def test_no_key_or_no_credit_halts_the_run_at_once(client_for, tmp_path, answer, kind):
    control = RunControl(tmp_path, slots=2)
    server, client = client_for(lambda _r: answer, control=control)
    assert failure(client).kind is kind
    assert len(server.chats) == 1
    assert answer.body["error"]["message"] in str(RunControl(tmp_path, slots=2).halted())
    assert failure(client).kind is ModelErrorKind.HALTED
    assert len(server.chats) == 1


def test_a_halt_ends_a_wait(client_for, tmp_path):
    control = RunControl(tmp_path, slots=2)
    _, client = client_for(
        lambda _r: fails(503),
        control=control,
        on_wait=lambda _t: control.halt("budget"),
        retry=RetryPolicy(base_s=300, cap_s=300),
    )
    started = time.monotonic()
    error = failure(client, deadline_s=600)
    assert error.kind is ModelErrorKind.HALTED
    assert "budget" in str(error)
    assert time.monotonic() - started < 100


@pytest.mark.parametrize(
    "answer",
    [
        fails(400, "This model's maximum context length is 8192 tokens", code="context_length_exceeded"),
        fails(400, "the request exceeds the available context size", code="exceed_context_size_error"),
        fails(400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"),
        fails(400, "prompt is too long: 210000 tokens > 200000 maximum"),
        fails(429, "Request too large for gpt-5 on tokens per min (TPM): Limit 30000", code="rate_limit_exceeded"),
        fails(413, "Payload too large"),
    ],
)
def test_too_long_a_conversation_is_recognised(client_for, answer):
    server, client = client_for(lambda _r: answer)
    assert failure(client, max_output_tokens=100).kind is ModelErrorKind.CONTEXT_EXCEEDED
    assert len(server.chats) == 1


def test_an_output_limit_that_does_not_fit_is_given_up(client_for):
    words = "maximum context length is 4096 tokens, you requested 5000 (1000 in the messages, 4000 in the completion)"
    server, client = client_for(lambda r: fails(400, words) if "max_completion_tokens" in r.json else "ok")
    assert client.chat_blocking(ASK, max_output_tokens=4000, deadline_s=30).text == "ok"
    assert len(server.chats) == 2


def test_refusals(client_for):
    _, client = client_for(in_turn(refuses("I can't."), Answer(text="", finish_reason="content_filter")))
    assert client.chat_blocking(ASK, deadline_s=30).refusal == "I can't."
    assert client.chat_blocking(ASK, deadline_s=30).refusal == "stopped by the endpoint's content filter"


def test_a_filtered_prompt_is_a_refusal(client_for):
    server, client = client_for(lambda _r: fails(400, "The response was filtered", code="content_filter"))
    reply = client.chat_blocking(ASK, deadline_s=30)
    assert (reply.refusal, reply.finish_reason) == ("The response was filtered", "content_filter")
    assert len(server.chats) == 1


def picky(request):
    """An endpoint that rejects one thing after the other, in the words of OpenAI's API."""
    for name, words in {
        "temperature": "Unsupported value: 'temperature' does not support 0 with this model.",
        "max_completion_tokens": "Unsupported parameter: 'max_completion_tokens'.",
        "response_format": "Invalid parameter: 'response_format' of type 'json_schema' is not supported.",
    }.items():
        if name in request.json:
            body = {"error": {"message": words, "param": name, "code": "unsupported_value"}}
            return Answer(status=400, body=body)
    return json.dumps({"why": "so", "score": 8})


def test_rejected_parameters_are_given_up_once_and_remembered(client_for):
    server, client = client_for(picky)
    wanted = {"schema": Grade, "temperature": 0.0, "max_output_tokens": 50, "deadline_s": 5}
    reply = client.chat_blocking(ASK, **wanted)
    assert json.loads(reply.text)["score"] == 8
    assert reply.usage.calls == len(server.chats) == 6
    assert server.chats[-1].json["max_tokens"] == 50
    assert '"score":{"type":"number"}' in server.chats[-1].last_user_text
    assert client.adaptations == (
        "temperature is not sent: the endpoint rejects it",
        "max_completion_tokens is rejected by the endpoint: max_tokens is sent instead of it",
        "JSON replies are asked for without strict: the endpoint rejects more",
        "JSON replies are asked for as json_object: the endpoint rejects more",
        "JSON replies are asked for in words only: the endpoint rejects more",
    )
    again = ChatClient(client.endpoint)
    again.chat_blocking(ASK, **wanted)
    assert len(server.chats) == 7
    assert again.adaptations == client.adaptations


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ('{"detail":[{"loc":["body","temperature"],"msg":"Extra inputs are not permitted"}]}', "temperature"),
        ('{"error":"Unrecognized request argument supplied: temperature"}', "temperature"),
        (
            '[{"error":{"code":400,"message":"Unknown name \\"temperature\\"","status":"INVALID_ARGUMENT"}}]',
            "temperature",
        ),
    ],
)
def test_complaints_of_other_servers_are_read(client_for, words, field):
    server, client = client_for(lambda r: Answer(status=422, body=words) if field in r.json else "ok")
    assert client.chat_blocking(ASK, temperature=0.0, deadline_s=30).text == "ok"
    assert len(server.chats) == 2


def test_many_at_once_learn_one_lesson(client_for):
    server, client = client_for(picky)

    async def all_of_them():
        return await asyncio.gather(
            *(client.chat(ASK, schema=Grade, temperature=0.0, deadline_s=20) for _ in range(20))
        )

    assert len(asyncio.run(all_of_them())) == 20
    assert len(client.adaptations) == 4
    assert len(server.chats) <= 100


def test_the_schema_is_asked_for_strictly(client_for):
    server, client = client_for(lambda _r: says('{"why":"x","score":1}'))
    client.chat_blocking(ASK, schema=Grade, deadline_s=30)
    sent = server.chats[0].json["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["required"] == ["why", "score"]
    assert sent["schema"]["additionalProperties"] is False


def test_pictures_turned_down_are_named(client_for):
    text = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
    server, client = client_for(lambda _r: fails(500, text))
    error = failure(client)
    assert error.kind is ModelErrorKind.BAD_REQUEST
    assert "takes no pictures" in str(error)
    assert len(server.chats) == 1


def test_an_unknown_model_is_not_retried(client_for):
    server, client = client_for(lambda _r: fails(404, "The model `gpt-9` does not exist", code="model_not_found"))
    error = failure(client)
    assert (error.kind, len(server.chats)) == (ModelErrorKind.BAD_REQUEST, 1)
    assert "404 The model `gpt-9` does not exist" in str(error)


def test_a_wrong_address_is_named(client_for):
    _, client = client_for(
        lambda _r: Answer(body="<html><title>Welcome</title></html>", headers={"Content-Type": "text/html"})
    )
    error = failure(client)
    assert error.kind is ModelErrorKind.BAD_REPLY
    assert "answered 200 with text/html that is not JSON; the base URL usually ends in /v1" in str(error)


def test_an_error_wrapped_in_a_success(client_for):
    server, client = client_for(lambda _r: Answer(body={"error": {"code": 401, "message": "who are you"}}))
    assert failure(client).kind is ModelErrorKind.AUTH
    assert len(server.chats) == 1


def test_reasoning_that_eats_the_limit_gets_more_room(client_for):
    eaten = Answer(text="", finish_reason="length", usage={"input": 10, "output": 64, "reasoning": 64})
    server, client = client_for(in_turn(eaten, says("done", usage={"input": 10, "output": 80})))
    reply = client.chat_blocking(ASK, max_output_tokens=64, deadline_s=30)
    assert reply.text == "done"
    assert reply.usage.tokens.output == 144
    assert [r.json["max_completion_tokens"] for r in server.chats] == [64, 256]


def test_reasoning_that_eats_every_limit_is_named(client_for):
    _, client = client_for(lambda _r: Answer(text="", finish_reason="length", usage={"output": 64, "reasoning": 60}))
    error = failure(client, max_output_tokens=64)
    assert error.kind is ModelErrorKind.BAD_REPLY
    assert "the output limit of 1024 tokens was used up before the model wrote anything (60 tokens of hidden" in str(
        error
    )
    assert error.usage.calls == 3


def test_half_a_json_object_is_asked_for_again_with_more_room(client_for):
    server, client = client_for(in_turn(Answer(text='{"why": "beca', finish_reason="length"), {"why": "", "score": 2}))
    assert json.loads(client.chat_blocking(ASK, schema=Grade, max_output_tokens=8, deadline_s=30).text)["score"] == 2
    assert len(server.chats) == 2
    server.respond = lambda _r: Answer(text='{"why": "beca', finish_reason="length")
    assert "truncated" in str(failure(client, schema=Grade))


def test_no_secret_in_any_error(client_for, monkeypatch):
    monkeypatch.setenv("OTHER_API_KEY", "hunter2hunter2")

    def echo(request):
        head = dict(request.headers)
        return fails(
            400, f"bad: {head}\n api_key={KEY} key hunter2hunter2 url http://x/?key=abcdef&y=1 u http://a:pw@h"
        )

    _, client = client_for(echo)
    error = str(failure(client))
    for secret in (KEY, "0123456789abcdef", "hunter2", "abcdef", "pw@"):
        assert secret not in error
    assert "\n" not in error
    assert "400 bad" in error


def test_a_key_in_the_address_is_used_but_not_shown(openai_server):
    server = openai_server(lambda r: fails(400, f"no such {r.query}"))
    url = server.base_url.replace("http://", "http://user:pass-word@") + "?api-version=7&api_key=topsecret1"
    client = ChatClient(Endpoint("m", url, KEY), retry=QUICK)
    error = str(failure(client))
    assert server.chats[0].query == "api-version=7&api_key=topsecret1"
    assert server.chats[0].path == "/v1/chat/completions"
    for text in (error, repr(client.endpoint), client.endpoint.shown_url):
        assert "topsecret1" not in text
        assert "pass-word" not in text
    assert "api-version=7" in client.endpoint.shown_url


def test_a_limited_endpoint_serves_everyone_in_the_end(openai_server, tmp_path):
    server = openai_server(lambda _r: says("ok", delay_s=0.02), limit=4)
    client = ChatClient(Endpoint("m", server.base_url, KEY), control=RunControl(tmp_path, slots=16), retry=PATIENT)

    async def all_of_them():
        return await asyncio.gather(*(client.chat(ASK, deadline_s=120) for _ in range(60)))

    assert [r.text for r in asyncio.run(all_of_them())] == ["ok"] * 60


def test_extra_fields_reach_the_endpoint(client_for):
    server, client = client_for(lambda _r: "ok")
    client.chat_blocking(ASK, deadline_s=30, extra={"id_slot": 1})
    assert server.chats[0].json["id_slot"] == 1


def test_answers_of_tool_calls_are_native_when_they_can_be(client_for):
    server, client = client_for(lambda _r: calls(("Calculator", {"expression": "1+1"})))
    reply = client.chat_blocking(ASK, tools=[CALCULATOR], deadline_s=30)
    assert server.chats[0].tool_names == ["Calculator"]
    assert (reply.tool_calls[0].name, reply.tool_calls[0].arguments) == ("Calculator", '{"expression": "1+1"}')
