"""Task 23: the numbers of its leaves from the talk as a person hears it, and its reference deliverables."""

from __future__ import annotations

import json
import re
import wave
from pathlib import Path

from tests.mini.rubric import INPUTS, holds

AS_HEARD = """
Welcome to lesson 4. Today we learn why bread rises. For one loaf you need 500 grams of flour, 320 grams of
water, 10 grams of salt and 7 grams of dry yeast. Yeast is a living fungus. It eats the sugar in the flour and
gives off carbon dioxide. The gas is caught in a net of gluten. Gluten is a protein that forms when you knead
flour with water. First, knead the dough for 10 minutes, then let it rest for 90 minutes at 24 degrees Celsius until
it has doubled in size. We call this first rest the bulk fermentation. If the kitchen is cold, give it more
time, not more yeast. Then shape the loaf and let it rest again for 45 minutes. This second rest is called
proofing. Bake it at 230 degrees for 35 minutes. In the first minutes in the oven the loaf grows once more.
Bakers call this oven spring. Your homework: bake one loaf and write down how long your dough took to double.
See you on Thursday.
"""


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    heard = " ".join(AS_HEARD.split())
    amounts = {what: grams for grams, what in re.findall(r"(\d+) grams of (?:dry )?(\w+)", heard)}
    holds(leaves["23/cp1-1"], *(w for what in ("flour", "water", "salt", "yeast") for w in (what, amounts[what])))
    knead, rest, degrees, again, heat, bake = re.findall(r"(\d+) (?:minutes|degrees)", heard)
    holds(leaves["23/cp1-2"], knead, rest, degrees, again, bake, heat)
    total = sum(map(int, (knead, rest, again, bake)))
    holds(leaves["23/cp1-3"], total, total // 60)
    for term in ("yeast", "gluten", "bulk fermentation", "proofing", "oven spring"):
        assert term in heard.lower()
        holds(leaves["23/cp2-1"], term)
    with wave.open(str(INPUTS / "audio/23-bread_talk.wav")) as recording:
        holds(leaves["23/cp3-1"], f"{recording.getnframes() / recording.getframerate():.0f}")


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    assert len(json.loads((outputs / "23/files/Bread_Glossary.json").read_text("utf-8"))) == 5
    captions = (outputs / "23/files/Bread_Captions.srt").read_text("utf-8")
    times = [int(m) * 60 + int(s) + int(ms) / 1000 for m, s, ms in re.findall(r"00:(\d\d):(\d\d),(\d{3})", captions)]
    assert times == sorted(times) and times[0] < 1
    text = re.sub(r"(?m)^\d+\n|^.*-->.*\n", "", captions)
    assert "carbon dioxide" in text and text.split()[-1] == "Thursday."
    assert all(len(line.split()) <= 13 for line in text.splitlines())
