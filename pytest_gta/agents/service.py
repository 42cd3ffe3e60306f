"""A web service as an agent, given as ``http:URL``.

    POST URL/tasks                   {"task_id", "request", "deadline_s", "files": [{"path", "base64"}], ...} -> {"id"}
    GET  URL/tasks/<id>              {"status": "running|finished|failed", "final_answer", "files": [{"path", "bytes"}],
                                      "error"}
    GET  URL/tasks/<id>/files/<path> the file
    POST URL/tasks/<id>/cancel       when the time is up; the answer does not matter

Whatever the service does, a task has its state: what it delivered is judged, and what could not be had from it for a
reason that is not its agent's (no connection, nonsense, files that do not arrive whole) is an error.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from pytest_gta.agents.command_presets import mcp_servers
from pytest_gta.agents.failure import reads_like_an_outage
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import AgentRun, AgentUnavailable, Tools
from pytest_gta.agents.recorded_files import note, summary
from pytest_gta.agents.tool_service import ToolService
from pytest_gta.agents.whole_request import whole_request
from pytest_gta.benchmark.results import StopReason
from pytest_gta.benchmark.task import Brief
from pytest_gta.benchmark.usage import Usage
from pytest_gta.llm.addresses import is_loopback
from pytest_gta.llm.http_request import HttpAnswer, fetch
from pytest_gta.llm.redaction import one_line, redact
from pytest_gta.workspace.workspace import PathRefused

if TYPE_CHECKING:
    from pytest_gta.workspace.workspace import Workspace

TOKEN_VARIABLE = "GTA_AGENT_TOKEN"  # noqa: S105 - the name of a variable
"""Holds what the service asks for as ``Authorization: Bearer ...``."""
REQUEST_S = 30.0
"""Seconds that one request may take; a file may take ten times as long."""
TRIES = 3
"""How often one request is sent before the service counts as out of reach."""
MAX_FILE_BYTES = 500 * 1024**2
MAX_FILES = 1_000
MAX_STATUS_BYTES = 16 * 1024**2
POLL_S = (0.2, 3.0)
"""Seconds between two looks at a task, at first and at most."""


class ServiceAgent:
    """Hands each task to a web service and fetches what it made.

    Args:
        url: The service's address.
        label: What reports call it.
        limits: The task's budgets.
        environment: Tells the model, if any.

    Attributes:
        token_variable: The variable that holds what the service asks for.
        create_path: Where a task is handed in.
        uses_our_tools: Whether it is told where the benchmark's tools are served, when it is on this machine.
    """

    token_variable = TOKEN_VARIABLE
    create_path = "/tasks"
    uses_our_tools = True

    def __init__(self, url: str, label: str, limits: Limits, *, environment: Mapping[str, str] | None = None) -> None:
        self.label = label
        self._url, self._limits = url.rstrip("/"), limits
        self._model = (environment or {}).get("GTA_MODEL", "")
        self._stopped = threading.Event()

    @property
    def wall_cap_s(self) -> float:
        """Seconds after which it has ended whatever happens: files are fetched after the deadline, too."""
        return 2 * self._limits.task_timeout_s + 10 * REQUEST_S

    def stop(self) -> None:
        """End at once."""
        self._stopped.set()

    def run(self, task: Brief, tools: Tools, workspace: Workspace) -> AgentRun:
        """Hand in the task, wait for its end, and fetch answer and files.

        Raises:
            AgentUnavailable: When the service is out of reach, does not speak the protocol, or does not hand over what
                it says it made.
        """
        self._stopped.clear()
        deadline = time.monotonic() + self._limits.task_timeout_s
        with ExitStack() as stack:
            service = None
            if self.uses_our_tools and is_loopback(self._url):
                service = stack.enter_context(ToolService(tools, workspace))
            served = mcp_servers(service.url, service.token) if service is not None and service.url else {}
            number = self._hand_in(task, workspace, served)
            status = self._wait(number, deadline)
            if service is not None and service.fault is not None:
                raise service.fault
        remarks = self._fetch_files(number, status, workspace)
        for remark in remarks:
            note(tools, remark)
        return replace(self._ending(status, remarks), notes=tuple(remarks))

    def _hand_in(self, task: Brief, workspace: Workspace, served: dict[str, Any]) -> str:
        files = [
            {"path": path, "base64": base64.b64encode((workspace.root / path).read_bytes()).decode("ascii")}
            for path in (*workspace.inputs, *made_before(task, workspace))
            if (workspace.root / path).is_file()
        ]
        body = {
            "task_id": task.id,
            "request": whole_request(task),
            "model": self._model or None,
            "deadline_s": self._limits.task_timeout_s,
            "files": files,
            **served,
        }
        answer = self._object(self._send(self.create_path, json.dumps(body).encode()), "the new task")
        number = answer.get("id")
        if isinstance(number, bool) or not isinstance(number, str | int) or not str(number).strip():
            raise AgentUnavailable(f"{self._url} does not speak the protocol: the new task has no `id`")
        return str(number)

    def _wait(self, number: str, deadline: float) -> dict[str, Any]:
        """Return the task's last status; ``timeout`` when the time was up before its end."""
        pause, most = POLL_S
        status: dict[str, Any] = {}
        while True:
            status = self._status(number)
            if status.get("status") in ("finished", "failed"):
                return status
            if status.get("status") not in ("running", "queued", "pending"):
                shown = json.dumps(status.get("status"))[:40]
                raise AgentUnavailable(f"{self._url} does not speak the protocol: `status` is {shown}")
            if self._stopped.wait(min(pause, max(0.0, deadline - time.monotonic()))) or time.monotonic() >= deadline:
                with contextlib.suppress(AgentUnavailable):
                    self._cancel(number)
                return {**status, "status": "timeout"}
            pause = min(most, 1.5 * pause)

    def _status(self, number: str) -> dict[str, Any]:
        """Return how a task stands, in the terms of this module's protocol."""
        return self._object(self._send(f"/tasks/{quote(number, safe='')}"), f"task {number}")

    def _cancel(self, number: str) -> None:
        self._send(f"/tasks/{quote(number, safe='')}/cancel", b"{}", tries=1)

    def _fetch_files(self, number: str, status: Mapping[str, Any], workspace: Workspace) -> list[str]:
        """Fetch what the task has made; return what was not taken, and why."""
        listed = status.get("files") or []
        if not isinstance(listed, list):
            raise AgentUnavailable(f"{self._url} does not speak the protocol: `files` is not a list")
        remarks = [] if len(listed) <= MAX_FILES else [f"only {MAX_FILES:,} of {len(listed):,} files were taken"]
        for entry in listed[:MAX_FILES]:
            path = entry.get("path") if isinstance(entry, dict) else entry
            if not isinstance(path, str):
                remarks.append("not taken: a file without a path")
                continue
            size = entry.get("bytes") if isinstance(entry, dict) else None
            if isinstance(size, int) and size > MAX_FILE_BYTES:
                remarks.append(f"not taken: {path[:200]} (larger than {MAX_FILE_BYTES // 1024**2} MiB)")
                continue
            try:
                target = workspace.resolve(path, writing=True)
            except PathRefused as refusal:
                remarks.append(f"not taken: {path[:200]} ({refusal})")
                continue
            data = self._file(number, entry, path, size if isinstance(size, int) else None)
            try:
                target.write_bytes(data)
            except OSError as error:
                remarks.append(f"not taken: {path[:200]} (its name cannot be used: {error.strerror})")
        return remarks

    def _send_for(self, number: str, entry: Any, path: str) -> HttpAnswer:
        """Ask for a file that the task has listed as `entry`."""
        where = f"/tasks/{quote(number, safe='')}/files/{quote(path)}"
        return self._send(where, timeout_s=10 * REQUEST_S, most_bytes=MAX_FILE_BYTES)

    def _file(self, number: str, entry: Any, path: str, size: int | None) -> bytes:
        wrong = ""
        for _ in range(TRIES):
            answer = self._send_for(number, entry, path)
            told = answer.headers.get("content-length", "")
            sizes = {size, int(told) if told.isdecimal() else None} - {None}
            if all(len(answer.body) == expected for expected in sizes):
                return answer.body
            wrong = (
                f"{len(answer.body):,} bytes came, {' and '.join(f'{n:,}' for n in sizes if n is not None)} were told"
            )
        raise AgentUnavailable(f"{self._url} does not hand over {path[:200]}: {wrong}")

    def _ending(self, status: Mapping[str, Any], remarks: list[str]) -> AgentRun:
        unknown = Usage(cost_usd=None)
        given = status.get("final_answer")
        answer = given if isinstance(given, str) else ""
        if status["status"] == "timeout":
            why = "it was told to stop" if self._stopped.is_set() else "still at work after "
            why += "" if self._stopped.is_set() else f"{self._limits.task_timeout_s:g} s"
            return AgentRun(StopReason.TIMEOUT, answer, why, usage=unknown)
        if status["status"] == "failed":
            error = one_line(redact(str(status.get("error") or "it does not say why")), 300)
            if reads_like_an_outage(error) and not status.get("files"):
                raise AgentUnavailable(f"its model endpoint does not serve: {error}")
            return AgentRun(StopReason.AGENT_ERROR, answer, f"the service says that it failed: {error}", usage=unknown)
        return AgentRun(StopReason.FINISHED, answer, summary(remarks), usage=unknown)

    # -- requests ----------------------------------------------------------------------------------------------------

    def _send(
        self,
        path: str,
        data: bytes | None = None,
        *,
        tries: int = TRIES,
        timeout_s: float | None = None,
        most_bytes: int = MAX_STATUS_BYTES,
    ) -> HttpAnswer:
        token = os.environ.get(self.token_variable, "").strip()
        headers = {"Content-Type": "application/json"} if data is not None else {}
        headers |= self._authorization(token) if token else {}
        wrong = ""
        # A task that was handed in may have been taken though no answer came: it is not handed in twice.
        for attempt in range(1 if path == self.create_path else tries):
            if attempt:
                self._stopped.wait(0.5 * attempt)
            try:
                answer = fetch(
                    self._url + path,
                    data=data,
                    headers=headers,
                    timeout_s=timeout_s or REQUEST_S,
                    most_bytes=most_bytes,
                )
            except (OSError, ValueError) as error:
                wrong = one_line(redact(f"{error}", (token,) if token else ()), 200)
                continue
            if 200 <= answer.status < 300:
                return answer
            if 300 <= answer.status < 400:
                elsewhere = urlsplit(answer.headers.get("location", "")).netloc or "another path"
                raise AgentUnavailable(
                    f"{self._url} redirects to {elsewhere[:100]}, which is not followed; give the address itself"
                )
            said = one_line(redact(answer.body[:300].decode("utf-8", "replace"), (token,) if token else ()), 120)
            wrong = f"it answers {answer.status}{f': {said}' if said else ''}"
            if answer.status < 500 and answer.status != 429:
                break
        raise AgentUnavailable(f"{self._url} does not serve {path}: {wrong}")

    def _authorization(self, token: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {token}"}

    def _object(self, answer: HttpAnswer, what: str) -> dict[str, Any]:
        try:
            value = json.loads(answer.body)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise AgentUnavailable(f"{self._url} does not speak the protocol: {what} is not a JSON object")
        return value


def made_before(task: Brief, workspace: Workspace) -> list[str]:
    """Return the files that the service handed over before, when it goes on with its work."""
    return [] if task.earlier_answer is None else [file.path for file in workspace.deliverables().files]
