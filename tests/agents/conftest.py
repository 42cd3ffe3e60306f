"""A workspace, a toolbox of small in-process tools, and a way to run the tool-calling agent against a local server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.agents.limits import Limits
from pytest_gta.agents.running import run_agent
from pytest_gta.agents.tool_calling import ToolCallingAgent
from pytest_gta.agents.transcript import Step, Transcript, read_transcript
from pytest_gta.benchmark.results import AgentRecord
from pytest_gta.benchmark.task import Brief
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.retry import RetryPolicy
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool, ToolFault, ToolResult
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import Confinement
from pytest_gta.workspace.workspace import Workspace
from tests.openai_server import OpenAIServer

QUICK = RetryPolicy(attempts=3, rate_limited_attempts=3, base_s=0.01, cap_s=0.02)


def brief(*turns: str, inputs: Sequence[str] = (), task_id: str = "7") -> Brief:
    return Brief(task_id, "planning", turns or ("Do it.",), tuple(inputs))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "task" / "workspace"
    (root / "resources").mkdir(parents=True)
    (root / "resources" / "notes.txt").write_text("42 apples")
    return Workspace.open(root, ["resources/notes.txt"])


def small_tools(seen: list[tuple[str, Any]]) -> list[Tool]:
    text = ToolParameter("text", "text", "Some text.")

    def echo(text: str) -> str:
        seen.append(("Echo", text))
        return f"echo {text}"

    def broken(text: str) -> str:
        seen.append(("Broken", text))
        raise RuntimeError("the tool fell over")

    def write(workspace: Workspace, filename: str, text: str) -> ToolResult:
        seen.append(("Write", filename))
        workspace.resolve(filename, writing=True).write_text(text)
        return ToolResult(f"wrote {filename}", (filename,))

    def faulty(text: str) -> str:
        raise ToolFault("text must be a number, for example 3")

    def long(text: str) -> str:
        return text * int(25_000 / len(text))

    return [
        Tool(ToolSpec("Echo", "logic", "Says it again.", (text,)), echo),
        Tool(ToolSpec("Broken", "logic", "Breaks.", (text,)), broken),
        Tool(ToolSpec("Faulty", "logic", "Finds fault.", (text,)), faulty),
        Tool(ToolSpec("Long", "logic", "Says it at length.", (text,)), long),
        Tool(
            ToolSpec("Write", "operation", "Writes a file.", (ToolParameter("filename", "text", "Its name."), text)),
            write,
        ),
    ]


@dataclass
class Bench:
    """What a test of an agent needs."""

    workspace: Workspace
    transcript: Path
    seen: list[tuple[str, Any]] = field(default_factory=list)
    """Calls that really ran."""
    extra: list[Tool] = field(default_factory=list)

    @property
    def steps(self) -> tuple[Step, ...]:
        return read_transcript(self.transcript)

    def steps_of(self, kind: str) -> list[Step]:
        return [step for step in self.steps if step.kind == kind]

    def toolbox(self) -> Toolbox:
        tools = [*small_tools(self.seen), *self.extra]
        names = [tool.name for tool in tools]
        return Toolbox(self.workspace, Confinement("off", "off"), only=names, extra=tools)

    def run(self, agent: Any, task: Brief | None = None, *, deadline_s: float = 30.0) -> AgentRecord:
        return run_agent(
            agent,
            task or brief(inputs=self.workspace.inputs),
            self.toolbox(),
            self.workspace,
            deadline_s=deadline_s,
            transcript=Transcript(self.transcript),
        )

    def ask(
        self, server: OpenAIServer, task: Brief | None = None, *, limits: Limits | None = None, **settings: Any
    ) -> AgentRecord:
        """Run the tool-calling agent."""
        endpoint = Endpoint("test-model", server.base_url, "sk-test-0123456789abcdef", **settings)
        agent = ToolCallingAgent(endpoint, "test-model", limits or Limits(task_timeout_s=20.0), retry=QUICK)
        return self.run(agent, task)


@pytest.fixture
def bench(workspace: Workspace, tmp_path: Path) -> Bench:
    return Bench(workspace, tmp_path / "task" / "transcript.jsonl")


@pytest.fixture
def modules(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Write modules of a user beside each other: ``folder = modules(my_agent="...")``."""
    folder = tmp_path / "project"
    folder.mkdir()

    def write(**sources: str) -> Path:
        for name, source in sources.items():
            (folder / f"{name}.py").write_text(source)
        return folder

    yield write
