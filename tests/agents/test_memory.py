"""An agent that was killed because the machine ran out of memory is no agent's failure, and is not judged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.agents.command import CommandAgent
from pytest_gta.agents.imported import ImportedAgent
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import AgentUnavailable
from pytest_gta.agents.seclusion import Seclusion
from pytest_gta.benchmark.results import StopReason
from tests.agents.conftest import Bench

Make = Callable[[str], Any]


@pytest.fixture(params=["import", "cmd", "cmd of a shell"])
def make(request: pytest.FixtureRequest, modules: Callable[..., Path], tmp_path: Path) -> Make:
    """Make an agent that touches a file and then ends in some way."""

    def make(signal: str) -> Any:
        limits = Limits(task_timeout_s=60)
        if request.param == "import":
            body = f"import os\ndef run(task):\n    open('begun', 'w').close()\n    os.kill(os.getpid(), {signal})"
            return ImportedAgent("agent:run", "mine", limits, import_paths=[modules(agent=body)])
        kill = f"kill -{signal} $$"
        script = f"touch begun; sh -c '{kill}'; exit $?" if "shell" in request.param else f"touch begun; {kill}"
        (tmp_path / "agent.sh").write_text(script)
        return CommandAgent("sh agent.sh", "mine", limits, Seclusion("", "not secluded"), bases=[tmp_path])

    return make


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch, bench: Bench) -> Callable[[int | None], None]:
    """Set how many processes the kernel has ended for want of memory once the agent has begun; 3 before."""

    def counted(after: int | None) -> None:
        begun = bench.workspace.root / "begun"
        monkeypatch.setattr(
            "pytest_gta.workspace.memory_killer.kills", lambda _root: after if begun.exists() else after and 3
        )

    return counted


def test_the_machine_ran_out_of_memory(bench: Bench, make: Make, counted: Callable[[int | None], None]) -> None:
    counted(4)
    with pytest.raises(
        AgentUnavailable, match=r"^the machine ran out of memory \(.*\); run fewer tasks at once"
    ) as fault:
        bench.run(make("9"))
    assert fault.value.usage.cost_usd is None


def test_it_did_not(bench: Bench, make: Make, counted: Callable[[int | None], None]) -> None:
    counted(3)
    record = bench.run(make("9"))
    assert record.stop_reason is StopReason.AGENT_ERROR
    assert "memory" not in record.stop_detail


def test_it_does_not_say(bench: Bench, make: Make, counted: Callable[[int | None], None]) -> None:
    counted(None)
    record = bench.run(make("9"))
    assert record.stop_reason is StopReason.AGENT_ERROR
    assert record.stop_detail.endswith("; whether the machine ran out of memory, it does not say")


def test_another_signal_is_the_agents_own(bench: Bench, make: Make, counted: Callable[[int | None], None]) -> None:
    counted(4)
    assert bench.run(make("11")).stop_reason is StopReason.AGENT_ERROR
