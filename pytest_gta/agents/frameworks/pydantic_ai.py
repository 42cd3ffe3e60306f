"""Agents of pydantic-ai (``pip install 'pytest-gta[pydantic-ai]'``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

try:
    from pydantic_ai import Agent, FunctionToolset, Tool, UsageLimitExceeded, UsageLimits, capture_run_messages
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
except ImportError as error:
    raise ImportError(f"pydantic-ai is not usable: {error}; pip install 'pytest-gta[pydantic-ai]'") from error

from pytest_gta.agents.frameworks.framework_agent import FrameworkAgent, TurnsUsedUp, as_text, model_under_test
from pytest_gta.agents.instructions import shown_result
from pytest_gta.agents.protocol import Tools
from pytest_gta.benchmark.usage import Tokens
from pytest_gta.llm.event_loop import EventLoopThread
from pytest_gta.tools.specification import ToolSpec


def tools_of(tools: Tools) -> list[Tool[Any]]:
    """Return the benchmark's tools as pydantic-ai's own."""
    return [_tool(tools, spec) for spec in tools.specs]


def build() -> FrameworkAgent:
    """Return a pydantic-ai agent on the model of ``--gta-model``, with nothing of its own but the tools."""
    endpoint = model_under_test()
    provider = OpenAIProvider(base_url=endpoint.base_url, api_key=endpoint.api_key)
    agent = Agent(OpenAIChatModel(endpoint.model, provider=provider))
    return PydanticAIAgent(agent, "pydantic-ai", endpoint=endpoint)


class PydanticAIAgent(FrameworkAgent):
    """A ``pydantic_ai.Agent``."""

    def _hold(self, messages: Sequence[str], tools: Tools) -> str:
        # One loop for all tasks of a process: the framework's connections belong to the loop they were made in.
        return EventLoopThread.shared().run(self._talk(messages, tools))

    async def _talk(self, messages: Sequence[str], tools: Tools) -> str:
        toolsets = [FunctionToolset(tools_of(tools))] if self._give_tools else []
        history: list[Any] = []
        answer: Any = ""
        for message in messages:
            with capture_run_messages() as seen:
                try:
                    result = await self._agent.run(
                        message,
                        message_history=history,
                        toolsets=toolsets,
                        usage_limits=UsageLimits(request_limit=self._turns_left),
                    )
                except UsageLimitExceeded:
                    raise TurnsUsedUp from None
                finally:
                    self._keep(seen[len(history) :])
            history, answer = result.all_messages(), result.output
        return as_text(answer)

    def _keep(self, messages: Sequence[Any]) -> None:
        for message in messages:
            if isinstance(message, ModelResponse):
                used = message.usage
                tokens = Tokens(input=used.input_tokens, cached=used.cache_read_tokens, output=used.output_tokens)
                self._heard(message.text or "", tokens if used.total_tokens else None)


def _tool(tools: Tools, spec: ToolSpec) -> Tool[Any]:
    function: Any = spec.function_schema()["function"]

    def call(**arguments: Any) -> str:
        return shown_result(tools.call(spec.name, arguments))

    return Tool.from_schema(call, spec.name, spec.description, function["parameters"])


ADAPTER = PydanticAIAgent
