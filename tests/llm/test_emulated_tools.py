"""Tool calls through a JSON schema, seen from both ends."""

from __future__ import annotations

import json

import pytest

from pytest_gta.llm import capabilities
from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.emulated_tools import call_schema, describe, in_plain_text
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.model_error import ModelError, ModelErrorKind
from tests.openai_server import fails, in_turn, says


def tool(name: str, **properties: dict) -> dict:
    parameters = {"type": "object", "properties": properties, "required": list(properties)[:1]}
    return {"type": "function", "function": {"name": name, "description": f"Does\n {name}.", "parameters": parameters}}


TOOLS = [
    tool("ReadPDF", path={"type": "string"}, pages={"type": "array", "items": {"type": "integer"}}),
    tool("Plot", code={"type": "string"}, kind={"enum": ["bar", "line"]}),
]
ASK = [{"role": "system", "content": "You are careful."}, {"role": "user", "content": "Sum it up."}]


@pytest.fixture(autouse=True)
def forget_endpoints():
    capabilities.capabilities_of.cache_clear()


@pytest.fixture
def client_for(openai_server):
    def make(respond, native_tools=False):
        server = openai_server(respond)
        return server, ChatClient(Endpoint("m", server.base_url, "", native_tools=native_tools))

    return make


def test_the_description_is_short_and_complete():
    assert describe(TOOLS).splitlines()[1:3] == [
        "- ReadPDF(path: text, pages?: list of whole number): Does ReadPDF.",
        "- Plot(code: text, kind?: bar|line): Does Plot.",
    ]


def test_a_call_and_then_the_answer(client_for):
    server, client = client_for(
        in_turn({"tool": "ReadPDF", "arguments": {"path": "a.pdf"}}, {"final_answer": "It says 7."})
    )
    first = client.chat_blocking(ASK, tools=TOOLS, deadline_s=30)
    (call,) = first.tool_calls
    assert (call.name, json.loads(call.arguments), first.text) == ("ReadPDF", {"path": "a.pdf"}, "")
    result = {"role": "tool", "tool_call_id": call.id, "content": "page 1: 7"}
    second = client.chat_blocking([*ASK, first.message, result], tools=TOOLS, deadline_s=30)
    assert (second.text, second.tool_calls) == ("It says 7.", ())

    sent = server.chats[1].json
    assert "tools" not in sent
    assert sent["response_format"]["json_schema"]["schema"] == call_schema(TOOLS)
    assert [m["role"] for m in sent["messages"]] == ["system", "user", "assistant", "user"]
    assert sent["messages"][0]["content"].startswith("You are careful.\n\nYou act by calling tools")
    assert json.loads(sent["messages"][2]["content"]) == {"tool": "ReadPDF", "arguments": {"path": "a.pdf"}}
    assert sent["messages"][3]["content"] == "Result of ReadPDF:\n\npage 1: 7"


def test_the_prompt_only_grows_at_its_end(client_for):
    server, client = client_for(lambda _r: {"tool": "Plot", "arguments": {"code": "x"}})
    history = list(ASK)
    for _ in range(3):
        reply = client.chat_blocking(history, tools=TOOLS, deadline_s=30)
        history += [reply.message, {"role": "tool", "tool_call_id": reply.tool_calls[0].id, "content": "ok"}]
    first, second, third = (r.messages for r in server.chats)
    assert second[: len(first)] == first
    assert third[: len(second)] == second


@pytest.mark.parametrize(
    "text",
    ["I would rather talk.", "", '{"tool": "Plot", "argum', "[1, 2]", '{"other": 1}', '{"tool": null}', "null", "{}"],
)
def test_malformed_replies_are_text(client_for, text):
    _, client = client_for(lambda _r: says(text))
    reply = client.chat_blocking(ASK, tools=TOOLS, deadline_s=30)
    assert (reply.text, reply.tool_calls) == (text, ())


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('```json\n{"tool": "Plot", "arguments": {"code": "a\nb"}}\n```', '{"code": "a\\nb"}'),
        ('<think>{"tool": "X"}</think>Now {"tool": "Plot", "arguments": [1]}', "[1]"),
        ('{"tool": "Plot"}', "{}"),
        ('{"tool": "Plot", "arguments": "{\\"code\\": 1"}', '{"code": 1'),
        ('{"tool": "Plot", "arguments": null}', "null"),
    ],
)
def test_calls_are_found_and_their_arguments_left_to_the_tool(client_for, text, arguments):
    _, client = client_for(lambda _r: says(text))
    (call,) = client.chat_blocking(ASK, tools=TOOLS, deadline_s=30).tool_calls
    assert (call.name, call.arguments) == ("Plot", arguments)


def test_a_final_answer_that_is_not_text_is_kept(client_for):
    _, client = client_for(lambda _r: {"final_answer": {"total": 3}})
    assert client.chat_blocking(ASK, tools=TOOLS, deadline_s=30).text == '{"total": 3}'


def test_parallel_calls_and_pictures_of_an_older_history_are_kept():
    def call(i: int) -> dict:
        return {"id": f"c{i}", "type": "function", "function": {"name": "Plot", "arguments": f'{{"code":"{i}"}}'}}

    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    history = [
        {"role": "user", "content": [{"type": "text", "text": "look"}, picture]},
        {"role": "assistant", "content": "Both.", "tool_calls": [call(1), call(2)]},
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
    ]
    plain = in_plain_text(history, TOOLS)
    assert [m["role"] for m in plain] == ["system", "user", "assistant", "user"]
    assert plain[1]["content"][1] == picture
    assert plain[2]["content"].splitlines()[0] == "Both."
    assert json.loads(plain[2]["content"].split("\n")[2]) == {"tool": "Plot", "arguments": {"code": "2"}}
    assert plain[3]["content"] == "Result of Plot:\n\none\n\nResult of Plot:\n\ntwo"
    assert history[1]["tool_calls"][0]["id"] == "c1"


@pytest.mark.parametrize(
    "words",
    [
        "registry.ollama.ai/library/x does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "No endpoints found that support tool use",
        "Unrecognized request argument supplied: tools",
    ],
)
def test_an_endpoint_that_rejects_tools_gets_them_in_words(client_for, words):
    def respond(request):
        return fails(400, words) if "tools" in request.json else {"tool": "Plot", "arguments": {"code": "1"}}

    server, client = client_for(respond, native_tools=True)
    for _ in range(2):
        assert client.chat_blocking(ASK, tools=TOOLS, deadline_s=30).tool_calls[0].name == "Plot"
    assert len(server.chats) == 3
    assert client.adaptations == ("tools are offered in words, calls read from JSON: the endpoint rejects `tools`",)


@pytest.mark.parametrize(
    ("words", "param"),
    [
        ("An assistant message with 'tool_calls' must be followed by tool messages", "messages.[3].role"),
        ("Invalid schema for function 'Plot'", "tools[0].function.parameters"),
    ],
)
def test_a_fault_of_ours_is_not_taken_for_missing_tools(client_for, words, param):
    from tests.openai_server import Answer

    body = {"error": {"message": words, "param": param, "code": None}}
    server, client = client_for(lambda _r: Answer(status=400, body=body), native_tools=True)
    with pytest.raises(ModelError) as caught:
        client.chat_blocking(ASK, tools=TOOLS, deadline_s=30)
    assert caught.value.kind is ModelErrorKind.BAD_REQUEST
    assert len(server.chats) == 1
