"""Runs agents of real frameworks, where they are installed, on a local model."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_gta.agents.imported import ImportedAgent, check_import
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import as_agent
from pytest_gta.agents.specification import HARNESSES
from pytest_gta.benchmark.results import AgentRecord
from pytest_gta.benchmark.task import Brief
from tests.agents.conftest import Bench, brief
from tests.openai_server import OpenAIServer

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "openai-agents": ("agents",),
    "pydantic-ai": ("pydantic_ai",),
    "langgraph": ("langgraph", "langchain", "langchain_openai"),
    "smolagents": ("smolagents",),
    "lagent": ("lagent",),
}
"""What must be installed for the tests of each."""

MODEL = "gpt-4.1-mini"


@dataclass
class Frameworks:
    """Runs agents of frameworks on a local model."""

    bench: Bench
    monkeypatch: pytest.MonkeyPatch

    def plain(
        self, name: str, server: OpenAIServer, *turns: str, task: Brief | None = None, max_turns: int = 6
    ) -> AgentRecord:
        """Run a framework's plain agent in this process."""
        self.point_at(server, name)
        self.monkeypatch.setenv("GTA_MAX_TURNS", str(max_turns))
        module, _, factory = HARNESSES[name].partition(":")
        agent = as_agent(getattr(importlib.import_module(module), factory), name)
        return self.bench.run(agent, task or self.task(*turns), deadline_s=120)

    def imported(self, name: str, server: OpenAIServer, target: str, folder: Path | None = None) -> AgentRecord:
        """Run an agent as `--gta-agent=import:...` does, in a process of its own."""
        self.point_at(server, name)
        paths = [folder] if folder else []
        check_import(target, paths)
        limits = Limits(max_turns=6, task_timeout_s=300)
        agent = ImportedAgent(target, name, limits, import_paths=paths)
        return self.bench.run(agent, self.task(), deadline_s=300)

    def point_at(self, server: OpenAIServer, name: str) -> None:
        """Skip where the framework is missing; see to it that nothing but the model is reached."""
        for package in PACKAGES[name]:
            pytest.importorskip(package)
        told = {"GTA_MODEL": MODEL, "GTA_BASE_URL": server.base_url, **server.environment()}
        for variable, value in told.items():
            self.monkeypatch.setenv(variable, value)
        self.monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")

    def task(self, *turns: str) -> Brief:
        return brief(*(turns or ("Write a greeting.",)), inputs=self.bench.workspace.inputs)


@pytest.fixture
def frameworks(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Frameworks:
    return Frameworks(bench, monkeypatch)
