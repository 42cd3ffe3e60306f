"""How the tests of `mini` hear: the strength of a frequency, and the name of a note."""

from __future__ import annotations

from math import cos, pi, sin

NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")


def strength(samples: list[float], rate: int, pitch: float) -> float:
    """Amplitude of one frequency in the samples."""
    real = sum(s * cos(2 * pi * pitch * i / rate) for i, s in enumerate(samples))
    imaginary = sum(s * sin(2 * pi * pitch * i / rate) for i, s in enumerate(samples))
    return (real**2 + imaginary**2) ** 0.5 / len(samples)


def name_of(number: int) -> str:
    """Name of a MIDI note number, 60 being C4."""
    return f"{NAMES[number % 12]}{number // 12 - 1}"
