"""SoundCharacteristicExtraction against sounds whose characteristics are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.tools.sound_character import SOUND_CHARACTERISTIC_EXTRACTION, describe_sound
from pytest_gta.tools.tool import ToolFault
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import choose_confinement
from pytest_gta.workspace.workspace import Workspace
from tests.media_factory import needs_media, tone, write_video, write_wave

pytestmark = needs_media

RATE = 22_050


def measured(path: Path, sound: Any, rate: int = RATE) -> tuple[str, dict[str, Any]]:
    text = describe_sound(str(write_wave(path, sound, rate)))
    words, _, facts = text.partition("\n\n")
    return words, json.loads(facts)


def test_a_tone_is_measured(tmp_path: Path) -> None:
    import numpy as np

    sound = np.concatenate([tone(440, 3, peak=0.3, channels=2), np.zeros((2, RATE), np.float32)], axis=1)
    words, facts = measured(tmp_path / "tone.wav", sound)
    assert (facts["seconds"], facts["channels"], facts["sample_rate_hz"], facts["coding"]) == (
        4.0,
        2,
        RATE,
        "pcm_s16le",
    )
    assert facts["peak_dbfs"] == pytest.approx(-10.5, abs=0.1)
    assert facts["level_dbfs"] == pytest.approx(-14.7, abs=0.1)
    assert facts["rms"] == pytest.approx(0.1837, abs=0.001)
    assert facts["silence_percent"] == pytest.approx(25, abs=2)
    assert facts["pitch"]["median_hz"] == pytest.approx(440, abs=0.5)
    assert facts["pitch"]["note"] == "A4"
    assert facts["tempo"]["bpm"] is None
    assert "Pitch: 440.0 Hz in the middle (A4)" in words
    assert "stereo, 22050 Hz" in words


def test_spectrum_agrees_with_the_customary_formulas(tmp_path: Path) -> None:
    """Of ten seconds of 440 Hz other programs say 444.8, 166.5 and 452.8 Hz, and 0.0398 crossings."""
    _, facts = measured(tmp_path / "tone.wav", tone(440, 10, peak=0.3))
    assert facts["spectral_centroid_hz"]["mean"] == pytest.approx(444.8, abs=3)
    assert facts["spectral_bandwidth_hz"]["mean"] == pytest.approx(166.5, abs=8)
    assert facts["spectral_rolloff_hz"]["mean"] == pytest.approx(452.8, abs=3)
    assert facts["zero_crossing_rate"]["mean"] == pytest.approx(0.0398, abs=0.0005)
    assert len(facts["mfcc"]["mean"]) == len(facts["mfcc"]["var"]) == 13


@pytest.mark.parametrize("bpm", [75, 90, 128, 150])
def test_the_tempo_of_a_drum(tmp_path: Path, bpm: int) -> None:
    import numpy as np

    sound = np.zeros(12 * RATE)
    hit = np.exp(-np.arange(3000) / 400) * np.random.default_rng(0).normal(0, 0.3, 3000)
    for beat in np.arange(0, 11.8, 60 / bpm):
        at = int(beat * RATE)
        sound[at : at + 3000] += hit
    words, facts = measured(tmp_path / "drum.wav", sound)
    assert facts["tempo"]["bpm"] == pytest.approx(bpm, abs=1)
    assert "the beat is clear" in words


def test_the_pitch_of_a_gliding_voice(tmp_path: Path) -> None:
    import numpy as np

    times = np.arange(6 * RATE) / RATE
    phase = 2 * np.pi * np.cumsum(120 + 20 * np.sin(np.pi * times)) / RATE
    _, facts = measured(tmp_path / "voice.wav", 0.1 * sum(np.sin(n * phase) / n for n in range(1, 15)))
    pitch = facts["pitch"]
    assert pitch["median_hz"] == pytest.approx(120, abs=2)
    assert (pitch["low_hz"], pitch["high_hz"]) == (pytest.approx(101, abs=3), pytest.approx(139, abs=3))


def test_noise_has_no_pitch_and_no_beat(tmp_path: Path) -> None:
    import numpy as np

    words, facts = measured(tmp_path / "noise.wav", np.random.default_rng(0).normal(0, 0.1, 5 * RATE))
    assert (facts["pitch"]["median_hz"], facts["tempo"]["bpm"]) == (None, None)
    assert "Timbre: bright" in words
    assert facts["zero_crossing_rate"]["mean"] == pytest.approx(0.5, abs=0.02)
    assert facts["spectral_centroid_hz"]["mean"] == pytest.approx(RATE / 4, rel=0.02)


def test_silence_is_said(tmp_path: Path) -> None:
    import numpy as np

    words, facts = measured(tmp_path / "silence.wav", np.zeros(RATE))
    assert "It is silent from start to end" in words
    assert facts["silence_percent"] == 100
    assert facts["spectral_centroid_hz"]["mean"] is None


def test_a_sound_shorter_than_a_frame(tmp_path: Path) -> None:
    _, facts = measured(tmp_path / "short.wav", tone(440, 0.01))
    assert facts["seconds"] == 0.01


def test_what_is_no_sound_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty.wav").write_bytes(b"")
    with pytest.raises(ToolFault, match=r"is empty \(0 bytes\)"):
        describe_sound(str(tmp_path / "empty.wav"))
    with pytest.raises(ToolFault, match="is a video without sound"):
        describe_sound(str(write_video(tmp_path / "mute.mp4", 0.5)))


def test_it_is_offered_and_takes_the_sound_of_a_video(tmp_path: Path) -> None:
    write_video(tmp_path / "talk.mp4", 3, sound=tone(660, 3, 44_100))
    only = [SOUND_CHARACTERISTIC_EXTRACTION.name]
    with Toolbox(Workspace.open(tmp_path, []), choose_confinement(), only=only) as box:
        result = box.call("SoundCharacteristicExtraction", {"audio": "talk.mp4"})
    assert not result.is_error
    assert "talk.mp4: 3" in result.text
    assert "Pitch: 660.0 Hz in the middle (E5)" in result.text
