"""The agent's side: the first code in its process. Imports it, builds it, runs it, and tells the parent how that went.

One JSON object a line, both ways. From here: ``call`` (a tool) and ``step`` (for the transcript), then one of
``checked``, ``result``, ``failed`` (the agent's fault), ``unavailable`` (not its fault). From there: the task, then the
answers to calls.
"""

from __future__ import annotations

import difflib
import importlib
import itertools
import json
import os
import queue
import signal
import socket
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.agents.adapter import NotAnAgent, adapted, check_adaptable
from pytest_gta.agents.failure import disk_is_full, endpoint_fault, failure_line
from pytest_gta.agents.protocol import AgentRun, AgentUnavailable
from pytest_gta.benchmark.task import Brief

if TYPE_CHECKING:
    from pytest_gta.benchmark.usage import Usage
    from pytest_gta.tools.specification import ToolSpec
    from pytest_gta.tools.tool import ToolResult


class NotImportable(Exception):
    """The agent's module or name is not there, or importing it raises. One line."""


class Parent:
    """The connection to the parent. When it closes, this process and its group have no reason to go on.

    Args:
        connection: The socket.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")
        self._sending = threading.Lock()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, queue.SimpleQueue[dict[str, Any]]] = {}

    def first(self) -> dict[str, Any]:
        """Return the task, and from then on take answers to calls in a thread."""
        request: dict[str, Any] = json.loads(self._lines.readline())
        threading.Thread(target=self._read, daemon=True).start()
        return request

    def send(self, kind: str, **fields: Any) -> None:
        """Send one message."""
        line = json.dumps({"kind": kind, **fields}, default=str).encode() + b"\n"
        with self._sending:
            self._connection.sendall(line)

    def call(self, name: str, arguments: str | Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool and wait for its result; from any thread."""
        number = next(self._numbers)
        self._waiting[number] = queue.SimpleQueue()
        self.send("call", id=number, name=name, arguments=arguments if isinstance(arguments, str) else dict(arguments))
        answer = self._waiting[number].get()
        del self._waiting[number]
        return answer

    def _read(self) -> None:
        for line in self._lines:
            answer = json.loads(line)
            self._waiting[answer["id"]].put(answer)
        os.killpg(os.getpgid(0), signal.SIGKILL)


class RemoteTranscript:
    """The task's transcript, kept by the parent.

    Args:
        parent: The connection.
    """

    def __init__(self, parent: Parent) -> None:
        self._parent = parent

    def add(self, kind: str, text: str = "", *, turn: int = 0, usage: Usage | None = None) -> None:
        """Add a step. See `pytest_gta.agents.transcript`; calls of tools are recorded anyway."""
        told = None if usage is None else usage.model_dump(mode="json")
        self._parent.send("step", step=kind, text=text, turn=turn, usage=told)


class RemoteTools:
    """The benchmark's tools, run by the parent.

    Args:
        parent: The connection.
        specs: What is on offer, as plain JSON.

    Attributes:
        transcript: Where an agent may record what it wants to.
    """

    def __init__(self, parent: Parent, specs: list[dict[str, Any]]) -> None:
        from pytest_gta.tools.specification import ToolParameter, ToolSpec

        self._parent = parent
        self.transcript = RemoteTranscript(parent)
        self._specs = tuple(
            ToolSpec(**{**spec, "parameters": tuple(ToolParameter(**p) for p in spec["parameters"])}) for spec in specs
        )

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What is on offer."""
        return self._specs

    def call(self, name: str, arguments: str | Mapping[str, Any]) -> ToolResult:
        """Call one tool. See `pytest_gta.agents.protocol.Tools.call`."""
        from pytest_gta.tools.tool import ToolResult

        answer = self._parent.call(name, arguments)
        return ToolResult(answer["text"], tuple(answer["files"]), answer["is_error"])


def main(fd: int) -> None:
    """Do what the parent asks on the socket `fd`; the process then ends as Python does, files closed."""
    os.set_inheritable(fd, False)
    parent = Parent(socket.socket(fileno=fd))
    request = parent.first()
    if request.get("check"):
        _check(parent, request["target"])
    else:
        _work(parent, request)


def load(target: str) -> Any:
    """Import ``pkg.mod:name``.

    Raises:
        NotImportable: With the reason, in one line.
    """
    module_name, _, name = target.partition(":")
    try:
        value = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise NotImportable(
                f"there is no module {error.name!r}; looked in pytest's root and current folder and what is installed"
            ) from error
        raise NotImportable(f"importing {module_name} failed: {failure_line(error)}") from error
    except (Exception, SystemExit) as error:
        raise NotImportable(f"importing {module_name} failed: {failure_line(error)}") from error
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            close = difflib.get_close_matches(part, [n for n in dir(value) if not n.startswith("_")], n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise NotImportable(f"{module_name} has no {name!r}{hint}") from None
    return value


def _check(parent: Parent, target: str) -> None:
    try:
        check_adaptable(load(target))
    except (NotImportable, NotAnAgent) as fault:
        parent.send("unavailable", reason=str(fault))
    else:
        parent.send("checked")


def _work(parent: Parent, request: dict[str, Any]) -> None:
    from pytest_gta.workspace.workspace import Workspace

    brief = request["brief"]
    task = Brief(brief["id"], brief["category"], tuple(brief["turns"]), tuple(brief["inputs"]), brief["earlier_answer"])
    try:
        candidate = load(request["target"])
        workspace = Workspace.open(Path(request["root"]), request["inputs"], request=task.request)
        tools = RemoteTools(parent, request["tools"])
        os.chdir(workspace.root)
        agent = adapted(candidate, request["label"])
    except (NotImportable, NotAnAgent, AgentUnavailable) as fault:
        cause = fault.__cause__
        parent.send("unavailable", reason=str(fault), traceback=_text_of(cause) if cause else "")
        return
    try:
        run = agent.run(task, tools, workspace)
    except AgentUnavailable as fault:
        used = fault.usage.model_dump(mode="json")
        parent.send("unavailable", reason=str(fault), traceback=_text_of(fault), usage=used)
    except BaseException as error:
        line = failure_line(error)
        if disk_is_full(error) or endpoint_fault(error):
            what = "the disk is full" if disk_is_full(error) else "its model endpoint does not serve"
            reason = f"{what}: {line}"
            parent.send("unavailable", reason=reason, traceback=_text_of(error))
        else:
            parent.send("failed", reason=line, traceback=_text_of(error))
    else:
        _send_run(parent, run)


def _send_run(parent: Parent, run: AgentRun) -> None:
    parent.send(
        "result",
        stop_reason=run.stop_reason,
        final_answer=run.final_answer,
        stop_detail=run.stop_detail,
        turns=run.turns,
        usage=run.usage.model_dump(mode="json"),
        notes=run.notes,
    )


def _text_of(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))
