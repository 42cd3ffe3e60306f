"""What an agent is: one object with a label and one method.

    class MyAgent:
        label = "mine"

        def run(self, task, tools, workspace):
            result = tools.call("Calculator", {"expression": "6 * 7"})
            workspace.resolve("answer.txt", writing=True).write_text(result.text)
            return AgentRun(StopReason.FINISHED, f"The answer is {result.text}.")

Every file it leaves in the workspace is a deliverable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pytest_gta.benchmark.results import AgentRecord, StopReason
from pytest_gta.benchmark.task import Brief
from pytest_gta.benchmark.usage import Tokens, Usage

if TYPE_CHECKING:
    from pytest_gta.tools.specification import ToolSpec
    from pytest_gta.tools.tool import ToolResult
    from pytest_gta.workspace.workspace import Workspace

__all__ = ["Agent", "AgentRun", "AgentUnavailable", "StopReason", "Tokens", "Tools", "Usage", "as_agent"]


@dataclass(frozen=True, slots=True)
class AgentRun:
    """How an agent's work on one task ended.

    Attributes:
        stop_reason: Why it stopped. What it delivered is judged all the same.
        final_answer: Its last message to the user; "" when there is none.
        stop_detail: One line saying why, when it did not just finish.
        turns: Model turns taken, 0 when unknown.
        usage: What its model calls used; ``Usage(cost_usd=None)`` when the agent cannot tell.
        notes: What else is worth knowing, one line each: files that it has and that were not taken, for example.

    Raises:
        ValueError: When `stop_reason` is none of `StopReason`.
        TypeError: When the final answer or the detail is not text.
    """

    stop_reason: StopReason
    final_answer: str
    stop_detail: str = ""
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "stop_reason", StopReason(self.stop_reason))
        for name in ("final_answer", "stop_detail"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"AgentRun.{name} is a {type(getattr(self, name)).__name__}, expected text")


class Tools(Protocol):
    """The benchmark's tools, bound to one task's workspace."""

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """What is on offer; ``spec.function_schema()`` is the form that goes into a model's ``tools``."""

    def call(self, name: str, arguments: str | Mapping[str, Any]) -> ToolResult:
        """Call one tool, with arguments as an object or as the raw JSON a model wrote.

        Never raises for what a model did: an unknown tool, unreadable or wrong arguments and a tool that fails are all
        answered with a result that says what was wrong.
        """


@runtime_checkable
class Agent(Protocol):
    """What is under test.

    An agent that watches the clock itself may have a number ``wall_cap_s``, the seconds after which it has ended
    whatever happens, and a method ``stop()``, called from another thread when it is to end at once. One that cannot
    always tell when its model is down may have a method ``outage(run)``, asked when it left no file: why its model does
    not serve, "" when it does.
    """

    @property
    def label(self) -> str:
        """What reports call it."""

    def run(self, task: Brief, tools: Tools, workspace: Workspace) -> AgentRun:
        """Work on one task and return how that ended.

        Args:
            task: The request and the paths of its input files; never the rubric.
            tools: The benchmark's tools.
            workspace: The folder with the inputs, where deliverables go.

        Raises:
            AgentUnavailable: When the environment, not the agent, is at fault.
            Exception: Anything else counts as the agent's own failure; what it delivered by then is judged.
        """


class AgentUnavailable(Exception):
    """The agent cannot work for a reason that is not its own, so the task is an error and never a zero.

    For example: it cannot be imported or built, its model endpoint is down for good, the key is wrong, the credit is
    used up.

    Attributes:
        usage: What was used up to then.
        halted: Whether the run as a whole has stopped starting new work (out of credit, budget reached).
        record: How far it had come, where something is known to have been used.
    """

    record: AgentRecord | None = None

    def __init__(self, reason: str, *, usage: Usage | None = None, halted: bool = False) -> None:
        self.usage = usage or Usage()
        self.halted = halted
        super().__init__(reason)


def as_agent(candidate: Any, label: str | None = None) -> Agent:
    """Make an agent of a class, a factory, a function or an object; see `pytest_gta.agents.adapter` for the rules.

    Raises:
        TypeError: When there is no way to; one line that says what is expected.
        AgentUnavailable: When a class or factory raises.
    """
    from pytest_gta.agents.adapter import adapted

    return adapted(candidate, label)
