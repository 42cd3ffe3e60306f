"""The test server itself: what it answers and records."""

from __future__ import annotations

import json
import socket
import threading
import urllib.error
import urllib.request

import pytest

from tests.openai_server import OpenAIServer, calls, fails, in_turn, judge, script


def post(url: str, body: object) -> tuple[int, dict]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Authorization": "Bearer k"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def chat(server: OpenAIServer, *texts: str, **more: object) -> tuple[int, dict]:
    roles = ["user", "assistant"] * len(texts)
    messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
    return post(server.base_url + "/chat/completions", {"model": "m", "messages": messages, **more})


def test_judge_finds_the_requirement_and_fills_the_schema(openai_server):
    server = openai_server(judge({"is good": 3, "It is good": 7.5}))
    schema = {"properties": {"why": {"type": "string"}, "points": {"anyOf": [{"type": "number"}, {"type": "null"}]}}}
    asked = {"type": "json_schema", "json_schema": {"name": "v", "schema": schema}}
    _, answer = chat(server, "Read this. It is good\n", response_format=asked)
    content = json.loads(answer["choices"][0]["message"]["content"])
    assert content == {"why": "scripted reason", "points": 7.5}
    assert server.chats[0].api_key == "k"


def test_script_goes_by_the_turn_of_the_conversation(openai_server):
    server = openai_server(script(calls(("T", {"a": 1})), "done", by={"other": ["else"]}))
    assert chat(server, "go")[1]["choices"][0]["finish_reason"] == "tool_calls"
    assert chat(server, "go", "called", "result")[1]["choices"][0]["message"]["content"] == "done"
    assert chat(server, "the other task")[1]["choices"][0]["message"]["content"] == "else"


def test_many_connections_at_once_are_served_and_counted(openai_server):
    everyone = threading.Barrier(100)

    def respond(_request):
        everyone.wait(60)
        return "ok"

    server = openai_server(respond)
    threads = [threading.Thread(target=chat, args=(server, "hi")) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (server.peak, len(server.chats)) == (100, 100)


def test_failures_are_api_errors(openai_server):
    server = openai_server(in_turn(fails(429, "slow down", code="rate_limit_exceeded"), "ok"))
    assert chat(server, "x")[1]["error"]["code"] == "rate_limit_exceeded"
    assert chat(server, "x")[0] == 200


def test_a_responder_that_raises_fails_the_test():
    with pytest.raises(LookupError, match="no score is scripted"), OpenAIServer(judge({"a": 1})) as server:
        assert chat(server, "something else")[0] == 500


def test_whoever_has_left_has_nothing_on_its_way_any_more(openai_server):
    busy, go_on = threading.Event(), threading.Event()

    def slow(_request):
        busy.set()
        return "done" if go_on.wait(60) else "never"

    server = openai_server(slow)
    host, port = server.base_url.removeprefix("http://").removesuffix("/v1").split(":")
    with socket.create_connection((host, int(port))) as cut_off:
        cut_off.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 9\r\n\r\n{")
    with socket.create_connection((host, int(port))) as whole:
        whole.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
        assert busy.wait(60)
        assert not server.wait_until_left(0.2)
    assert not server.wait_until_left(0.2), "it is gone, and its request is still in work"
    go_on.set()
    assert server.wait_until_left(60)
    assert sorted(request.body for request in server.requests) == [b"{", b"{}"]
    assert server.wait_until_left(60)
