"""Evidence made smaller: fair, marked, in order."""

from __future__ import annotations

from dataclasses import replace

from pytest_gta.judge.evidence import PicturePart, TextPart
from pytest_gta.judge.reduction import half_of, has_pictures, without_pictures
from tests.judge.conftest import evidence, picture


def test_a_picture_left_out_leaves_its_label() -> None:
    shown = evidence("text", picture("chart.png"), "more")
    assert has_pictures(shown)
    fewer = without_pictures(shown)
    assert not has_pictures(fewer)
    assert fewer.parts[1:] == (TextPart("text"), TextPart("[picture not shown: chart.png]"), TextPart("more"))
    assert (fewer.files, fewer.digest, fewer.note) == (shown.files, shown.digest, shown.note)


def test_long_texts_are_cut_to_one_length_and_short_ones_stay() -> None:
    long, longer = "a" * 900 + "z" * 100, "b" * 9000 + "y" * 1000
    fewer = half_of(evidence("short", long, longer))
    texts = [part.text for part in fewer.parts[1:] if isinstance(part, TextPart)]
    assert texts[0] == "short"
    assert texts[1] == long, "the longest pays first"
    assert len(texts[2]) < 5000
    assert texts[2].startswith("b" * 1000)
    assert texts[2].endswith("y" * 500)
    assert "characters not shown" in texts[2]
    assert 0.4 < sum(map(len, texts)) / (5 + 1000 + 10000) < 0.6


def test_every_second_picture_goes_and_a_single_one_too() -> None:
    fewer = half_of(evidence(*(picture(f"page {i}") for i in range(1, 6))))
    kept = [part.label for part in fewer.parts if isinstance(part, PicturePart)]
    assert kept == ["page 2", "page 4"]
    assert TextPart("[picture left out for length: page 1]") in fewer.parts
    assert not has_pictures(half_of(evidence(picture())))


def test_nothing_to_cut() -> None:
    assert half_of(replace(evidence(), parts=())).parts == ()
