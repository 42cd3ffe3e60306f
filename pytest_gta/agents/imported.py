"""Your own agent, given as ``import:pkg.mod:name``: run in a process of its own that can be ended at any time.

The process gets the task without its rubric, the workspace and the tools' descriptions; tool calls come back here and
are run by the task's own toolbox. Whatever the agent does to its process (exit, crash, hang), the run goes on, and its
steps are on disk.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.agents.child_process import ChildEnded, ChildProcess
from pytest_gta.agents.failure import remark_on_kill
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.model_check import outage_behind
from pytest_gta.agents.protocol import AgentRun, AgentUnavailable, Tools
from pytest_gta.agents.recorded_tools import RecordedTools
from pytest_gta.agents.specification import AgentSpecError
from pytest_gta.benchmark.results import StopReason
from pytest_gta.benchmark.task import Brief
from pytest_gta.benchmark.usage import Usage
from pytest_gta.llm.redaction import one_line, redact
from pytest_gta.workspace.memory_killer import MemoryWatch

if TYPE_CHECKING:
    from pytest_gta.workspace.workspace import Workspace

CHECK_TIMEOUT_S = 120.0
"""Seconds that importing the agent may take."""

TURNS_VARIABLE = "GTA_MAX_TURNS"
"""Tells the agent how many model turns a task may take."""
TOLD_STEPS = ("system", "user", "assistant", "wait", "note")
"""Steps that an agent may add to its transcript; its tool calls are recorded where they are run."""

_PASSED_ON = ("GTA_MODEL", "GTA_BASE_URL")
_WITHHELD = ("EVAL_", "GTA_", "PYTEST_")


def agent_environment(
    extra: Mapping[str, str] | None = None, *, withheld: Sequence[str] = (), environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the environment of an agent's process: this one's without what belongs to the judge or the run.

    Args:
        extra: Variables to set.
        withheld: Names of further variables to leave out.
        environment: What to start from.
    """
    kept = {
        name: value
        for name, value in environment.items()
        if name in _PASSED_ON or not (name.startswith(_WITHHELD) or name in withheld)
    }
    return {**kept, **(extra or {})}


def check_import(target: str, import_paths: Sequence[Path] = (), *, withheld: Sequence[str] = ()) -> None:
    """Check that an agent can be imported, in a process of its own; nothing of it is called.

    Args:
        target: ``pkg.mod:name``.
        import_paths: Folders to look in before the usual ones.
        withheld: Names of environment variables that it must not see.

    Raises:
        AgentSpecError: One line: no such module, no such name in it, importing it raises, or it is not an agent.
    """
    where = f"--gta-agent=import:{target}"
    child = ChildProcess(_paths(import_paths), agent_environment(withheld=withheld), output=None)
    try:
        child.send({"target": target, "check": True})
        answer = child.receive(time.monotonic() + CHECK_TIMEOUT_S)
    except ChildEnded as ended:
        raise AgentSpecError(f"{where}: importing it ended the process ({ended})") from None
    finally:
        child.end()
    if answer is None:
        raise AgentSpecError(f"{where}: importing it took more than {CHECK_TIMEOUT_S:g} s")
    if answer["kind"] != "checked":
        raise AgentSpecError(f"{where}: {answer['reason']}")


class ImportedAgent:
    """Runs the user's agent in a process of its own, one for each task.

    Args:
        target: ``pkg.mod:name``.
        label: What reports call it.
        limits: The task's budgets; the timeout holds for the whole process.
        import_paths: Folders to import from before the usual ones: pytest's root and current folder.
        environment: Variables to set for it.
        withheld: Names of environment variables that it must not see, besides those of the judge and the run.
    """

    def __init__(
        self,
        target: str,
        label: str,
        limits: Limits,
        *,
        import_paths: Sequence[Path] = (),
        environment: Mapping[str, str] | None = None,
        withheld: Sequence[str] = (),
    ) -> None:
        self.label = label
        self._target, self._limits = target, limits
        self._paths = _paths(import_paths)
        self._environment, self._withheld = dict(environment or {}), tuple(withheld)
        self._child: ChildProcess | None = None
        self._stopped = False

    @property
    def wall_cap_s(self) -> float:
        """Seconds after which it has ended whatever happens."""
        return self._limits.task_timeout_s

    def stop(self) -> None:
        """End the process and all it started, at once."""
        self._stopped = True
        if self._child is not None:
            self._child.end()

    def outage(self, run: AgentRun) -> str:
        """Return why its model does not serve, of a run that left no file; "" when it does or is not known."""
        return outage_behind(run, self._environment)

    def run(self, task: Brief, tools: Tools, workspace: Workspace) -> AgentRun:
        """Start the process, serve its tool calls and return how it ended.

        Raises:
            AgentUnavailable: When the agent cannot be imported or built, reports that its endpoint does not serve, or
                was killed because the machine ran out of memory.
        """
        self._stopped = False
        deadline = time.monotonic() + self._limits.task_timeout_s
        if isinstance(tools, RecordedTools):
            tools.end_by(deadline)
        transcript = getattr(tools, "transcript", None)
        output = transcript.path.with_name("agent_output.txt") if transcript is not None and transcript.path else None
        told = {**self._environment, TURNS_VARIABLE: str(self._limits.max_turns)}
        environment = agent_environment(told, withheld=self._withheld)
        memory = MemoryWatch()
        child = self._child = ChildProcess(self._paths, environment, output=output)
        finished = False
        try:
            child.send(
                {
                    "target": self._target,
                    "label": self.label,
                    "brief": dataclasses.asdict(task),
                    "root": str(workspace.root),
                    "inputs": list(workspace.inputs),
                    "tools": [dataclasses.asdict(spec) for spec in tools.specs],
                }
            )
            run = self._serve(child, tools, deadline)
            finished = run.stop_reason is not StopReason.TIMEOUT
            return run
        except ChildEnded as ended:
            if self._stopped or time.monotonic() >= deadline:
                return self._timed_out()
            how = f"its process {ended}"
            how = remark_on_kill(how, memory) if ended.killed else how
            return AgentRun(StopReason.AGENT_ERROR, "", how, usage=Usage(cost_usd=None))
        finally:
            child.end(finished=finished)
            self._child = None

    def _serve(self, child: ChildProcess, tools: Tools, deadline: float) -> AgentRun:
        while True:
            message = child.receive(deadline)
            if message is None:
                return self._timed_out()
            kind = message.get("kind")
            if kind == "call":
                result = tools.call(str(message.get("name", "")), message.get("arguments", ""))
                child.send(
                    {
                        "id": message.get("id"),
                        "text": result.text,
                        "files": list(result.files),
                        "is_error": result.is_error,
                    }
                )
            elif kind == "step":
                _keep_step(message, tools)
            elif kind == "result":
                return _read_run(message)
            else:
                reason = one_line(redact(str(message.get("reason", ""))))
                transcript = getattr(tools, "transcript", None)
                if transcript is not None and message.get("traceback"):
                    transcript.add("note", str(message["traceback"]))
                if kind == "failed":
                    return AgentRun(StopReason.AGENT_ERROR, "", reason, usage=Usage(cost_usd=None))
                raise AgentUnavailable(reason, usage=Usage.model_validate(message.get("usage") or {}))

    def _timed_out(self) -> AgentRun:
        limit = f"still at work after {self._limits.task_timeout_s:g} s"
        return AgentRun(StopReason.TIMEOUT, "", limit, usage=Usage(cost_usd=None))


def _keep_step(message: Mapping[str, Any], tools: Tools) -> None:
    """Add a step that the agent tells of to the transcript; what is none is left out."""
    transcript = getattr(tools, "transcript", None)
    kind, turn = message.get("step"), message.get("turn")
    if transcript is None or kind not in TOLD_STEPS:
        return
    try:
        usage = None if message.get("usage") is None else Usage.model_validate(message["usage"])
    except ValueError:
        usage = None
    transcript.add(kind, str(message.get("text", "")), turn=turn if isinstance(turn, int) else 0, usage=usage)


def _read_run(message: Mapping[str, Any]) -> AgentRun:
    return AgentRun(
        StopReason(message["stop_reason"]),
        str(message["final_answer"]),
        str(message["stop_detail"]),
        int(message["turns"]),
        Usage.model_validate(message["usage"]),
        tuple(str(text) for text in message["notes"]),
    )


def _paths(first: Sequence[Path]) -> tuple[str, ...]:
    """Where the agent's process imports from: `first`, then all that this process knows."""
    here = str(Path.cwd())
    return tuple(dict.fromkeys([*(str(path) for path in first), *(entry or here for entry in sys.path)]))
