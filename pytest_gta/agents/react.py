"""The `react` agent: a model without native tool calls, in the set-up that the benchmark's authors measured models in.

Thought, Action, Action Input, Response, Final Answer; one model call and at most one tool a turn. Unlike there, a reply
is cut where a made-up response would begin and only its first block counts, no output limit is set, the model keeps its
own replies over all messages of the user, and a crash is no answer.
"""

from __future__ import annotations

import json

from pytest_gta.agents import instructions
from pytest_gta.agents.call_guard import CallGuard
from pytest_gta.agents.model_turns import Ended, ModelAgent, ModelTurns, spoken
from pytest_gta.agents.protocol import AgentRun
from pytest_gta.agents.react_format import (
    FORMAT_HELP,
    STOP,
    Action,
    FinalAnswer,
    Formless,
    files_message,
    last_turn,
    read_block,
    system_prompt,
)
from pytest_gta.agents.recorded_tools import RecordedTools
from pytest_gta.benchmark.results import StopReason
from pytest_gta.benchmark.task import Brief
from pytest_gta.llm.reply import Reply, ToolCall
from pytest_gta.workspace.workspace import Workspace

MAX_TURNS = 10
"""Model turns of one task in the authors' set-up."""


class ReactAgent(ModelAgent):
    """A model under test, with the benchmark's tools in words."""

    def _system_prompt(self, tools: RecordedTools, workspace: Workspace) -> str:
        return system_prompt(tools.specs)

    def _hold(self, model: ModelTurns, tools: RecordedTools, task: Brief, workspace: Workspace) -> AgentRun:
        return _Conversation(model, tools).hold(task, workspace)


class _Conversation:
    """One task's talk with the model."""

    def __init__(self, model: ModelTurns, tools: RecordedTools) -> None:
        self._model, self._tools, self._history = model, tools, model.history
        self._guard = CallGuard(model.limits, [spec.name for spec in tools.specs])
        self._no_more_actions = ""
        self._not_asked = 0

    def hold(self, task: Brief, workspace: Workspace) -> AgentRun:
        """Answer every message of the user; the last answer is the final one."""
        if workspace.inputs and task.earlier_answer is None:
            self._model.tell(files_message(workspace.inputs))
        answer = detail = ""
        for index, said in enumerate(task.unanswered):
            self._not_asked = len(task.unanswered) - index - 1
            self._model.tell(said)
            answer, detail = self._answer()
        return AgentRun(StopReason.FINISHED, answer, detail, turns=self._model.turns, usage=self._model.usage)

    def _answer(self) -> tuple[str, str]:
        """Let the model work until it gives a final answer; return that and a remark on it."""
        while True:
            if self._model.turns + 1 >= self._model.limits.max_turns and not self._no_more_actions:
                self._no_more_actions = f"the limit of {self._model.limits.max_turns} turns was reached"
            if self._no_more_actions:
                self._conclude(self._no_more_actions)
            reply = self._ask()
            if reply.refusal:
                self._history.said(spoken(reply.text) or reply.refusal)
                return spoken(reply.text) or reply.refusal, "the model declined"
            block = _block(reply)
            if isinstance(block, FinalAnswer) and block.answer:
                self._history.said(block.text)
                cut = "its answer was cut off by the output limit" if reply.finish_reason == "length" else ""
                return block.answer, cut
            if isinstance(block, Action):
                self._act(block, cut=reply.finish_reason == "length")
            else:
                self._history.said(block.text)
                self._model.tell(FORMAT_HELP)

    def _conclude(self, why: str) -> None:
        """Ask for the answer, and end."""
        self._model.tell(last_turn(why))
        reply = self._ask()
        block = _block(reply)
        text = ""
        if isinstance(block, FinalAnswer):
            text = block.answer
        elif isinstance(block, Formless):
            text = block.text or reply.refusal or ""
        else:
            self._model.refuse(self._call(block), instructions.OUT_OF_TURNS)
        left = f"; {self._not_asked} further messages of the user were not reached" if self._not_asked else ""
        if not text:
            raise Ended(StopReason.NO_ANSWER, f"{why}, and the model gave no answer when asked for it{left}")
        self._history.said(block.text)
        raise Ended(StopReason.MAX_TURNS, f"{why}{left}", text)

    def _act(self, action: Action, *, cut: bool) -> None:
        call = self._call(action)
        self._history.acted(action.text, call)
        self._guard.begin_turn()
        refusal = instructions.OUT_OF_TIME if self._model.clock.over else self._guard.refusal(call)
        if refusal:
            answer = self._model.refuse(call, refusal)
        else:
            result = self._tools.call(call.name, call.arguments, call_id=call.id, turn=self._model.turns)
            answer = f"Error: {result.text}" if result.is_error else result.text or "(no output)"
            if cut and result.is_error:
                answer = f"{answer}\n{instructions.CUT_ARGUMENTS}"
        self._history.answer(call.id, answer)
        self._no_more_actions = self._guard.end_turn()
        if self._model.clock.over:
            raise self._model.time_is_up()

    def _call(self, action: Action) -> ToolCall:
        return ToolCall(f"a{self._model.turns}", action.tool, action.arguments)

    def _ask(self) -> Reply:
        return self._model.ask(self._history.written_out, extra={"stop": [STOP]})


def _block(reply: Reply) -> Action | FinalAnswer | Formless:
    block = read_block(spoken(reply.text))
    if isinstance(block, Formless) and reply.tool_calls:
        # Some servers turn what looks like a call into a native one, though none was offered.
        call = reply.tool_calls[0]
        written = f"{block.text}\nAction: {call.name}\nAction Input: {call.arguments}".strip()
        return Action(written, call.name, call.arguments if call.arguments else json.dumps({}))
    return block
