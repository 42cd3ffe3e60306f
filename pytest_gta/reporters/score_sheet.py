"""The score sheet of a task: what a failing test shows, what a report prints. Plain text, one line a checkpoint."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from pytest_gta.benchmark.results import CheckpointResult, TaskResult
from pytest_gta.reporters.feedback import FIRST_COUNTS, after_feedback
from pytest_gta.reporters.visible_text import visible
from pytest_gta.reporters.wording import count, points, points_against

WIDTH = 79
FILES_SHOWN = 20


def headline(result: TaskResult, threshold: float) -> str:
    """Return the one line that says how the task did: ``root score 5.50 < 7``."""
    if result.root_score is None:
        low, high = result.root_bounds
        return f"no root score ({result.error or result.status.value}); bounds {low:.2f} to {high:.2f}"
    relation = ">=" if result.root_score >= threshold else "<"
    return f"root score {points_against(result.root_score, threshold)} {relation} {threshold:g}"


def score_sheet(result: TaskResult, threshold: float, *, lost_only: bool = False) -> str:
    """Return the sheet: headline, how the agent ended, the rubric with scores and reasons, the deliverables.

    What cannot be seen in the texts of strangers is made visible.

    Args:
        result: The task's result.
        threshold: Points from which a leaf or the root succeeds.
        lost_only: Leave out checkpoints that reach the threshold, and say how many leaves that were.
    """
    lines = [headline(result, threshold)]
    if result.agent:
        ended = result.agent.stop_reason.value
        detail = f" ({result.agent.stop_detail})" if result.agent.stop_detail else ""
        lines.append(
            f"agent {result.agent.label}: {ended}{detail}, {count(result.agent.turns, 'turn')}, "
            f"{count(result.agent.tool_calls, 'tool call')}, {count(result.agent.tool_errors, 'error')}"
        )
    lines.append("")
    lines.extend(_tree(result.checkpoints, 0, threshold if lost_only else None))
    reached = sum(leaf.score is not None and leaf.score >= threshold for leaf in result.leaves())
    if lost_only and reached:
        lines.append(f"       and {count(reached, 'leaf')} with {threshold:g} points or more")
    lines.append("")
    if all(file.evidence == "not_taken" for file in result.deliverables):
        lines.append("delivered: no files")
    for file in result.deliverables[:FILES_SHOWN]:
        note = f" - {file.note}" if file.note else ""
        if file.evidence == "not_taken":
            lines.append(f"not taken: {file.path}{note}")
        else:
            lines.append(f"delivered: {file.path} ({file.bytes:,} bytes, evidence {file.evidence}){note}")
    if len(result.deliverables) > FILES_SHOWN:
        lines.append(f"           and {count(len(result.deliverables) - FILES_SHOWN, 'more file')}")
    lines.extend(f"note: {note}" for note in result.notes)
    if result.feedback:
        lines.append(f"after {result.feedback.mode} feedback: {after_feedback(result.feedback)}; {FIRST_COUNTS}")
    return visible("\n".join(lines))


def _tree(nodes: Sequence[CheckpointResult], depth: int, lost_below: float | None) -> Iterator[str]:
    indent = "  " * depth
    for node in nodes:
        if lost_below is not None and all(x.score is not None and x.score >= lost_below for x in node.leaves()):
            continue
        score = "  -  " if node.score is None else f"{points(node.score, 1):>5}"
        state = "" if node.status == "scored" else f" [{node.status}]"
        text = textwrap.shorten(
            node.requirements, max(WIDTH - len(indent) - len(node.id) - len(state) - 14, 20), placeholder=" ..."
        )
        yield f"{score}  {indent}{node.id} (x{node.weight:g}){state} {text}"
        if node.analysis:
            yield from textwrap.wrap(
                node.analysis,
                WIDTH,
                initial_indent=f"       {indent}| ",
                subsequent_indent=f"       {indent}| ",
                max_lines=4,
                placeholder=" ...",
            )
        yield from _tree(node.checkpoints, depth + 1, lost_below)
