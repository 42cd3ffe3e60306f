"""What a ReAct model writes, read as its first block."""

from __future__ import annotations

import pytest

from pytest_gta.agents.react_format import Action, FinalAnswer, Formless, read_block, system_prompt
from pytest_gta.tools.specification import ToolParameter, ToolSpec


def action(text: str) -> tuple[str, str]:
    block = read_block(text)
    assert isinstance(block, Action), block
    return block.tool, block.arguments


@pytest.mark.parametrize(
    "text",
    [
        'Thought: I look.\nAction: OCR\nAction Input: {"image": "a.png"}',
        'Action: OCR\nAction Input: {"image": "a.png"}',
        'Thought: x\n\nAction:OCR\nAction Input:{"image": "a.png"}\n',
        '**Thought:** x\n**Action:** OCR\n**Action Input:** {"image": "a.png"}',
        "thought: x\nACTION: `OCR`\nACTION INPUT: ```json\n{\"image\": \"a.png\"}\n```",
        'Action: OCR\nAction Input:\n```\n{"image": "a.png"}\n```\nResponse: made up',
        'Action:\nOCR\nAction Input:\n{"image": "a.png"}',
        'Action: OCR Action Input: {"image": "a.png"}',
        'Action: "OCR"\nAction Input: {"image": "a.png"}\nResponse: 42\nThought: done\nFinal Answer: 42',
        'Action: [OCR]\nAction Input: {"image": "a.png"}\n\nAction: Plot\nAction Input: {"code": "x"}',
        'Action: OCR()\nAction Input: {"image": "a.png"}\nThought: then\nAction: Plot\nAction Input: {}',
    ],
)  # fmt: skip
def test_the_first_action_counts_and_what_follows_is_dropped(text: str) -> None:
    assert action(text) == ("OCR", '{"image": "a.png"}')
    block = read_block(text)
    assert "42" not in block.text and "Plot" not in block.text and "made up" not in block.text


def test_markers_in_a_string_are_not_markers() -> None:
    written = '{"content": "Steps:\nThought: one\nAction: two\nFinal Answer: three", "filename": "a.md"}'
    assert action(f"Action: Write\nAction Input: {written}") == ("Write", written)


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ("", ""),
        ("null", "null"),
        ('{}""', '{}""'),
        ('{"image": "a', '{"image": "a'),
        ('{"a": 1} {"b": 2}', '{"a": 1} {"b": 2}'),
        ('["a.png"]', '["a.png"]'),
        ("a.png", "a.png"),
        ('```json\n{"image": "a\n```', '{"image": "a'),
    ],
)
def test_malformed_input_is_handed_on_as_it_is(written: str, arguments: str) -> None:
    assert action(f"Thought: x\nAction: OCR\nAction Input: {written}\nResponse: nothing") == ("OCR", arguments)


def test_an_action_without_input_has_none() -> None:
    assert action("Thought: x\nAction: ListFiles") == ("ListFiles", "")
    assert action('Action: A\nThought: no\nAction: B\nAction Input: {"x": 1}') == ("A", "")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Thought: done\nFinal Answer: 42", "42"),
        ("Final Answer:\n\n# Report\n\nAction: buy milk\n", "# Report\n\nAction: buy milk"),
        ("**Final Answer:** 42 **exactly**", "42 **exactly**"),
        ("Thought: I know it now. Final Answer: 42", "42"),
        ("Final Answer: a\nFinal Answer: b", "a\nFinal Answer: b"),
    ],
)
def test_final_answers(text: str, answer: str) -> None:
    block = read_block(text)
    assert isinstance(block, FinalAnswer) and block.answer == answer


def test_a_final_answer_quoted_in_a_thought_ends_nothing() -> None:
    text = 'Thought: I must not write "Final Answer: x" before the tool ran.\nAction: OCR\nAction Input: {}'
    assert action(text) == ("OCR", "{}")
    assert isinstance(read_block('Thought: soon I can write "Final Answer:", not yet.'), Formless)


def test_an_answer_after_a_made_up_response_is_none() -> None:
    assert isinstance(read_block("Thought: hm\nResponse: 42\nThought: good\nFinal Answer: 42"), Formless)
    assert isinstance(read_block("Response: 42\nAction: OCR\nAction Input: {}"), Formless)


@pytest.mark.parametrize("text", ["", "Hello!", "I take action: none", "Transaction: 4\nTotal: 5"])
def test_anything_else_has_no_form(text: str) -> None:
    assert isinstance(read_block(text), Formless)


def test_the_tools_are_described_with_their_parameters() -> None:
    spec = ToolSpec(
        "Draw",
        "operation",
        "Draws\na box.",
        (ToolParameter("image", "image", "The picture."), ToolParameter("size", "int", "", optional=True)),
    )
    prompt = system_prompt([spec])
    shown = "- Draw: Draws a box.\n    image (path of image): The picture.\n    size (whole number, optional)\n"
    assert shown in prompt and "Action Input: its arguments, as one JSON object" in prompt
