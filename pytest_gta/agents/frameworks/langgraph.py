"""Agents of LangGraph and LangChain (``pip install 'pytest-gta[langgraph]'``).

A compiled graph cannot be given tools any more, so the user writes a function of ``tools`` that builds it:

    def agent(tools):
        return create_agent(model, tools_of(tools))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

try:
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.messages import AIMessage
    from langchain_core.tools import StructuredTool
    from langgraph.errors import GraphRecursionError
    from langsmith import tracing_context
except ImportError as error:
    raise ImportError(f"LangGraph is not usable: {error}; pip install 'pytest-gta[langgraph]'") from error

from pytest_gta.agents.frameworks.framework_agent import FrameworkAgent, TurnsUsedUp, as_text, model_under_test
from pytest_gta.agents.instructions import shown_result
from pytest_gta.agents.protocol import Tools
from pytest_gta.benchmark.usage import Tokens
from pytest_gta.tools.specification import ToolSpec


def tools_of(tools: Tools) -> list[StructuredTool]:
    """Return the benchmark's tools as LangChain's own."""
    return [_tool(tools, spec) for spec in tools.specs]


def build() -> FrameworkAgent:
    """Return LangChain's standard agent on the model of ``--gta-model``, with nothing of its own but the tools."""
    return _StandardAgent(None, "langgraph", give_tools=False, endpoint=model_under_test())


class LangGraphAgent(FrameworkAgent):
    """A compiled graph whose state holds ``messages``."""

    def _graph(self, _tools: Tools) -> Any:
        return self._agent

    def _hold(self, messages: Sequence[str], tools: Tools) -> str:
        graph = self._graph(tools)
        history: list[Any] = []
        # Traces would go to LangSmith, with the tasks in them.
        with tracing_context(enabled=False):
            for message in messages:
                # A turn is two steps of a graph, the model's and the tools'; what else a graph does has room as well.
                config = {"callbacks": [_Listener(self)], "recursion_limit": 4 * self._turns_left + 1}
                try:
                    state = graph.invoke({"messages": [*history, {"role": "user", "content": message}]}, config)
                except GraphRecursionError:
                    raise TurnsUsedUp from None
                history = list(state["messages"])
        last = next((said for said in reversed(history) if isinstance(said, AIMessage)), None)
        return as_text(_text(last)) if last is not None else ""


class _StandardAgent(LangGraphAgent):
    """``langchain.agents.create_agent`` with the tools of the task."""

    def _graph(self, tools: Tools) -> Any:
        from langchain.agents import create_agent
        from langchain_openai import ChatOpenAI

        assert self._endpoint is not None
        model = ChatOpenAI(model=self._endpoint.model, base_url=self._endpoint.base_url, api_key=self._endpoint.api_key)
        return create_agent(model, tools_of(tools))


class _Listener(BaseCallbackHandler):
    """Tells what each model call said and used, and ends a graph that has had its turns."""

    raise_error = True

    def __init__(self, owner: LangGraphAgent) -> None:
        self._owner = owner
        self._left = owner._turns_left

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        if self._left <= 0:
            raise GraphRecursionError
        self._left -= 1

    def on_llm_end(self, response: Any, **_: Any) -> None:
        message = getattr(response.generations[0][0], "message", None) if response.generations else None
        used = getattr(message, "usage_metadata", None)
        tokens = None
        if used:
            cached = (used.get("input_token_details") or {}).get("cache_read") or 0
            tokens = Tokens(input=used["input_tokens"], cached=cached, output=used["output_tokens"])
        self._owner._heard(_text(message), tokens)


def _text(message: Any) -> str:
    text = getattr(message, "text", "")
    return str(text() if callable(text) and not isinstance(text, str) else text)


def _tool(tools: Tools, spec: ToolSpec) -> StructuredTool:
    function: Any = spec.function_schema()["function"]

    def call(**arguments: Any) -> str:
        return shown_result(tools.call(spec.name, arguments))

    return StructuredTool(name=spec.name, description=spec.description, args_schema=function["parameters"], func=call)


ADAPTER = LangGraphAgent
