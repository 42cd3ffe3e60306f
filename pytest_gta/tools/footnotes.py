"""Footnotes of markdown, which the standard does not have and models write: numbered, and listed at the end."""

from __future__ import annotations

import re

_CODE = r"(?P<code>```.*?```|~~~.*?~~~|`[^`\n]+`)"
_DEFINITION = re.compile(
    _CODE + r"|^ {0,3}\[\^(?P<name>[^\]\s]+)\]:[ \t]*(?P<note>[^\n]*(?:\n(?: {4}|\t)[^\n]*)*)\n?",
    re.DOTALL | re.MULTILINE,
)
_MARK = re.compile(_CODE + r"|\[\^(?P<name>[^\]\s]+)\]", re.DOTALL)


def with_notes_at_end(text: str) -> str:
    """Return markdown whose footnotes are a list at its end, their marks raised numbers in the order they come."""
    notes: dict[str, str] = {}

    def take(found: re.Match[str]) -> str:
        if found["code"] is not None:
            return found[0]
        notes.setdefault(found["name"], " ".join(found["note"].split()))
        return ""

    body = _DEFINITION.sub(take, text)
    if not notes:
        return text
    numbers: dict[str, int] = {}

    def mark(found: re.Match[str]) -> str:
        if found["code"] is not None or found["name"] not in notes:
            return found[0]
        return f"<sup>{numbers.setdefault(found['name'], len(numbers) + 1)}</sup>"

    body = _MARK.sub(mark, body)
    for name in notes:
        numbers.setdefault(name, len(numbers) + 1)
    listed = [f"{number}. {notes[name]}" for name, number in numbers.items()]
    return "\n".join([body.rstrip(), "", "---", "", *listed, ""])
