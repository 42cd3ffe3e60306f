"""What a judge answers, and the one place that decides whether it is a score.

A score is an unambiguous finite number from 0 to 10. Nothing is clamped and nothing is guessed: what cannot be read is
`Unreadable`, with a reason that is named to the judge when it is asked again; a judge that declines is `Refused`.

A reply is read in this order, and the first reading that finds a verdict counts:

1. the whole text as JSON (or as a bare number);
2. the whole text as one fenced block;
3. what follows the last closing ``</think>``, as 1 and 2;
4. JSON objects inside that text, when all that carry a score agree on it.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from pytest_gta.llm.reply import Reply

LOWEST, HIGHEST = 0.0, 10.0
ANALYSIS_LIMIT = 2000
"""Characters of a judge's reason that are kept."""


class JudgeAnswer(BaseModel):
    """The structured output asked of a judge. Bounds are in words: many endpoints reject them in a schema."""

    # pydantic would send the docstring, which is for readers of the code.
    model_config = ConfigDict(extra="forbid", json_schema_extra={"description": "The verdict on one requirement."})

    analysis: str = Field(description="At most 80 words: what in the evidence decides the score, by file name.")
    score: float = Field(description="Points from 0 to 10 for this one requirement.")


class CompactJudgeAnswer(BaseModel):
    """The same for a small local model, whose server holds it to the bounds word by word."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"description": "The verdict on one requirement."})

    analysis: str = Field(max_length=240)
    score: int = Field(ge=0, le=10)


@dataclass(frozen=True, slots=True)
class ParsedVerdict:
    """A readable verdict.

    Attributes:
        score: Points 0-10.
        analysis: The judge's reason; "" when it gave none.
    """

    score: float
    analysis: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A reply that holds no score.

    Attributes:
        reason: What is wrong with it, as a clause without a full stop.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A judge that declined.

    Attributes:
        reason: Its words, or the provider's filter.
    """

    reason: str


def parse_verdict(reply: Reply) -> ParsedVerdict | Unreadable | Refused:
    """Read a model's reply to one question about one requirement."""
    if reply.refusal:
        return Refused(_clean(reply.refusal))
    if reply.finish_reason == "content_filter":
        return Refused("the provider's content filter stopped the reply")
    truncated = reply.finish_reason == "length"
    if not reply.text.strip():
        return Unreadable(f"the reply was {'cut by its token limit before any visible text' if truncated else 'empty'}")
    return parse_text(reply.text, whole_only=truncated)


def parse_text(text: str, *, whole_only: bool = False) -> ParsedVerdict | Unreadable | Refused:
    """Read the text of a reply.

    Args:
        text: What the judge wrote.
        whole_only: Accept a verdict only when it is the whole text: of a reply that was cut, a part may be a draft.
    """
    result = _parse(text, whole_only)
    if isinstance(result, Unreadable) and (plain := text.translate(_PLAIN)) != text:
        # Full-width digits and zero-width characters outside of strings are not JSON, yet leave no doubt.
        second = _parse(plain, whole_only)
        result = second if isinstance(second, ParsedVerdict) else result
    if isinstance(result, ParsedVerdict) and _REFUSAL_AS_ANALYSIS.match(_quotes(result.analysis)):
        # Held to a schema, a model that declines writes so in the reason and fills the score with anything.
        return Refused(result.analysis)
    if isinstance(result, Unreadable):
        said = _quotes(_after_thinking(text) or "").strip()
        if len(said) < 600 and _REFUSAL.search(said):
            return Refused(_clean(said))
    return result


def scale_warning(scores: list[float]) -> str:
    """Say so when a task's scores look like a 0-1 scale: all at most 1, with a fraction among them. Else ""."""
    if len(scores) < 2 or max(scores) > 1 or not any(0 < score < 1 for score in scores):
        return ""
    return (
        f"all {len(scores)} leaf scores are at most 1 of 10 points ({', '.join(f'{s:g}' for s in scores)}): "
        "the judge may have used a 0-1 scale; the scores are kept as given"
    )


class _NotJSON(Exception):
    """Text that is no JSON value."""


def _parse(text: str, whole_only: bool) -> ParsedVerdict | Unreadable:
    whole = _read_whole(text)
    if whole is not None:
        return whole
    answer = _after_thinking(text)
    if answer is None:
        return Unreadable("the reply holds reasoning but no answer after it")
    if answer != text:
        whole = _read_whole(answer)
        if whole is not None:
            return whole
    if whole_only:
        return Unreadable("the reply was cut by its token limit")
    return _read_embedded(answer)


def _read_whole(text: str) -> ParsedVerdict | Unreadable | None:
    """Read text that is nothing but a verdict; None when it is no JSON value at all."""
    bare = text.strip().strip("\ufeff\u200b\u2060").strip()
    if _NUMBER.fullmatch(bare.translate(_PLAIN)):
        return _verdict({"score": bare})
    fence = _FENCE.fullmatch(bare)
    for candidate in (bare, fence.group("body") if fence else None):
        if candidate is None:
            continue
        try:
            value = _decode(candidate)
        except _NotJSON:
            continue
        if isinstance(value, str) and _number(value) is not None:
            return _verdict({"score": value})
        if not isinstance(value, _Object):
            return Unreadable('the reply is JSON but not one object with "analysis" and "score"')
        return _verdict(value)
    return None


def _read_embedded(text: str) -> ParsedVerdict | Unreadable:
    found: list[_Object] = []
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            if re.match(r"\{\s*[\"'“]", text[at : at + 200]):
                # A broken object: whatever parses inside it may be a part, a quotation or a draft.
                return Unreadable("the JSON in the reply is malformed")
            end = at + 1
        else:
            if isinstance(value, _Object):
                found.append(value)
        at = text.find("{", end)
    verdicts = [_verdict(value) for value in found if value.scores]
    if not verdicts:
        return Unreadable('the reply holds no JSON object with a "score"')
    readable = [verdict for verdict in verdicts if isinstance(verdict, ParsedVerdict)]
    if len({verdict.score for verdict in readable}) > 1 or len(readable) not in (0, len(verdicts)):
        return Unreadable("the reply holds several verdicts that differ")
    return verdicts[-1]


class _Object(dict[str, Any]):
    """A JSON object that remembers every value written under ``score``."""

    scores: list[Any]


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    made = _Object(pairs)
    made.scores = [value for name, value in pairs if _field(name) == "score"]
    return made


def _field(name: str) -> str:
    return name.translate(_PLAIN).strip().casefold()


_DECODER = json.JSONDecoder(object_pairs_hook=_object, strict=False)
"""Lenient in one way only: a raw newline inside a string is taken as one."""


def _decode(text: str) -> Any:
    try:
        return _DECODER.decode(text.strip())
    except (ValueError, RecursionError) as error:
        raise _NotJSON from error


def _verdict(value: dict[str, Any]) -> ParsedVerdict | Unreadable:
    scores = value.scores if isinstance(value, _Object) else [value["score"]]
    if not scores:
        return Unreadable('the object has no "score"')
    if len(scores) > 1:
        return Unreadable('the object has "score" more than once')
    score = _number(scores[0])
    shown = _shown(scores[0])
    if score is None:
        return Unreadable(f'"score" is {shown}, not one plain number')
    if not LOWEST <= score <= HIGHEST:
        return Unreadable(f'"score" is {shown}, outside 0 to 10')
    analysis = next((v for name, v in value.items() if _field(name) == "analysis" and isinstance(v, str)), "")
    return ParsedVerdict(score, _clean(analysis))


def _number(value: Any) -> float | None:
    """Return the finite number that a JSON value states, None when it states none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        plain = value.translate(_PLAIN).strip()
        return float(plain) if _NUMBER.fullmatch(plain) else None
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number + 0.0 if math.isfinite(number) else None


def _shown(value: Any) -> str:
    """Return a JSON value as a few characters for a message."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return _clean(json.dumps(value, ensure_ascii=False))[:40]


def _after_thinking(text: str) -> str | None:
    """Return the text without the model's reasoning, None when only reasoning is there.

    The closing tag decides: servers often swallow the opening one.
    """
    closings = list(_CLOSE_THINK.finditer(text))
    answer = text[closings[-1].end() :] if closings else text
    opening = _OPEN_THINK.search(answer)
    if opening:
        answer = answer[: opening.start()]
    elif not closings:
        return text
    return answer if answer.strip() else None


def _clean(text: str) -> str:
    """Return text fit for any report: valid Unicode, no control characters, one blank for each run of space."""
    valid = text.encode("utf-8", "replace").decode()
    line = " ".join(_CONTROL.sub(" ", valid).split())
    return line if len(line) <= ANALYSIS_LIMIT else line[: ANALYSIS_LIMIT - 1] + "…"


def _quotes(text: str) -> str:
    return text.translate({0x2019: "'", 0x02BC: "'"})


_PLAIN = {
    **{0xFF10 + digit: str(digit) for digit in range(10)},
    0xFF0E: ".",
    **dict.fromkeys((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF)),
}
"""Full-width digits and point as ASCII, zero-width characters gone."""

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?", re.ASCII)
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*\w*[ \t]*\n?(?P<body>.*?)\n?[ \t]*\1[ \t]*", re.DOTALL)
_OPEN_THINK = re.compile(r"<\s*(?:think|thinking|thought|reasoning)\s*>", re.IGNORECASE)
_CLOSE_THINK = re.compile(r"<\s*/\s*(?:think|thinking|thought|reasoning)\s*>", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffe\uffff]")

_CANNOT = r"(?:i\s+(?:can't|cannot|can\s+not|won't|will\s+not|am\s+unable\s+to|must\s+decline\s+to)|i'm\s+unable\s+to)"
_REFUSAL = re.compile(
    rf"\A(?:(?:i'm|i\s+am)\s+sorry[^.]{{0,40}}?[,.]?\s*|sorry[,.]?\s*|unfortunately[,.]?\s*|as\s+an\s+ai[^,.]*[,.]\s*)?"
    rf"(?:but\s+)?{_CANNOT}\s+(?:fulfil|fulfill|comply|assist|help|engage|participate|continue|support|provide|do\s+that|"
    r"evaluate|grade|score|judge|process|complete)\b|\Ai\s+(?:must\s+)?(?:decline|refuse)\b",
    re.IGNORECASE,
)
_REFUSAL_AS_ANALYSIS = re.compile(
    rf"(?:(?:i'm|i\s+am)\s+sorry[,.]?\s*(?:but\s+)?|sorry[,.]?\s*(?:but\s+)?)?{_CANNOT}\s+"
    r"(?:fulfil|fulfill|comply|assist|help)\b[^.]{0,60}\.?\s*\Z",
    re.IGNORECASE,
)
