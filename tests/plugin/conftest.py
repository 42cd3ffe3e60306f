"""A little project with a dataset, an agent's finished outputs and a judge that knows every score."""

from __future__ import annotations

import contextlib
import importlib
import json
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import pytest_gta
from tests.openai_server import Answer, OpenAIServer, RecordedRequest, judge
from tests.release_factory import leaf_ids, make_release

# pytester forgets what is imported after it starts, so that a second run in this process would meet new copies of some
# modules and old ones of others; loaded beforehand, each is there once.
PROGRAMS = ("__main__", "child_main", "launcher", "server", "tool_service", "mcp_server", "_main", "_cli")
FRAMEWORKS = "pytest_gta.agents.frameworks."
"""Adapters for frameworks of agents, which take seconds to load and run in an agent's own process."""
LOADED_IN_PARTS = ("httpx", "httpcore", "httpx2", "httpcore2", "anyio._backends")
"""What openai speaks HTTP with, by version; parts of it are first imported by a request."""


def load_all(package: str) -> None:
    with contextlib.suppress(ImportError):
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not module.name.endswith(PROGRAMS) and not module.name.startswith(FRAMEWORKS):
                with contextlib.suppress(ImportError):
                    importlib.import_module(module.name)


for name in (pytest_gta.__name__, *LOADED_IN_PARTS):
    load_all(name)
importlib.import_module("openai").AsyncOpenAI  # noqa: B018 - openai loads its parts when they are first touched

with contextlib.suppress(ImportError):
    # Some libraries bring this; first imported in a run inside this process, it takes the finder of entry points away
    # from Python and puts its own where pytester then removes it: no later run would find the plugin.
    import importlib_metadata  # noqa: F401

WITHOUT = [f"-pno:{name}" for name in ("cacheprovider", "hypothesispytest", "anyio", "unraisableexception")]
"""What a run here has no use for, and each of its workers would spend up to half a second on."""

SUITE = "def test_workflow(gta_result):\n    gta_result.check()\n"


@dataclass
class Project:
    """Drives pytest on a suite of the user's, against a local judge."""

    pytester: pytest.Pytester
    dataset: Path
    outputs: Path
    server: OpenAIServer
    index: dict[str, Any]
    scores: dict[str, Any] = field(default_factory=dict)
    """By requirement: what the judge answers; 8 for any other."""

    def run(self, *args: str, agent: str | None = None, **options: Any) -> pytest.RunResult:
        """Run the suite, judged by the local server, in this process; with ``-nN`` over workers of its own."""
        return self.pytester.runpytest_inprocess(*self.arguments(agent), *args, **options)

    def arguments(self, agent: str | None = None) -> list[str]:
        """Return the options of a run that scores the outputs (or runs the agent given)."""
        return [
            f"--gta-agent={agent or f'outputs:{self.outputs}'}",
            f"--gta-dataset={self.dataset}",
            f"--gta-judge-base-url={self.server.base_url}",
            "--gta-judge-model=judge",
            "--gta-run-dir=run",
            "--gta-cache=off",
            "--gta-report=off",
            "--gta-render=off",
            *WITHOUT,
        ]

    def leaf(self, task_id: str, number: int) -> str:
        """Return the requirement of a task's leaf."""
        nodes = {n["id"]: n for top in self.index[task_id]["sub_tasks"] for n in _walk(top)}
        return str(nodes[leaf_ids(self.index[task_id])[number]]["requirements"])

    def leaves(self, task_id: str) -> list[str]:
        """Return the requirements of all leaves of a task."""
        return [self.leaf(task_id, n) for n in range(len(leaf_ids(self.index[task_id])))]

    def fail_task(self, task_id: str, score: Any = 2) -> None:
        """Let the judge give every leaf of a task this score (or answer this)."""
        self.scores.update(dict.fromkeys(self.leaves(task_id), score))

    def judged(self) -> list[str]:
        """Return the requirements the judge was asked about so far, in order; without requests that a kill cut off."""
        return [self._requirement(request) for request in self.server.chats if request.json is not None]

    def results(self, run: str = "run") -> dict[str, Any]:
        """Return results.json."""
        return dict(json.loads((self.pytester.path / run / "results.json").read_text()))

    def tasks(self, run: str = "run") -> dict[str, dict[str, Any]]:
        """Return the tasks of results.json by id."""
        return {task["task_id"]: task for task in self.results(run)["tasks"]}

    def _requirement(self, request: RecordedRequest) -> str:
        known = [r for task_id in self.index for r in self.leaves(task_id)]
        text = request.last_user_text.rstrip()
        return max((r for r in known if r in text), key=len)

    def respond(self, request: RecordedRequest) -> Any:
        """Answer one judge call."""
        score = self.scores.get(self._requirement(request), 8)
        return judge(lambda _: score)(request)


def _walk(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for child in node.get("sub_tasks", ()):
        yield from _walk(child)


@pytest.fixture
def make_project(
    pytester: pytest.Pytester, openai_server: Callable[..., OpenAIServer], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Project]:
    """Make a project of so many tasks, each with a finished answer.

    With ``files``, each has delivered a table as well, and some are given files: for each of these tasks a process is
    then started that reads them.
    """
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "EVAL_OPENAI_API_KEY", "EVAL_OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)

    def make(
        tasks: int = 3, *, suite: str = SUITE, answer: bool = True, files: bool = False, **release: Any
    ) -> Project:
        dataset = make_release(pytester.path / "dataset", tasks=tasks, inputs=files, **release)
        index = json.loads((dataset / "end.json").read_text())
        outputs = pytester.path / "outputs"
        for task_id in index:
            (outputs / task_id / "files").mkdir(parents=True)
            (outputs / task_id / "final.txt").write_text(f"Finished task {task_id}." if answer else "")
            if files:
                (outputs / task_id / "files" / "table.csv").write_text(f"town,units\n{task_id},12\n")
        pytester.makepyfile(test_suite=suite)
        project: list[Project] = []
        server = openai_server(lambda request: project[0].respond(request))
        project.append(Project(pytester, dataset, outputs, server, index))
        return project[0]

    return make


__all__ = ["SUITE", "Answer", "Project"]
