"""Tells whether an object is an agent of a known framework, without importing any."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_gta.agents.frameworks.framework_agent import FrameworkAgent


@dataclass(frozen=True, slots=True)
class Framework:
    """How a framework's agents are known, and what adapts them.

    Attributes:
        name: What users call it; also the ``--gta-agent`` that builds a plain agent of it.
        package: The package that its classes come from.
        base: The class that all of its agents have.
        signs: Attributes that they have, so that a user's class of the same name is not taken for it.
        module: The module of this package that adapts them; it has `build`, and `ADAPTER`, a `FrameworkAgent`.
        tools_built_in: Why tools cannot be given to a ready agent, and what to write instead; "" when they can.
    """

    name: str
    package: str
    base: str
    signs: tuple[str, ...]
    module: str
    tools_built_in: str = ""

    @property
    def target(self) -> str:
        """The factory of a plain agent, as ``pkg.mod:name``."""
        return f"{__package__}.{self.module}:build"


FRAMEWORKS = (
    Framework("openai-agents", "agents", "Agent", ("handoffs", "model_settings"), "openai_agents"),
    Framework("pydantic-ai", "pydantic_ai", "AbstractAgent", ("run", "iter"), "pydantic_ai"),
    Framework(
        "langgraph",
        "langgraph",
        "Pregel",
        ("invoke", "ainvoke"),
        "langgraph",
        "a compiled graph has its tools built in: write a function of `tools` that returns it, and give it "
        "tools_of(tools) of pytest_gta.agents.frameworks.langgraph (docs/agents.md has an example)",
    ),
    Framework("smolagents", "smolagents", "MultiStepAgent", ("run", "tools"), "smolagents"),
    Framework("lagent", "lagent", "BaseAgent", ("chat", "add_action"), "lagent"),
)


def framework_of(candidate: Any) -> Framework | None:
    """Return the framework that an object is an agent of, None when it is none of the known ones."""
    for base in type(candidate).__mro__:
        for framework in FRAMEWORKS:
            if (base.__module__.partition(".")[0], base.__name__) == (framework.package, framework.base):
                return framework if all(hasattr(candidate, sign) for sign in framework.signs) else None
    return None


def adapt(framework: Framework, agent: Any, label: str, *, give_tools: bool) -> FrameworkAgent:
    """Return a framework's agent as one that the benchmark can run.

    Args:
        framework: Which.
        agent: The framework's object.
        label: What reports call it.
        give_tools: Whether the benchmark's tools are added to its own; not when it was built with them.
    """
    module = importlib.import_module(f"{__package__}.{framework.module}")
    adapter: type[FrameworkAgent] = module.ADAPTER
    return adapter(agent, label, give_tools=give_tools)
