"""A local server of one file that misbehaves on request."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Trouble:
    """What one request meets.

    Attributes:
        status: Answered instead of the file, when given.
        headers: Further headers, of any answer.
        cut_at: Bytes of the file (counted from its beginning) after which the connection ends.
        reset: Whether the connection then breaks, rather than ends.
        promised: Said as the whole file's size, whatever it is.
        silent: Whether nothing more comes after `cut_at` bytes, on an open connection.
        no_ranges: Whether ranges are ignored.
        no_length: Whether no size is said.
        wrong_part: Whether a range is answered with another part of the file.
        ignores_if_range: Whether a range is answered although the file has changed.
        body: Sent instead of the file.
    """

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    cut_at: int | None = None
    reset: bool = False
    promised: int | None = None
    silent: bool = False
    no_ranges: bool = False
    no_length: bool = False
    wrong_part: bool = False
    ignores_if_range: bool = False
    body: bytes | None = None


@dataclass
class Asked:
    """A request as it came."""

    path: str
    headers: dict[str, str]

    @property
    def range(self) -> str:
        """The part that was asked for, "" for all."""
        return self.headers.get("range", "")


class FileServer:
    """Serves `content` under every path.

    Attributes:
        content: The file.
        etag: Its ETag, "" for none.
        last_modified: Its Last-Modified, "" for none.
        troubles: What the next requests meet, one each; after them all goes well.
        always: What every request meets when `troubles` is empty.
        asked: The requests so far.
    """

    def __init__(self, content: bytes = b"") -> None:
        self.content = content
        self.etag = '"one"'
        self.last_modified = ""
        self.troubles: list[Trouble] = []
        self.always = Trouble()
        self.asked: list[Asked] = []
        self.released = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def meets(self, asked: Asked) -> Trouble:
        """Take note of a request and return what it meets."""
        with self._lock:
            self.asked.append(asked)
            return self.troubles.pop(0) if self.troubles else self.always

    @contextmanager
    def serving(self) -> Iterator[FileServer]:
        """Serve until this ends."""
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.released.set()
            self._server.shutdown()
            self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()})
                trouble = server.meets(asked)
                if trouble.status:
                    self.send_response(trouble.status)
                    for name, value in trouble.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                self._send(trouble, asked)

            def _send(self, trouble: Trouble, asked: Asked) -> None:
                content = server.content if trouble.body is None else trouble.body
                start = self._start(trouble, asked)
                total = len(content) if trouble.promised is None else trouble.promised
                self.send_response(206 if start is not None else 200)
                for name, value in {"ETag": server.etag, "Last-Modified": server.last_modified}.items():
                    if value:
                        self.send_header(name, value)
                for name, value in trouble.headers.items():
                    self.send_header(name, value)
                first = start or 0
                if start is not None:
                    shown = first + 1 if trouble.wrong_part else first
                    self.send_header("Content-Range", f"bytes {shown}-{total - 1}/{total}")
                if not trouble.no_length:
                    self.send_header("Content-Length", str(total - first))
                self.send_header("Connection", "close")
                self.end_headers()
                end = len(content) if trouble.cut_at is None else trouble.cut_at
                self.wfile.write(content[first:end])
                self.wfile.flush()
                if trouble.silent:
                    server.released.wait(600)
                if trouble.reset:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()

            def _start(self, trouble: Trouble, asked: Asked) -> int | None:
                if not asked.range or trouble.no_ranges:
                    return None
                current = asked.headers.get("if-range", "") in ("", server.etag, server.last_modified)
                if not current and not trouble.ignores_if_range:
                    return None
                return int(asked.range.removeprefix("bytes=").split("-")[0])

        return Handler
