"""A task in one text, for an agent that keeps nothing from one start to the next."""

from __future__ import annotations

from pytest_gta.benchmark.task import Brief


def whole_request(task: Brief) -> str:
    """Return all that the user said and, where the agent goes on with its work, what it answered in between."""
    if task.earlier_answer is None:
        return task.request
    return "\n\n".join(
        (
            "You have worked on this request before; the files you delivered then are where you left them.",
            "The request was:",
            *task.turns[:-1],
            "Your final answer then was:",
            task.earlier_answer or "(none)",
            "The user answers:",
            task.turns[-1],
        )
    )
