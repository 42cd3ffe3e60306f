"""Task 23: a recorded talk on bread, to be made into notes, a glossary and captions."""

from __future__ import annotations

import wave
from pathlib import Path

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.recording import speak

TALK = "resources/audio/23-bread_talk.wav"
SENTENCES = (
    "Welcome to lesson four. Today we learn why bread rises.",
    "For one loaf you need five hundred grams of flour, three hundred and twenty grams of water, ten grams of salt, "
    "and seven grams of dry yeast.",
    "Yeast is a living fungus. It eats the sugar in the flour and gives off carbon dioxide.",
    "The gas is caught in a net of gluten. Gluten is a protein that forms when you knead flour with water.",
    "First, knead the dough for ten minutes, then let it rest for ninety minutes at twenty four degrees Celsius, "
    "until it has doubled in size.",
    "We call this first rest the bulk fermentation.",
    "If the kitchen is cold, give it more time, not more yeast.",
    "Then shape the loaf and let it rest again for forty five minutes. This second rest is called proofing.",
    "Bake it at two hundred and thirty degrees for thirty five minutes.",
    "In the first minutes in the oven the loaf grows once more. Bakers call this oven spring.",
    "Your homework: bake one loaf, and write down how long your dough took to double. See you on Thursday.",
)
INGREDIENTS = {"flour": 500, "water": 320, "salt": 10, "yeast": 7}
RESTS = (90, 45)
KNEAD, BAKE, RISE_AT, BAKE_AT = 10, 35, 24, 230
TERMS = ("yeast", "gluten", "bulk fermentation", "proofing", "oven spring")


def make_inputs(folder: Path) -> None:
    """Record the talk."""
    speak(folder, TALK, SENTENCES)


def values() -> dict[str, Derived]:
    """Return what the rubric asks for: what is said in the talk."""
    with wave.open(str(Path(__file__).parents[1] / TALK)) as recording:
        seconds = recording.getnframes() / recording.getframerate()
    times = (KNEAD, RESTS[0], RESTS[1], BAKE)
    return {
        "ingredients": Derived(
            [f"{what} {grams}" for what, grams in INGREDIENTS.items()], "said in the second sentence"
        ),
        "knead": Derived(KNEAD, "said: minutes"),
        "first_rest": Derived(RESTS[0], "said: minutes"),
        "rise_at": Derived(RISE_AT, "said: degrees Celsius"),
        "second_rest": Derived(RESTS[1], "said: minutes"),
        "bake": Derived(BAKE, "said: minutes"),
        "bake_at": Derived(BAKE_AT, "said: degrees"),
        "total": Derived(sum(times), f"{KNEAD} + {RESTS[0]} + {RESTS[1]} + {BAKE}"),
        "hydration": Derived(INGREDIENTS["water"] * 100 // INGREDIENTS["flour"], "320 / 500 in percent"),
        "seconds": Derived(round(seconds, 1), "frames / frame rate of the file"),
        "terms": Derived(list(TERMS), "words that the talk explains"),
    }
