"""One task's tools as an MCP server on loopback, for an agent that is another program.

The calls are run here, by the task's own toolbox, confined and recorded like those of any agent; the program gets an
address and a token that end with the task.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, cast

from pytest_gta.agents.protocol import AgentUnavailable, Tools
from pytest_gta.agents.recorded_tools import TaskEnded
from pytest_gta.tools.tool import ToolResult

if TYPE_CHECKING:
    from pytest_gta.tools.toolbox import Toolbox
    from pytest_gta.workspace.workspace import Workspace

START_S = 60.0
"""Seconds the server may take to start; it takes about one."""


class ToolService:
    """Serves the tools of one task; a context manager.

    Args:
        tools: The tools, recorded.
        workspace: Where they work.

    Attributes:
        url: The server's address; "" when it cannot be served here.
        token: What clients send as ``Authorization: Bearer ...``.
        why_not: Why it cannot be served.
        fault: What made a call impossible that is not the agent's doing.
    """

    def __init__(self, tools: Tools, workspace: Workspace) -> None:
        self.url = ""
        self.token = secrets.token_urlsafe(24)
        self.why_not = ""
        self.fault: AgentUnavailable | None = None
        self._served = _Served(tools, workspace, self)
        self._ready = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tools over MCP", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(START_S):
            self.why_not = f"the server did not start within {START_S:g} s"
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(5.0)

    def _run(self) -> None:
        try:
            from pytest_gta.tools.mcp_server import ToolServer
        except ImportError as error:
            self.why_not = f"the MCP package is not installed (pip install 'pytest-gta[mcp]'): {error}"
            self._ready.set()
            return
        try:
            server = ToolServer(cast("Toolbox", self._served))
            asyncio.run(
                server.serve_http("127.0.0.1", 0, token=self.token, on_ready=self._on_ready, stopped=self._stopped)
            )
        except Exception as error:  # whatever it is, the agent runs without these tools and the transcript says so
            self.why_not = f"{type(error).__name__}: {error}"
        finally:
            self._ready.set()

    def _on_ready(self, url: str) -> None:
        self.url = url
        self._ready.set()


class _Served:
    """The tools as the server needs them: a call always has an answer."""

    def __init__(self, tools: Tools, workspace: Workspace, service: ToolService) -> None:
        self.workspace = workspace
        self._tools, self._service = tools, service

    @property
    def specs(self) -> Any:
        return self._tools.specs

    def call(self, name: str, arguments: str | Mapping[str, Any] | None) -> ToolResult:
        try:
            return self._tools.call(name, arguments or {})
        except AgentUnavailable as fault:
            self._service.fault = fault
            return ToolResult(str(fault), is_error=True)
        except TaskEnded:
            return ToolResult("the task has ended", is_error=True)
