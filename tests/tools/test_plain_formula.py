"""LaTeX in text, written out."""

from __future__ import annotations

import pytest

from pytest_gta.tools.document_tree import CodeBlock, Paragraph, Text, plain
from pytest_gta.tools.markdown_document import parse_markdown


def shown(text: str) -> str:
    return " | ".join(plain(block.content) for block in parse_markdown(text).blocks if isinstance(block, Paragraph))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"Half is $\frac{1}{2}$.", "Half is 1/2."),
        (r"$\frac{a+b}{2}$", "(a+b)/2"),
        (r"\(\sqrt{x+1} \leq \pi\)", "√(x+1) ≤ π"),
        (r"$$\sum_{i=1}^{n} i = \frac{n(n+1)}{2}$$", "∑i=1n i = (n(n+1))/2"),
        (r"$90^\circ$ and $3 \times 4$", "90° and 3 \u00d7 4"),
        (r"\[ \text{area} = \pi r^2 \]", "area = πr2"),
        (r"$\{1, 2\}$", "{1, 2}"),
        (r"$a_1 * b_2$ and $c_1 * d_2$", "a1 * b2 and c1 * d2"),
        (r"$\unknowncommand{x}$", r"\unknowncommandx"),
        (r"$x$ and $2x$", "x and 2x"),
    ],
)
def test_formulas_are_written_out(text: str, expected: str) -> None:
    assert shown(text).replace("  ", " ") == expected


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $10.",
        "$5 million to $7 million",
        "US$3, A$4",
        "price in $",
        "a $100$50 b",
        "between $20-$30 each",
    ],
)
def test_money_stays_money(text: str) -> None:
    assert shown(text) == text


def test_powers_are_raised_and_indices_lowered() -> None:
    (block,) = parse_markdown("**$x^{10}$** $a_i$").blocks
    assert isinstance(block, Paragraph)
    assert Text("10", bold=True, raised=True) in block.content and Text("i", lowered=True) in block.content


def test_code_is_left_alone() -> None:
    document = parse_markdown("`$x^2$`\n\n```\n$$y^2$$\n```")
    assert plain(document.blocks[0].content) == "$x^2$"  # type: ignore[union-attr]
    assert document.blocks[1] == CodeBlock("$$y^2$$")
