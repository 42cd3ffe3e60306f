"""Task 52: the numbers of its leaves from the take alone, and its reference deliverables."""

from __future__ import annotations

import struct
import wave
from itertools import pairwise
from pathlib import Path

import pytest

from tests.mini.rubric import INPUTS, holds
from tests.mini.sound import name_of, strength


def heard(path: Path) -> tuple[float, list[tuple[float, float, int]]]:
    """Length of a recording, and onset, end and MIDI number of each of its notes; a knock is too short to be one."""
    with wave.open(str(path)) as recording:
        rate, frames = recording.getframerate(), recording.getnframes()
        samples = [s / 32768 for s in struct.unpack(f"<{frames}h", recording.readframes(frames))]
    step = rate // 200
    loud = [max(map(abs, samples[i : i + step])) > 0.05 for i in range(0, frames, step)]
    edges = [i for i in range(1, len(loud)) if loud[i] != loud[i - 1]]
    if loud[0]:
        edges.insert(0, 0)
    if loud[-1]:
        edges.append(len(loud))
    spans = [(a * step / rate, b * step / rate) for a, b in zip(edges[::2], edges[1::2], strict=False)]
    merged: list[list[float]] = []
    for a, b in spans:
        if merged and a - merged[-1][1] < 0.012:
            merged[-1][1] = b
        else:
            merged.append([a, b])
    notes = []
    for a, b in merged:
        if b - a < 0.15:
            continue
        chunk = samples[round((a + 0.02) * rate) : round((a + 0.14) * rate)]
        notes.append((a, b, max(range(55, 80), key=lambda m: strength(chunk, rate, 440 * 2 ** ((m - 69) / 12)))))
    return frames / rate, notes


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    _, notes = heard(INPUTS / "audio/52-jingle_take.wav")
    pauses = [b[0] - a[1] for a, b in pairwise(notes)]
    split = pauses.index(max(pauses)) + 1
    jingle = notes[split:]
    holds(leaves["52/cp1-1"], len(jingle), split)
    length = jingle[-1][1] - jingle[0][0]
    holds(leaves["52/cp1-2"], f"{round(length, 1):.1f}")
    pitches = [440 * 2 ** ((number + 2 - 69) / 12) for *_, number in jingle]
    holds(leaves["52/cp1-3"], f"{pitches[0]:.1f}", f"{pitches[-1]:.1f}")
    holds(leaves["52/cp2-1"], *(name_of(number) for *_, number in jingle))
    holds(leaves["52/cp2-2"], *(name_of(number + 2) for *_, number in jingle))
    assert [b[0] - a[0] for a, b in pairwise(jingle)] == pytest.approx([0.5] * 5, abs=0.02)


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    length, notes = heard(outputs / "52/files/Jingle_Final.wav")
    assert 3.4 <= length <= 3.8
    assert [name_of(number) for *_, number in notes] == ["D4", "E4", "F#4", "A4", "F#4", "D5"]
