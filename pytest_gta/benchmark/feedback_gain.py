"""What feedback was worth: first and second attempts over the tasks that have a score of both. docs/feedback.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_gta.benchmark.comparison import compare
from pytest_gta.benchmark.results import FeedbackResult, TaskResult, TaskStatus
from pytest_gta.benchmark.usage import Usage


def feedback_summary(tasks: Sequence[TaskResult], threshold: float) -> dict[str, Any] | None:
    """Return what second attempts show, in the form `results.json` has it under ``summary.feedback``.

    A task whose leaves had all succeeded counts with its first result, so with no change. A second attempt without a
    score is left out of the means, and counted. None for a run without feedback.

    Args:
        tasks: All tasks of the run.
        threshold: Points from which a task succeeds.
    """
    made = [(task, task.feedback) for task in tasks if task.feedback is not None]
    if not made:
        return None
    pairs = [
        (task, task.model_copy(update={"root_score": feedback.root_score}))
        for task, feedback in made
        if task.root_score is not None and feedback.root_score is not None
    ]
    untold = [task for task in tasks if task.feedback is None]
    agent = sum((feedback.agent.usage for _, feedback in made if feedback.agent), Usage())
    judge = sum((feedback.judge.usage for _, feedback in made), Usage())
    return {
        "mode": made[0][1].mode,
        **_change(pairs, threshold),
        "carried_over": sum(feedback.carried_over for _, feedback in made),
        "unscored": _number(made, TaskStatus.UNSCORED),
        "errors": _number(made, TaskStatus.ERROR),
        "not_run": _number(made, TaskStatus.NOT_RUN) + sum(task.root_score is not None for task in untold),
        "without_first": sum(task.root_score is None for task in untold),
        "cost_usd": {"agent": agent.cost_usd, "judge": judge.cost_usd},
        "tokens": {"agent": agent.tokens.model_dump(), "judge": judge.tokens.model_dump()},
        "agent_s": sum(feedback.agent.wall_s for _, feedback in made if feedback.agent),
    }


def _number(made: Sequence[tuple[TaskResult, FeedbackResult]], status: TaskStatus) -> int:
    return sum(feedback.status is status for _, feedback in made)


def _change(pairs: Sequence[tuple[TaskResult, TaskResult]], threshold: float) -> dict[str, Any]:
    """Return both numbers before and after, over the same tasks; null where no task has both."""
    names = ("root_score", "root_sr")
    if not pairs:
        unknown = {"before": None, "after": None, "gain": None, "gain_ci": None, "p": None}
        return {"tasks": 0, **dict.fromkeys(names, unknown), "won": [], "lost": []}
    compared = compare([first for first, _ in pairs], [second for _, second in pairs], threshold)
    changes = {
        name: {
            "before": change.before,
            "after": change.after,
            "gain": change.difference,
            "gain_ci": change.interval,
            "p": change.p,
        }
        for name, change in (("root_score", compared.root_score), ("root_sr", compared.root_sr))
    }
    return {"tasks": len(compared.tasks), **changes, "won": list(compared.won), "lost": list(compared.lost)}
