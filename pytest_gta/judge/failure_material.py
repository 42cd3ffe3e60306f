"""What a model is shown of a failed task: request, answer, rubric with verdicts, deliverables, a bounded transcript."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_gta.agents.transcript import Step, shortened
from pytest_gta.benchmark.results import CheckpointResult, TaskResult

TRANSCRIPT_SHARE = 0.6
"""The part of all characters that the transcript may take."""

_SHORTEST_STEP, _LONGEST_STEP = 160, 2_000


def failure_material(
    result: TaskResult, request: str, steps: Sequence[Step], threshold: float, *, characters: int
) -> tuple[tuple[str, str], ...]:
    """Return the sections of the material, each with its name, in about so many characters in all.

    Args:
        result: The judged task.
        request: What the user asked for.
        steps: The transcript.
        threshold: Points from which a leaf passes.
        characters: How many there may be.
    """
    answer = result.agent.final_answer if result.agent else ""
    rest = int(characters * (1 - TRANSCRIPT_SHARE))
    rubric = "\n".join(line for top in result.checkpoints for line in _node(top, 0, threshold))
    return (
        ("the user's request", shortened(request, rest // 4)),
        ("the requirements, their scores and the judge's reasons", shortened(rubric, rest // 2)),
        ("how the agent ended, and its final answer", shortened(f"{_ending(result)}\n{answer}", rest // 8)),
        ("the files it delivered", shortened("\n".join(_files(result)) or "(none)", rest // 8)),
        ("what it did, step by step", transcript_text(steps, int(characters * TRANSCRIPT_SHARE))),
    )


def transcript_text(steps: Sequence[Step], characters: int) -> str:
    """Return a transcript in about so many characters: every step shortened alike, then its middle left out."""
    if not steps:
        return "(there is no record)"
    each = max(_SHORTEST_STEP, min(_LONGEST_STEP, characters // len(steps)))
    lines = []
    for step in steps:
        marks = [step.kind.value, step.name, "ERROR" if step.is_error else "", *step.files]
        head = " ".join(mark for mark in marks if mark)
        text = shortened(" ".join((step.text or step.detail).split()), each)
        lines.append(f"[{step.turn}] {head}: {text}")
    return shortened("\n".join(lines), characters)


def _node(node: CheckpointResult, depth: int, threshold: float) -> Iterator[str]:
    score = "no score" if node.score is None else f"{node.score:g} of 10"
    failed = "" if node.score is None or node.score >= threshold else ", FAILED"
    yield f"{'  ' * depth}{node.id} (weight {node.weight:g}, {score}{failed}): {node.requirements}"
    if node.analysis:
        yield f"{'  ' * depth}  judge: {node.analysis}"
    for child in node.checkpoints:
        yield from _node(child, depth + 1, threshold)


def _ending(result: TaskResult) -> str:
    agent = result.agent
    if agent is None:
        return "(there is no record of the agent)"
    detail = f" ({agent.stop_detail})" if agent.stop_detail else ""
    return (
        f"ended: {agent.stop_reason}{detail}; {agent.turns} turns, {agent.tool_calls} tool calls, "
        f"{agent.tool_errors} of them errors"
    )


def _files(result: TaskResult) -> Iterator[str]:
    for file in result.deliverables:
        note = f"; {file.note}" if file.note else ""
        yield f"{file.path}: {file.bytes} bytes, {file.media_type or 'unknown type'}, shown: {file.evidence}{note}"
