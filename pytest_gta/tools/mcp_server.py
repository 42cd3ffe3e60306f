"""A toolbox served over the Model Context Protocol: to any agent, through standard input and output or over HTTP.

A call is answered with its text, a link to each file it made, and small pictures themselves. What goes wrong in a call
is an error result, never an error of the protocol, so that a model sees it. Links are read back from this server only
(``workspace:///chart.png``), through the same resolver as every path.
"""

from __future__ import annotations

import base64
import hmac
import mimetypes
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from pytest_gta.llm.addresses import LOOPBACK
from pytest_gta.tools.call_log import CallLog
from pytest_gta.tools.tool import ToolResult
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import ConfinementUnavailable
from pytest_gta.workspace.workspace import PathRefused

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from starlette.types import ASGIApp, Receive, Scope, Send

T = TypeVar("T")

SCHEME = "workspace:///"
PATH = "/mcp"
"""Where the server is found over HTTP."""

MAX_PICTURE_BYTES = 750_000
"""The largest picture that is shown with a result; of a larger one there is only the link."""
MAX_RESOURCE_BYTES = 10 * 1024**2
"""The largest file that can be read through its link."""

_PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}


class ToolServer:
    """Serves one toolbox. Its calls, and its reads of files, are answered one after the other.

    Args:
        toolbox: The tools; the caller closes it, unless a call still runs when serving ends (see `busy`).
        log: Where calls are counted and recorded.
    """

    def __init__(self, toolbox: Toolbox, log: CallLog | None = None) -> None:
        self._toolbox = toolbox
        self.log = log or CallLog()
        # Also held by reads: while tool code runs it could swap a file for a link between check and read. Held in the
        # thread that works, as a client may take back a call and the call goes on.
        self._turn = threading.Lock()

    @property
    def busy(self) -> bool:
        """Whether a call still runs; it ends with this program."""
        return self._turn.locked()

    async def serve_stdio(self) -> None:
        """Serve the one client at standard input and output until it closes them."""
        server = self.protocol()
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    async def serve_http(
        self,
        host: str,
        port: int,
        *,
        token: str = "",
        on_ready: Callable[[str], None] = lambda _url: None,
        stopped: threading.Event | None = None,
    ) -> None:
        """Serve any number of clients over streamable HTTP until interrupted.

        Args:
            host: The address to listen at.
            port: The port; 0 for a free one.
            token: What clients must send as ``Authorization: Bearer ...``; "" for nothing, on loopback only.
            on_ready: Told the address when requests can be sent.
            stopped: Set, from any thread, when serving is to end.

        Raises:
            ValueError: When other machines could connect and no token is set.
            OSError: When the port cannot be had.
        """
        import uvicorn

        if host not in LOOPBACK and not token:
            raise ValueError(f"at {host} other machines can connect, so a token is needed")
        app: ASGIApp = self.protocol().streamable_http_app(streamable_http_path=PATH, host=host)
        if token:
            app = _TokenRequired(app, token)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.create_server((host, port), family=family) as listener:
            shown = f"[{host}]" if ":" in host else host
            config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2)
            on_ready(f"http://{shown}:{listener.getsockname()[1]}{PATH}")
            server = uvicorn.Server(config)
            async with anyio.create_task_group() as group:
                if stopped is not None:
                    group.start_soon(_end_when, stopped, server)
                await server.serve(sockets=[listener])
                group.cancel_scope.cancel()

    def protocol(self) -> Server[Any]:
        """Return the server without a transport."""
        return Server(
            "gta-tools",
            version=version("pytest-gta"),
            instructions=self._instructions(),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_files,
            on_read_resource=self._read_file,
        )

    def _instructions(self) -> str:
        inputs = self._toolbox.workspace.inputs
        held = f" Inputs, read-only: {', '.join(inputs[:20])}{', ...' if len(inputs) > 20 else ''}." if inputs else ""
        return (
            "The tools of the GTA benchmark. They work in one folder, the workspace; paths are relative to it and "
            f"nothing outside it can be reached. Files left in it are the deliverables.{held}"
        )

    # -- tools -------------------------------------------------------------------------------------------------------

    async def _list_tools(
        self, _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools = []
        for spec in self._toolbox.specs:
            function = spec.function_schema()["function"]
            tools.append(
                types.Tool(
                    name=spec.name, description=function["description"], input_schema=dict(function["parameters"])
                )
            )
        return types.ListToolsResult(tools=tools)

    async def _call_tool(
        self, _: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        return await _in_thread(self._answer, params.name, params.arguments or {})

    def _answer(self, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        with self._turn:
            started = time.monotonic()
            try:
                result = self._toolbox.call(name, arguments)
            except ConfinementUnavailable as error:
                result = ToolResult(f"{name} cannot run on this machine: {error}", is_error=True)
            self.log.add(name, arguments, result, time.monotonic() - started)
            content: list[types.ContentBlock] = [types.TextContent(text=result.text)]
            for path in result.files:
                content += self._shown(path)
        return types.CallToolResult(content=content, is_error=result.is_error)

    def _shown(self, path: str) -> list[types.ContentBlock]:
        """A file a call made: its link, and a small picture itself."""
        try:
            size = self._size(path)
            shown: list[types.ContentBlock] = [types.ResourceLink(**_described(path, size))]
            if size <= MAX_PICTURE_BYTES:
                data = self._bytes(path, MAX_PICTURE_BYTES)
                kind = _picture_type(data)
                if kind:
                    shown.append(types.ImageContent(data=base64.b64encode(data).decode("ascii"), mime_type=kind))
        except (PathRefused, OSError):
            return []
        return shown

    # -- files -------------------------------------------------------------------------------------------------------

    async def _list_files(
        self, _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return await _in_thread(self._files)

    def _files(self) -> types.ListResourcesResult:
        found = []
        with self._turn:
            for path in self._toolbox.workspace.files():
                try:
                    found.append(types.Resource(**_described(path, self._size(path))))
                except (PathRefused, OSError):
                    continue
        return types.ListResourcesResult(resources=found)

    async def _read_file(
        self, _: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return await _in_thread(self._contents, str(params.uri))

    def _contents(self, uri: str) -> types.ReadResourceResult:
        path = unquote(uri[len(SCHEME) :]) if uri.startswith(SCHEME) else uri
        try:
            with self._turn:
                data = self._bytes(path, MAX_RESOURCE_BYTES + 1)
        except PathRefused as refused:
            raise MCPError(types.INVALID_PARAMS, str(refused)) from None
        except OSError as error:
            raise MCPError(types.INTERNAL_ERROR, f"{path!r} cannot be read: {error.strerror}") from None
        if len(data) > MAX_RESOURCE_BYTES:
            most = MAX_RESOURCE_BYTES // 1024**2
            raise MCPError(types.INVALID_PARAMS, f"{path!r} is larger than the {most} MiB that are sent")
        kind = _media_type(path)
        contents: types.TextResourceContents | types.BlobResourceContents
        try:
            contents = types.TextResourceContents(uri=uri, mime_type=kind, text=data.decode("utf-8"))
        except UnicodeDecodeError:
            blob = base64.b64encode(data).decode("ascii")
            contents = types.BlobResourceContents(uri=uri, mime_type=kind, blob=blob)
        return types.ReadResourceResult(contents=[contents])

    def _size(self, path: str) -> int:
        return self._toolbox.workspace.resolve(path).stat().st_size

    def _bytes(self, path: str, most: int) -> bytes:
        real = self._toolbox.workspace.resolve(path)
        handle = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            return file.read(most)


class _TokenRequired:
    """Answers 401 to every request without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._expected = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            sent = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
            if not hmac.compare_digest(sent, self._expected):
                from starlette.responses import PlainTextResponse

                refusal = PlainTextResponse(
                    "a bearer token is needed", status_code=401, headers={"WWW-Authenticate": "Bearer"}
                )
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _end_when(stopped: threading.Event, server: Any) -> None:
    while not stopped.is_set():
        await anyio.sleep(0.05)
    server.should_exit = True


async def _in_thread(function: Callable[..., T], *arguments: Any) -> T:
    # Abandoned when serving ends, so that a tool that hangs does not keep this program from ending.
    return await anyio.to_thread.run_sync(function, *arguments, abandon_on_cancel=True)


def _described(path: str, size: int) -> dict[str, Any]:
    return {"uri": SCHEME + quote(path), "name": path, "mime_type": _media_type(path), "size": size}


def _media_type(path: str) -> str:
    return mimetypes.guess_type(Path(path).name)[0] or "application/octet-stream"


def _picture_type(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _PICTURES.items() if data.startswith(magic)), "")
