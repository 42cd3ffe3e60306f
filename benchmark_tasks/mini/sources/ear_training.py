"""Task 21: a metronome and a melody, to be turned into an ear-training sheet and its answer key."""

from __future__ import annotations

import math
import wave
from array import array
from itertools import pairwise
from pathlib import Path

from benchmark_tasks.mini.sources.authored import Derived

RECORDING = "resources/audio/21-warmup.wav"
RATE = 16_000
TEMPO = 96
COUNT_IN = 4
MELODY = (("C4", 1), ("E4", 1), ("G4", 1), ("E4", 1), ("F4", 1), ("A4", 1), ("G4", 1), ("C5", 2))
_SEMITONE = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


def midi(note: str) -> int:
    """Return the MIDI number of a natural note such as ``C4`` (60)."""
    return 12 * (int(note[1:]) + 1) + _SEMITONE[note[0]]


def frequency(note: str) -> float:
    """Return a note's frequency in Hz, A4 being 440."""
    return 440.0 * 2 ** ((midi(note) - 69) / 12)


def seconds() -> float:
    """Length of the recording."""
    return (COUNT_IN + sum(beats for _, beats in MELODY)) * 60 / TEMPO


def make_inputs(folder: Path) -> None:
    """Write the recording: four clicks, then eight notes, one a beat and the last one of two beats."""
    beat = 60 / TEMPO
    samples = [0.0] * round(seconds() * RATE)
    for i in range(COUNT_IN):
        _add(samples, i * beat, 0.03, ((1800.0, 0.6),), decay=120.0)
    start = COUNT_IN * beat
    for note, beats in MELODY:
        pitch = frequency(note)
        _add(samples, start, beats * beat * 0.92, ((pitch, 0.34), (2 * pitch, 0.1), (3 * pitch, 0.05)), decay=1.4)
        start += beats * beat
    path = folder / RECORDING
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(array("h", (round(32_000 * s) for s in samples)).tobytes())


def _add(
    samples: list[float], at: float, length: float, partials: tuple[tuple[float, float], ...], decay: float
) -> None:
    """Add a decaying tone of the given (frequency, amplitude) partials, with short fades against clicks."""
    first, count = round(at * RATE), round(length * RATE)
    fade = min(80, count // 4)
    for i in range(count):
        t = i / RATE
        gain = math.exp(-decay * t) * min(1.0, i / fade, (count - i) / fade)
        samples[first + i] += gain * sum(a * math.sin(2 * math.pi * f * t) for f, a in partials)


def values() -> dict[str, Derived]:
    """Return what the rubric asks for: what the recording was made from."""
    names = [name for name, _ in MELODY]
    leaps = [abs(midi(a) - midi(b)) for a, b in pairwise(names)]
    return {
        "tempo": Derived(TEMPO, "60 / seconds from the onset of one click to the next"),
        "clicks": Derived(COUNT_IN, "short bursts before the first note"),
        "notes": Derived(names, "fundamental frequency of each note, to the nearest semitone with A4 = 440 Hz"),
        "count": Derived(len(names), "onsets after the clicks"),
        "last_note": Derived(names[-1], "the last of the notes"),
        "last_beats": Derived(MELODY[-1][1], "seconds from its onset to the end / seconds a beat"),
        "lowest": Derived(min(names, key=midi), "the lowest of the notes"),
        "highest": Derived(max(names, key=midi), "the highest of the notes"),
        "leap": Derived(max(leaps), f"the largest of the steps between neighbours, {leaps}"),
        "seconds": Derived(seconds(), "frames / frame rate of the file"),
    }
