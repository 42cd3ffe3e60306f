"""The answer of a GTA-Atomic question, and the published rule by which a reply is right or wrong.

A reply is right when it holds one spelling of each wanted answer and none of an excluded one, as whole words, in upper
or lower case. Spellings that begin or end with a sign (``$5``, ``50%``, ``C++``) are found here, and can never be found
by the reference implementation; all others are found by both or by neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

PICTURE = "its answer is a picture"
"""Why a question has no key: GTA-2 scores it by its tool calls, not by the picture."""
OPEN = "its answer is an open one"
"""Why a question has no key: GTA-2 scores it by the likeness of sentences, for which a further model is needed."""


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """What a reply must and must not hold.

    Attributes:
        wanted: Answers, each as its spellings.
        excluded: Spellings that make a reply wrong.
    """

    wanted: tuple[tuple[str, ...], ...]
    excluded: tuple[str, ...] = ()

    @property
    def requirement(self) -> str:
        """The key in words."""
        wanted = "; and ".join(_alternatives(spellings) for spellings in self.wanted)
        excluded = f"; and not {_alternatives(self.excluded)}" if self.excluded else ""
        return f"The answer says {wanted}{excluded}."

    def explain(self, reply: str) -> tuple[bool, str]:
        """Return whether a reply is right, and why."""
        if not reply.strip():
            return False, "there is no answer"
        lacking = [spellings for spellings in self.wanted if not _found(spellings, reply)]
        wrong = _found(self.excluded, reply)
        if not lacking and not wrong:
            found = ", ".join(repr(_found(spellings, reply)) for spellings in self.wanted)
            return True, f"the answer says {found}"
        reasons = [f"does not say {_alternatives(spellings)}" for spellings in lacking]
        return False, "the answer " + " and ".join([*reasons, *([f"says {wrong!r}"] if wrong else [])])


def read_answer(value: Any) -> AnswerKey | str:
    """Return the key of a question's ``gt_answer``, or why it has none: `PICTURE` or `OPEN`.

    Raises:
        ValueError: When it is none of the three forms; the message says what is wrong, as a clause.
    """
    if value is None:
        return PICTURE
    if isinstance(value, list) and value and all(isinstance(text, str) for text in value):
        return OPEN
    if not isinstance(value, dict) or "whitelist" not in value:
        raise ValueError("`gt_answer` is neither a key with a `whitelist`, nor a list of texts, nor null")
    wanted = _groups(value["whitelist"], "whitelist")
    if not wanted:
        raise ValueError("`whitelist` has no answers")
    excluded = _groups(value.get("blacklist") or [], "blacklist")
    return AnswerKey(wanted, tuple(text for spellings in excluded for text in spellings))


def _groups(value: Any, name: str) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list) or not all(isinstance(group, list) for group in value):
        raise ValueError(f"`{name}` is not a list of lists")
    groups = tuple(tuple(str(text).strip() for text in group) for group in value if group)
    if not all(text for group in groups for text in group):
        raise ValueError(f"`{name}` has an empty spelling")
    return groups


def _found(spellings: Iterable[str], reply: str) -> str:
    """Return the first of the spellings that a reply holds, "" for none."""
    return next((text for text in spellings if re.search(_pattern(text), reply, re.IGNORECASE)), "")


def _pattern(text: str) -> str:
    # A word's end is only asked for where the spelling ends in a word.
    before = r"(?<!\w)" if text[0].isalnum() or text[0] == "_" else ""
    after = r"(?!\w)" if text[-1].isalnum() or text[-1] == "_" else ""
    return before + re.escape(text) + after


def _alternatives(spellings: Iterable[str]) -> str:
    return " or ".join(repr(text) for text in spellings)
