"""What the agents of all frameworks share: the request they get, the budget of turns, what is kept of a model call."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_gta.agents import instructions
from pytest_gta.agents.failure import context_exceeded, endpoint_fault, failure_line, request_rejected
from pytest_gta.agents.imported import TURNS_VARIABLE
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import AgentRun, AgentUnavailable, Tools
from pytest_gta.agents.whole_request import whole_request
from pytest_gta.benchmark.results import StopReason
from pytest_gta.benchmark.task import Brief
from pytest_gta.benchmark.usage import Tokens, Usage

if TYPE_CHECKING:
    from pytest_gta.llm.endpoint import Endpoint
    from pytest_gta.workspace.workspace import Workspace


@dataclass(eq=False)
class TurnsUsedUp(Exception):
    """The framework ended because of its limit of turns; with the answer it gave all the same, if any."""

    answer: str = ""


class FrameworkAgent(ABC):
    """Runs a framework's agent on a task.

    Args:
        agent: The framework's object.
        label: What reports call it.
        give_tools: Whether the benchmark's tools are added to its own.
        endpoint: Its model, where that is known, to price what it uses.
    """

    def __init__(self, agent: Any, label: str, *, give_tools: bool = True, endpoint: Endpoint | None = None) -> None:
        self.label = label
        self._agent, self._give_tools, self._endpoint = agent, give_tools, endpoint
        self._begin(None)

    def run(self, task: Brief, tools: Tools, workspace: Workspace) -> AgentRun:
        """Hand the user's messages to the framework, one after the other, and return how that ended.

        Raises:
            AgentUnavailable: When the model's endpoint does not serve, or rejects the very first request.
            Exception: Whatever else the framework raises.
        """
        self._begin(getattr(tools, "transcript", None))
        first, *later = task.turns if task.earlier_answer is None else (whole_request(task),)
        messages = [instructions.first_message(workspace, first), *later]
        try:
            answer = self._hold(messages, tools)
        except TurnsUsedUp as ended:
            detail = f"the limit of {max_turns()} turns was reached"
            return AgentRun(StopReason.MAX_TURNS, ended.answer, detail, self._turns, self._used())
        except Exception as error:
            if endpoint_fault(error):
                reason = f"its model endpoint does not serve: {failure_line(error)}"
                raise AgentUnavailable(reason, usage=self._used()) from error
            if context_exceeded(error):
                return AgentRun(StopReason.CONTEXT_EXCEEDED, "", failure_line(error), self._turns, self._used())
            if not self._turns and request_rejected(error):
                reason = f"its model endpoint does not take the first request: {failure_line(error)}"
                raise AgentUnavailable(reason, usage=self._used()) from error
            raise
        return AgentRun(StopReason.FINISHED, answer, turns=self._turns, usage=self._used())

    @abstractmethod
    def _hold(self, messages: Sequence[str], tools: Tools) -> str:
        """Have every message answered, the framework's own replies kept; return the last answer.

        Raises:
            TurnsUsedUp: When the limit of turns was reached.
        """

    @property
    def _turns_left(self) -> int:
        return max(1, max_turns() - self._turns)

    def _heard(self, text: str, tokens: Tokens | None, cost_usd: float | None = None) -> None:
        """Keep what one model call said and used; None for tokens that the framework does not tell."""
        if cost_usd is None and tokens is not None and self._endpoint is not None:
            from pytest_gta.llm.pricing import price

            cost_usd = price(self._endpoint, tokens)
        usage = Usage(calls=1, tokens=tokens or Tokens(), cost_usd=cost_usd)
        self._calls.append(usage)
        if self._transcript is not None:
            self._transcript.add("assistant", text, turn=self._turns, usage=usage)

    @property
    def _turns(self) -> int:
        return len(self._calls)

    def _used(self) -> Usage:
        return sum(self._calls, Usage()) if self._calls else Usage(cost_usd=None)

    def _begin(self, transcript: Any) -> None:
        self._transcript = transcript
        self._calls: list[Usage] = []


def max_turns() -> int:
    """Return the model turns that a task may take, over all messages of its user."""
    told = os.environ.get(TURNS_VARIABLE, "")
    return int(told) if told.isdecimal() and int(told) else Limits().max_turns


def model_under_test() -> Endpoint:
    """Return the model of ``--gta-model`` for an agent that this package builds.

    Raises:
        AgentUnavailable: When there is none.
    """
    from pytest_gta.llm.endpoint import NO_KEY, Endpoint

    model = os.environ.get("GTA_MODEL", "").strip()
    if not model:
        raise AgentUnavailable("it needs a model: add --gta-model=NAME")
    base_url = os.environ.get("GTA_BASE_URL") or os.environ.get("OPENAI_BASE_URL")
    return Endpoint(model, base_url, os.environ.get("OPENAI_API_KEY", "").strip() or NO_KEY)


def as_text(output: Any) -> str:
    """Return a framework's final output as text: a structured one as JSON."""
    if output is None or isinstance(output, str):
        return output or ""
    if hasattr(output, "model_dump_json"):
        return str(output.model_dump_json(indent=2))
    if isinstance(output, dict | list | tuple):
        return json.dumps(output, ensure_ascii=False, indent=2, default=str)
    return str(output)
