"""Tempo: told of what has a beat, and of nothing else."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.formats.read import read_file
from pytest_gta.formats.sound_tempo import FACT, LONGEST_S, Onsets, in_words
from tests.media_factory import write_wave

np = pytest.importorskip("numpy")
RATE = 8_000


def clicks(tempo: float, seconds: float, rate: int = RATE) -> Any:
    sound = np.zeros(int(seconds * rate))
    short = np.arange(int(0.03 * rate)) / rate
    click = 0.8 * np.sin(2 * np.pi * 1_000 * short) * np.exp(-short / 0.006)
    for start in np.arange(0.1, seconds - 0.1, 60 / tempo):
        at = int(start * rate)
        sound[at : at + len(click)] += click
    return sound


def syllables(seconds: float, seed: int) -> Any:
    """Voiced bursts of uneven length with pauses, as speech has them."""
    draw = np.random.default_rng(seed)
    sound, at = draw.normal(0, 0.002, int(seconds * RATE)), 0.1
    while at < seconds - 0.4:
        length = draw.uniform(0.08, 0.3)
        time = np.arange(int(length * RATE)) / RATE
        voice = sum(np.sin(2 * np.pi * draw.uniform(90, 180) * n * time) / n for n in range(1, 12))
        sound[int(at * RATE) : int(at * RATE) + len(time)] += 0.2 * voice * np.hanning(len(time))
        at += length * draw.uniform(0.8, 1.1) + (draw.uniform(0.2, 0.6) if draw.random() < 0.12 else 0)
    return sound


def heard(sound: Any, rate: int = RATE) -> float | None:
    onsets = Onsets(rate)
    for start in range(0, len(sound), 5_000):
        onsets.add(sound[start : start + 5_000])
    return onsets.tempo()


@pytest.mark.parametrize("tempo", [60, 90, 120, 140])
@pytest.mark.parametrize(("seconds", "rate"), [(6, 8_000), (20, 44_100)])
def test_a_click_track_has_its_tempo(tmp_path: Path, tempo: int, seconds: float, rate: int) -> None:
    assert heard(clicks(tempo, seconds, rate), rate) == pytest.approx(tempo, abs=0.5)
    path = write_wave(tmp_path / "clicks.wav", clicks(tempo, seconds, rate), rate)
    assert read_file(path).facts[FACT] == f"about {tempo}, perhaps its half or double"


def test_a_beat_is_heard_through_noise_and_chords() -> None:
    draw = np.random.default_rng(5)
    time = np.arange(20 * RATE) / RATE
    chords = 0.05 * sum(np.sin(2 * np.pi * hertz * time) for hertz in (220, 277, 330))
    assert heard(clicks(96, 20) + chords + draw.normal(0, 0.01, len(time))) == pytest.approx(96, abs=0.5)


def steady(hertz: float) -> Any:
    return 0.5 * np.sin(2 * np.pi * hertz * np.arange(10 * RATE) / RATE)


@pytest.mark.parametrize(
    "sound",
    [
        np.zeros(10 * RATE),
        np.random.default_rng(1).normal(0, 0.2, 10 * RATE),
        np.random.default_rng(2).normal(0, 0.2, 40 * RATE),
        *(steady(hertz) for hertz in (82, 220, 441.7, 3_000)),
        np.sin(2 * np.pi * np.cumsum(np.linspace(200, 2_000, 10 * RATE)) / RATE),
        *(syllables(seconds, seed) for seed, seconds in enumerate((6, 10, 15, 30))),
        1e-4 * clicks(120, 10),
        clicks(120, 4.5),
        np.zeros(0),
    ],
    ids=["silence", "noise", "long noise", *["tone"] * 4, "sweep", *["speech"] * 4, "too quiet", "too short", "empty"],
)
def test_what_has_no_clear_beat_has_no_tempo(sound: Any) -> None:
    assert heard(sound) is None


def test_without_a_beat_a_file_has_no_such_fact(tmp_path: Path) -> None:
    sound = np.random.default_rng(3).normal(0, 0.2, 10 * RATE)
    assert FACT not in read_file(write_wave(tmp_path / "a.wav", sound, RATE)).facts


def test_real_speech_has_none(tmp_path: Path) -> None:
    pytest.importorskip("hibari")
    from tests.media_factory import spoken

    words = "The committee met and decided to postpone the report until the following week, as its numbers were wrong."
    assert heard(np.asarray(spoken(words)), 24_000) is None


@pytest.mark.parametrize(
    ("coding", "bits", "scale"), [(1, 8, 127), (1, 16, 2**15 - 1), (1, 24, 2**23 - 1), (1, 32, 2**31 - 1), (3, 32, 1)]
)
def test_every_coding_of_samples_and_any_channel(tmp_path: Path, coding: int, bits: int, scale: int) -> None:
    one = clicks(90, 7)
    both = np.stack([np.zeros(len(one)), one], axis=1).reshape(-1)
    if coding == 3:
        data = both.astype("<f4").tobytes()
    elif bits == 8:
        data = (both * scale + 128).astype(np.uint8).tobytes()
    else:
        whole = (both * scale).astype("<i4")
        data = whole.view(np.uint8).reshape(-1, 4)[:, : bits // 8].tobytes()
    head = struct.pack("<HHIIHH", coding, 2, RATE, RATE * bits // 4, bits // 4, bits)
    body = b"fmt " + struct.pack("<I", 16) + head + b"data" + struct.pack("<I", len(data)) + data
    path = tmp_path / "clicks.wav"
    path.write_bytes(b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body)
    assert read_file(path).facts[FACT] == "about 90, perhaps its half or double"


def test_a_header_that_lies_takes_no_memory(tmp_path: Path) -> None:
    head = struct.pack("<HHIIHH", 1, 65_535, 4_000_000_000, 0, 0, 64)
    data = bytes(3_000_000)
    body = b"fmt " + struct.pack("<I", 16) + head + b"data" + struct.pack("<I", len(data)) + data
    path = tmp_path / "a.wav"
    path.write_bytes(b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body)
    assert FACT not in read_file(path).facts


def test_only_the_beginning_of_a_long_sound_is_looked_at() -> None:
    onsets = Onsets(RATE)
    added = 0.0
    while not onsets.full:
        onsets.add(clicks(120, 10))
        added += 10
    assert added == onsets.seconds == LONGEST_S


def test_compressed_sound_is_measured_alike(tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    path = tmp_path / "clicks.flac"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("flac", rate=44_100, layout="mono")
        frame = av.AudioFrame.from_ndarray(
            (clicks(140, 8, 44_100) * 32_000).astype(np.int16)[None, :], format="s16", layout="mono"
        )
        frame.sample_rate = 44_100
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)
    assert read_file(path).facts[FACT] == "about 140, perhaps its half or double"


def test_the_words_claim_no_more_than_is_known() -> None:
    assert in_words(119.97) == "about 120, perhaps its half or double"
