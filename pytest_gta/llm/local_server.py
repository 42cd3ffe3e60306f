"""The local model's server: ``python -m pytest_gta.llm.local_server``, one for all processes of a run.

It stands in front of several one-thread engines and sends each request where it will be answered first, by what waits
there and by how much of the prompt that engine has read already: an agent's next turn goes to the engine that knows
the conversation, the leaves of a task to the one that has read its evidence, until another would still be faster.

The first line of standard input is its settings, as JSON: ``model``, ``api_key``, ``context``, ``engines``. It prints
one line, ``{"port": ...}`` or ``{"error": ...}``, and serves until standard input ends.
"""

from __future__ import annotations

import hmac
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import wait
from typing import Any
from urllib.parse import parse_qsl

# Measured on one core: about 130 tokens read and 40 written a second, four characters a token.
_READ_CHARS_S = 500.0
_REPLY_S = 1.5
# A prompt driven out may be asked for again; how likely that is, is a guess.
_LOST_WORTH = 0.3
_START_S = 60.0
DEFAULT_OUTPUT_TOKENS = 384
LONGEST_STRING = 400
"""Characters of a string in a reply held to a schema, where the schema sets no limit: a model this small goes round in
circles, and a string is where it does."""


class Engine:
    """One engine process and what is known of it.

    Attributes:
        text: The prompt that will be in its cache when all it has accepted is done.
        backlog_s: Estimated seconds of the work it has accepted.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.turn = threading.Lock()
        self.text = ""
        self.backlog_s = 0.0
        self.port = 0
        self._settings = settings
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the process, again when it has died.

        Raises:
            RuntimeError: When it does not come up.
        """
        if self._process is not None and self._process.poll() is None:
            return
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest_gta.llm.local_engine"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(self._settings) + "\n")
        self._process.stdin.flush()
        ready = wait([self._process.stdout.fileno()], _START_S)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            self._process.kill()
            raise RuntimeError("an engine did not start")
        self.port = json.loads(line)["port"]
        self.text = ""

    def cost_s(self, text: str) -> float:
        """Return the estimated seconds a prompt sent here would cost: until its answer, and for what it drives out."""
        lost = len(self.text) - self._known(text)
        return self.backlog_s + self.own_cost_s(text) + _LOST_WORTH * lost / _READ_CHARS_S

    def own_cost_s(self, text: str) -> float:
        """Return the estimated seconds of the prompt alone."""
        return (len(text) - self._known(text)) / _READ_CHARS_S + _REPLY_S

    def _known(self, text: str) -> int:
        return len(os.path.commonprefix((text, self.text)))  # noqa: RUF071 (of texts, not of paths)


class LocalServer(ThreadingHTTPServer):
    """The front of the engines.

    Args:
        engines: At least one, started when first needed.
        api_key: What clients must show, as a bearer token or as ``key`` in the address's query.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, engines: Sequence[Engine], api_key: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.engines = tuple(engines)
        self.api_key = api_key
        self._lock = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away."""

    def accept(self, text: str) -> tuple[Engine, float]:
        """Choose an engine for a prompt and book the work."""
        with self._lock:
            engine = min(self.engines, key=lambda e: e.cost_s(text))
            cost = engine.own_cost_s(text)
            engine.backlog_s += cost
            engine.text = text
            return engine, cost

    def finish(self, engine: Engine, cost: float) -> None:
        """Take work that is done off the books."""
        with self._lock:
            engine.backlog_s = max(0.0, engine.backlog_s - cost)


class _ClientGone(Exception):
    """Nobody waits for this answer any more."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: LocalServer

    def log_message(self, format: str, *args: Any) -> None:
        return

    def do_GET(self) -> None:
        if self.path.partition("?")[0].endswith("/models"):
            self._send(200, {"object": "list", "data": [{"id": "local", "object": "model"}]})
        else:
            self._send(404, {"error": {"message": f"no {self.path} here", "code": "not_found"}})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        given = dict(parse_qsl(query)).get("key") or self.headers.get("Authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self.server.api_key.encode()):
            self._send(401, {"error": {"message": "wrong key", "code": "invalid_api_key"}})
        elif not path.endswith("/chat/completions"):
            self._send(404, {"error": {"message": f"the local model has no {path}", "code": "not_found"}})
        else:
            self._chat(body)

    def _chat(self, body: bytes) -> None:
        try:
            request = json.loads(body)
            text = json.dumps(request["messages"], ensure_ascii=False)
        except (ValueError, KeyError, TypeError) as error:
            self._send(400, {"error": {"message": f"not a chat request: {error!r}", "code": "invalid_request"}})
            return
        bounded = with_bounds(request)
        engine, cost = self.server.accept(text)
        try:
            with engine.turn:
                guided = in_one_grammar(bounded)
                status, answer = self._ask(engine, guided)
                if guided is not bounded and not was_guided(status, answer):
                    status, answer = self._ask(engine, bounded)
        except _ClientGone:
            self.close_connection = True
            return
        except (OSError, http.client.HTTPException, RuntimeError) as error:
            status, answer = 503, json.dumps({"error": {"message": f"the local engine failed: {error}"}}).encode()
        finally:
            self.server.finish(engine, cost)
        self._send(status, answer)

    def _ask(self, engine: Engine, request: dict[str, Any]) -> tuple[int, bytes]:
        """Ask an engine, and give up when the client does: an abandoned reply would hold up the others."""
        self._check_client(0)
        engine.start()
        upstream = http.client.HTTPConnection("127.0.0.1", engine.port)
        try:
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.server.api_key}"}
            upstream.request("POST", "/v1/chat/completions", json.dumps(request).encode(), headers)
            while not self._check_client(5.0, upstream.sock):
                continue
            answer = upstream.getresponse()
            return answer.status, answer.read()
        finally:
            upstream.close()

    def _check_client(self, seconds: float, other: socket.socket | None = None) -> bool:
        """Wait for `other` to have something to read; raise when the client has gone."""
        waiting = [self.connection] + ([other] if other is not None else [])
        ready = wait(waiting, seconds)
        if self.connection in ready and not self.connection.recv(1, socket.MSG_PEEK):
            raise _ClientGone
        if self.connection in ready and other not in ready:
            time.sleep(0.05)  # a pipelined request waits its turn
        return other in ready

    def _send(self, status: int, answer: Any) -> None:
        payload = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)
            self.wfile.flush()
        except OSError:
            self.close_connection = True


def with_bounds(request: dict[str, Any]) -> dict[str, Any]:
    """Return the request with what keeps a very small model from writing on and on, where the client sets no bounds."""
    bounded = dict(request)
    if not ({"max_tokens", "max_completion_tokens"} & bounded.keys()):
        bounded["max_tokens"] = DEFAULT_OUTPUT_TOKENS
    bounded.setdefault("temperature", 0)
    bounded["cache_prompt"] = True
    wanted = bounded.get("response_format")
    if isinstance(wanted, dict) and isinstance(wanted.get("json_schema"), dict):
        schema = wanted["json_schema"]
        bounded["response_format"] = {**wanted, "json_schema": {**schema, "schema": _bounded(schema.get("schema"))}}
    return bounded


def in_one_grammar(request: dict[str, Any]) -> dict[str, Any]:
    """Return the request with its JSON schema as a grammar of the engine's own.

    The reply is the same object without free white space and in the model's own tokens: a quarter fewer of them, and
    each is found faster.
    """
    wanted = request.get("response_format")
    schema = wanted["json_schema"].get("schema") if isinstance(wanted, dict) and "json_schema" in wanted else None
    if not isinstance(schema, dict):
        return request
    layout = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    grammar = f"%llguidance {{}}\nstart: %json {json.dumps({'x-guidance': layout, **schema})}"
    return {**{key: value for key, value in request.items() if key != "response_format"}, "grammar": grammar}


def was_guided(status: int, answer: bytes) -> bool:
    """Whether the engine kept to the grammar: one that it cannot read is an error, or is left out without a word."""
    if status != 200:
        return b"grammar" not in answer
    try:
        content = json.loads(answer)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError):
        return True
    return isinstance(content, str) and content.startswith("{")


def _bounded(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_bounded(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    bounded = {key: value if key in ("enum", "const", "default") else _bounded(value) for key, value in schema.items()}
    kind = bounded.get("type")
    if kind == "string" and not ({"enum", "const", "pattern", "format"} & bounded.keys()):
        bounded["maxLength"] = min(bounded.get("maxLength", LONGEST_STRING), LONGEST_STRING)
    if kind == "array":
        bounded.setdefault("maxItems", 12)
    return bounded


def main() -> None:
    """Serve until the parent is gone."""
    settings = json.loads(sys.stdin.readline())
    try:
        engines = [Engine(settings) for _ in range(settings["engines"])]
        for engine in engines:
            engine.start()
        server = LocalServer(engines, settings["api_key"])
    except (OSError, RuntimeError) as error:
        print(json.dumps({"error": str(error)}), flush=True)
        os._exit(1)
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    # The engines see the end of their standard input when this process is gone.
    os._exit(0)


if __name__ == "__main__":
    main()
