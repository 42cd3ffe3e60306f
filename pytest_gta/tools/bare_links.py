"""Web addresses that stand in text as they are: made links, as every reader of them expects."""

from __future__ import annotations

import re

_IN_BRACKETS = r"\([\w\-.~:/?#@!$&*+,;=%]*\)"
_ADDRESS = re.compile(
    r"(?P<kept>```.*?```|~~~.*?~~~|`[^`\n]+`|\[[^\[\]\n]*\]\([^()\n]*\))"
    rf"|(?<![\w(<\[\"'=/])(?P<address>https?://(?:[\w\-.~:/?#@!$&*+,;=%]|{_IN_BRACKETS})*(?:[\w\-~/#&+=%]|{_IN_BRACKETS}))",
    re.DOTALL | re.ASCII,
)


def with_bare_links(text: str) -> str:
    """Return markdown in which bare addresses are marked as links; those of links, of HTML and in code stay."""
    return _ADDRESS.sub(lambda found: found[0] if found["kept"] is not None else f"<{found['address']}>", text)
