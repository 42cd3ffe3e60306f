"""A task's second attempt: the agent is told how its work was judged, goes on with it, and is judged again.

It works in a copy of its workspace, so the first attempt stays on disk as it was judged, and a run that is killed in
between begins the second anew from there. Whatever becomes of the second, the first attempt's result stands; only a
disk that takes nothing more is not borne in silence.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_gta.benchmark.feedback import Feedback, failed_leaves, feedback_message
from pytest_gta.benchmark.rebuilding import unfinished_second
from pytest_gta.benchmark.results import FeedbackResult, TaskResult, TaskStatus
from pytest_gta.benchmark.run_directory import NotWritten, TaskDirectory
from pytest_gta.llm.redaction import redact
from pytest_gta.run import silent_judge
from pytest_gta.run.road import NotMeasured, TaskRun, judge_task, run_task
from pytest_gta.run.spending_limit import why_not_begin

if TYPE_CHECKING:
    from pytest_gta.agents.protocol import Agent
    from pytest_gta.judge.protocol import TaskJudge
    from pytest_gta.run.bench import Bench
    from pytest_gta.tools.toolbox import Toolbox
    from pytest_gta.workspace.workspace import Workspace


def attempt_again(
    bench: Bench,
    run: TaskRun,
    first: TaskResult,
    agent: Agent,
    judge: TaskJudge,
    directory: TaskDirectory,
    toolbox: Callable[[Workspace], Toolbox],
    on_begin: Callable[[], None] = lambda: None,
) -> FeedbackResult | None:
    """Make the second attempt of a judged task, or go on with it where an earlier session of the run left off.

    Args:
        bench: The run; says what feedback there is.
        run: The agent's first attempt.
        first: Its result.
        agent: The agent.
        judge: The judge.
        directory: Where the first attempt is kept.
        toolbox: Gives the tools of a workspace.
        on_begin: Called before the agent goes on, when it does.

    Returns:
        What came of it, also when that is a fault of ours; None when there is no feedback, or the first attempt has no
        score to tell anything of.

    Raises:
        NotWritten: When what comes of it cannot be written.
    """
    settings, mode = bench.settings, Feedback(bench.settings.feedback)
    if mode is Feedback.NONE or first.status is not TaskStatus.GRADED:
        return None
    second = directory.after_feedback
    if second.agent() is None and not failed_leaves(first, settings.threshold):
        return _carried_over(mode, first)
    reason = why_not_begin(bench, second)
    if reason:
        return FeedbackResult(mode=mode, status=TaskStatus.NOT_RUN, agent=second.agent(), error=reason)
    if second.agent() is None:
        on_begin()
    try:
        made = _go_on(bench, mode, run, first, agent, second, toolbox)
        result = _judged(bench, made, first, judge, directory)
    except NotMeasured as fault:
        return FeedbackResult(mode=mode, status=TaskStatus.ERROR, agent=fault.agent, error=str(fault))
    except NotWritten:
        raise
    except Exception as error:
        _note_fault(second)
        reason = redact(f"unexpected error: {type(error).__name__}: {error}")
        return unfinished_second(mode, TaskStatus.ERROR, reason, directory)
    return FeedbackResult(
        mode=mode,
        status=result.status,
        root_score=result.root_score,
        root_bounds=result.root_bounds,
        success=result.success,
        checkpoints=result.checkpoints,
        agent=result.agent,
        judge=result.judge,
        deliverables=result.deliverables,
        error=result.error,
    )


def _judged(bench: Bench, made: TaskRun, first: TaskResult, judge: TaskJudge, directory: TaskDirectory) -> TaskResult:
    result = judge_task(
        made,
        judge,
        directory.after_feedback,
        confinement=bench.confinement,
        budget=bench.evidence_budget,
        renderers=bench.renderers,
        threshold=bench.settings.threshold,
        nodeid=first.nodeid,
        on_verdict=lambda _verdict: None,
        keep=bench.may_reuse,
        drawings=bench.workshop.drawings,
        earlier=directory.known_verdicts(),
    )
    silent_judge.note(bench.control, result)
    return result


def _note_fault(second: TaskDirectory) -> None:
    """Keep the traceback of the exception at hand where whoever looks for a mistake of ours will look."""
    from pytest_gta.agents.transcript import Transcript

    Transcript(second.transcript).add("note", traceback.format_exc())


def _carried_over(mode: Feedback, first: TaskResult) -> FeedbackResult:
    return FeedbackResult(
        mode=mode,
        status=first.status,
        carried_over=True,
        root_score=first.root_score,
        root_bounds=first.root_bounds,
        success=first.success,
    )


def _go_on(
    bench: Bench,
    mode: Feedback,
    run: TaskRun,
    first: TaskResult,
    agent: Agent,
    second: TaskDirectory,
    toolbox: Callable[[Workspace], Toolbox],
) -> TaskRun:
    """Return the agent's second attempt, made now or taken from disk.

    Raises:
        NotMeasured: When it cannot be made, through no fault of the agent.
    """
    task, workspace, brief = run.task, _workspace(run, second), None
    tools = toolbox(workspace)
    if second.agent() is None:
        _note_tools_left_out(run, tools, second)
        message = feedback_message(mode, first, bench.settings.threshold)
        brief = task.brief.going_on(run.final_answer, message)
    made = run_task(
        task,
        agent,
        tools,
        workspace,
        second,
        deadline_s=bench.settings.task_timeout,
        ledger=bench.control.ledger,
        brief=brief,
    )
    return replace(made, earlier_answer=run.final_answer)


def _note_tools_left_out(run: TaskRun, tools: Toolbox, second: TaskDirectory) -> None:
    """Say which tools of the first attempt the second does not have: only a fixture of the suite can make them."""
    from pytest_gta.agents.transcript import Transcript

    left_out = set(run.agent.tools_offered) - {spec.name for spec in tools.specs}
    if left_out:
        names = ", ".join(sorted(left_out))
        Transcript(second.transcript).add("note", f"tools of the suite's own gta_tools are not here any more: {names}")


def _workspace(run: TaskRun, second: TaskDirectory) -> Workspace:
    """Return where the second attempt was made, or else a copy of the first one's workspace to make it in."""
    from pytest_gta.agents import kept_conversation
    from pytest_gta.agents.transcript import Transcript
    from pytest_gta.workspace.continuation import continued
    from pytest_gta.workspace.workspace import Workspace

    if second.agent() is not None and second.workspace.is_dir():
        return Workspace.open(second.workspace, run.task.brief.inputs, request=run.task.request)
    second.restart()
    try:
        taken = [file.path for file in run.deliverables.files]
        workspace, left_out = continued(run.workspace, second.workspace, taken)
        kept_conversation.hand_on(run.transcript.parent, second.root)
    except NotWritten:
        raise
    except OSError as error:
        raise NotMeasured(f"its workspace cannot be copied to go on in: {error}") from error
    if left_out:
        Transcript(second.transcript).add("note", f"not in the workspace any more: {', '.join(left_out)[:2_000]}")
    return workspace
