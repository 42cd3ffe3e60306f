from __future__ import annotations

import array
import math
import random
import wave
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_gta.formats.read import read_file
from pytest_gta.formats.sound_pitch import Stretch, in_words

pytest.importorskip("numpy")
FACT = "strongest frequency Hz"


def sound(path: Path, value: Callable[[float], float], seconds: float, rate: int = 22_050, channels: int = 1) -> Path:
    samples = array.array("h")
    for index in range(int(seconds * rate)):
        samples.extend([int(20_000 * value(index / rate))] + [0] * (channels - 1))
    with wave.open(str(path), "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(samples.tobytes())
    return path


def tone(hertz: float) -> Callable[[float], float]:
    return lambda at: math.sin(2 * math.pi * hertz * at)


@pytest.mark.parametrize("hertz", [293.7, 440.0, 55.0, 4_186.0])
def test_a_tone_is_told_to_a_tenth_of_a_hertz(tmp_path: Path, hertz: float) -> None:
    fact = str(read_file(sound(tmp_path / "a.wav", tone(hertz), 1.5)).facts[FACT])
    assert fact.startswith("0-1.")
    assert abs(float(fact.rpartition(" ")[2]) - hertz) < 0.3


def test_tones_that_follow_each_other_are_told_apart(tmp_path: Path) -> None:
    def melody(at: float) -> float:
        return tone(293.7)(at) if at < 1 else 0.0 if at < 2 else tone(440)(at)

    assert read_file(sound(tmp_path / "a.wav", melody, 3, channels=2)).facts[FACT] == (
        "0-1 s 293.7, 1-2 s none, 2-3 s 440.0"
    )


def test_noise_and_silence_have_no_tone(tmp_path: Path) -> None:
    draw = random.Random(1)
    assert FACT not in read_file(sound(tmp_path / "noise.wav", lambda _: draw.uniform(-1, 1), 1)).facts
    assert FACT not in read_file(sound(tmp_path / "silence.wav", lambda _: 0.0, 1)).facts


def test_music_is_told_by_its_range() -> None:
    notes = [Stretch(float(i), i + 1.0, 100.0 + 10 * i) for i in range(20)]
    assert in_words(notes) == "changes 19 times; between 100.0 and 290.0, median 190.0"
    assert in_words([Stretch(0, 1, None)]) == ""
