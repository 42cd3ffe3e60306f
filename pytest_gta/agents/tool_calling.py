"""The `tools` agent: a model with native tool calls, in a loop.

Every message of the user is answered in turn, and the model keeps its own replies. Each tool call gets exactly one
answer, also when a limit or the deadline comes in the middle of a turn. A reply without a tool call is the answer; what
a model writes beside its calls never is.
"""

from __future__ import annotations

from pytest_gta.agents import instructions
from pytest_gta.agents.call_guard import CallGuard
from pytest_gta.agents.model_turns import Ended, ModelAgent, ModelTurns, spoken
from pytest_gta.agents.protocol import AgentRun
from pytest_gta.agents.recorded_tools import RecordedTools
from pytest_gta.benchmark.results import StopReason
from pytest_gta.benchmark.task import Brief
from pytest_gta.llm.emulated_tools import with_calls
from pytest_gta.llm.reply import Reply, ToolCall
from pytest_gta.workspace.workspace import Workspace

ANSWERED_PER_TURN = 128
"""Calls of one turn that are kept and answered; a model that writes thousands is not sent them all back."""


class ToolCallingAgent(ModelAgent):
    """A model under test, with the benchmark's tools as native tool calls."""

    def _system_prompt(self, tools: RecordedTools, workspace: Workspace) -> str:
        return instructions.system_prompt(workspace)

    def _hold(self, model: ModelTurns, tools: RecordedTools, task: Brief, workspace: Workspace) -> AgentRun:
        return _Conversation(model, tools).hold(task, workspace)


class _Conversation:
    """One task's talk with the model."""

    def __init__(self, model: ModelTurns, tools: RecordedTools) -> None:
        self._model, self._tools, self._limits, self._history = model, tools, model.limits, model.history
        self._schemas = [spec.function_schema() for spec in tools.specs]
        self._guard = CallGuard(model.limits, [spec.name for spec in tools.specs])
        self._no_more_calls = ""
        self._not_asked = 0

    def hold(self, task: Brief, workspace: Workspace) -> AgentRun:
        """Answer every message of the user; the last answer is the final one."""
        begins = task.earlier_answer is None
        pictures, remarks = instructions.input_pictures(workspace, self._limits) if begins else ((), ())
        answer = detail = ""
        for index, said in enumerate(task.unanswered):
            self._not_asked = len(task.unanswered) - index - 1
            text = instructions.with_remarks(said, remarks) if index == 0 else said
            self._history.user(text, pictures if index == 0 else ())
            names = f"\n[shown: {', '.join(p.path for p in pictures)}]" if pictures and index == 0 else ""
            self._model.transcript.add("user", text + names)
            answer, detail = self._answer()
        return AgentRun(StopReason.FINISHED, answer, detail, turns=self._model.turns, usage=self._model.usage)

    def _answer(self) -> tuple[str, str]:
        """Let the model work until it replies without a call; return that reply and a remark on it."""
        nudged = False
        while True:
            if self._model.turns + 1 >= self._limits.max_turns and not self._no_more_calls:
                self._no_more_calls = f"the limit of {self._limits.max_turns} turns was reached"
            if self._no_more_calls:
                self._conclude(self._no_more_calls)
            reply = self._model.ask(lambda: self._history.messages, tools=self._schemas)
            if reply.tool_calls:
                self._call_tools(reply)
                continue
            self._history.reply(reply, ())
            text = spoken(reply.text)
            if reply.refusal:
                return text or reply.refusal, "the model declined"
            if text:
                return text, "its answer was cut off by the output limit" if reply.finish_reason == "length" else ""
            if nudged:
                raise Ended(StopReason.NO_ANSWER, "the model's reply was empty twice in a row")
            nudged = True
            self._model.tell(instructions.EMPTY)

    def _conclude(self, why: str) -> None:
        """Ask for the answer without tools, and end."""
        self._model.tell(instructions.last_turn(why))
        reply = self._model.ask(self._history.without_tools)
        if not self._model.client.endpoint.native_tools:
            # A model that answers in JSON through the whole conversation does so here too.
            reply = with_calls(reply)
        for call in reply.tool_calls:
            self._model.refuse(call, instructions.OUT_OF_TURNS)
        text = "" if reply.tool_calls else spoken(reply.text) or (reply.refusal or "")
        left = f"; {self._not_asked} further messages of the user were not reached" if self._not_asked else ""
        if not text:
            raise Ended(StopReason.NO_ANSWER, f"{why}, and the model gave no answer when asked for it{left}")
        self._history.said(text)
        raise Ended(StopReason.MAX_TURNS, f"{why}{left}", text)

    # -- tool calls --------------------------------------------------------------------------------------------------

    def _call_tools(self, reply: Reply) -> None:
        calls = reply.tool_calls[:ANSWERED_PER_TURN]
        if len(calls) < len(reply.tool_calls):
            left_out = len(reply.tool_calls) - len(calls)
            self._model.transcript.add(
                "note", f"{left_out} more tool calls of this turn were left out", turn=self._model.turns
            )
        self._history.reply(reply, calls)
        self._guard.begin_turn()
        for index, call in enumerate(calls):
            cut = reply.finish_reason == "length" and index == len(calls) - 1
            self._history.answer(call.id, self._answer_to(call, cut))
        self._no_more_calls = self._guard.end_turn()
        if self._model.clock.over:
            raise self._model.time_is_up()

    def _answer_to(self, call: ToolCall, cut: bool) -> str:
        refusal = instructions.OUT_OF_TIME if self._model.clock.over else self._guard.refusal(call)
        if refusal:
            return self._model.refuse(call, refusal)
        result = self._tools.call(call.name, call.arguments, call_id=call.id, turn=self._model.turns)
        text = instructions.shown_result(result)
        return f"{text}\n{instructions.CUT_ARGUMENTS}" if cut and result.is_error else text
