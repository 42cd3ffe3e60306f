"""The local model's server: its front with pretended engines, and the real thing where the weights are at hand."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.local_model import LocalModelServer
from pytest_gta.llm.local_server import (
    DEFAULT_OUTPUT_TOKENS,
    LONGEST_STRING,
    Engine,
    LocalServer,
    was_guided,
    with_bounds,
)
from pytest_gta.llm.local_weights import weights_at_hand
from pytest_gta.llm.model_error import ModelError, ModelErrorKind
from tests.openai_server import OpenAIServer, says
from tests.waiting import eventually, runs


class PretendedEngine(Engine):
    """An engine whose process is a server of the test."""

    def __init__(self, server: OpenAIServer) -> None:
        super().__init__({})
        self.port = int(server.base_url.rpartition(":")[2].split("/")[0])

    def start(self) -> None:
        return


@contextmanager
def front(*servers: OpenAIServer) -> Iterator[tuple[LocalServer, Endpoint]]:
    server = LocalServer([PretendedEngine(s) for s in servers], "secret-key")
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/v1?key=secret-key"
        yield server, Endpoint("local", url, "", native_tools=False)
    finally:
        server.shutdown()
        server.server_close()


def prompt(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_a_conversation_stays_with_the_engine_that_knows_it(openai_server):
    engines = [openai_server(), openai_server()]
    with front(*engines) as (_, endpoint):
        client = ChatClient(endpoint)
        for turn in range(3):
            for talk in ("a", "b"):
                client.chat_blocking(prompt(talk * 4000 + "x" * turn), deadline_s=30)
    first, second = ({r.last_user_text[0] for r in engine.chats} for engine in engines)
    assert {len(first), len(second)} == {1}
    assert first | second == {"a", "b"}


def test_a_long_line_is_shared_and_each_engine_answers_one_at_a_time(openai_server):
    engines = [openai_server(lambda _r: says("ok", delay_s=0.03)) for _ in range(2)]
    with front(*engines) as (_, endpoint):
        client = ChatClient(endpoint)
        threads = [
            threading.Thread(
                target=client.chat_blocking, args=(prompt("same start " * 50 + str(i)),), kwargs={"deadline_s": 20}
            )
            for i in range(12)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [e.peak for e in engines] == [1, 1]
    assert min(len(e.chats) for e in engines) >= 4


def test_the_key_is_asked_for(openai_server):
    engine = openai_server()
    with front(engine) as (_, endpoint):
        with pytest.raises(ModelError) as caught:
            ChatClient(Endpoint("local", endpoint.url, "wrong")).chat_blocking(prompt("x"), deadline_s=30)
        assert caught.value.kind is ModelErrorKind.AUTH
        assert engine.chats == []
        assert "secret-key" not in endpoint.shown_url


def test_a_client_that_left_does_not_hold_up_the_others(openai_server):
    release = threading.Event()

    def respond(request):
        if request.last_user_text == "slow":
            release.wait(60)
        return "ok"

    engine = openai_server(respond)
    with front(engine) as (server, endpoint):
        client = ChatClient(endpoint)
        with pytest.raises(ModelError):
            client.chat_blocking(prompt("slow"), deadline_s=0.3)
        assert client.chat_blocking(prompt("quick"), deadline_s=30).text == "ok"
        release.set()
        assert eventually(lambda: server.engines[0].backlog_s == 0)


def test_other_requests_are_answered_plainly(openai_server):
    with front(openai_server()) as (_, endpoint):
        with urllib.request.urlopen(endpoint.url + "/models", timeout=30) as answer:
            assert json.load(answer)["data"][0]["id"] == "local"
        for path, body, status in (("/images/generations", b"{}", 404), ("/chat/completions", b"[1", 400)):
            request = urllib.request.Request(f"{endpoint.url}{path}?key=secret-key", body)
            with pytest.raises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(request, timeout=30)
            assert caught.value.code == status


def test_bounds_where_the_client_sets_none():
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string", "maxLength": 9}}}
    asked = {"messages": [], "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}}
    sent = with_bounds(asked)
    inner = sent["response_format"]["json_schema"]["schema"]["properties"]
    assert (sent["max_tokens"], sent["temperature"]) == (DEFAULT_OUTPUT_TOKENS, 0)
    assert (inner["a"]["maxLength"], inner["b"]["maxLength"]) == (LONGEST_STRING, 9)
    assert "maxLength" not in schema["properties"]["a"]
    assert "max_tokens" not in with_bounds({"messages": [], "max_completion_tokens": 7})


def test_a_schema_becomes_a_grammar_and_stays_a_schema_when_that_is_not_kept(openai_server):
    def respond(request):
        return "prose" if "grammar" in request.json else {"why": "so", "score": 3}

    engine = openai_server(respond)
    with front(engine) as (_, endpoint):
        reply = ChatClient(endpoint).chat_blocking(prompt("x"), schema=Verdict, deadline_s=30)
    assert json.loads(reply.text)["score"] == 3
    first, second = (r.json for r in engine.chats)
    assert first["grammar"].startswith("%llguidance {}\nstart: %json {")
    assert "response_format" not in first
    assert second["response_format"]["type"] == "json_schema"


def test_which_answers_kept_to_the_grammar():
    def answer(text: str) -> bytes:
        return json.dumps({"choices": [{"message": {"content": text}}]}).encode()

    assert was_guided(200, answer('{"a": 1}'))
    assert was_guided(200, answer('{"a": "cut o'))
    assert not was_guided(200, answer("A story"))
    assert not was_guided(400, b'{"error":{"message":"failed to parse grammar"}}')
    assert was_guided(400, b'{"error":{"message":"exceeds the available context size"}}')


class Verdict(BaseModel):
    why: str = Field(max_length=40)
    score: int = Field(ge=0, le=10)


real = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or weights_at_hand() is None,
    reason="needs the 'local' extra and the weights in the user's cache",
)


@real
def test_the_real_model_keeps_to_a_schema_and_reuses_its_prompt(tmp_path, capfd):
    log = tmp_path / "log"
    with LocalModelServer(engines=1, log=log) as endpoint:
        client = ChatClient(endpoint)
        story = prompt("The sky is blue. " * 12 + "How good is this text?")
        first = client.chat_blocking(story, schema=Verdict, deadline_s=120)
        again = client.chat_blocking(story, schema=Verdict, deadline_s=120)
        assert "\n" not in first.text, "the grammar leaves no room for free white space"
        for reply in (first, again):
            Verdict.model_validate_json(reply.text)
        assert again.usage.tokens.cached > 50
        assert again.usage.cost_usd == 0, "a model of one's own costs nothing"
        with pytest.raises(ModelError) as caught:
            client.chat_blocking(prompt("word " * 6000), deadline_s=60)
        assert caught.value.kind is ModelErrorKind.CONTEXT_EXCEEDED
    assert capfd.readouterr() == ("", "")


@real
def test_the_server_ends_with_its_killed_starter(tmp_path):
    script = """
import time
from pytest_gta.llm.local_model import LocalModelServer
print(LocalModelServer(engines=1).start().url, flush=True)
time.sleep(60)
"""
    starter = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    url = starter.stdout.readline().strip()
    family = descendants(starter.pid)
    assert len(family) == 2
    with urllib.request.urlopen(f"{url}/models", timeout=30) as answer:
        assert answer.status == 200
    os.kill(starter.pid, signal.SIGKILL)
    starter.communicate()
    assert eventually(lambda: not any(runs(pid) for pid in family))


def descendants(pid: int) -> list[int]:
    children = [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return children + [d for child in children for d in descendants(child)]
