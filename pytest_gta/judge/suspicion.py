"""Text in graded material that seems to speak to a judge: shown to a person, never used in a score."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_gta.judge.evidence import Evidence, TextPart

LIMIT = 3
"""Passages that are quoted."""

_GRADER = r"(?:(?:ai|llm)[ -])?(?:judge|grader|evaluator|scoring (?:model|system)|language model|llm)s?"
_RULES = r"(?:instruction|prompt|rule|criteri(?:on|a)|requirement|guideline)s?"
_PATTERNS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}?"
    rf"(?:rubrics?|(?:the|all|any|these|your|previous|prior|above|system)\s+(?:\w+\s+)?{_RULES})\b"
    rf"|\b(?:notes?|notices?|messages?|instructions?|attention|dear|hints?)\s*(?:to|for)?:?\s*(?:the\s+|any\s+)?{_GRADER}\b"
    rf"|\byou\s+are\s+(?:a|an|the)\s+(?:\w+\s+)?{_GRADER}\b"
    r"|\b(?:output|give|award|score|grade|rate|assign)\s+(?:(?:it|this|me|us|a|the)\s+){0,3}"
    r"(?:10\s*/\s*10|10\s+(?:out\s+of|of)\s+10|full\s+(?:marks|points|score)|perfect\s+(?:score|10)|"
    r"(?:maximum|highest)\s+(?:score|points|grade))\b"
    r"|\b(?:the\s+|its\s+|a\s+)?score\s+is\s+(?:10|ten)\b|\b(?:reply|answer|respond)\s+(?:only\s+)?with\s+\{"
    r"|<\|im_(?:start|end)\|>|\[/?INST\]|<(?:start|end)_of_turn>"
    r"|<<<[^>\n]{0,60}\bEND\s+(?:OF\s+ALL\s+MATERIAL|evidence)",
    re.IGNORECASE,
)


def suspicious_passages(final_answer: str, evidence: Evidence) -> tuple[str, ...]:
    """Return short quotations of what may be meant to sway a judge, at most `LIMIT`.

    It is a hint for a person: innocent text about grading is found as well, and a clever attack is not.
    """
    found: dict[str, None] = {}
    for text in _texts(final_answer, evidence):
        for match in _PATTERNS.finditer(text):
            around = text[max(0, match.start() - 30) : match.end() + 40]
            found.setdefault(repr(" ".join(around.split())))
            if len(found) == LIMIT:
                return tuple(found)
    return tuple(found)


def _texts(final_answer: str, evidence: Evidence) -> Iterator[str]:
    yield final_answer
    for file in evidence.files:
        yield file.path
    for part in evidence.parts:
        yield part.text if isinstance(part, TextPart) else part.label
