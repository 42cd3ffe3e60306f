"""Agents of smolagents (``pip install 'pytest-gta[smolagents]'``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

try:
    from smolagents import OpenAIModel, Tool, ToolCallingAgent
    from smolagents.memory import ActionStep, PlanningStep
    from smolagents.utils import AgentMaxStepsError
except ImportError as error:
    raise ImportError(f"smolagents is not usable: {error}; pip install 'pytest-gta[smolagents]'") from error

from pytest_gta.agents.failure import reads_like_an_outage
from pytest_gta.agents.frameworks.framework_agent import FrameworkAgent, TurnsUsedUp, as_text, model_under_test
from pytest_gta.agents.instructions import shown_result
from pytest_gta.agents.protocol import AgentUnavailable, Tools
from pytest_gta.benchmark.usage import Tokens
from pytest_gta.llm.redaction import one_line, redact
from pytest_gta.tools.specification import ToolSpec

_NO_LAST_ANSWER = "Error in generating final LLM output"
"""What the framework gives for an answer when its last model call fails."""


def tools_of(tools: Tools) -> list[Tool]:
    """Return the benchmark's tools as smolagents' own."""
    return [_BenchmarkTool(tools, spec) for spec in tools.specs]


def build() -> FrameworkAgent:
    """Return a tool-calling agent on the model of ``--gta-model``, with nothing of its own but the tools."""
    endpoint = model_under_test()
    model = OpenAIModel(endpoint.model, api_base=endpoint.base_url or endpoint.url, api_key=endpoint.api_key)
    return SmolagentsAgent(ToolCallingAgent(tools=[], model=model), "smolagents", endpoint=endpoint)


class SmolagentsAgent(FrameworkAgent):
    """A ``ToolCallingAgent``, a ``CodeAgent``, or any other of the framework's."""

    def _hold(self, messages: Sequence[str], tools: Tools) -> str:
        own = self._agent.tools
        if self._give_tools:
            self._agent.tools = {**own, **{tool.name: tool for tool in tools_of(tools)}}
        answer: Any = ""
        try:
            for index, message in enumerate(messages):
                answer = self._say(message, first=index == 0)
        finally:
            self._agent.tools = own
        return as_text(answer)

    def _say(self, message: str, *, first: bool) -> Any:
        before = 0 if first else len(self._agent.memory.steps)
        try:
            answer = self._agent.run(
                message, reset=first, max_steps=self._turns_left, stream=False, return_full_result=False
            )
        finally:
            steps = self._agent.memory.steps[before:]
            for step in steps:
                if isinstance(step, ActionStep | PlanningStep):
                    self._keep(step)
        if any(isinstance(getattr(step, "error", None), AgentMaxStepsError) for step in steps):
            text = as_text(answer)
            if text.startswith(_NO_LAST_ANSWER):
                if reads_like_an_outage(text):
                    line = one_line(redact(text), 300)
                    raise AgentUnavailable(f"its model endpoint does not serve: {line}", usage=self._used())
                text = ""
            raise TurnsUsedUp(text)
        return answer

    def _keep(self, step: Any) -> None:
        used = step.token_usage
        if used is None and getattr(step, "model_output_message", None) is None:
            return
        said = getattr(step, "model_output", None) or getattr(step, "plan", None) or getattr(step, "action_output", "")
        tokens = None if used is None else Tokens(input=used.input_tokens, output=used.output_tokens)
        self._heard(as_text(said), tokens)


class _BenchmarkTool(Tool):
    """One tool; smolagents checks the arguments against `inputs` and passes them by name."""

    skip_forward_signature_validation = True
    name = "tool"
    description = "One of the benchmark's tools."
    inputs: dict[str, Any] = {}  # noqa: RUF012 - the framework wants it on the class
    output_type = "string"

    def __init__(self, tools: Tools, spec: ToolSpec) -> None:
        super().__init__()
        self._tools = tools
        self.name, self.description = spec.name, spec.description
        self.inputs = {
            parameter.name: {
                "type": parameter.json_schema()["type"],
                "description": parameter.description,
                **({"nullable": True} if parameter.optional else {}),
            }
            for parameter in spec.parameters
        }

    def forward(self, *given: Any, **arguments: Any) -> str:
        """Call the tool; code may pass arguments by position."""
        by_position = dict(zip(self.inputs, given, strict=False))
        passed = {name: value for name, value in {**by_position, **arguments}.items() if value is not None}
        return shown_result(self._tools.call(self.name, passed))


ADAPTER = SmolagentsAgent
