"""What the tests of `mini` share: where things are, and how a leaf's text is read."""

from __future__ import annotations

import re
from pathlib import Path

import pypdf

MINI = Path(__file__).parents[2] / "benchmark_tasks" / "mini"
INPUTS = MINI / "resources"


def holds(text: str, *values: object) -> None:
    """Assert that `text` has all values as whole words or numbers, in this order."""
    at = 0
    for value in values:
        hit = re.compile(rf"(?<![\w.,]){re.escape(str(value))}(?![\w]|[.,]\d)").search(text, at)
        assert hit, f"{value!r} is not in {text[at:]!r}"
        at = hit.end()


def pdf_text(path: Path) -> str:
    """Text of all pages, any run of blanks as one space."""
    return " ".join(" ".join(page.extract_text().split()) for page in pypdf.PdfReader(path).pages)
