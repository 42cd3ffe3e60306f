"""A real HTTP server on loopback that speaks the OpenAI API and answers as a test's Python function says.

    def respond(request):
        return "hello" if request.number else fails(503)

    from tests.openai_server import OpenAIServer, fails

    with OpenAIServer(respond) as server:  # or server = openai_server(respond), a fixture of tests/conftest.py
        ...  # point a client, or GTA_BASE_URL of a subprocess, at server.base_url
    assert server.peak == 4 and len(server.chats) == 2

It lives in the test's process and serves any number of other processes (xdist workers, a `pytest` subprocess).
A responder gets a `RecordedRequest` and returns an `Answer`, or a str (the reply's text), or a dict (the reply's text
as JSON). Ready-made answers: `says`, `calls`, `refuses`, `fails`, `hangs`, `drips`, `hangs_up`.
Ready-made responders: `judge`, `script`, `in_turn`, `by_model`.
An exception in a responder answers 500 and is raised again when the `with` block ends.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.server_events import MEDIA_TYPE, streamed


@dataclass(frozen=True)
class RecordedRequest:
    """One request as it came in."""

    number: int
    """Position among all requests of the server, from 0."""
    method: str
    path: str
    """Without the query, e.g. ``/v1/chat/completions``."""
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes
    at: float
    """`time.monotonic()` when it had arrived."""
    in_flight: int
    """Requests being answered, this one included."""
    json: Any = None
    """The parsed body; None when it is not JSON."""
    query: str = ""

    @property
    def is_chat(self) -> bool:
        return self.path.endswith("/chat/completions")

    @property
    def is_response(self) -> bool:
        return self.path.endswith("/responses")

    @property
    def wants_stream(self) -> bool:
        return isinstance(self.json, dict) and bool(self.json.get("stream")) and (self.is_chat or self.is_response)

    @property
    def model(self) -> str:
        return str(self.json.get("model", "")) if isinstance(self.json, dict) else ""

    @property
    def api_key(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Of a Responses request, its input as the chat API would have it; a picture's `url` may be a file's id."""
        if not isinstance(self.json, dict):
            return []
        return list(self.json.get("messages") or map(_chat_message, self.json.get("input", [])))

    @property
    def turn(self) -> int:
        """How many assistant messages the conversation holds: 0 for an agent's first call."""
        return sum(m.get("role") == "assistant" for m in self.messages)

    @property
    def texts(self) -> list[str]:
        """The text of every message, in order; pictures and files left out."""
        return [_text(m) for m in self.messages]

    @property
    def first_user_text(self) -> str:
        return next((_text(m) for m in self.messages if m.get("role") == "user"), "")

    @property
    def last_user_text(self) -> str:
        """The last text of the last user message."""
        return next((_last_text(m) for m in reversed(self.messages) if m.get("role") == "user"), "")

    @property
    def pictures(self) -> int:
        """How many picture parts the request carries."""
        parts = [p for m in self.messages if isinstance(m.get("content"), list) for p in m["content"]]
        return sum(p.get("type") == "image_url" for p in parts)

    @property
    def tool_names(self) -> list[str]:
        """The tools offered."""
        offered = (self.json or {}).get("tools") or []
        # The Responses API has no `function` around one, groups them, and has tools of its own without a name.
        flat = [inner for tool in offered for inner in tool.get("tools") or [tool]]
        return [str(tool.get("function", tool).get("name", "")) for tool in flat]

    @property
    def tool_results(self) -> list[tuple[str, str]]:
        """(call id, text) of every tool message, in order."""
        return [(m.get("tool_call_id", ""), _text(m)) for m in self.messages if m.get("role") == "tool"]

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema asked for by ``response_format``."""
        if self.is_response:
            return (self.json or {}).get("text", {}).get("format", {}).get("schema")
        asked = (self.json or {}).get("response_format") or {}
        return asked.get("json_schema", {}).get("schema")


@dataclass(frozen=True)
class Answer:
    """What to send back. `body` (with `status`) replaces the chat completion that is built from the other fields."""

    text: str | None = ""
    tool_calls: tuple[tuple[str, str | dict[str, Any]], ...] = ()
    """(tool, arguments): arguments given as a str are sent as they are."""
    refusal: str | None = None
    finish_reason: str | None = None
    """Default: ``tool_calls`` or ``stop``."""
    usage: Mapping[str, int] | None = None
    """Any of input, cached, output, reasoning; an empty mapping sends no usage. Default: four characters a token."""
    status: int = 200
    body: Any = None
    """bytes and str are sent as they are, anything else as JSON."""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_s: float | None = None
    """Seconds between the bytes of the body."""
    hang: bool = False
    """Accept, never answer."""
    hang_up: bool = False
    """Close the connection without an answer."""


Responder = Callable[[RecordedRequest], "Answer | str | dict[str, Any]"]


def says(text: str, **more: Any) -> Answer:
    """A reply of text."""
    return Answer(text=text, **more)


def calls(*tool_calls: tuple[str, str | dict[str, Any]], text: str | None = None, **more: Any) -> Answer:
    """A reply of tool calls: ``calls(("Calculator", {"expression": "1+1"}))``."""
    return Answer(text=text, tool_calls=tool_calls, **more)


def refuses(text: str = "I can't help with that.", **more: Any) -> Answer:
    """A refusal in the field the API has for it."""
    return Answer(text=None, refusal=text, **more)


def fails(
    status: int, message: str = "scripted failure", *, code: str | None = None, retry_after: float | None = None
) -> Answer:
    """An API error. `code` is the error's ``code`` and ``type``."""
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    return Answer(status=status, body={"error": {"message": message, "type": code, "code": code}}, headers=headers)


def hangs() -> Answer:
    """Accept and never answer."""
    return Answer(hang=True)


def drips(text: str = "slow", seconds: float = 1.0) -> Answer:
    """Send the answer's body a byte at a time."""
    return Answer(text=text, drip_s=seconds)


def hangs_up() -> Answer:
    """Close the connection without an answer."""
    return Answer(hang_up=True)


def in_turn(*answers: Answer | str | dict[str, Any]) -> Responder:
    """The n-th chat request gets the n-th answer; the last one is repeated."""
    lock, given = threading.Lock(), iter(answers)
    last: list[Answer | str | dict[str, Any]] = [answers[-1]]

    def respond(_request: RecordedRequest) -> Answer | str | dict[str, Any]:
        with lock:
            return next(given, last[0])

    return respond


def script(
    *replies: Answer | str | dict[str, Any], by: Mapping[str, Sequence[Answer | str | dict[str, Any]]] | None = None
) -> Responder:
    """An agent: the reply is chosen by how many assistant messages the conversation holds; the last one is repeated.

    It keeps no state, so any number of tasks, attempts and processes may share it. `by` gives another script to
    conversations whose first user message contains the key.
    """

    def respond(request: RecordedRequest) -> Answer | str | dict[str, Any]:
        chosen = next((s for text, s in (by or {}).items() if text in request.first_user_text), replies)
        return chosen[min(request.turn, len(chosen) - 1)]

    return respond


def judge(
    scores: Mapping[str, float] | Callable[[RecordedRequest], Any], *, default: Any = None, **more: Any
) -> Responder:
    """A judge that knows the score of each requirement, found at the end of the request's last user text.

    The reply is a JSON object with the fields of the schema that was asked for: numbers get the score, strings a
    reason; without a schema ``{"analysis": ..., "score": ...}``. `default` is the score of a requirement that is not
    listed; without it that is an error. A "score" may be anything a bad judge could write there, an `Answer` included.
    `more` goes to every `Answer` (``delay_s=0.2``, ``usage=...``).
    """
    longest_first = [] if callable(scores) else sorted(scores, key=len, reverse=True)

    def respond(request: RecordedRequest) -> Answer:
        if callable(scores):
            score = scores(request)
        else:
            text = request.last_user_text.rstrip()
            found = next((r for r in longest_first if text.endswith(r.rstrip())), None)
            found = found or next((r for r in longest_first if r.strip() in text), None)
            if found is None and default is None:
                raise LookupError(f"no score is scripted for the requirement at the end of: ...{text[-300:]!r}")
            score = default if found is None else scores[found]
        if isinstance(score, Answer):
            return replace(score, **more)
        return Answer(text=json.dumps(_filled(request.schema, score)), **more)

    return respond


def by_model(responders: Mapping[str, Responder]) -> Responder:
    """Choose the responder by the request's model name: ``by_model({"judge-1": judge(...), "m": script(...)})``."""
    return lambda request: responders[request.model](request)


class OpenAIServer:
    """The server; a context manager.

    Args:
        respond: Answers chat completions (and, with `responses`, Responses requests; else ``/v1/responses`` is a 404).
        routes: Answers of other paths, e.g. ``{"/v1/images/generations": respond}``; they set `Answer.body`.
        limit: More requests than this at once are answered 429 with ``Retry-After: 0.05``.
        models: What ``GET /v1/models`` lists; nothing, like a server that takes any name, unless given.
        responses: Whether `respond` answers ``/v1/responses`` as well.
        store: Whether there is a file store at ``/v1/files``.
    """

    def __init__(
        self,
        respond: Responder = lambda _request: "ok",
        *,
        routes: Mapping[str, Responder] | None = None,
        limit: int | None = None,
        models: Sequence[str] = (),
        responses: bool = False,
        store: bool = True,
    ) -> None:
        self.respond = respond
        self.routes: dict[str, Responder] = {
            "/v1/models": lambda _r: Answer(
                body={"object": "list", "data": [{"id": m, "object": "model", "owned_by": "test"} for m in models]}
            ),
            **({"/v1/files": self._file} if store else {}),
            **({"/v1/responses": respond} if responses else {}),
            **(routes or {}),
        }
        self.limit = limit
        self.requests: list[RecordedRequest] = []
        self.uploads: list[RecordedRequest] = []
        self.deleted: list[str] = []
        """The ids of files that were removed from the store."""
        self.peak = 0
        """The most requests that were in work at one time."""
        self.faults: list[BaseException] = []
        """What responders raised."""
        self._lock = threading.Lock()
        self._in_flight = 0
        self._closing = threading.Event()
        self._connections: dict[socket.socket, Any] = {}
        """Who is at the other end of each."""
        self._http = _Listener(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        """E.g. ``http://127.0.0.1:40123/v1``."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def chats(self) -> list[RecordedRequest]:
        """The chat requests so far."""
        return [r for r in list(self.requests) if r.is_chat]

    def wait_until_left(self, limit_s: float) -> bool:
        """Wait until whoever had connected before this call has gone, and all they sent is in `requests`.

        Returns:
            Whether they went within the limit.
        """
        # Taken in only after all that stood in line before it.
        with socket.create_connection(self._http.server_address[:2], limit_s) as last:
            own = last.getsockname()
            end = time.monotonic() + limit_s
            while time.monotonic() < end:
                with self._lock:
                    before_it = [peer for peer in self._connections.values() if peer != own]
                    if own in self._connections.values() and not before_it:
                        return True
                time.sleep(0.02)
        return False

    def environment(self, prefix: str = "OPENAI") -> dict[str, str]:
        """Environment variables that point a subprocess here (``EVAL_OPENAI`` for the judge)."""
        return {f"{prefix}_BASE_URL": self.base_url, f"{prefix}_API_KEY": "sk-test-0123456789abcdef"}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close()
        if self.faults and kind is None:
            raise self.faults[0]

    def close(self) -> None:
        """Stop, and cut every open connection."""
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        with self._lock:
            open_now = list(self._connections)
        for connection in open_now:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def _file(self, request: RecordedRequest) -> Answer:
        if request.method == "POST":
            self.uploads.append(request)
            number = len(self.uploads)
            kept = {"id": f"file-{number}", "object": "file", "bytes": len(request.body), "created_at": 1}
            return Answer(body={**kept, "filename": f"upload-{number}", "purpose": "user_data", "status": "processed"})
        name = request.path.rpartition("/")[2]
        if request.method == "DELETE":
            self.deleted.append(name)
            return Answer(body={"id": name, "object": "file", "deleted": True})
        return Answer(body={"object": "list", "data": [], "has_more": False})

    def _answer(self, request: RecordedRequest) -> Answer:
        if self.limit is not None and request.in_flight > self.limit:
            return fails(429, "too many requests at once", code="rate_limit_exceeded", retry_after=0.05)
        path = "/v1/files" if request.path.startswith("/v1/files/") else request.path
        respond = self.respond if request.is_chat else self.routes.get(path)
        if respond is None:
            return fails(404, f"no route {request.path}", code="not_found")
        try:
            answer = respond(request)
        except Exception as error:
            self.faults.append(error)
            return fails(500, f"the test's responder raised {error!r}")
        if isinstance(answer, str):
            return Answer(text=answer)
        return answer if isinstance(answer, Answer) else Answer(text=json.dumps(answer))


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512
    owner: OpenAIServer

    def process_request(self, request: Any, client_address: Any) -> None:
        """Note a connection before its thread begins: none is ever open and not known."""
        with self.owner._lock:
            self.owner._connections[request] = client_address
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is not worth a traceback."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Listener

    def finish(self) -> None:
        with self.server.owner._lock:
            self.server.owner._connections.pop(self.connection, None)
        try:
            super().finish()
        except OSError:
            return

    def log_message(self, format: str, *args: Any) -> None:
        return

    def _serve(self) -> None:
        owner = self.server.owner
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        try:
            parsed = json.loads(body)
        except ValueError:
            parsed = None
        with owner._lock:
            owner._in_flight += 1
            owner.peak = max(owner.peak, owner._in_flight)
            request = RecordedRequest(
                number=len(owner.requests),
                method=self.command,
                path=path,
                headers={name.lower(): value for name, value in self.headers.items()},
                body=body,
                at=time.monotonic(),
                in_flight=owner._in_flight,
                json=parsed,
                query=query,
            )
            owner.requests.append(request)
        counted = True

        def done() -> None:
            nonlocal counted
            if counted:
                counted = False
                with owner._lock:
                    owner._in_flight -= 1

        try:
            answer = owner._answer(request)
            if answer.delay_s:
                owner._closing.wait(answer.delay_s)
            if answer.hang:
                self._wait_for_the_client_to_leave()
            if answer.hang or answer.hang_up or owner._closing.is_set():
                self.close_connection = True
                return
            payload = _payload(request, answer)
            self.send_response(answer.status)
            kind = MEDIA_TYPE if request.wants_stream and answer.status == 200 else "application/json"
            headers = {"Content-Type": kind, **answer.headers, "Content-Length": str(len(payload))}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if answer.drip_s is None:
                # Counted down before the bytes leave: a client that has its answer may at once send the next request.
                done()
                self.wfile.write(payload)
                self.wfile.flush()
                return
            for byte in payload:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                if owner._closing.wait(answer.drip_s):
                    break
        except OSError:
            self.close_connection = True
        finally:
            done()

    do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815

    def _wait_for_the_client_to_leave(self) -> None:
        self.connection.settimeout(0.05)
        while not self.server.owner._closing.is_set():
            try:
                if not self.connection.recv(1, socket.MSG_PEEK):
                    return
                time.sleep(0.05)
            except TimeoutError:
                continue


def _payload(request: RecordedRequest, answer: Answer) -> bytes:
    body = answer.body
    if body is None and (request.is_chat or answer.status == 200):
        body = _response(request, answer) if request.is_response else _completion(request, answer)
        if request.wants_stream:
            return streamed(body, is_response=request.is_response)
    if isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def _completion(request: RecordedRequest, answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
    if answer.tool_calls:
        message["tool_calls"] = [
            {
                "id": f"call_{request.number}_{i}",
                "type": "function",
                "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for i, (name, given) in enumerate(answer.tool_calls)
        ]
    finish = answer.finish_reason or ("tool_calls" if answer.tool_calls else "stop")
    completion: dict[str, Any] = {
        "id": f"chatcmpl-{request.number}",
        "object": "chat.completion",
        "created": 1,
        "model": request.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
    }
    used = answer.usage
    if used is None:
        used = {"input": max(1, sum(map(len, request.texts)) // 4), "output": max(1, len(answer.text or "") // 4)}
    if used:
        read, written = used.get("input", 0), used.get("output", 0)
        completion["usage"] = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": used.get("cached", 0)},
            "completion_tokens_details": {"reasoning_tokens": used.get("reasoning", 0)},
        }
    return completion


def _response(request: RecordedRequest, answer: Answer) -> dict[str, Any]:
    """The same answer in the form of the Responses API."""
    completion = _completion(request, answer)
    choice, used = completion["choices"][0], completion.get("usage")
    parts = [{"type": "output_text", "text": answer.text or "", "annotations": []}]
    if answer.refusal is not None:
        parts = [{"type": "refusal", "refusal": answer.refusal}]
    cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(choice["finish_reason"])
    body: dict[str, Any] = {
        "id": f"resp_{request.number}",
        "object": "response",
        "created_at": 1,
        "model": request.model,
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": cut} if cut else None,
        "error": None,
        "output": [
            {"id": "rs_1", "type": "reasoning", "summary": []},
            {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": parts},
            *(
                {
                    "id": f"fc_{call['id']}", "type": "function_call", "status": "completed",
                    "call_id": call["id"], **call["function"], **_namespace(request, call["function"]["name"]),
                }
                for call in choice["message"].get("tool_calls") or ()
            ),
        ],
    }  # fmt: skip
    if used:
        body["usage"] = {
            "input_tokens": used["prompt_tokens"],
            "output_tokens": used["completion_tokens"],
            "total_tokens": used["total_tokens"],
            "input_tokens_details": used["prompt_tokens_details"],
            "output_tokens_details": used["completion_tokens_details"],
        }
    return body


def _namespace(request: RecordedRequest, name: str) -> dict[str, str]:
    """The group that a tool was offered in, which a call of it names."""
    groups = [tool for tool in (request.json or {}).get("tools") or [] if tool.get("tools")]
    found = [group["name"] for group in groups if any(tool.get("name") == name for tool in group["tools"])]
    return {"namespace": found[0]} if found else {}


def _chat_message(message: Mapping[str, Any]) -> dict[str, Any]:
    if message.get("type") == "function_call":
        call = {"id": message["call_id"], "type": "function", "function": {"name": message["name"]}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if message.get("type") == "function_call_output":
        output = message["output"]
        text = output if isinstance(output, str) else json.dumps(output)
        return {"role": "tool", "tool_call_id": message["call_id"], "content": text}
    if not isinstance(message.get("content"), list):
        return {"role": message.get("role", "other"), "content": message.get("content")}
    parts = [
        {"type": "text", "text": part["text"]}
        if part["type"] in ("input_text", "output_text", "text")
        else {"type": "image_url", "image_url": {"url": part.get("file_id") or part.get("image_url")}}
        for part in message["content"]
    ]
    return {"role": message["role"], "content": parts}


def _filled(schema: dict[str, Any] | None, score: Any) -> dict[str, Any]:
    fields = (schema or {}).get("properties")
    if not fields:
        return {"analysis": "scripted reason", "score": score}
    filled: dict[str, Any] = {}
    for name, kind in fields.items():
        types = {kind.get("type"), *(option.get("type") for option in kind.get("anyOf", ()))}
        if types & {"number", "integer"}:
            filled[name] = score
        elif "enum" in kind:
            filled[name] = kind["enum"][0]
        else:
            empty: dict[Any, Any] = {"array": [], "object": {}, "boolean": False}
            filled[name] = next((empty[t] for t in types if t in empty), "scripted reason")
    return filled


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part.get("type") == "text")
    return content or ""


def _last_text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return next((part["text"] for part in reversed(content) if part.get("type") == "text"), "")
    return content or ""
