"""Agents of lagent 0.2, the framework of the benchmark's reference (``pip install 'lagent<0.3' cachetools``).

Its requirements cannot be met together with those of other frameworks: it wants an environment of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

try:
    from lagent.actions import ActionExecutor, BaseAction
    from lagent.agents import ReAct
    from lagent.llms.base_api import BaseAPIModel
    from lagent.schema import ActionReturn, ActionStatusCode
except ImportError as error:
    raise ImportError(f"lagent is not usable: {error}; pip install 'lagent<0.3' cachetools") from error

from pytest_gta.agents.frameworks.framework_agent import FrameworkAgent, TurnsUsedUp, model_under_test
from pytest_gta.agents.instructions import shown_result
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import AgentUnavailable, Tools
from pytest_gta.benchmark.usage import Usage
from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.tools.specification import ToolSpec

MAX_TRIES = 30
"""Times that lagent's own model tries one call; left alone it tries for ever to reach a server that is down."""

_TYPES = {"int": "NUMBER", "float": "FLOAT", "bool": "BOOLEAN"}
_GAVE_UP = ("Calling OpenAI failed", "All keys have insufficient quota")
"""How its own model says that the endpoint does not serve."""


def tools_of(tools: Tools) -> list[BaseAction]:
    """Return the benchmark's tools as lagent's actions."""
    return [_BenchmarkAction(tools, spec) for spec in tools.specs]


def build() -> FrameworkAgent:
    """Return lagent's ReAct agent on the model of ``--gta-model``, with nothing of its own but the tools.

    Prompts, parsing and loop are lagent's. Its model is reached through this package's client, which lagent's own
    cannot be used for: it knows models by their names, and tries for ever to reach a server that is down.
    """
    endpoint = model_under_test()
    agent = ReAct(llm=_Model(endpoint), action_executor=ActionExecutor(actions=[]))
    return LagentAgent(agent, "lagent", endpoint=endpoint)


class LagentAgent(FrameworkAgent):
    """An agent of lagent 0.2 with ``chat`` and ``add_action``, such as ``ReAct``."""

    def _hold(self, messages: Sequence[str], tools: Tools) -> str:
        actions = tools_of(tools) if self._give_tools else []
        for action in actions:
            self._agent.add_action(action)
        model = self._agent._llm
        if isinstance(model, _Model):
            model.heard = self._heard_exactly
        elif hasattr(model, "_wait"):
            _bound(model)
        history: list[dict[str, str]] = []
        answer = ""
        try:
            for message in messages:
                history.append({"role": "user", "content": message})
                answer = self._say(history)
                history.append({"role": "assistant", "content": answer})
        finally:
            for action in actions:
                self._agent.del_action(action.name)
        return answer

    def _say(self, history: list[dict[str, str]]) -> str:
        if hasattr(self._agent, "max_turn"):
            self._agent.max_turn = self._turns_left
        try:
            returned = self._agent.chat(list(history))
        except RuntimeError as error:
            if str(error).startswith(_GAVE_UP):
                raise AgentUnavailable(f"its model endpoint does not serve: {error}") from error
            raise
        if not isinstance(self._agent._llm, _Model):
            for step in returned.inner_steps:
                if step["role"] == "assistant":
                    self._heard(step["content"], None)
        done = self._agent._action_executor.finish_action.name
        if returned.actions and returned.actions[-1].type != done:
            # What it says then is an apology of the loop, no answer.
            raise TurnsUsedUp
        return str(returned.response or "")

    def _heard_exactly(self, text: str, usage: Usage) -> None:
        self._heard(text, usage.tokens, usage.cost_usd)


class _Model(BaseAPIModel):
    """The model under test, as lagent wants a model."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(model_type=endpoint.model)
        self._client = ChatClient(endpoint)
        self.heard: Any = lambda _text, _usage: None

    def chat(self, inputs: list[dict[str, str]], **_: Any) -> str:
        """Return the reply to a conversation."""
        reply = self._client.chat_blocking(inputs, deadline_s=Limits().task_timeout_s)
        self.heard(reply.text, reply.usage)
        return reply.text


class _BenchmarkAction(BaseAction):
    """One tool. What a model wrote goes to the toolbox as it is, so that a bad call is answered and counted there."""

    def __init__(self, tools: Tools, spec: ToolSpec) -> None:
        self._tools, self._tool = tools, spec.name
        super().__init__(
            description={
                "name": spec.name,
                "description": spec.description,
                "parameters": [
                    {"name": p.name, "description": p.description, "type": _TYPES.get(p.type, "STRING")}
                    for p in spec.parameters
                ],
                "required": list(spec.required),
            }
        )

    def __call__(self, inputs: str, name: str = "run") -> ActionReturn:
        result = self._tools.call(self._tool, inputs)
        return ActionReturn(
            args={"inputs": inputs},
            type=self._tool,
            result=[{"type": "text", "content": shown_result(result)}],
            errmsg=shown_result(result) if result.is_error else None,
            state=ActionStatusCode.API_ERROR if result.is_error else ActionStatusCode.SUCCESS,
        )


def _bound(model: Any) -> None:
    """Have lagent's own model give up in the end; it asks `_wait` before each try of a call. Once for a model."""
    if getattr(model, "gives_up", False):
        return
    wait, chat = model._wait, model.chat
    tries = 0

    def counted() -> None:
        nonlocal tries
        tries += 1
        if tries > MAX_TRIES:
            raise AgentUnavailable(f"its model endpoint does not serve: tried {MAX_TRIES} times")
        wait()

    def counting_anew(*arguments: Any, **more: Any) -> Any:
        nonlocal tries
        tries = 0
        return chat(*arguments, **more)

    model._wait, model.chat, model.gives_up = counted, counting_anew, True


ADAPTER = LagentAgent
