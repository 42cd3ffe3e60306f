"""How the gain by feedback is told: the same texts for the terminal, for Markdown and for the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_gta.benchmark.results import FeedbackResult
from pytest_gta.reporters.wording import count, interval, money, points, rate

FIRST_COUNTS = "the first attempt is the one that counts"
GOES_ON = "at first, goes on after feedback"


@dataclass(frozen=True, slots=True)
class GainRow:
    """How one number changed from the first attempts to the second, as texts."""

    name: str
    first: str
    second: str
    gain: str
    interval: str


def gain_rows(feedback: Mapping[str, Any]) -> list[GainRow]:
    """Return what changed, from a run's ``summary.feedback``; nothing when no task has both scores."""
    if not feedback["tasks"]:
        return []
    score, success = feedback["root_score"], feedback["root_sr"]
    return [
        GainRow(
            "Root Score", points(score["before"]), points(score["after"]), f"{score['gain']:+.2f}",
            interval(score["gain_ci"], 2),
        ),
        GainRow(
            "Root SR", rate(success["before"]), rate(success["after"]), f"{success['gain']:+.1f}",
            interval(success["gain_ci"]),
        ),
    ]  # fmt: skip


def basis(feedback: Mapping[str, Any]) -> str:
    """Return over what the gain was measured: ``12 tasks, 3 of them with nothing to improve``."""
    carried = feedback["carried_over"]
    part = f", {carried} of them with nothing to improve" if carried else ""
    return count(feedback["tasks"], "task") + part


def without_gain(feedback: Mapping[str, Any]) -> list[str]:
    """Return what is missing, a clause each: ``2 second attempts without a score: 1 unscored, 1 in error``."""
    parts = [
        f"{feedback[key]} {words}"
        for key, words in (("unscored", "unscored"), ("errors", "in error"), ("not_run", "not run"))
        if feedback[key]
    ]
    whole = feedback["unscored"] + feedback["errors"] + feedback["not_run"]
    missing = [f"{count(whole, 'second attempt')} without a score: {', '.join(parts)}"] if parts else []
    if feedback["without_first"]:
        missing.append(f"{count(feedback['without_first'], 'task')} got no feedback: no score of the first attempt")
    return missing


def gain_lines(feedback: Mapping[str, Any]) -> Iterator[str]:
    """Yield the gain as lines of the terminal."""
    yield f"Feedback ({feedback['mode']}), over {basis(feedback)}"
    rows = gain_rows(feedback)
    if rows:
        yield f"{'':<12}{'first':>9}{'second':>9}{'gain':>9}  95 %"
        for row in rows:
            yield f"{row.name:<12}{row.first:>9}{row.second:>9}{row.gain:>9}  {row.interval}".rstrip()
    yield from without_gain(feedback)
    yield cost_on_top(feedback)
    yield ""


def cost_on_top(feedback: Mapping[str, Any]) -> str:
    """Return what the second attempts cost, which is in no other number of the run."""
    cost = feedback["cost_usd"]
    return f"The second attempts cost on top: agent {_money(cost['agent'])}, judge {_money(cost['judge'])}"


def after_feedback(feedback: FeedbackResult) -> str:
    """Return what became of one task's second attempt, in a few words."""
    if feedback.carried_over:
        return "nothing to improve"
    if feedback.root_score is None:
        return feedback.status.value.replace("_", " ")
    return points(feedback.root_score)


def _money(amount: float | None) -> str:
    return "unknown" if amount is None else money(amount)
