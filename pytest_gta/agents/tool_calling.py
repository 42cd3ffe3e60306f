"""The `tools` agent: a model with native tool calls, in a loop.

Every message of the user is answered in turn, and the model keeps its own replies. Each tool call gets exactly one
answer, also when a limit or the deadline comes in the middle of a turn. A reply without a tool call is the answer; what
a model writes beside its calls never is.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_gta.agents import instructions
from pytest_gta.agents.call_guard import CallGuard
from pytest_gta.agents.history import History
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import AgentRun, AgentUnavailable, Tools
from pytest_gta.agents.recorded_tools import RecordedTools
from pytest_gta.agents.task_clock import TaskClock
from pytest_gta.agents.transcript import Transcript
from pytest_gta.benchmark.results import StopReason, Usage
from pytest_gta.benchmark.task import Brief
from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.emulated_tools import with_calls
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.event_loop import EventLoopThread
from pytest_gta.llm.model_error import ModelError, ModelErrorKind
from pytest_gta.llm.reply import Reply, ToolCall
from pytest_gta.llm.retry import RetryPolicy
from pytest_gta.llm.run_control import RunControl
from pytest_gta.workspace.workspace import Workspace

MORE_ROOM = 32_768
"""Output tokens asked for after a reply that was cut off before it said anything."""
ANSWERED_PER_TURN = 128
"""Calls of one turn that are kept and answered; a model that writes thousands is not sent them all back."""
TOOL_GRACE_S = 150.0
"""Seconds a tool call that is under way at the deadline may still take."""

_LOOK_S = 0.25
_BOOKED_LATE_S = 1.1
"""The client books its waiting a second late at most; until then it looks like the agent's own time."""
_NOT_OURS = {
    ModelErrorKind.RATE_LIMITED,
    ModelErrorKind.UNAVAILABLE,
    ModelErrorKind.AUTH,
    ModelErrorKind.NO_CREDIT,
    ModelErrorKind.HALTED,
    ModelErrorKind.BAD_REPLY,
}
_THOUGHT = re.compile(r"\A(?:\s*<think>)?.*</think>", re.DOTALL | re.IGNORECASE)


class ToolCallingAgent:
    """A model under test, with the benchmark's tools.

    Args:
        endpoint: The model.
        label: What reports call it.
        limits: The budgets of one task.
        control: What all processes of the run share.
        retry: How often the client tries again.

    Attributes:
        records_conversation: The whole conversation is in the transcript, the request included.
    """

    records_conversation = True

    def __init__(
        self,
        endpoint: Endpoint,
        label: str,
        limits: Limits,
        *,
        control: RunControl | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.label = label
        self._endpoint, self._limits, self._control, self._retry = endpoint, limits, control, retry
        self._stopped = threading.Event()

    @property
    def wall_cap_s(self) -> float:
        """Seconds after which it has ended whatever happens."""
        return self._limits.wall_s + TOOL_GRACE_S

    def stop(self) -> None:
        """End as soon as the tool call under way is over."""
        self._stopped.set()

    def run(self, task: Brief, tools: Tools, workspace: Workspace) -> AgentRun:
        """Work on one task.

        Raises:
            AgentUnavailable: When the endpoint does not serve, for good.
        """
        # A new one, so that an agent that was stopped can be given the next task.
        stopped = self._stopped = threading.Event()
        recorded = tools if isinstance(tools, RecordedTools) else RecordedTools(tools, Transcript(None))
        transcript = recorded.transcript
        client = ChatClient(
            self._endpoint,
            control=self._control,
            on_wait=lambda text: _noted(transcript, text),
            retry=self._retry,
        )
        clock = TaskClock(self._limits, lambda: client.waited_s, stopped)
        system = instructions.system_prompt(workspace)
        transcript.add("system", system)
        conversation = _Conversation(client, recorded, self._limits, clock, History(system))
        try:
            return conversation.hold(task, workspace)
        except _Ended as ended:
            return AgentRun(
                ended.reason, ended.answer, ended.detail, turns=conversation.turns, usage=conversation.usage
            )
        except AgentUnavailable as fault:
            raise AgentUnavailable(str(fault), usage=conversation.usage, halted=fault.halted) from fault


@dataclass(eq=False)
class _Ended(Exception):
    reason: StopReason
    detail: str
    answer: str = ""


class _Conversation:
    """One task's talk with the model."""

    def __init__(
        self, client: ChatClient, tools: RecordedTools, limits: Limits, clock: TaskClock, history: History
    ) -> None:
        self.usage = Usage()
        self.turns = 0
        self._client, self._tools, self._limits, self._clock, self._history = client, tools, limits, clock, history
        self._transcript = tools.transcript
        self._schemas = [spec.function_schema() for spec in tools.specs]
        self._guard = CallGuard(limits, [spec.name for spec in tools.specs])
        self._room = limits.max_output_tokens
        self._no_more_calls = ""
        self._not_asked = 0

    def hold(self, task: Brief, workspace: Workspace) -> AgentRun:
        """Answer every message of the user; the last answer is the final one."""
        pictures, remarks = instructions.input_pictures(workspace, self._limits)
        answer = detail = ""
        for index, said in enumerate(task.turns):
            self._not_asked = len(task.turns) - index - 1
            text = instructions.with_remarks(said, remarks) if index == 0 else said
            self._history.user(text, pictures if index == 0 else ())
            names = f"\n[shown: {', '.join(p.path for p in pictures)}]" if pictures and index == 0 else ""
            self._transcript.add("user", text + names)
            answer, detail = self._answer()
        return AgentRun(StopReason.FINISHED, answer, detail, turns=self.turns, usage=self.usage)

    def _answer(self) -> tuple[str, str]:
        """Let the model work until it replies without a call; return that reply and a remark on it."""
        nudged = False
        while True:
            if self.turns + 1 >= self._limits.max_turns and not self._no_more_calls:
                self._no_more_calls = f"the limit of {self._limits.max_turns} turns was reached"
            if self._no_more_calls:
                self._conclude(self._no_more_calls)
            reply = self._ask(self._schemas)
            if reply.tool_calls:
                self._call_tools(reply)
                continue
            self._history.reply(reply, ())
            text = _spoken(reply.text)
            if reply.refusal:
                return text or reply.refusal, "the model declined"
            if text:
                return text, "its answer was cut off by the output limit" if reply.finish_reason == "length" else ""
            if nudged:
                raise _Ended(StopReason.NO_ANSWER, "the model's reply was empty twice in a row")
            nudged = True
            self._tell(instructions.EMPTY)

    def _conclude(self, why: str) -> None:
        """Ask for the answer without tools, and end."""
        self._tell(instructions.last_turn(why))
        reply = self._ask(None)
        if not self._client.endpoint.native_tools:
            # A model that answers in JSON through the whole conversation does so here too.
            reply = with_calls(reply)
        for call in reply.tool_calls:
            self._refuse(call, instructions.OUT_OF_TURNS)
        text = "" if reply.tool_calls else _spoken(reply.text) or (reply.refusal or "")
        left = f"; {self._not_asked} further messages of the user were not reached" if self._not_asked else ""
        if not text:
            raise _Ended(StopReason.NO_ANSWER, f"{why}, and the model gave no answer when asked for it{left}")
        raise _Ended(StopReason.MAX_TURNS, f"{why}{left}", text)

    # -- tool calls --------------------------------------------------------------------------------------------------

    def _call_tools(self, reply: Reply) -> None:
        calls = reply.tool_calls[:ANSWERED_PER_TURN]
        if len(calls) < len(reply.tool_calls):
            left_out = len(reply.tool_calls) - len(calls)
            self._transcript.add("note", f"{left_out} more tool calls of this turn were left out", turn=self.turns)
        self._history.reply(reply, calls)
        self._guard.begin_turn()
        for index, call in enumerate(calls):
            cut = reply.finish_reason == "length" and index == len(calls) - 1
            self._history.answer(call.id, self._answer_to(call, cut))
        self._no_more_calls = self._guard.end_turn()
        if self._clock.over:
            raise self._time_is_up()

    def _answer_to(self, call: ToolCall, cut: bool) -> str:
        refusal = instructions.OUT_OF_TIME if self._clock.over else self._guard.refusal(call)
        if refusal:
            return self._refuse(call, refusal)
        result = self._tools.call(call.name, call.arguments, call_id=call.id, turn=self.turns)
        text = f"Error: {result.text}" if result.is_error else result.text or "(no output)"
        return f"{text}\n{instructions.CUT_ARGUMENTS}" if cut and result.is_error else text

    def _refuse(self, call: ToolCall, reason: str) -> str:
        """Record a call that is not run, and return its answer."""
        self._transcript.add("tool_call", call.arguments, name=call.name, call_id=call.id, turn=self.turns)
        self._transcript.add(
            "tool_result", reason, name=call.name, call_id=call.id, turn=self.turns, is_error=True, not_run=True
        )
        return reason

    # -- asking ------------------------------------------------------------------------------------------------------

    def _ask(self, tools: Sequence[dict[str, object]] | None) -> Reply:
        """Take one turn.

        Raises:
            _Ended: When there is none: time is up, the conversation is too long, the model says nothing.
            AgentUnavailable: When the endpoint does not serve.
        """
        trimmed, retried = 0, False
        while True:
            try:
                reply = self._request(tools)
            except ModelError as error:
                self.usage += error.usage
                if error.kind is ModelErrorKind.CONTEXT_EXCEEDED and trimmed < 2:
                    trimmed += 1
                    self._shrink(error)
                elif _said_nothing(error) and not retried:
                    retried = True
                    self._room = max(MORE_ROOM, 4 * (self._room or 0))
                    self._tell(instructions.CUT_OFF)
                elif error.kind is ModelErrorKind.BAD_REQUEST and self._history.has_pictures:
                    self._transcript.add("note", f"sent again without pictures: {error}", turn=self.turns)
                    self._history.drop_pictures("pictures that you cannot see, use tools to look at them")
                else:
                    raise self._ending(error) from error
                continue
            self.usage += reply.usage
            self.turns += 1
            self._transcript.add("assistant", reply.text, turn=self.turns, usage=reply.usage)
            return reply

    def _request(self, tools: Sequence[dict[str, object]] | None) -> Reply:
        if self._clock.over:
            raise self._time_is_up()
        return EventLoopThread.shared().run(self._in_time(tools))

    async def _in_time(self, tools: Sequence[dict[str, object]] | None) -> Reply:
        """Ask, and give up when the agent's own time (without waiting for the endpoint) is over."""
        messages = self._history.messages if tools is not None else self._history.without_tools()
        asking = asyncio.ensure_future(
            self._client.chat(
                messages,
                tools=list(tools) if tools else None,
                deadline_s=self._clock.wall_left_s,
                max_output_tokens=self._room,
            )
        )
        try:
            while not asking.done():
                await asyncio.wait({asking}, timeout=_LOOK_S)
                over = self._clock.over_by(_BOOKED_LATE_S)
                if over and not asking.done():
                    raise ModelError(ModelErrorKind.TIMEOUT, over, usage=Usage(calls=1))
        finally:
            asking.cancel()
        return asking.result()

    def _shrink(self, error: ModelError) -> None:
        how = self._history.shrink()
        if not how:
            raise _Ended(StopReason.CONTEXT_EXCEEDED, str(error)) from error
        self._transcript.add("note", f"{how}: {error}", turn=self.turns)

    def _ending(self, error: ModelError) -> Exception:
        """What a model error that stays means for the task."""
        if error.kind is ModelErrorKind.TIMEOUT:
            return self._time_is_up(str(error))
        if error.kind is ModelErrorKind.CONTEXT_EXCEEDED:
            return _Ended(StopReason.CONTEXT_EXCEEDED, str(error))
        if _said_nothing(error):
            return _Ended(StopReason.NO_ANSWER, str(error))
        halted = error.kind is ModelErrorKind.HALTED or error.kind.halts_the_run
        if error.kind in _NOT_OURS or self.turns == 0:
            return AgentUnavailable(str(error), halted=halted)
        return _Ended(StopReason.AGENT_ERROR, str(error))

    def _time_is_up(self, otherwise: str = "") -> Exception:
        why = self._clock.over or otherwise
        if self._clock.waited_out:
            return AgentUnavailable(f"{self._client.endpoint.shown} kept it waiting: {why}")
        return _Ended(StopReason.TIMEOUT, why)

    def _tell(self, text: str) -> None:
        self._history.user(text)
        self._transcript.add("user", text, turn=self.turns)


def _noted(transcript: Transcript, text: str) -> None:
    transcript.add("wait", text)


def _said_nothing(error: ModelError) -> bool:
    """Whether a reply was used up by the output limit before it said anything."""
    return error.kind is ModelErrorKind.BAD_REPLY and "output limit" in str(error)


def _spoken(text: str) -> str:
    """Return what a reply says, without the thinking that some servers leave in front of it."""
    return _THOUGHT.sub("", text, count=1).strip() if "</think>" in text.lower() else text.strip()
