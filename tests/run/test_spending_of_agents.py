"""What an agent's work is noted as, in the spending of the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_gta.agents.protocol import AgentRun, AgentUnavailable
from pytest_gta.benchmark.results import StopReason
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.benchmark.usage import Tokens, Usage
from pytest_gta.llm.spending import Ledger, Spent
from pytest_gta.run.road import NotMeasured, run_task
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import Confinement
from pytest_gta.workspace.workspace import Workspace
from tests.domain import a_task

USED = Usage(calls=1, tokens=Tokens(input=100, output=10), cost_usd=0.5)


class Own:
    label = "own"

    def __init__(self, ledger: Ledger, *, seen: bool = False, fails: bool = False) -> None:
        self._ledger, self._seen, self._fails = ledger, seen, fails

    def run(self, task: Any, tools: Any, workspace: Any) -> AgentRun:
        if self._seen:
            self._ledger.add(USED)  # as our client does, call by call
        if self._fails:
            raise AgentUnavailable("its model went down", usage=USED)
        return AgentRun(StopReason.FINISHED, "done", usage=USED)


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("seen", [False, True])
def test_it_is_noted_once(seen: bool, fails: bool, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "control")
    directory = RunDirectory(tmp_path / "run").task("planning_1")
    (directory.workspace).mkdir(parents=True)
    workspace = Workspace.open(directory.workspace, [])
    tools = Toolbox(workspace, Confinement("off", ""), only=[])

    def run() -> None:
        agent = Own(ledger, seen=seen, fails=fails)
        run_task(a_task(), agent, tools, workspace, directory, deadline_s=30, ledger=ledger)

    if fails:
        with pytest.raises(NotMeasured, match="its model went down"):
            run()
    else:
        run()
        run()  # taken from disk
    assert ledger.spent() == Spent(cost_usd=0.5, tokens=110)
