"""Which of a user's objects are agents, and how they are called."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pytest_gta.agents.adapter import NotAnAgent, adapted, check_adaptable
from pytest_gta.agents.protocol import Agent, AgentRun, AgentUnavailable, StopReason
from pytest_gta.benchmark.task import Brief

TASK = Brief("7", "planning", ("Add.",), ())


class Instance:
    label = "labelled"

    def run(self, task: Any, tools: Any, workspace: Any) -> AgentRun:
        return AgentRun(StopReason.MAX_TURNS, f"{task.id} {tools} {workspace}", turns=3)


class OnlyTask:
    async def run(self, task: Any) -> str:
        return f"async {task.id}"


class ByCall:
    def __call__(self, workspace: Any, task: Any) -> str:
        return f"called {task.id} {workspace}"


def factory() -> Instance:
    return Instance()


async def async_factory() -> OnlyTask:
    return OnlyTask()


def factory_with_defaults(model: str = "m") -> Callable[[Any], str]:
    return lambda task: model


def variadic(*args: Any) -> str:
    return " ".join(str(getattr(a, "id", a)) for a in args)


def keywords(**given: Any) -> str:
    return " ".join(sorted(given))


def positional(a: Any, b: Any, c: Any) -> str:
    return f"{a.id} {b} {c}"


def defaulted(task: Any, temperature: float = 0.5) -> str:
    return f"{task.id} {temperature}"


def keyword_only(*, tools: Any) -> str:
    return str(tools)


@pytest.mark.parametrize(
    ("candidate", "answer"),
    [
        (Instance, "7 T W"),
        (Instance(), "7 T W"),
        (factory, "7 T W"),
        (OnlyTask, "async 7"),
        (async_factory, "async 7"),
        (ByCall, "called 7 W"),
        (ByCall(), "called 7 W"),
        (factory_with_defaults, "m"),
        (variadic, "7 T W"),
        (keywords, "task tools workspace"),
        (positional, "7 T W"),
        (defaulted, "7 0.5"),
        (keyword_only, "T"),
        (partial(defaulted, temperature=1.0), "7 1.0"),
        (lambda workspace: None, ""),
    ],
)
def test_what_is_an_agent_and_what_it_is_given(candidate: Any, answer: str) -> None:
    check_adaptable(candidate)
    agent = adapted(candidate)
    assert isinstance(agent, Agent)
    assert agent.run(TASK, "T", "W").final_answer == answer  # type: ignore[arg-type]


def test_labels() -> None:
    assert adapted(Instance).label == "labelled"
    assert adapted(factory).label == "labelled"
    assert adapted(OnlyTask).label == "OnlyTask"
    assert adapted(positional).label == "positional"
    assert adapted(factory, "given").label == "given"


def test_what_the_owner_can_do_is_passed_on() -> None:
    class Timed(Instance):
        wall_cap_s = 12
        stopped = False

        def stop(self) -> None:
            self.stopped = True

    timed = Timed()
    agent: Any = adapted(timed)
    agent.stop()
    assert (agent.wall_cap_s, timed.stopped) == (12.0, True)
    plain: Any = adapted(positional)
    plain.stop()
    assert plain.wall_cap_s == 0.0


@pytest.mark.parametrize(
    "candidate", [7, "text", None, object(), lambda prompt: "", lambda a, b: "", partial(positional, TASK)]
)
def test_what_is_not(candidate: Any) -> None:
    with pytest.raises(NotAnAgent, match="expected a class or object with run") as fault:
        check_adaptable(candidate)
    assert "\n" not in str(fault.value)


def test_a_factory_that_gives_nothing_usable_or_raises() -> None:
    with pytest.raises(NotAnAgent, match="gave an int"):
        adapted(lambda: 7)
    with pytest.raises(NotAnAgent, match="gave another factory"):
        adapted(lambda: lambda: 7)

    def raising() -> None:
        raise SystemExit("no weights")

    with pytest.raises(AgentUnavailable, match="raising cannot be built: SystemExit: no weights"):
        adapted(raising, "raising")


@pytest.mark.parametrize("returned", [7, b"x", {"final": "x"}, object])
def test_returning_something_else_is_said(returned: Any) -> None:
    with pytest.raises(NotAnAgent, match="expected AgentRun, str or None"):
        adapted(lambda task: returned).run(TASK, "T", "W")  # type: ignore[arg-type]
