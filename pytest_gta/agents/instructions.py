"""What the tool-calling agent tells its model: the working directory, the inputs, how to deliver; and its nudges."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_gta.agents.history import Picture
from pytest_gta.agents.limits import Limits
from pytest_gta.benchmark.kinds import kind_of

if TYPE_CHECKING:
    from pytest_gta.tools.tool import ToolResult
    from pytest_gta.workspace.workspace import Workspace

EMPTY = "Your last message was empty. Go on with the task: call a tool, or give your final answer."
CUT_OFF = "Your last message hit the output limit before it said anything. Think less, go on in a shorter message."
CUT_ARGUMENTS = (
    "(Your message was cut off by the output limit. Write less in one call: several files, or shorter text.)"
)
NO_ANSWER = "(I gave no answer.)"
OUT_OF_TIME = "Not run: the task's time is up."
OUT_OF_TURNS = "Not run: no turns are left."


def system_prompt(workspace: Workspace) -> str:
    """Return the system message for a task in this workspace."""
    listed = [f"- {path} ({_size(workspace, path)})" for path in workspace.inputs]
    inputs = "\n".join(["Input files, read-only:", *listed]) if listed else "There are no input files."
    return f"""You carry out a user's task on your own, with the tools you are given. Nobody answers questions: \
where something is open, decide sensibly and say what you assumed.

You work in a directory of the task; every path is relative to it.
{inputs}

- Use the tools to get facts and to make files. Do not make up what an input file holds: read it.
- Deliver what the request asks for as files, under the names and in the formats it asks for. Without a name, choose a \
clear one with the right suffix. Only files you made with a tool count as delivered.
- When a tool answers with an error, read what was wrong and correct the call, or find another way.
- When all is delivered, end with a short final answer without a tool call: the results, and the files by name."""


def first_message(workspace: Workspace, said: str) -> str:
    """Return the first message of a user to an agent whose system message is its own: where it is, then the request."""
    return f"{system_prompt(workspace)}\n\nThe request:\n\n{said}"


def shown_result(result: ToolResult) -> str:
    """Return a tool's result as a model is shown it."""
    return f"Error: {result.text}" if result.is_error else result.text or "(no output)"


def last_turn(reason: str) -> str:
    """Return the message that asks for an answer now."""
    return (
        f"No more tool calls are possible: {reason}. Give your final answer now, in words, from what you have: the "
        "results, the files you delivered, and what is missing."
    )


def input_pictures(workspace: Workspace, limits: Limits) -> tuple[tuple[Picture, ...], tuple[str, ...]]:
    """Return the input pictures to show to the model, sized for it, and remarks on those that are not shown."""
    shown: list[Picture] = []
    remarks: list[str] = []
    left = limits.picture_bytes
    paths = [path for path in workspace.inputs if kind_of(path) == "image"] if limits.pictures and left else []
    if paths:
        from pytest_gta.formats.limits import ReadLimits
        from pytest_gta.formats.read import read_file
    for path in paths:
        if len(shown) >= limits.pictures:
            remarks.append(f"{path} is not shown: only {limits.pictures} pictures are")
            continue
        pictures = read_file(workspace.root / path, ReadLimits(max_pictures=1)).pictures
        if not pictures:
            remarks.append(f"{path} is not shown: it cannot be read as a picture")
            continue
        data = pictures[0].data
        if len(data) > left:
            remarks.append(
                f"{path} is not shown: {len(data):,} bytes are more than are left of {limits.picture_bytes:,}"
            )
            continue
        left -= len(data)
        encoded = base64.b64encode(data).decode("ascii")
        shown.append(Picture(path, f"data:{pictures[0].media_type};base64,{encoded}"))
    return tuple(shown), tuple(remarks)


def with_remarks(text: str, remarks: Sequence[str]) -> str:
    """Return the user's message with remarks on pictures after it."""
    return f"{text}\n\n[{'; '.join(remarks)}]" if remarks else text


def _size(workspace: Workspace, path: str) -> str:
    try:
        size = (workspace.root / path).stat().st_size
    except OSError:
        return "missing"
    return f"{size:,} bytes" if size < 10_000 else f"{size / 1000:,.0f} kB"
