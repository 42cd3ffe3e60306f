"""Confinements that work on this machine, and a process in each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_gta.workspace.confined_process import ConfinedProcess, Limits
from pytest_gta.workspace.confinement import Confinement, ConfinementUnavailable, choose_confinement

MIB = 1024**2


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what confined processes cache out of the user's home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


@dataclass
class Ground:
    """A process with a workspace, an input in it, and things beside it that are none of its business."""

    backend: str
    outside: Path
    work: Path
    process: ConfinedProcess

    def run(self, code: str, timeout_s: float = 20) -> str:
        """Run code as Solver does and return its answer's text."""
        value = self.process.call("pytest_gta.tools.python_code:solve", {"command": code}, timeout_s)
        assert isinstance(value, dict)
        return str(value["text"])


def confinement(backend: str) -> Confinement:
    try:
        return choose_confinement(backend)
    except ConfinementUnavailable as unavailable:
        pytest.skip(str(unavailable))


def make_ground(backend: str, folder: Path, limits: Limits | None = None) -> Ground:
    chosen = confinement(backend)
    work = folder / "tasks" / "one" / "workspace"
    (work / "resources").mkdir(parents=True)
    (work / "resources" / "in.txt").write_text("input")
    (work / "resources" / "in.txt").chmod(0o444)
    (folder / "secret.txt").write_text("planted secret")
    (folder / "end.json").write_text('{"1": {"sub_tasks": "planted rubric"}}')
    (folder / "tasks" / "two").mkdir()
    (folder / "tasks" / "two" / "answer.txt").write_text("planted secret of another task")
    process = ConfinedProcess(
        chosen, readable=[work], writable=work, protected=[work / "resources"], limits=limits or Limits()
    )
    return Ground(backend, folder, work, process)


@pytest.fixture(scope="module", params=["sandlock", "bwrap", "process", "off"])
def ground(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """Every confinement that works here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-planted")
        made = make_ground(request.param, tmp_path_factory.mktemp(request.param), _SMALL)
        yield made
        made.process.close()


@pytest.fixture(scope="module", params=["sandlock", "bwrap"])
def strong(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """The confinements that keep a process from what is outside."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-planted")
        made = make_ground(request.param, tmp_path_factory.mktemp(request.param), _SMALL)
        yield made
        made.process.close()


_SMALL = Limits(
    memory_bytes=1024 * MIB,
    file_bytes=32 * MIB,
    disk_bytes=64 * MIB,
    disk_entries=500,
    processes=24,
    reply_bytes=64 * MIB,
)
