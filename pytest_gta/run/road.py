"""The road of one task: stage workspace, run agent, collect deliverables, build evidence, judge leaves, aggregate.

The pytest fixtures are its stations, in this order; nothing here knows pytest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_gta.benchmark.results import AgentRecord, JudgeRecord, StopReason, TaskResult, TaskStatus, Verdict
from pytest_gta.benchmark.run_directory import TaskDirectory
from pytest_gta.benchmark.scoring import score_tree, unmeasured
from pytest_gta.benchmark.task import Brief, Task
from pytest_gta.benchmark.usage import Usage

if TYPE_CHECKING:
    from pytest_gta.agents.protocol import Agent
    from pytest_gta.benchmark.dataset import Dataset
    from pytest_gta.formats.renderers import Renderers
    from pytest_gta.judge.drawing_cache import DrawingCache
    from pytest_gta.judge.evidence import Evidence, EvidenceBudget
    from pytest_gta.judge.protocol import TaskJudge
    from pytest_gta.llm.spending import Ledger
    from pytest_gta.tools.toolbox import Toolbox
    from pytest_gta.workspace.confinement import Confinement
    from pytest_gta.workspace.deliverables import Deliverables
    from pytest_gta.workspace.workspace import Workspace


__all__ = ["NotMeasured", "TaskRun", "judge_task", "open_workspace", "run_task", "unmeasured"]

_NOTES_SHOWN = 20


class NotMeasured(Exception):
    """A task that could not be measured, for a reason that is not the agent's: a pytest error, never a score.

    Attributes:
        agent: How far the agent had come, when it had begun and what it used is known.
    """

    def __init__(self, reason: str, *, agent: AgentRecord | None = None) -> None:
        self.agent = agent
        super().__init__(reason)


@dataclass(frozen=True)
class TaskRun:
    """An agent's finished run of one task.

    Attributes:
        task: The task.
        agent: How the agent ended, what it used, its final answer.
        workspace: The staged workspace with what the agent left in it.
        deliverables: The files that count, and those that were not taken and why.
        transcript: The path of the step-by-step record.
        resumed: Whether it was taken from disk rather than run now.
        earlier_answer: The final answer of an earlier attempt, which stands when this one gave none.
    """

    task: Task
    agent: AgentRecord
    workspace: Workspace
    deliverables: Deliverables
    transcript: Path
    resumed: bool = False
    earlier_answer: str = ""

    @property
    def final_answer(self) -> str:
        """The agent's last message; "" when there is none."""
        return self.agent.final_answer or self.earlier_answer

    @property
    def stop_reason(self) -> StopReason:
        """How the agent ended."""
        return self.agent.stop_reason

    @property
    def usage(self) -> Usage:
        """Model calls, tokens and cost of the agent."""
        return self.agent.usage


def open_workspace(task: Task, dataset: Dataset, directory: TaskDirectory, *, inputs_required: bool) -> Workspace:
    """Return the workspace of a task: the finished one when its agent has ended, else a freshly staged one.

    Raises:
        NotMeasured: When an input file is required and the dataset does not hold it, or cannot be read or copied.
    """
    from pytest_gta.benchmark.damage import DAMAGE
    from pytest_gta.workspace.workspace import MissingInputs, Workspace

    if directory.agent() is not None and directory.workspace.is_dir():
        return Workspace.open(directory.workspace, task.brief.inputs, request=task.request)
    directory.restart()
    try:
        return Workspace.stage(directory.workspace, task, dataset, inputs_required=inputs_required)
    except MissingInputs as missing:
        raise NotMeasured(f"{missing}; fetch the whole dataset or deselect the task") from None
    except DAMAGE as error:
        raise NotMeasured(f"the inputs cannot be put into {directory.workspace}: {error}") from error


def run_task(
    task: Task,
    agent: Agent,
    tools: Toolbox,
    workspace: Workspace,
    directory: TaskDirectory,
    *,
    deadline_s: float,
    ledger: Ledger,
    brief: Brief | None = None,
) -> TaskRun:
    """Run the agent on a task, or take its finished run from disk, and collect what it delivered.

    Args:
        task: The task; the agent is handed its brief, never its rubric.
        agent: The agent under test.
        tools: The tools it may use, bound to the workspace.
        workspace: The staged workspace.
        directory: Where the transcript and the agent's record go.
        deadline_s: Seconds the agent has.
        ledger: Where the run's spending is noted: what the agent says it used, when its calls were not seen one by one.
        brief: What the agent is handed when it is not just the task's brief: one that goes on.

    Raises:
        NotMeasured: When the agent could not run for a reason that is not its own (endpoint down, no credit, ...).
    """
    from pytest_gta.agents.protocol import AgentUnavailable
    from pytest_gta.agents.running import run_agent

    record = directory.agent()
    resumed = record is not None
    if record is None:
        noted, used = ledger.noted, Usage()
        try:
            record = run_agent(
                agent, brief or task.brief, tools, workspace, deadline_s=deadline_s, transcript=directory.transcript
            )
            used = record.usage
        except AgentUnavailable as unavailable:
            used = unavailable.usage
            raise NotMeasured(f"agent {agent.label}: {unavailable}", agent=unavailable.record) from None
        finally:
            if ledger.noted == noted:
                ledger.add(used)
        directory.write_agent(record)
    return TaskRun(task, record, workspace, workspace.deliverables(), directory.transcript, resumed)


def judge_task(
    run: TaskRun,
    judge: TaskJudge,
    directory: TaskDirectory,
    *,
    confinement: Confinement,
    budget: EvidenceBudget,
    renderers: Renderers,
    threshold: float,
    nodeid: str,
    on_verdict: Callable[[Verdict], None],
    keep: Callable[[Verdict], bool] = lambda verdict: True,
    drawings: DrawingCache | None = None,
    earlier: Mapping[str, Verdict] | None = None,
) -> TaskResult:
    """Judge every leaf of a finished run and aggregate: the task's result, also written to its directory.

    Args:
        run: The agent's finished run.
        judge: The judge.
        directory: Where verdicts and the result go; verdicts already there are reused when they are of this evidence.
        confinement: How the process that reads deliverables is confined.
        budget: How much evidence the judge is shown.
        renderers: What draws deliverables.
        threshold: Points from which the task succeeds.
        nodeid: The pytest node that asks.
        on_verdict: Called in this thread with each verdict, once it is on disk.
        keep: Which verdicts on disk may be reused.
        drawings: Drawings of earlier runs, and where new ones are kept.
        earlier: Verdicts of an earlier attempt, which stand where the evidence is the same.
    """
    from pytest_gta.judge.drawing import Drawer
    from pytest_gta.judge.evidence import build_evidence
    from pytest_gta.workspace.confined_process import ConfinedProcess

    started = time.monotonic()
    own = {leaf_id: verdict for leaf_id, verdict in directory.known_verdicts().items() if keep(verdict)}

    def record(verdict: Verdict) -> None:
        old = own.get(verdict.leaf_id)
        if not verdict.cached or old is None or (old.key, old.judge) != (verdict.key, directory.judge):
            directory.add_verdict(verdict)
        on_verdict(verdict)

    with (
        Drawer(renderers, run.workspace.root, cache=drawings) as drawer,
        ConfinedProcess(confinement, readable=[run.workspace.root, drawer.folder], writable=None) as process,
    ):
        evidence = build_evidence(
            run.task.brief,
            run.final_answer,
            run.workspace,
            run.deliverables,
            process=process,
            budget=budget,
            drawer=drawer,
        )
    verdicts = judge.judge_task(
        run.task.brief,
        run.task.leaves,
        evidence,
        on_verdict=record,
        known={**(earlier or {}), **own},
        final_answer=run.final_answer,
    )
    judged = JudgeRecord(
        name=directory.judge,
        usage=directory.judge_usage(),
        cached_leaves=sum(verdict.cached for verdict in verdicts.values()),
        wall_s=time.monotonic() - started,
    )
    result = _result(run, verdicts, evidence, judged, nodeid, threshold)
    directory.write_result(result)
    return result


def _result(
    run: TaskRun,
    verdicts: dict[str, Verdict],
    evidence: Evidence,
    judged: JudgeRecord,
    nodeid: str,
    threshold: float,
) -> TaskResult:
    root = score_tree(run.task.checkpoints, verdicts)
    graded = root.score is not None
    return TaskResult(
        task_id=run.task.id,
        run_key=run.task.slug,
        nodeid=nodeid,
        category=run.task.category,
        kinds=run.task.kinds,
        capabilities=run.task.capabilities.names,
        capability_basis=run.task.capabilities.basis,
        status=TaskStatus.GRADED if graded else TaskStatus.UNSCORED,
        root_score=root.score,
        root_bounds=root.bounds,
        success=root.score >= threshold if root.score is not None else None,
        checkpoints=root.checkpoints,
        agent=run.agent,
        judge=judged,
        deliverables=evidence.files,
        notes=tuple(note for note in (*run.task.notes, *_agent_notes(run.agent), evidence.note) if note),
        error=None if graded else _why_unscored(verdicts),
        resumed=run.resumed,
        repeat=run.task.repeat,
    )


def _agent_notes(agent: AgentRecord) -> list[str]:
    """Return the notes of an agent that the reports show: a single one stands beside how it ended already."""
    if len(agent.notes) <= 1 and agent.stop_detail:
        return []
    more = [f"and {len(agent.notes) - _NOTES_SHOWN} more notes in the transcript"]
    return [*agent.notes[:_NOTES_SHOWN], *more[: len(agent.notes) > _NOTES_SHOWN]]


def _why_unscored(verdicts: dict[str, Verdict]) -> str:
    missing = [v for v in verdicts.values() if v.score is None]
    first = missing[0] if missing else None
    reason = f": {first.analysis}" if first and first.analysis else ""
    return f"{len(missing)} of {len(verdicts)} leaves have no score ({first.status if first else 'not run'}{reason})"
