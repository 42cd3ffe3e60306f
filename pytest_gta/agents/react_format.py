"""The words of a ReAct conversation: what the model is told, and how what it writes is read.

A reply is read as its first block, an action or a final answer; markers count at the beginning of a line only, so that
one quoted in a thought is none, and whatever a model makes up after its action is dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_gta.tools.specification import ToolSpec

STOP = "\nResponse:"
"""Where the endpoint is asked to stop: from there on a model would make up the tool's answer."""

_MARK = r"^[ \t>#*_`-]*{words}[ \t*_`]*[:：][ \t*_]*"  # noqa: RUF001 - some models write the full-width colon


def _marker(words: str) -> re.Pattern[str]:
    return re.compile(_MARK.format(words=words), re.IGNORECASE | re.MULTILINE)


_ACTION = _marker("action")
_INPUT = _marker(r"action[ \t_]input")
_FINAL = _marker(r"final[ \t]answer")
_RESPONSE = _marker("(?:response|observation)")
_NEXT = _marker(r"(?:thought|action|action[ \t_]input|response|observation|final[ \t]answer)")
_INPUT_ON_THE_LINE = re.compile(r"[ \t]+action[ \t_]input[ \t]*[:：]", re.IGNORECASE)  # noqa: RUF001
_SENTENCE_THEN_FINAL = re.compile(
    r"(?:\A|[.!?。]['\")]?)[ \t]+(?:\*\*)?final answer(?:\*\*)?[ \t]*:(?:\*\*)?", re.IGNORECASE
)
_FENCE = re.compile(r"\A\s*```[a-zA-Z]*[ \t]*\n?")


@dataclass(frozen=True, slots=True)
class Action:
    """A call of one tool.

    Attributes:
        text: The reply up to where the action ends: what is kept of it.
        tool: The name as written.
        arguments: What stands after ``Action Input:``, raw.
    """

    text: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """The end of the work on a message of the user."""

    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Formless:
    """A reply that is neither."""

    text: str


def read_block(text: str) -> Action | FinalAnswer | Formless:
    """Return the first block of what a model wrote; `text` comes without hidden reasoning."""
    # Whatever follows an answer of the tools that it made up itself is made up as well.
    made_up = _RESPONSE.search(text)
    action, final = _ACTION.search(text), _FINAL.search(text)
    if action and (final is None or action.start() < final.start()):
        if made_up is None or action.start() < made_up.start():
            return _read_action(text, action)
    elif final and (made_up is None or final.start() < made_up.start()):
        return FinalAnswer(text, text[final.end() :].strip())
    inline = None if made_up else _SENTENCE_THEN_FINAL.search(text)
    if inline:
        return FinalAnswer(text, text[inline.end() :].strip())
    return Formless(text)


def _read_action(text: str, action: re.Match[str]) -> Action:
    rest = text[action.end() :]
    line_end = rest.find("\n") if "\n" in rest.strip() and rest.strip() else len(rest)
    if not rest[:line_end].strip():  # the name stands on the next line
        line_end = len(rest) - len(rest.lstrip())
        line_end = rest.find("\n", line_end) if "\n" in rest[line_end:] else len(rest)
    on_line = _INPUT_ON_THE_LINE.search(rest, 0, line_end)
    if on_line:
        name, begin = rest[: on_line.start()], action.end() + on_line.end()
    else:
        name = rest[:line_end]
        following = _NEXT.search(text, action.end() + line_end)
        if following is None or not _INPUT.match(text, following.start()):
            # No input before the next marker: the tool is told nothing, and says what it needs.
            end = action.end() + line_end
            return Action(text[:end].rstrip(), _bare(name), "")
        begin = following.end()
    arguments, end = _read_input(text, begin)
    return Action(text[:end].rstrip(), _bare(name), arguments)


def _read_input(text: str, begin: int) -> tuple[str, int]:
    """Return the input that begins there, and where it ends: one JSON object, else all up to the next marker."""
    rest = text[begin:]
    fence = _FENCE.match(rest)
    start = fence.end() if fence else len(rest) - len(rest.lstrip())
    if rest.startswith("{", start):
        try:
            # strict=False: a model's raw line ends in strings, whose lines may look like markers.
            _, length = json.JSONDecoder(strict=False).raw_decode(rest[start:])
        except (ValueError, RecursionError):
            pass
        else:
            after = _rest_of_input(rest, start + length)
            return rest[start : start + length] + after, begin + start + length + len(after)
    following = _NEXT.search(text, begin)
    end = following.start() if following else len(text)
    raw = text[begin + start : end].strip()
    return raw.removesuffix("```").strip(), end


def _rest_of_input(rest: str, at: int) -> str:
    """Return what follows an object on its own line, such as a second one: it makes the input unreadable."""
    line = rest[at:].split("\n", 1)[0]
    return "" if not line.strip(" \t`") or _RESPONSE.match(line.strip()) else line


def _bare(name: str) -> str:
    return name.strip().strip("`*_\"'[] ").removesuffix("()").strip()


# -- what the model is told -------------------------------------------------------------------------------------------


def system_prompt(specs: Sequence[ToolSpec]) -> str:
    """Return the system message: the tools, and the form of a reply."""
    tools = "\n".join(_described(spec) for spec in specs) or "(none)"
    return f"""You carry out a user's task with the help of tools. Nobody answers questions: where something is open, \
decide sensibly and say what you assumed.

The tools:
{tools}

Use one tool at a time. To use one, write exactly this:

Thought: what you know and what to do next
Action: the name of one tool
Action Input: its arguments, as one JSON object

Stop there. The tool's answer then comes as "Response:"; never write one yourself. When everything is done:

Thought: why the work is done
Final Answer: your answer to the user, with the files you delivered by name

- Paths are relative to the task's directory. Do not make up what an input file holds: read it with a tool.
- Deliver what is asked for as files, under the names and in the formats it names. Only files made with a tool \
count as delivered.
- When a tool answers with an error, read what was wrong and correct the call, or find another way."""


_TYPES = {"text": "text", "int": "whole number", "float": "number", "bool": "true or false"}


def _described(spec: ToolSpec) -> str:
    lines = [f"- {spec.name}: {' '.join(spec.description.split())}"]
    for parameter in spec.parameters:
        kind = _TYPES.get(parameter.type, f"path of {parameter.type}")
        optional = ", optional" if parameter.optional else ""
        words = " ".join((parameter.description or "").split())
        lines.append(f"    {parameter.name} ({kind}{optional}){': ' if words else ''}{words}")
    return "\n".join(lines)


def files_message(paths: Sequence[str]) -> str:
    """Return the message that names the input files."""
    return f"The input files, read-only: {', '.join(f'`{path}`' for path in paths)}"


FORMAT_HELP = """Response: Your message could not be read: it holds neither an action nor a final answer. Write either

Thought: ...
Action: the name of one tool
Action Input: {"argument": "value"}

or

Thought: ...
Final Answer: ..."""


def last_turn(reason: str) -> str:
    """Return the message that asks for an answer now."""
    return (
        f'No more actions are possible: {reason}. Write your final answer now, after "Final Answer:", from what you '
        "have: the results, the files you delivered, and what is missing."
    )
