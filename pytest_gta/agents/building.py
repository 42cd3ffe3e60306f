"""Makes the agent that a specification names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import Agent, AgentRun, AgentUnavailable, Tools
from pytest_gta.agents.seclusion import Seclusion
from pytest_gta.agents.specification import AgentSpec

if TYPE_CHECKING:
    from pytest_gta.benchmark.task import Brief
    from pytest_gta.llm.endpoint import Endpoint
    from pytest_gta.llm.run_control import RunControl
    from pytest_gta.workspace.workspace import Workspace

EXPOSED = Seclusion("", "not secluded: it can read all that you can")

NOT_OVERRIDDEN = (
    "no conftest.py of this suite overrides the fixture gta_agent; write one that returns your "
    "agent (docs/agents.md has an example)"
)


class NotOverridden:
    """Stands for the agent of a suite that has none: finished work is still judged, any other is an error."""

    label = "fixture"

    def run(self, task: Brief, tools: Tools, workspace: Workspace) -> AgentRun:
        """Raise `AgentUnavailable`."""
        raise AgentUnavailable(NOT_OVERRIDDEN)


def build_agent(
    spec: AgentSpec,
    limits: Limits,
    *,
    endpoint: Endpoint | None = None,
    control: RunControl | None = None,
    import_paths: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    withheld: Sequence[str] = (),
    seclusion: Seclusion = EXPOSED,
) -> Agent:
    """Return the agent of a specification, for one task. Nothing of it runs yet.

    Args:
        spec: Which.
        limits: The budgets of one task.
        endpoint: The model of a ``tools`` or ``react`` agent.
        control: What all processes of the run share, for these two.
        import_paths: Where an ``import`` agent is looked for first; files that a ``cmd`` agent names are in the first.
        environment: Variables to set for an ``import`` or ``cmd`` agent, such as ``GTA_MODEL``.
        withheld: Names of variables that these must not see, besides the judge's and the run's.
        seclusion: What a ``cmd`` agent is kept from.

    Raises:
        ValueError: When a ``tools`` or ``react`` agent has no endpoint.
    """
    if spec.kind == "outputs":
        from pytest_gta.agents.outputs import OutputsAgent

        return OutputsAgent(spec.path, spec.label)
    if spec.kind == "pack":
        from pytest_gta.agents.pack import PackAgent

        return PackAgent(spec.path, spec.label)
    if spec.kind == "cmd":
        from pytest_gta.agents.command import CommandAgent

        return CommandAgent(
            spec.target,
            spec.label,
            limits,
            seclusion,
            bases=import_paths or (Path.cwd(),),
            environment=environment,
            withheld=withheld,
        )
    if spec.kind == "http":
        from pytest_gta.agents.service import ServiceAgent

        return ServiceAgent(spec.target, spec.label, limits, environment=environment)
    if spec.kind == "manus":
        from pytest_gta.agents.manus import ManusAgent

        return ManusAgent(spec.target, spec.label, limits, environment=environment)
    if spec.kind == "fixture":
        return NotOverridden()
    if spec.kind == "import":
        from pytest_gta.agents.imported import ImportedAgent

        return ImportedAgent(
            spec.target, spec.label, limits, import_paths=import_paths, environment=environment, withheld=withheld
        )
    if endpoint is None:
        raise ValueError(f"a `{spec.kind}` agent needs the endpoint of its model")
    if spec.kind == "react":
        from pytest_gta.agents.react import ReactAgent

        return ReactAgent(endpoint, spec.label, limits, control=control)
    from pytest_gta.agents.tool_calling import ToolCallingAgent

    return ToolCallingAgent(endpoint, spec.label, limits, control=control)
