"""Runs any agent on one task, with a deadline, and records how it ended.

How an ending is called:

- the agent's own `AgentRun` says it, except that one which finished with neither a final answer nor a deliverable has
  ``no_answer``;
- past the deadline it is ``timeout``; what was delivered by then counts;
- an exception is ``agent_error``, unless it is an endpoint's report that it does not serve: that is not the agent's
  fault and raises `AgentUnavailable`, as does an ending without any file while its model does not serve.
"""

from __future__ import annotations

import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_gta.agents.failure import disk_is_full, endpoint_fault, failure_line, without_held_keys
from pytest_gta.agents.protocol import Agent, AgentRun, AgentUnavailable, Tools, as_agent
from pytest_gta.agents.recorded_tools import RecordedTools, TaskEnded
from pytest_gta.agents.transcript import Counts, Transcript, shortened
from pytest_gta.benchmark.results import AgentRecord, StopReason
from pytest_gta.benchmark.run_directory import NotWritten
from pytest_gta.benchmark.task import Brief
from pytest_gta.benchmark.usage import Usage
from pytest_gta.llm.redaction import one_line, redact

if TYPE_CHECKING:
    from pytest_gta.workspace.workspace import Workspace

STOP_GRACE_S = 10.0
"""Seconds an agent that was told to stop has to return."""
ANSWER_LIMIT = 1_000_000
"""Characters of a final answer that are kept."""
NOTES_LIMIT = 200
"""Notes of an agent that are kept; all of them are in the transcript."""


def run_agent(
    agent: Agent,
    brief: Brief,
    tools: Tools,
    workspace: Workspace,
    *,
    deadline_s: float,
    transcript: Transcript | Path,
) -> AgentRecord:
    """Run an agent on a task in a thread of its own and return how that went.

    A thread cannot be killed: an agent of this process that ignores the deadline is left behind (its next tool call
    ends it), which is why agents given by ``import:`` run in a process.

    Args:
        agent: The agent, or anything `as_agent` makes one of.
        brief: The task without its rubric.
        tools: Its tools; closed when this returns.
        workspace: Where it works.
        deadline_s: Seconds it has; an agent with a larger ``wall_cap_s`` has that many.
        transcript: Where its steps go.

    Raises:
        AgentUnavailable: When the environment is at fault.
        NotWritten: When its steps cannot be recorded.
        TypeError: When `agent` is not one.
        BaseException: KeyboardInterrupt and the like, as they came.
    """
    runner = as_agent(agent)
    steps = transcript if isinstance(transcript, Transcript) else Transcript(transcript)
    recorded = RecordedTools(tools, steps)
    work = _Work(runner, brief, recorded, workspace)
    if not getattr(runner, "records_conversation", False):
        steps.add("user", brief.request)
    began = time.monotonic()
    recorded.end_by(began + deadline_s)
    try:
        run = work.result(max(deadline_s, float(getattr(runner, "wall_cap_s", 0.0))))
        _check_its_model(runner, run, workspace)
    except AgentUnavailable as fault:
        steps.add("end", name="unavailable", detail=str(fault), usage=fault.usage)
        if fault.usage.calls:
            run = AgentRun(StopReason.UNAVAILABLE, "", str(fault), usage=fault.usage)
            fault.record = _record(run, runner.label, steps.counts, time.monotonic() - began, tools, workspace)
        raise
    finally:
        recorded.end()
        close = getattr(tools, "close", None)
        if callable(close):
            close()
    record = _record(run, runner.label, steps.counts, time.monotonic() - began, tools, workspace)
    steps.add(
        "end",
        record.final_answer,
        name=record.stop_reason,
        detail=record.stop_detail,
        turn=record.turns,
        usage=record.usage,
    )
    return record


class _Work:
    """One run in a thread."""

    def __init__(self, agent: Agent, brief: Brief, tools: RecordedTools, workspace: Workspace) -> None:
        self._agent, self._tools = agent, tools
        self._run: AgentRun | None = None
        self._error: BaseException | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(
            target=self._work, args=(brief, workspace), name=f"agent on task {brief.id}", daemon=True
        )

    def result(self, limit_s: float) -> AgentRun:
        self._thread.start()
        try:
            in_time = self._done.wait(limit_s)
        except BaseException:
            self._stop()
            raise
        if not in_time:
            self._stop()
            self._done.wait(STOP_GRACE_S)
        if isinstance(self._error, Exception | SystemExit | TaskEnded):
            return self._judged_failure(self._error, limit_s, in_time)
        if self._error is not None:
            raise self._error
        if self._run is None:
            return AgentRun(StopReason.TIMEOUT, "", f"still at work after {limit_s:g} s", usage=Usage(cost_usd=None))
        return self._run

    def _stop(self) -> None:
        self._tools.end()
        stop = getattr(self._agent, "stop", None)
        if callable(stop):
            stop()

    def _work(self, brief: Brief, workspace: Workspace) -> None:
        try:
            self._run = self._agent.run(brief, self._tools, workspace)
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()

    def _judged_failure(self, error: BaseException, limit_s: float, in_time: bool) -> AgentRun:
        unknown = Usage(cost_usd=None)
        if isinstance(error, TaskEnded) or not in_time:
            return AgentRun(StopReason.TIMEOUT, "", f"still at work after {limit_s:g} s", usage=unknown)
        if isinstance(error, AgentUnavailable | NotWritten):
            raise error
        line = failure_line(error)
        if disk_is_full(error):
            raise AgentUnavailable(f"the disk is full: {line}") from error
        self._tools.transcript.add("note", "".join(traceback.format_exception(error)))
        if endpoint_fault(error):
            raise AgentUnavailable(f"its model endpoint does not serve: {line}") from error
        return AgentRun(StopReason.AGENT_ERROR, "", line, usage=unknown)


def _check_its_model(agent: Agent, run: AgentRun, workspace: Workspace) -> None:
    """See to it that an agent that left no file has failed itself, not its model.

    Raises:
        AgentUnavailable: When its model does not serve.
    """
    outage = getattr(agent, "outage", None)
    if not callable(outage) or workspace.deliverables().files:
        return
    if why := outage(run):
        raise AgentUnavailable(f"its model endpoint does not serve: {why}", usage=run.usage)


def _record(
    run: AgentRun, label: str, counts: Counts, wall_s: float, tools: Tools, workspace: Workspace
) -> AgentRecord:
    answer = printable(without_held_keys(run.final_answer)).strip()
    reason, detail = run.stop_reason, run.stop_detail
    if reason is StopReason.FINISHED and not answer:
        if workspace.deliverables().files:
            detail = detail or "no final answer; the files it left are judged"
        else:
            reason, detail = StopReason.NO_ANSWER, detail or "ended with neither a final answer nor a file"
    return AgentRecord(
        label=label,
        stop_reason=reason,
        stop_detail=one_line(redact(printable(detail))),
        turns=run.turns or counts.turns,
        tool_calls=counts.tool_calls,
        tool_errors=counts.tool_errors,
        usage=run.usage,
        wall_s=wall_s,
        final_answer=shortened(answer, ANSWER_LIMIT),
        tools_offered=tuple(sorted(spec.name for spec in tools.specs)),
        notes=tuple(one_line(redact(printable(text))) for text in run.notes[:NOTES_LIMIT]),
    )


def printable(text: str) -> str:
    """Return `text` as valid Unicode: a lone surrogate, as a model's broken escape leaves it, is written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
