"""Agents of the OpenAI Agents SDK (``pip install 'pytest-gta[openai-agents]'``)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

try:
    from agents import (
        Agent,
        FunctionTool,
        MaxTurnsExceeded,
        OpenAIProvider,
        RunConfig,
        RunHooks,
        Runner,
        set_tracing_disabled,
    )
except ImportError as error:
    raise ImportError(
        f"the OpenAI Agents SDK is not usable: {error}; pip install 'pytest-gta[openai-agents]'"
    ) from error

from pytest_gta.agents.frameworks.framework_agent import FrameworkAgent, TurnsUsedUp, as_text, model_under_test
from pytest_gta.agents.instructions import shown_result
from pytest_gta.agents.protocol import Tools
from pytest_gta.benchmark.usage import Tokens
from pytest_gta.llm.event_loop import EventLoopThread
from pytest_gta.tools.specification import ToolSpec


def tools_of(tools: Tools) -> list[FunctionTool]:
    """Return the benchmark's tools as the SDK's own."""
    return [_tool(tools, spec) for spec in tools.specs]


def build() -> FrameworkAgent:
    """Return an agent of the SDK on the model of ``--gta-model``, with nothing of its own but the tools."""
    endpoint = model_under_test()
    provider = OpenAIProvider(api_key=endpoint.api_key, base_url=endpoint.base_url, use_responses=False)
    agent = Agent(name="agent", model=provider.get_model(endpoint.model))
    return OpenAIAgentsAgent(agent, "openai-agents", endpoint=endpoint)


class OpenAIAgentsAgent(FrameworkAgent):
    """An ``agents.Agent``; agents that it hands over to keep the tools they have."""

    def _hold(self, messages: Sequence[str], tools: Tools) -> str:
        # Traces would go to OpenAI, with the tasks in them.
        set_tracing_disabled(True)
        # One loop for all tasks of a process: the framework's connections belong to the loop they were made in.
        return EventLoopThread.shared().run(self._talk(messages, tools))

    async def _talk(self, messages: Sequence[str], tools: Tools) -> str:
        agent = self._agent
        if self._give_tools:
            agent = agent.clone(tools=[*agent.tools, *tools_of(tools)])
        history: list[Any] = []
        answer: Any = ""
        for message in messages:
            history.append({"role": "user", "content": message})
            try:
                result = await Runner.run(
                    agent,
                    history,
                    max_turns=self._turns_left,
                    hooks=_Listener(self),
                    run_config=RunConfig(tracing_disabled=True),
                )
            except MaxTurnsExceeded:
                raise TurnsUsedUp from None
            history, answer = result.to_input_list(), result.final_output
        return as_text(answer)


class _Listener(RunHooks):
    """Tells what each model call said and used."""

    def __init__(self, owner: OpenAIAgentsAgent) -> None:
        self._owner = owner

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        used = response.usage
        cached = getattr(used.input_tokens_details, "cached_tokens", 0) or 0
        tokens = Tokens(input=used.input_tokens, cached=cached, output=used.output_tokens)
        parts = [part for item in response.output for part in getattr(item, "content", None) or ()]
        text = "".join(getattr(part, "text", None) or "" for part in parts)
        self._owner._heard(text, tokens if used.total_tokens else None)


def _tool(tools: Tools, spec: ToolSpec) -> FunctionTool:
    function: Any = spec.function_schema()["function"]

    async def call(_context: Any, arguments: str) -> str:
        return shown_result(await asyncio.to_thread(tools.call, spec.name, arguments))

    return FunctionTool(
        name=spec.name,
        description=spec.description,
        params_json_schema=function["parameters"],
        on_invoke_tool=call,
        strict_json_schema=False,
    )


ADAPTER = OpenAIAgentsAgent
