"""A model's turns on one task: asked, retried, shortened, and ended with the reason why.

What both kinds of conversation share, native tool calls and ReAct.
"""

from __future__ import annotations

import asyncio
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_gta.agents import instructions, kept_conversation
from pytest_gta.agents.history import History
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import AgentRun, AgentUnavailable, Tools
from pytest_gta.agents.recorded_tools import RecordedTools
from pytest_gta.agents.task_clock import TaskClock
from pytest_gta.agents.transcript import Transcript
from pytest_gta.benchmark.results import StopReason
from pytest_gta.benchmark.task import Brief
from pytest_gta.benchmark.usage import Usage
from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.event_loop import EventLoopThread
from pytest_gta.llm.model_error import ModelError, ModelErrorKind
from pytest_gta.llm.reply import Reply, ToolCall
from pytest_gta.llm.retry import RetryPolicy
from pytest_gta.llm.run_control import RunControl
from pytest_gta.workspace.workspace import Workspace

MORE_ROOM = 32_768
"""Output tokens asked for after a reply that was cut off before it said anything."""
TOOL_GRACE_S = 150.0
"""Seconds a tool call that is under way at the deadline may still take."""

_LOOK_S = 0.25
_BOOKED_LATE_S = 1.1
"""The client books its waiting a second late at most; until then it looks like the agent's own time."""
_THOUGHT = re.compile(r"\A(?:\s*<think>)?.*</think>", re.DOTALL | re.IGNORECASE)


@dataclass(eq=False)
class Ended(Exception):
    """Ends a conversation: how, why in one line, and the answer there is."""

    reason: StopReason
    detail: str
    answer: str = ""


class ModelAgent(ABC):
    """A model under test, in some form of conversation.

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
        recorded.left_s = lambda: min(clock.own_left_s, clock.wall_left_s)
        system = self._system_prompt(recorded, workspace)
        transcript.add("system", system)
        history = self._so_far(task, system, workspace, transcript)
        model = ModelTurns(client, self._limits, clock, history, transcript)
        try:
            run = self._hold(model, recorded, task, workspace)
        except Ended as ended:
            run = AgentRun(ended.reason, ended.answer, ended.detail, turns=model.turns, usage=model.usage)
        except AgentUnavailable as fault:
            raise AgentUnavailable(str(fault), usage=model.usage, halted=fault.halted) from fault
        if transcript.path is not None:
            kept_conversation.keep(history, transcript.path.parent)
        return run

    def _so_far(self, task: Brief, system: str, workspace: Workspace, transcript: Transcript) -> History:
        """Return the conversation up to the first message that is not answered yet."""
        if task.earlier_answer is None:
            return History(system)
        folder = transcript.path.parent if transcript.path is not None else workspace.root.parent
        kept = kept_conversation.take_up(folder, lambda: instructions.input_pictures(workspace, self._limits)[0])
        if kept is not None:
            transcript.add("note", f"goes on with its conversation of {len(kept.messages)} messages")
            return kept
        transcript.add("note", "its conversation was not kept: it goes on from the request and its answer alone")
        history = History(system)
        inputs = f"\n\n[Input files: {', '.join(workspace.inputs)}]" if workspace.inputs else ""
        history.user("\n\n".join(task.turns[:-1]) + inputs)
        history.said(task.earlier_answer or instructions.NO_ANSWER)
        return history

    @abstractmethod
    def _system_prompt(self, tools: RecordedTools, workspace: Workspace) -> str:
        """Return what the model is told first."""

    @abstractmethod
    def _hold(self, model: ModelTurns, tools: RecordedTools, task: Brief, workspace: Workspace) -> AgentRun:
        """Hold the conversation.

        Raises:
            Ended: When it ends before all messages of the user are answered.
            AgentUnavailable: When the endpoint does not serve.
        """


class ModelTurns:
    """Asks the model for its turns.

    Args:
        client: Its endpoint.
        limits: The budgets of the task.
        clock: The time that is left.
        history: The conversation.
        transcript: Where it is recorded.

    Attributes:
        turns: Turns taken.
        usage: What they used.
    """

    def __init__(
        self, client: ChatClient, limits: Limits, clock: TaskClock, history: History, transcript: Transcript
    ) -> None:
        self.usage = Usage()
        self.turns = 0
        self.client, self.limits, self.clock, self.history, self.transcript = client, limits, clock, history, transcript
        self._room = limits.max_output_tokens

    def ask(
        self,
        messages: Callable[[], list[dict[str, Any]]],
        *,
        tools: Sequence[dict[str, object]] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Take one turn.

        Args:
            messages: Gives what to send; asked again when the conversation was made shorter.
            tools: Tools on offer.
            extra: Further fields of the request.

        Raises:
            Ended: When there is none: time is up, the conversation is too long, the model says nothing.
            AgentUnavailable: When the endpoint does not serve.
        """
        trimmed, retried = 0, False
        while True:
            try:
                reply = self._request(messages, tools, extra)
            except ModelError as error:
                self.usage += error.usage
                if error.kind is ModelErrorKind.CONTEXT_EXCEEDED and trimmed < 2:
                    trimmed += 1
                    self._shrink(error)
                elif _said_nothing(error) and not retried:
                    retried = True
                    self._room = max(MORE_ROOM, 4 * (self._room or 0))
                    self.tell(instructions.CUT_OFF)
                elif error.kind is ModelErrorKind.BAD_REQUEST and self.history.has_pictures:
                    self.transcript.add("note", f"sent again without pictures: {error}", turn=self.turns)
                    self.history.drop_pictures("pictures that you cannot see, use tools to look at them")
                else:
                    raise self._ending(error) from error
                continue
            self.usage += reply.usage
            self.turns += 1
            self.transcript.add("assistant", reply.text, turn=self.turns, usage=reply.usage)
            return reply

    def tell(self, text: str) -> None:
        """Add a message of the loop to the conversation."""
        self.history.user(text)
        self.transcript.add("user", text, turn=self.turns)

    def refuse(self, call: ToolCall, reason: str) -> str:
        """Record a call that is not run, and return its answer."""
        self.transcript.add("tool_call", call.arguments, name=call.name, call_id=call.id, turn=self.turns)
        self.transcript.add(
            "tool_result", reason, name=call.name, call_id=call.id, turn=self.turns, is_error=True, not_run=True
        )
        return reason

    def time_is_up(self, otherwise: str = "") -> Exception:
        """Return what ends a conversation whose time is up, by the agent or by an endpoint that kept it waiting."""
        why = self.clock.over or otherwise
        if self.clock.waited_out:
            return AgentUnavailable(f"{self.client.endpoint.shown} kept it waiting: {why}")
        return Ended(StopReason.TIMEOUT, why)

    def _request(
        self,
        messages: Callable[[], list[dict[str, Any]]],
        tools: Sequence[dict[str, object]] | None,
        extra: Mapping[str, Any] | None,
    ) -> Reply:
        if self.clock.over:
            raise self.time_is_up()
        return EventLoopThread.shared().run(self._in_time(messages(), tools, extra))

    async def _in_time(
        self,
        messages: list[dict[str, Any]],
        tools: Sequence[dict[str, object]] | None,
        extra: Mapping[str, Any] | None,
    ) -> Reply:
        """Ask, and give up when the agent's own time (without waiting for the endpoint) is over."""
        asking = asyncio.ensure_future(
            self.client.chat(
                messages,
                tools=list(tools) if tools else None,
                deadline_s=self.clock.wall_left_s,
                max_output_tokens=self._room,
                extra=extra,
            )
        )
        try:
            while not asking.done():
                await asyncio.wait({asking}, timeout=_LOOK_S)
                over = self.clock.over_by(_BOOKED_LATE_S)
                if over and not asking.done():
                    raise ModelError(ModelErrorKind.TIMEOUT, over, usage=Usage(calls=1))
        finally:
            asking.cancel()
        return asking.result()

    def _shrink(self, error: ModelError) -> None:
        how = self.history.shrink()
        if not how:
            raise Ended(StopReason.CONTEXT_EXCEEDED, str(error)) from error
        self.transcript.add("note", f"{how}: {error}", turn=self.turns)

    def _ending(self, error: ModelError) -> Exception:
        """What a model error that stays means for the task."""
        if error.kind is ModelErrorKind.TIMEOUT:
            return self.time_is_up(str(error))
        if error.kind is ModelErrorKind.CONTEXT_EXCEEDED:
            return Ended(StopReason.CONTEXT_EXCEEDED, str(error))
        if _said_nothing(error):
            return Ended(StopReason.NO_ANSWER, str(error))
        halted = error.kind is ModelErrorKind.HALTED or error.kind.halts_the_run
        if error.kind.is_of_the_endpoint or self.turns == 0:
            return AgentUnavailable(str(error), halted=halted)
        return Ended(StopReason.AGENT_ERROR, str(error))


def spoken(text: str) -> str:
    """Return what a reply says, without the thinking that some servers leave in front of it."""
    return _THOUGHT.sub("", text, count=1).strip() if "</think>" in text.lower() else text.strip()


def _noted(transcript: Transcript, text: str) -> None:
    transcript.add("wait", text)


def _said_nothing(error: ModelError) -> bool:
    """Whether a reply was used up by the output limit before it said anything."""
    return error.kind is ModelErrorKind.BAD_REPLY and "output limit" in str(error)
