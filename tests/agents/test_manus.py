"""Manus by its task API: a double of it, well behaved and not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pytest_gta.agents import service as service_module
from pytest_gta.agents.building import build_agent
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.manus import MANUS_URL, ManusAgent
from pytest_gta.agents.protocol import AgentUnavailable
from pytest_gta.agents.specification import AgentSpec, AgentSpecError, parse_agent_spec
from pytest_gta.benchmark.results import AgentRecord, StopReason
from tests.agents.conftest import Bench, brief
from tests.openai_server import Answer, OpenAIServer, RecordedRequest

KEY = "manus-key-0123456789"
Start = Callable[..., OpenAIServer]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "POLL_S", (0.01, 0.02))
    monkeypatch.setenv("MANUS_API_KEY", KEY)


def status(state: str) -> dict[str, Any]:
    return {"type": "status_update", "status_update": {"agent_status": state}}


def said(text: Any, *attachments: tuple[str, str]) -> dict[str, Any]:
    listed = [{"type": "file", "filename": name, "url": url} for name, url in attachments]
    return {"type": "assistant_message", "assistant_message": {"content": text, "attachments": listed}}


def failed(text: str) -> dict[str, Any]:
    return {"type": "error_message", "error_message": {"content": text}}


@pytest.fixture
def double(openai_server: Start) -> Start:
    """Start a double; messages are what its task has said so far, the newest first, by look."""

    def start(*looks: Any, files: dict[str, Answer] | None = None, **routes: Answer) -> OpenAIServer:
        left = list(looks)

        def address(path: str) -> str:
            return server.base_url.removesuffix("/v1") + path

        def messages(_: RecordedRequest) -> Answer:
            look = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(look, Answer):
                return look
            text = json.dumps({"ok": True, "messages": look}).replace("FILES", address("/files"))
            return Answer(body=text)

        def uploaded(request: RecordedRequest) -> Answer:
            name = request.json["filename"]
            return Answer(body={"ok": True, "file": {"id": f"id-{name}"}, "upload_url": address("/put")})

        table: dict[str, Any] = {
            "/v2/file.upload": uploaded,
            "/put": lambda _: Answer(body=b""),
            "/v2/task.create": lambda _: Answer(body={"ok": True, "task_id": "t1"}),
            "/v2/task.listMessages": messages,
            "/v2/task.stop": lambda _: Answer(body={"ok": True}),
        }
        table |= {path: lambda _, answer=answer: answer for path, answer in (files or {}).items()}
        table |= {"/" + name.replace("__", "/").replace("_", "."): lambda _, a=a: a for name, a in routes.items()}
        server = openai_server(routes=table)
        return server

    return start


def run(bench: Bench, server: OpenAIServer, *, timeout_s: float = 20.0, profile: str = "") -> AgentRecord:
    told = {"GTA_MODEL": profile} if profile else {}
    url = server.base_url.removesuffix("/v1") + "/"
    agent = ManusAgent(url, "manus", Limits(task_timeout_s=timeout_s), environment=told)
    return bench.run(agent, brief("Add it up.", inputs=bench.workspace.inputs), deadline_s=timeout_s)


def sent(server: OpenAIServer, path: str) -> list[RecordedRequest]:
    return [request for request in server.requests if request.path == path]


def test_inputs_go_up_and_attachments_come_down(bench: Bench, double: Start) -> None:
    server = double(
        Answer(status=404, body={"ok": False}),
        [status("running")],
        [status("stopped"), said("Here it is.", ("sum.txt", "FILES/2")), said("A draft.", ("sum.txt", "FILES/1"))],
        files={"/files/2": Answer(body=b"42"), "/files/1": Answer(body=b"41")},
    )
    record = run(bench, server, profile="manus-1.6-max")
    assert (record.stop_reason, record.final_answer, record.stop_detail) == (StopReason.FINISHED, "Here it is.", "")
    assert record.usage.cost_usd is None
    assert [d.path for d in bench.workspace.deliverables().files] == ["sum.txt"]
    assert (bench.workspace.root / "sum.txt").read_text() == "42"
    (put,) = sent(server, "/put")
    assert (put.method, put.body) == ("PUT", b"42 apples")
    body = sent(server, "/v2/task.create")[0].json
    text, file = body["message"]["content"]
    assert "Add it up." in text["text"] and "- notes.txt (the request calls it resources/notes.txt)" in text["text"]
    assert (file, body["agent_profile"]) == ({"type": "file", "file_id": "id-notes.txt"}, "manus-1.6-max")
    assert body["interactive_mode"] is False
    asked = {request.path: request.headers.get("x-manus-api-key") for request in server.requests}
    assert asked["/v2/task.create"] == asked["/v2/task.listMessages"] == KEY
    # The key is for the service alone.
    assert asked["/put"] is asked["/files/2"] is None


def test_a_task_that_failed_is_the_agents_error_and_its_files_are_judged(bench: Bench, double: Start) -> None:
    server = double(
        [
            status("error"),
            failed("The sandbox crashed"),
            said([{"type": "text", "text": "Half."}], ("a.txt", "FILES/1")),
        ],
        files={"/files/1": Answer(body=b"half")},
    )
    record = run(bench, server)
    assert (record.stop_reason, record.final_answer) == (StopReason.AGENT_ERROR, "Half.")
    assert record.stop_detail == "the service says that it failed: The sandbox crashed"
    assert [d.path for d in bench.workspace.deliverables().files] == ["a.txt"]


def test_a_question_of_the_agent_is_its_last_word(bench: Bench, double: Start) -> None:
    record = run(bench, double([status("waiting"), said("Which year?")]))
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "Which year?")


def test_one_that_stalls_is_stopped_and_judged(bench: Bench, double: Start) -> None:
    server = double(
        [status("running"), said("So far.", ("a.txt", "FILES/1"))], files={"/files/1": Answer(body=b"half")}
    )
    record = run(bench, server, timeout_s=0.5)
    assert (record.stop_reason, record.final_answer) == (StopReason.TIMEOUT, "So far.")
    assert sent(server, "/v2/task.stop")[0].json == {"task_id": "t1"}
    assert (bench.workspace.root / "a.txt").read_text() == "half"


REFUSED = {"ok": False, "error": {"code": "permission_denied", "message": f"bad key {KEY}"}}
CREATE, LIST = "v2__task_create", "v2__task_listMessages"


@pytest.mark.parametrize(
    ("routes", "reason"),
    [
        ({CREATE: Answer(status=401, body=REFUSED)}, r"does not serve /v2/task.create: it answers 401"),
        ({CREATE: Answer(body=REFUSED)}, r"refuses the new task: permission_denied: bad key \[secret\]"),
        ({CREATE: Answer(status=402, body={"error": "Insufficient credits"})}, "402: .*Insufficient credits"),
        ({CREATE: Answer(body={"ok": True})}, "does not speak the protocol: the new task has no `task_id`"),
        ({CREATE: Answer(status=307, headers={"Location": "http://evil.example/"})}, "redirects to evil.example,"),
        ({CREATE: Answer(body="<html>")}, "the new task is not a JSON object"),
        ({"v2__file_upload": Answer(body={"ok": True, "file": {"id": "f"}})}, "has no `upload_url`"),
        ({"put": Answer(status=403, body="expired")}, "does not take the input resources/notes.txt: it answers 403"),
        ({LIST: Answer(body={"ok": True, "messages": 7})}, "`messages` is not a list"),
        ({LIST: Answer(body={"ok": True, "messages": [status("asleep")]})}, '`agent_status` is "asleep"'),
        (
            {LIST: Answer(body={"ok": True, "messages": [status("error"), failed("You have run out of credits")]})},
            "does not serve: You have run out of credits",
        ),
    ],
)  # fmt: skip
def test_what_is_not_the_agents_fault_is_an_error(
    bench: Bench, double: Start, monkeypatch: pytest.MonkeyPatch, routes: dict[str, Answer], reason: str
) -> None:
    server = double([status("running")], **routes)
    with pytest.raises(AgentUnavailable, match=reason) as fault:
        run(bench, server)
    assert KEY not in str(fault.value) and "\n" not in str(fault.value)
    assert len(sent(server, "/v2/task.create")) <= 1


@pytest.mark.parametrize(
    "answer", [Answer(status=403, body="expired"), Answer(body=b"4", headers={"Content-Length": "9"}, hang_up=True)]
)
def test_a_file_that_does_not_come_whole_is_an_error(
    bench: Bench, double: Start, monkeypatch: pytest.MonkeyPatch, answer: Answer
) -> None:
    monkeypatch.setattr("pytest_gta.agents.manus.TRIES", 1)
    monkeypatch.setattr(service_module, "TRIES", 1)
    server = double([status("stopped"), said("Done.", ("a.txt", "FILES/1"))], files={"/files/1": answer})
    with pytest.raises(AgentUnavailable, match=r"does not hand over a\.txt"):
        run(bench, server)


def test_names_of_files_cannot_leave_the_workspace(bench: Bench, double: Start) -> None:
    server = double(
        [status("stopped"), said("Done.", ("../../out.txt", "FILES/1"), ("", "FILES/1"))],
        files={"/files/1": Answer(body=b"x")},
    )
    record = run(bench, server)
    assert [d.path for d in bench.workspace.deliverables().files] == ["out.txt"]
    assert record.stop_detail == "not taken: a file without a path"


def test_how_it_is_named() -> None:
    assert parse_agent_spec("manus") == AgentSpec("manus", "", "manus")
    assert parse_agent_spec("manus", model="manus-1.6") == AgentSpec("manus", "", "manus-1.6")
    local = parse_agent_spec("manus:http://localhost:8000")
    assert local == AgentSpec("manus", "http://localhost:8000", "localhost-8000")
    with pytest.raises(AgentSpecError, match="put a key in MANUS_API_KEY"):
        parse_agent_spec("manus:https://api.manus.ai?key=x")
    agent = build_agent(parse_agent_spec("manus"), Limits())
    assert isinstance(agent, ManusAgent) and agent._url == MANUS_URL
