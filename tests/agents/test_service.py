"""A web service as an agent, well behaved and not."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from pytest_gta.agents import service as service_module
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import AgentUnavailable
from pytest_gta.agents.service import ServiceAgent
from pytest_gta.benchmark.results import AgentRecord, StopReason
from tests.agents.conftest import Bench, brief

Reply = tuple[int, dict[str, str], bytes] | None
"""Status, headers, body; None never answers."""


def as_json(value: Any, status: int = 200) -> Reply:
    return status, {}, json.dumps(value).encode()


@dataclass
class Double:
    """A service that answers as a test says: by the request's path, the last of several answers again and again."""

    answers: dict[str, list[Reply]]
    url: str = ""
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def reply(self, path: str) -> Reply:
        queue = self.answers.get(path, [(404, {}, b"no such path")])
        return queue.pop(0) if len(queue) > 1 else queue[0]

    def paths(self) -> list[str]:
        return [f"{method} {path}" for method, path, _, _ in self.requests]


@pytest.fixture
def serve() -> Iterator[Callable[..., Double]]:
    servers = []

    def start(**answers: Any) -> Double:
        named = {"/tasks": as_json({"id": 7}), "/tasks/7": as_json({"status": "finished", "final_answer": "Done."})}
        named |= answers.pop("at", {})
        double = Double({path: reply if isinstance(reply, list) else [reply] for path, reply in named.items()})

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                double.requests.append((self.command, self.path, headers, body))
                reply = double.reply(self.path)
                if reply is None:
                    double.closing.wait(30)
                    return
                status, headers, data = reply
                self.send_response(status)
                for name, value in {"Content-Length": str(len(data)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = handle_any  # noqa: N815

            def log_message(self, *_: Any) -> None:
                return

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        double.url = f"http://127.0.0.1:{server.server_address[1]}"
        servers.append((server, double))
        return double

    yield start
    for server, double in servers:
        double.closing.set()
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "POLL_S", (0.01, 0.02))
    monkeypatch.setattr(service_module, "REQUEST_S", 1.0)
    # The tools' server takes a second to start, and has tests of its own.
    monkeypatch.setattr(service_module, "is_loopback", lambda _address: False)


def run(bench: Bench, double: Double, timeout_s: float = 20.0) -> AgentRecord:
    agent = ServiceAgent(double.url + "/", "service", Limits(task_timeout_s=timeout_s), environment={"GTA_MODEL": "m"})
    return bench.run(agent, brief("Do it.", inputs=bench.workspace.inputs))


def finished(*files: Any, **more: Any) -> Reply:
    return as_json({"status": "finished", "final_answer": "Done.", "files": list(files), **more})


def test_a_task_is_handed_in_and_its_files_are_fetched(
    bench: Bench, serve: Callable[..., Double], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GTA_AGENT_TOKEN", "token-1234567890")
    double = serve(
        at={
            "/tasks/7": [as_json({"status": "running"}), finished({"path": "a/b c.csv", "bytes": 3}, "d.txt")],
            "/tasks/7/files/a/b%20c.csv": (200, {}, b"x,y"),
            "/tasks/7/files/d.txt": (200, {}, b""),
        }
    )
    record = run(bench, double)
    assert (record.stop_reason, record.final_answer, record.stop_detail) == (StopReason.FINISHED, "Done.", "")
    assert (record.label, record.usage.cost_usd) == ("service", None)
    assert {d.path: d.bytes for d in bench.workspace.deliverables().files} == {"a/b c.csv": 3, "d.txt": 0}
    method, path, headers, body = double.requests[0]
    assert (method, path, headers["authorization"]) == ("POST", "/tasks", "Bearer token-1234567890")
    assert json.loads(body) == {
        "task_id": "7",
        "request": "Do it.",
        "model": "m",
        "deadline_s": 20.0,
        "files": [{"path": "resources/notes.txt", "base64": "NDIgYXBwbGVz"}],
    }


def test_a_failure_is_the_agents_and_its_files_are_judged(bench: Bench, serve: Callable[..., Double]) -> None:
    failed = as_json({"status": "failed", "error": "I gave up", "files": [{"path": "a.txt", "bytes": 1}]})
    record = run(bench, serve(at={"/tasks/7": failed, "/tasks/7/files/a.txt": (200, {}, b"x")}))
    assert record.stop_reason is StopReason.AGENT_ERROR
    assert record.stop_detail == "the service says that it failed: I gave up"
    assert [d.path for d in bench.workspace.deliverables().files] == ["a.txt"]


def test_an_outage_behind_the_service(bench: Bench, serve: Callable[..., Double]) -> None:
    failed = as_json({"status": "failed", "error": "model: 503 Service Unavailable"})
    with pytest.raises(AgentUnavailable, match="its model endpoint does not serve: model: 503"):
        run(bench, serve(at={"/tasks/7": failed}))


def test_the_deadline(bench: Bench, serve: Callable[..., Double]) -> None:
    running = as_json({"status": "running", "final_answer": "so far", "files": [{"path": "a.txt"}]})
    double = serve(at={"/tasks/7": running, "/tasks/7/files/a.txt": (200, {}, b"x")})
    record = run(bench, double, timeout_s=2.5)
    assert (record.stop_reason, record.final_answer) == (StopReason.TIMEOUT, "so far")
    assert record.stop_detail == "still at work after 2.5 s"
    assert "POST /tasks/7/cancel" in double.paths()
    assert [d.path for d in bench.workspace.deliverables().files] == ["a.txt"]


def test_a_stall_is_tried_again_and_then_an_error(bench: Bench, serve: Callable[..., Double]) -> None:
    double = serve(at={"/tasks/7": [None, (503, {}, b"busy"), finished()]})
    assert run(bench, double).stop_reason is StopReason.FINISHED
    with pytest.raises(AgentUnavailable, match=r"does not serve /tasks/7: no whole answer within 1 s"):
        run(bench, serve(at={"/tasks/7": None}))


def test_a_task_is_handed_in_once(bench: Bench, serve: Callable[..., Double]) -> None:
    double = serve(at={"/tasks": (503, {}, b"busy")})
    with pytest.raises(AgentUnavailable, match="does not serve /tasks: it answers 503: busy"):
        run(bench, double)
    assert double.paths() == ["POST /tasks"]


def test_no_connection(bench: Bench) -> None:
    with pytest.raises(AgentUnavailable, match=r"http://127\.0\.0\.1:9 does not serve /tasks: .*refused"):
        run(bench, Double({}, url="http://127.0.0.1:9"))


@pytest.mark.parametrize(
    ("body", "told"),
    [(b"12345", None), (b"12345", 9), (b"", 9), (b"1234567890", 9)],
    ids=["short", "cut", "none", "long"],
)
def test_lengths_that_are_lies(bench: Bench, serve: Callable[..., Double], body: bytes, told: int | None) -> None:
    headers = {"Content-Length": str(len(body) + 4)} if told is None else {}
    double = serve(
        at={"/tasks/7": finished({"path": "a.txt", "bytes": told or 5}), "/tasks/7/files/a.txt": (200, headers, body)}
    )
    with pytest.raises(AgentUnavailable, match=r"does not (hand over|serve) .*a\.txt"):
        run(bench, double)
    assert bench.workspace.deliverables().files == ()


def test_redirects_are_not_followed(bench: Bench, serve: Callable[..., Double]) -> None:
    target = serve()
    double = serve(at={"/tasks": (307, {"Location": f"{target.url}/tasks?key=secret"}, b"")})
    with pytest.raises(AgentUnavailable, match="redirects to 127") as fault:
        run(bench, double)
    assert target.requests == [] and "secret" not in str(fault.value)
    moved = serve(
        at={"/tasks/7/files/a.txt": (302, {"Location": "file:///etc/passwd"}, b""), "/tasks/7": finished("a.txt")}
    )
    with pytest.raises(AgentUnavailable, match="redirects to another path"):
        run(bench, moved)


@pytest.mark.parametrize(
    ("at", "fault"),
    [
        ({"/tasks": (200, {}, b"<html>")}, "the new task is not a JSON object"),
        ({"/tasks": as_json({"task": 7})}, "the new task has no `id`"),
        ({"/tasks/7": as_json([])}, "task 7 is not a JSON object"),
        ({"/tasks/7": as_json({"status": "done"})}, '`status` is "done"'),
        ({"/tasks/7": as_json({"status": "finished", "files": "a.txt"})}, "`files` is not a list"),
        ({"/tasks": (401, {}, b"who are you")}, "it answers 401: who are you"),
        ({"/tasks/7": finished("a.txt")}, "does not serve /tasks/7/files/a.txt: it answers 404"),
    ],
)
def test_nonsense_is_an_error(bench: Bench, serve: Callable[..., Double], at: dict[str, Reply], fault: str) -> None:
    with pytest.raises(AgentUnavailable, match=fault):
        run(bench, serve(at=at))


def test_paths_that_leave_the_workspace_are_not_taken(bench: Bench, serve: Callable[..., Double]) -> None:
    bad = ["../up.txt", "/etc/x", "resources/notes.txt", ".hidden", "a/../../b", {"bytes": 1}]
    big = {"path": "big.bin", "bytes": 600 * 1024**2}
    double = serve(at={"/tasks/7": finished(*bad, big, "ok.txt"), "/tasks/7/files/ok.txt": (200, {}, b"x")})
    record = run(bench, double)
    assert record.stop_reason is StopReason.FINISHED
    assert [d.path for d in bench.workspace.deliverables().files] == ["ok.txt"]
    notes = [step.text for step in bench.steps_of("note")]
    assert len(notes) == 7 and all(note.startswith("not taken: ") for note in notes)
    assert list(record.notes) == notes
    assert (bench.workspace.root / "resources" / "notes.txt").read_text() == "42 apples"
