"""A run's task results from what is on disk: of a run that ended, and of one that was killed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_gta.benchmark.results import FeedbackResult, JudgeRecord, TaskResult, TaskStatus, Verdict
from pytest_gta.benchmark.run_directory import RunDirectory, TaskDirectory
from pytest_gta.benchmark.scoring import unmeasured
from pytest_gta.benchmark.task import Task, TaskFault

_NAMED = 8
"""Tasks that are named in one line."""


def rebuild(run: RunDirectory, tasks: Mapping[str, Task | TaskFault], threshold: float) -> tuple[TaskResult, ...]:
    """Return the result of every task of a run, in the order in which they were selected.

    A task with a result keeps it. Any other is not run, with the leaves that were judged and how its agent ended:
    going on with the run is what finishes it. What only another judge has judged is left out (`left_out` names it):
    scores of two judges do not stand in one result.

    Args:
        run: The run directory.
        tasks: The dataset's tasks by run key, for the rubrics of unfinished tasks; may lack any.
        threshold: Points from which a task succeeds.

    Raises:
        FileNotFoundError: When this is not a run directory.
        ValueError: When its manifest is not readable.
    """
    selected = run.manifest().get("selected")
    keys = [str(key) for key in selected] if isinstance(selected, Sequence) and not isinstance(selected, str) else []
    keys = list(dict.fromkeys((*keys, *run.run_keys())))
    found = (_task_result(key, run.task(key), tasks.get(key), threshold) for key in keys)
    return tuple(result for result in found if result is not None)


def with_earlier(run: RunDirectory, tasks: Sequence[TaskResult], threshold: float) -> tuple[TaskResult, ...]:
    """Return results of a session that went on with a part of a run, together with what the run has of other tasks.

    What only another judge has judged is left out (`left_out` names it).

    Args:
        run: The run directory.
        tasks: The session's results.
        threshold: Points from which a task succeeds.

    Raises:
        FileNotFoundError: When this is not a run directory.
        ValueError: When its manifest is not readable.
    """
    new = {task.run_key: task for task in tasks}
    keys = dict.fromkeys((*run.manifest().get("selected", ()), *new, *run.run_keys()))
    found = (new.get(key) or finished(run.task(key), threshold) for key in keys)
    return tuple(result for result in found if result is not None)


def agent_that_ran(agent: Mapping[str, Any], tasks: Sequence[TaskResult]) -> dict[str, Any]:
    """Return a run's agent by the name its tasks give: a suite may hand out another than the options name.

    Args:
        agent: As the run's manifest has it.
        tasks: The run's results.
    """
    labels = {task.agent.label for task in tasks if task.agent is not None}
    if agent.get("kind") != "tools" or len(labels) != 1 or agent.get("label") in labels:
        return dict(agent)
    return {**agent, "kind": "fixture", "label": labels.pop()}


def left_out(run: RunDirectory, shown: Sequence[TaskResult]) -> str:
    """Return which tasks a run has scores of that are not shown, being another judge's, in one line; "" for none.

    Args:
        run: The run directory.
        shown: The results that are.
    """
    keys = {task.run_key for task in shown}
    results = {key: run.task(key).result() for key in run.run_keys() if key not in keys}
    judges = {key: result.judge.name or "an unnamed one" for key, result in results.items() if result is not None}
    if not judges:
        return ""
    more = f" and {len(judges) - _NAMED} more" if len(judges) > _NAMED else ""
    return (
        f"left out, because another judge than {run.judge} scored them ({'; '.join(sorted(set(judges.values())))}): "
        f"{', '.join(list(judges)[:_NAMED])}{more}; choose them with --gta-resume={run.whole} to have them judged anew"
    )


def unfinished(
    task: Task | TaskFault,
    nodeid: str,
    status: TaskStatus,
    reason: str,
    directory: TaskDirectory,
    reported: Mapping[str, Verdict] | None = None,
) -> TaskResult:
    """Return the result of a task that has none, with all that was spent on it: how its agent ended, what was judged.

    Args:
        task: The task, or why it is not one.
        nodeid: Its pytest node.
        status: ``error`` or ``not_run``.
        reason: Why, in one or two lines.
        directory: What is on disk of it.
        reported: Verdicts that are known besides.
    """
    known = {**directory.verdicts(), **(reported or {})}
    update = {"agent": directory.agent(), "judge": JudgeRecord(name=directory.judge, usage=directory.judge_usage())}
    return unmeasured(task, nodeid, status, reason, known).model_copy(update=update)


def unfinished_second(mode: str, status: TaskStatus, reason: str, directory: TaskDirectory) -> FeedbackResult:
    """Return the result of a second attempt that has none, with all that was spent on it.

    Args:
        mode: What feedback it is given.
        status: ``error`` or ``not_run``.
        reason: Why, in one or two lines.
        directory: What is on disk of the task.
    """
    second = directory.after_feedback
    judged = JudgeRecord(name=second.judge, usage=second.judge_usage())
    return FeedbackResult(mode=mode, status=status, agent=second.agent(), judge=judged, error=reason)


def finished(directory: TaskDirectory, threshold: float) -> TaskResult | None:
    """Return the result of a task on disk, its successes by a threshold in points.

    None when there is none, or none by the judge of the run.
    """
    result = directory.result()
    if result is None or _is_of_another_judge(result, directory):
        return None
    second = result.feedback
    if second is not None:
        second = second.model_copy(update={"success": _success(second.root_score, threshold)})
    return result.model_copy(update={"success": _success(result.root_score, threshold), "feedback": second})


def _is_of_another_judge(result: TaskResult, directory: TaskDirectory) -> bool:
    return result.judge.name != directory.judge and any(leaf.score is not None for leaf in result.leaves())


def _task_result(
    key: str, directory: TaskDirectory, task: Task | TaskFault | None, threshold: float
) -> TaskResult | None:
    result = finished(directory, threshold)
    if result is not None:
        if result.capability_basis is None and isinstance(task, Task):  # of a run from before results said it
            basis = {"capabilities": task.capabilities.names, "capability_basis": task.capabilities.basis}
            result = result.model_copy(update=basis)
        return result
    agent, verdicts = directory.agent(), directory.verdicts()
    if not verdicts and directory.result() is not None:
        return None
    leaves = "1 leaf" if len(verdicts) == 1 else f"{len(verdicts)} leaves"
    judged = f", {leaves} had been judged" if verdicts else ""
    if agent is not None:
        reason = f"the run ended before this task did: its agent had ended ({agent.stop_reason}){judged}"
    elif directory.root.is_dir():
        reason = "the run ended while the agent was at work"
    else:
        reason = "the run ended before this task began"
    if task is None:
        return TaskResult(
            task_id=key, run_key=key, nodeid="", category="unknown", status=TaskStatus.NOT_RUN, error=reason,
            agent=agent, judge=JudgeRecord(name=directory.judge, usage=directory.judge_usage()),
        )  # fmt: skip
    return unfinished(task, "", TaskStatus.NOT_RUN, reason, directory).model_copy(update={"run_key": key})


def _success(score: float | None, threshold: float) -> bool | None:
    return None if score is None else score >= threshold
