from __future__ import annotations

from typing import Any

import pytest

from pytest_gta.benchmark.answer_key import OPEN, PICTURE, AnswerKey, read_answer


@pytest.mark.parametrize(
    ("wanted", "excluded", "reply", "right"),
    [
        ([["7"]], [], "There are 7 apples.", True),
        ([["7"]], [], "There are 17 apples.", False),
        ([["7"]], [], "There are seven apples.", False),
        ([["7", "seven"]], [], "There are SEVEN.", True),
        ([["3"]], [], "It is 3.14.", True),  # as published: a dot ends a word
        ([["Paris"], ["Rome"]], [], "From Paris to Rome", True),
        ([["Paris"], ["Rome"]], [], "From Paris", False),
        ([["Paris"]], ["Rome"], "Paris, not Rome", False),
        ([["Paris"]], ["Rome"], "paris", True),
        ([["part time"]], [], "a parttime job", False),
        ([["$5"]], [], "It costs $5 each.", True),
        ([["50%"]], [], "about 50% of it", True),
        ([["C++"]], [], "Written in C++.", True),
        ([["C++"]], [], "Written in VC++.", False),
        ([["5 kg"]], [], "5 kg.", True),
        ([["5 kg"]], [], "5 kgs", False),
        ([["a.c"]], [], "abc", False),
        ([["7"]], [], " \n", False),
    ],
)
def test_the_rule(wanted: list[list[str]], excluded: list[str], reply: str, right: bool) -> None:
    key = AnswerKey(tuple(map(tuple, wanted)), tuple(excluded))
    assert key.explain(reply)[0] is right


def test_reasons() -> None:
    key = AnswerKey((("7", "seven"), ("red",)), ("blue",))
    assert key.requirement == "The answer says '7' or 'seven'; and 'red'; and not 'blue'."
    assert key.explain("seven red ones") == (True, "the answer says 'seven', 'red'")
    assert key.explain("7 blue ones") == (False, "the answer does not say 'red' and says 'blue'")
    assert key.explain("") == (False, "there is no answer")


def test_the_three_forms() -> None:
    assert read_answer({"whitelist": [["7", " seven "]], "blacklist": None}) == AnswerKey((("7", "seven"),))
    assert read_answer({"whitelist": [[7]], "blacklist": [["8"], ["9"]]}) == AnswerKey((("7",),), ("8", "9"))
    assert read_answer(["It is a cat.", "A cat sits there."]) == OPEN
    assert read_answer(None) == PICTURE


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("7", "neither a key"),
        ([], "neither a key"),
        ([1], "neither a key"),
        ({"blacklist": []}, "neither a key"),
        ({"whitelist": []}, "`whitelist` has no answers"),
        ({"whitelist": [[]]}, "`whitelist` has no answers"),
        ({"whitelist": ["7"]}, "`whitelist` is not a list of lists"),
        ({"whitelist": [[""]]}, "`whitelist` has an empty spelling"),
        ({"whitelist": [["7"]], "blacklist": "x"}, "`blacklist` is not a list of lists"),
    ],
)
def test_what_is_no_answer(value: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_answer(value)
