"""Turns what a user has (a class, a factory, a function, an object) into an agent.

The rules, in this order:

- an object with a method ``run(task, tools, workspace)`` is an agent;
- an agent of a known framework is given the benchmark's tools and run on the request;
- a class is made into an object, without arguments;
- a callable that takes nothing is a factory: what it returns is the agent;
- any other callable is itself the agent, and is given those of ``task``, ``tools`` and ``workspace`` it names, or all
  three in this order when it names none of them and takes three.

Each may be ``async``. An agent returns an `AgentRun`, its final answer as text, or None; a function may also return an
agent of a framework, which is then run. When the function takes ``tools``, it has given it those it wants it to have.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_gta.agents.frameworks.recognition import adapt, framework_of
from pytest_gta.agents.protocol import Agent, AgentRun, AgentUnavailable, Tools
from pytest_gta.benchmark.results import StopReason
from pytest_gta.benchmark.task import Brief
from pytest_gta.benchmark.usage import Usage

if TYPE_CHECKING:
    from pytest_gta.workspace.workspace import Workspace

ARGUMENTS = ("task", "tools", "workspace")
EXPECTED = (
    "expected a class or object with run(task, tools, workspace), a factory without arguments that returns one, "
    "a function of task, tools and workspace (any of them, by name), or an agent of a framework (docs/agents.md)"
)


class NotAnAgent(TypeError):
    """Something that the rules of this module do not make an agent of. One line."""


@dataclass(frozen=True, slots=True)
class CallableAgent:
    """An agent made of a callable.

    Attributes:
        function: What does the work.
        parameters: Which of task, tools and workspace it takes, by name; None for all three by position.
        label: What reports call it.
        owner: The object the function belongs to, if any.
    """

    function: Callable[..., Any]
    parameters: tuple[str, ...] | None
    label: str
    owner: Any = None

    @property
    def wall_cap_s(self) -> float:
        """The owner's own limit in seconds; 0 when it has none."""
        return float(getattr(self.owner, "wall_cap_s", 0.0))

    def stop(self) -> None:
        """Tell the owner to end at once, if it can be told."""
        stop = getattr(self.owner, "stop", None)
        if callable(stop):
            stop()

    def run(self, task: Brief, tools: Tools, workspace: Workspace) -> AgentRun:
        """Call the function, wait for it when it is async, and make an `AgentRun` of what it returns.

        Raises:
            NotAnAgent: When it returns something else than `AgentRun`, text or None.
            Exception: Whatever the function raises.
        """
        values = (task, tools, workspace)
        if self.parameters is None:
            returned = self.function(*values)
        else:
            given = dict(zip(ARGUMENTS, values, strict=True))
            returned = self.function(**{name: given[name] for name in self.parameters})
        returned = awaited(returned)
        if isinstance(returned, AgentRun):
            return returned
        framework = framework_of(returned)
        if framework is not None:
            built_with_tools = self.parameters is None or "tools" in self.parameters
            return adapt(framework, returned, self.label, give_tools=not built_with_tools).run(task, tools, workspace)
        if returned is None or isinstance(returned, str):
            return AgentRun(StopReason.FINISHED, returned or "", usage=Usage(cost_usd=None))
        raise NotAnAgent(f"{self.label} returned {_kind(returned)}, expected AgentRun, str or None")


def adapted(candidate: Any, label: str | None = None) -> Agent:
    """Make an agent of a user's object; classes and factories are called.

    Args:
        candidate: The object.
        label: What reports call it; its own label or name unless given.

    Raises:
        NotAnAgent: When there is no way to.
        AgentUnavailable: When a class or factory raises.
    """
    check_adaptable(candidate)
    if type(candidate).__module__.startswith("pytest_gta.agents."):
        ours: Agent = candidate
        return ours
    name = label or _name_of(candidate)
    if not _is_factory(candidate):
        return _wrapped(candidate, name)
    made = _made(candidate, name)
    if framework_of(made) is not None:
        check_adaptable(made)
    elif _is_factory(made) or not (_has_run(made) or callable(made)):
        raise NotAnAgent(f"{name} gave {_described(made)}; {EXPECTED}")
    return _wrapped(made, label or _own_label(made) or name)


def check_adaptable(candidate: Any) -> None:
    """Check what can be told without calling anything.

    Raises:
        NotAnAgent: When `candidate` is nothing that an agent is made of.
    """
    if _is_factory(candidate):
        return
    framework = framework_of(candidate)
    if framework is not None and not _runs_tasks(candidate):
        if framework.tools_built_in:
            raise NotAnAgent(f"{_name_of(candidate)} is an agent of {framework.name}, and {framework.tools_built_in}")
        return
    if not (_has_run(candidate) or callable(candidate)):
        raise NotAnAgent(f"{_name_of(candidate)} is {_described(candidate)}; {EXPECTED}")
    _parameters(candidate.run if _has_run(candidate) else candidate, _name_of(candidate))


def awaited(value: Any) -> Any:
    """Return `value`, or what it comes to when it is awaitable."""
    if not inspect.isawaitable(value):
        return value

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _wrapped(agent: Any, label: str) -> Agent:
    framework = framework_of(agent)
    if framework is not None and not _runs_tasks(agent):
        return adapt(framework, agent, label, give_tools=True)
    function, owner = (agent.run, agent) if _has_run(agent) else (agent, None)
    return CallableAgent(function, _parameters(function, label), label, owner)


def _has_run(candidate: Any) -> bool:
    return not inspect.isclass(candidate) and callable(getattr(candidate, "run", None))


def _runs_tasks(candidate: Any) -> bool:
    """Whether its own ``run`` is one of ours; frameworks' are called alike, and may have one parameter of that name."""
    if not _has_run(candidate):
        return False
    try:
        return len(set(ARGUMENTS) & set(inspect.signature(candidate.run).parameters)) > 1
    except (TypeError, ValueError):
        return False


def _is_factory(candidate: Any) -> bool:
    """Whether it is a class, or a function all of whose parameters can be left out and none is an agent's."""
    if inspect.isclass(candidate):
        return True
    if _has_run(candidate) or framework_of(candidate) is not None or not callable(candidate):
        return False
    try:
        parameters = inspect.signature(candidate).parameters.values()
    except (TypeError, ValueError):
        return False
    return all(p.name not in ARGUMENTS and p.default is not p.empty for p in parameters)


def _parameters(function: Callable[..., Any], label: str) -> tuple[str, ...] | None:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        taken: tuple[str, ...] = ARGUMENTS
    else:
        taken = tuple(p.name for p in parameters if p.name in ARGUMENTS and p.kind is not p.POSITIONAL_ONLY)
    required = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    unknown = [p.name for p in required if p.name not in taken]
    if not unknown and (taken or not any(p.kind is p.VAR_POSITIONAL for p in parameters)):
        return taken
    positional = [p for p in required if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if len(positional) == len(required) and (len(positional) == 3 or (variadic and len(positional) < 3)):
        return None
    raise NotAnAgent(f"{label} takes {', '.join(unknown)}; {EXPECTED}")


def _made(factory: Callable[[], Any], name: str) -> Any:
    try:
        return awaited(factory())
    except AgentUnavailable:
        raise
    except (Exception, SystemExit) as error:
        from pytest_gta.agents.failure import failure_line

        raise AgentUnavailable(f"{name} cannot be built: {failure_line(error)}") from error


def _name_of(candidate: Any) -> str:
    name = str(getattr(candidate, "__qualname__", None) or type(candidate).__name__)
    return _own_label(candidate) or name.rpartition("<locals>.")[2]


def _described(value: Any) -> str:
    if value is None:
        return "None"
    return f"another factory, {_name_of(value)}" if _is_factory(value) else _kind(value)


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _own_label(candidate: Any) -> str:
    label = getattr(candidate, "label", None)
    return label if isinstance(label, str) and label else ""
