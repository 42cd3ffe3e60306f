"""Where a failure comes from: the labels, the answer asked of a model, and the one place that decides if it holds.

A label needs a passage of the material that bears it out. One that cannot be found there, an unknown label, a reply
that is not the object asked for: none of these is a label, and nothing is guessed in its place.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_gta.llm.reply import Reply

SHORTEST_QUOTE = 8
"""Characters a quoted passage has at least; shorter ones are found in any text."""

_WORDS_LIMIT = 600


class Stage(StrEnum):
    """The stage of the work at which a leaf was lost."""

    PLAN = "PLAN"
    REASON = "REASON"
    EXECUTE = "EXECUTE"
    GROUNDING = "GROUNDING"
    REFINE = "REFINE"
    ASSEMBLE = "ASSEMBLE"
    HANDOFF = "HANDOFF"
    VERIFY = "VERIFY"
    OTHER = "OTHER"


class Level(StrEnum):
    """The level at which a task was lost."""

    LEAF = "A"
    COMPOSITION = "B"
    DELIVERABLE = "C"


STAGES = {
    Stage.PLAN: "the steps were not laid out, or a demand of the request was overlooked from the start",
    Stage.REASON: "a wrong conclusion, calculation or interpretation from material that was right",
    Stage.EXECUTE: "a tool call or code failed, was malformed or was given up, and the work went on without its result",
    Stage.GROUNDING: "content without a basis in the inputs or sources: made up, taken from the wrong place, unread",
    Stage.REFINE: "a fault was seen, or a first draft was thin, and was not worked over",
    Stage.ASSEMBLE: "parts that were there did not make it into the result, or do not fit together",
    Stage.HANDOFF: "the result exists but was not handed over as asked: file missing, wrong name, format or place",
    Stage.VERIFY: "the result was not checked, or called finished against what the record shows",
    Stage.OTHER: "none of these",
}
"""What each stage means."""

LEVELS = {
    Level.LEAF: "single requirements are missed, each for itself; the whole hangs together and is usable",
    Level.COMPOSITION: "pieces are there, but later steps lack or contradict what earlier ones gave",
    Level.DELIVERABLE: "what was asked for as a whole is missing, empty, cannot be opened, or is another thing",
}
"""What each level means."""


class StageAnswer(BaseModel):
    """The structured output asked about a leaf; the passage comes first, so that the label follows from it."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"description": "Why one requirement failed."})

    quote: str = Field(description="A passage copied word for word from the material that bears out the label.")
    reason: str = Field(description="At most 40 words: why this label.")
    label: Stage


class LevelAnswer(BaseModel):
    """The structured output asked about a task."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"description": "Why the task as a whole failed."})

    quote: str = Field(description="A passage copied word for word from the material that bears out the label.")
    reason: str = Field(description="At most 40 words: why this label.")
    label: Level


@dataclass(frozen=True, slots=True)
class Label:
    """A label that holds.

    Attributes:
        label: A `Stage` or a `Level`.
        quote: The passage that bears it out.
        reason: The model's reason.
    """

    label: str
    quote: str
    reason: str


@dataclass(frozen=True, slots=True)
class Unlabelled:
    """No label.

    Attributes:
        reason: Why not, as a clause without a full stop.
    """

    reason: str


def read_label(reply: Reply, schema: type[StageAnswer] | type[LevelAnswer], material: str) -> Label | Unlabelled:
    """Read a reply to one question.

    Args:
        reply: What the model answered.
        schema: What it was asked for.
        material: What it was shown; the passage has to be there.
    """
    if reply.refusal or reply.finish_reason == "content_filter":
        return Unlabelled(f"the model declined: {_cut(reply.refusal or 'content filter')}")
    if reply.finish_reason == "length":
        return Unlabelled("the reply was cut by its token limit")
    text = re.sub(r"\A.*</think>", "", reply.text, flags=re.DOTALL).strip()
    fenced = re.fullmatch(r"```(?:json)?\s*(.*?)\s*```", text, re.DOTALL)
    try:
        answer = schema.model_validate_json(fenced.group(1) if fenced else text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return Unlabelled(f"not the JSON object asked for ({where + ': ' if where else ''}{_cut(first['msg'])})")
    quote = answer.quote.strip().strip("\"'\u201c\u201d")
    if not is_quoted(quote, material):
        return Unlabelled("the quoted passage is not in the material, word for word")
    return Label(str(answer.label.value), _cut(quote), _cut(answer.reason.strip()))


def is_quoted(quote: str, material: str) -> bool:
    """Whether a passage stands in a text: blanks, case and the form of quotation marks do not matter, cuts may be."""
    pieces = [piece for part in re.split(r"\.\.\.|\u2026", quote) if (piece := _plain(part))]
    if sum(map(len, pieces)) < SHORTEST_QUOTE:
        return False
    whole = _plain(material)
    return all(piece in whole for piece in pieces)


def _plain(text: str) -> str:
    same = unicodedata.normalize("NFKC", text).translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})
    return " ".join(same.casefold().split())


def _cut(text: str) -> str:
    return " ".join(text.split())[:_WORDS_LIMIT]
