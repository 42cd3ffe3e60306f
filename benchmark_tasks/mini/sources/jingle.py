"""Task 52: a noisy take of a jingle, to be cut, raised in pitch and written down."""

from __future__ import annotations

import math
import random
import wave
from array import array
from pathlib import Path

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.ear_training import frequency

TAKE = "resources/audio/52-jingle_take.wav"
RATE = 16_000
FALSE_START = (("G4", 1.0), ("A4", 1.4))
"""Note and the second it begins at, each half a second long: a try that broke off."""
JINGLE = (("C4", 3.0), ("D4", 3.5), ("E4", 4.0), ("G4", 4.5), ("E4", 5.0), ("C5", 5.5))
LENGTHS = (0.5, 0.5, 0.5, 0.5, 0.5, 1.0)
SECONDS = 9.0
COUGH = 7.6
UP = 2
_NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")


def raised(note: str, semitones: int = UP) -> str:
    """Return the note that lies some semitones higher."""
    number = _NAMES.index(note[:-1]) + 12 * int(note[-1]) + semitones
    return f"{_NAMES[number % 12]}{number // 12}"


def bounds() -> tuple[float, float]:
    """Return the seconds from which to which the jingle sounds."""
    return JINGLE[0][1], JINGLE[-1][1] + LENGTHS[-1]


def make_inputs(folder: Path) -> None:
    """Write the take: a false start, the jingle, a knock at the end, hiss under everything."""
    rng = random.Random(52)  # noqa: S311 - hiss, the same in every build
    samples = [rng.gauss(0, 0.004) for _ in range(round(SECONDS * RATE))]
    for note, start in FALSE_START:
        _tone(samples, frequency(note), start, 0.35)
    for (note, start), length in zip(JINGLE, LENGTHS, strict=True):
        _tone(samples, frequency(note), start, length - 0.05 * (length < 1))
    for i in range(round(0.12 * RATE)):
        samples[round(COUGH * RATE) + i] += rng.uniform(-0.5, 0.5) * math.exp(-i / 500)
    path = folder / TAKE
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(array("h", (round(30_000 * max(-1.0, min(1.0, s))) for s in samples)).tobytes())


def _tone(samples: list[float], pitch: float, at: float, length: float) -> None:
    count = round(length * RATE)
    for i in range(count):
        gain = min(1.0, i / 120, (count - i) / 400) * math.exp(-1.1 * i / RATE)
        turn = 2 * math.pi * pitch * i / RATE
        samples[round(at * RATE) + i] += gain * (
            0.4 * math.sin(turn) + 0.12 * math.sin(2 * turn) + 0.05 * math.sin(3 * turn)
        )


def values() -> dict[str, Derived]:
    """Return what the rubric asks for: what the take was made from."""
    start, end = bounds()
    names = [note for note, _ in JINGLE]
    return {
        "start": Derived(start, "onset of the first note after the false start"),
        "end": Derived(end, "end of the last note, before the knock"),
        "length": Derived(end - start, "end - start"),
        "notes": Derived(names, "fundamentals of the six notes, A4 = 440 Hz"),
        "raised": Derived([raised(name) for name in names], f"the same, {UP} semitones higher"),
        "count": Derived(len(names), "onsets of the jingle"),
        "first_hz": Derived(round(frequency("C4") * 2 ** (UP / 12), 1), "261.63 Hz x 2^(2/12)"),
        "last_hz": Derived(round(frequency("C5") * 2 ** (UP / 12), 1), "523.25 Hz x 2^(2/12)"),
        "false_start": Derived(len(FALSE_START), "notes before the pause"),
    }
