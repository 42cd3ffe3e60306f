"""A task's second attempt in the report: what feedback changed, leaf by leaf, cut to the bytes it may take."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_gta.benchmark.results import CheckpointResult, FeedbackResult, TaskResult
from pytest_gta.reporters.feedback import after_feedback
from pytest_gta.reporters.html.room import Cut, fit, size
from pytest_gta.reporters.wording import count, duration, money, points

LEAVES = 30
"""Changed leaves that are shown."""
_LEAF_BYTES = 200


@dataclass(frozen=True, slots=True)
class ChangedLeaf:
    """A leaf whose score is another after feedback.

    Attributes:
        id: Its id.
        first: Points of the first attempt, a dash without.
        second: Points of the second.
        state: ``reached``, ``below`` or ``open``, of the second.
        reason: What the judge said of the second.
    """

    id: str
    first: str
    second: str
    state: str
    reason: Cut


@dataclass(frozen=True, slots=True)
class SecondView:
    """A second attempt as it is shown.

    Attributes:
        mode: What the agent was told: ``coarse`` or ``checkpoint``.
        outcome: Its score, or what became of it.
        state: ``reached``, ``below`` or ``open``.
        change: Points gained, with a sign; "" when there is no score.
        error: Why there is none.
        facts: How it went, as names and values.
        leaves: What changed.
        more: How many changed leaves are not shown.
        answer: Its final answer.
        transcript: The address of its transcript relative to the page, or "".
    """

    mode: str
    outcome: str
    state: str
    change: str
    error: Cut
    facts: list[tuple[str, str]]
    leaves: list[ChangedLeaf]
    more: int
    answer: Cut
    transcript: str


def second_view(task: TaskResult, threshold: float, room: int, transcript: str) -> tuple[SecondView | None, int]:
    """Return what is shown of a task's second attempt, and about how many bytes that takes; None without one.

    Args:
        task: The task.
        threshold: Points from which a leaf succeeds.
        room: Bytes it may take.
        transcript: The address of its transcript, or "".
    """
    feedback = task.feedback
    if feedback is None:
        return None, 0
    changed = _changed(task, feedback)
    shown = changed[: min(LEAVES, max(1, room // (2 * _LEAF_BYTES)))]
    each = max(80, room // 2 // max(1, len(shown)) - _LEAF_BYTES)
    leaves = [
        ChangedLeaf(
            after.id, points(before.score), points(after.score), _state(after.score, threshold),
            fit(after.analysis, min(2_000, each)),
        )
        for before, after in shown
    ]  # fmt: skip
    answer = fit(feedback.agent.final_answer if feedback.agent else "", min(6_000, room // 3), tail=0.3)
    view = SecondView(
        mode=feedback.mode,
        outcome=after_feedback(feedback),
        state=_state(feedback.root_score, threshold),
        change=_change(task, feedback),
        error=fit(feedback.error or "", 1_000),
        facts=_facts(feedback),
        leaves=leaves,
        more=len(changed) - len(shown),
        answer=answer,
        transcript=transcript if feedback.agent else "",
    )
    texts = [answer.head, answer.tail, *(part for leaf in leaves for part in (leaf.reason.head, leaf.reason.tail))]
    return view, sum(map(size, texts)) + _LEAF_BYTES * (len(leaves) + 2)


def _changed(task: TaskResult, feedback: FeedbackResult) -> list[tuple[CheckpointResult, CheckpointResult]]:
    first = {leaf.id: leaf for leaf in task.leaves()}
    second = [leaf for top in feedback.checkpoints for leaf in top.leaves()]
    return [(first[leaf.id], leaf) for leaf in second if leaf.id in first and leaf.score != first[leaf.id].score]


def _state(score: float | None, threshold: float) -> str:
    return "open" if score is None else "reached" if score >= threshold else "below"


def _change(task: TaskResult, feedback: FeedbackResult) -> str:
    if task.root_score is None or feedback.root_score is None or feedback.carried_over:
        return ""
    return f"{feedback.root_score - task.root_score:+.2f}".replace("-", "\u2212")


def _facts(feedback: FeedbackResult) -> list[tuple[str, str]]:
    agent, judge = feedback.agent, feedback.judge
    if agent is None:
        return []
    ended = agent.stop_reason.value.replace("_", " ")
    found = [
        ("Ended", fit(f"{ended}: {agent.stop_detail}" if agent.stop_detail else ended, 400).head),
        ("Turns", f"{agent.turns:,}" if agent.turns else "unknown"),
        ("Tool calls", f"{agent.tool_calls:,}, {count(agent.tool_errors, 'error')}"),
        ("Time", duration(agent.wall_s)),
        ("Cost", money(agent.usage.cost_usd).removeprefix("cost ")),
    ]
    reused = f", {count(judge.cached_leaves, 'leaf')} reused" if judge.cached_leaves else ""
    return [*found, ("Judge calls", f"{judge.usage.calls:,}{reused}")]
