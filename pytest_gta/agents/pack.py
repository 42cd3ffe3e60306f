"""An eval pack as an agent: the finished answers and files of many tasks, named by one JSON file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pytest_gta.agents.protocol import AgentRun, AgentUnavailable, Tools
from pytest_gta.agents.recorded_files import copy_in, note, outage_remark, summary
from pytest_gta.benchmark.eval_pack import PackedTask, PackError, deliverable_names, find_file, read_pack
from pytest_gta.benchmark.results import StopReason
from pytest_gta.benchmark.task import Brief
from pytest_gta.benchmark.usage import Usage
from pytest_gta.workspace.workspace import Workspace

_NAMED = 5


@dataclass(frozen=True)
class PackAgent:
    """Hands in what a pack holds for a task.

    Attributes:
        file: The pack.
        label: What reports call it.
    """

    file: Path
    label: str = "pack"

    @cached_property
    def _tasks(self) -> Mapping[str, PackedTask]:
        return read_pack(self.file)

    def run(self, task: Brief, tools: Tools, workspace: Workspace) -> AgentRun:
        """Copy the attached files of a task into its workspace and return the recorded final answer.

        Raises:
            AgentUnavailable: When the pack has nothing for the task, or names files that are not there: judged without
                them the task would be a made-up zero.
        """
        try:
            packed = self._tasks.get(task.id)
        except PackError as error:
            raise AgentUnavailable(str(error)) from None
        if packed is None:
            raise AgentUnavailable(f"{self.file} has no entry for task {task.id}")
        found = [find_file(written, self.file) for written in packed.files]
        missing = [written for written, path in zip(packed.files, found, strict=True) if path is None]
        if missing:
            more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
            raise AgentUnavailable(
                f"{self.file.name}, task {task.id}: attached files are missing: {', '.join(missing[:_NAMED])}{more} "
                f"(looked in {self.file.absolute().parent} and the folders above it)"
            )
        remarks = []
        for path, name in zip(found, deliverable_names(packed), strict=True):
            reason = copy_in(path.resolve(), name, workspace) if path is not None else ""
            if reason:
                remarks.append(f"not taken: {name} ({reason})")
        remarks += outage_remark(packed.final_answer)
        for text in remarks:
            note(tools, text)
        detail, unknown = summary(remarks), Usage(cost_usd=None)
        return AgentRun(StopReason.FINISHED, packed.final_answer, detail, usage=unknown, notes=tuple(remarks))
