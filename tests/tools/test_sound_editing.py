"""AudioClipTool, NoiseReduction and PitchShifting as a model calls them; what they make is measured."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from pytest_gta.tools import sound_editing
from pytest_gta.tools.noise_gate import NoiseGate, NoiseProfile
from pytest_gta.tools.tool import ToolFault, ToolResult
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import choose_confinement
from pytest_gta.workspace.workspace import Workspace
from tests.media_factory import level, needs_media, pitch, sound_of, tone, write_video, write_wave

pytestmark = needs_media

Call = Callable[..., ToolResult]
RATE = 22_050


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sound") / "workspace"
    (root / "resources" / "audio").mkdir(parents=True)
    import numpy as np

    # A second of each pitch, so that a clip tells where it was cut.
    steps = np.concatenate([tone(hz, 1, peak=0.4, channels=2) for hz in (300, 500, 700, 900)], axis=1)
    write_wave(root / "resources" / "audio" / "steps.wav", steps)
    write_wave(root / "plain.wav", tone(440, 2))
    (root / "empty.mp3").write_bytes(b"")
    (root / "broken.mp3").write_bytes(b"ID3\x03\x00" + bytes(400))
    (root / "notes.wav").write_text("just some words\n")
    Image.new("RGB", (32, 32)).save(root / "picture.png")
    write_video(root / "silent.mp4", 1)
    write_video(root / "talk.mp4", 3, sound=tone(660, 3, 44_100))
    return root


@pytest.fixture(scope="module")
def call(root: Path) -> Iterator[Call]:
    workspace = Workspace.open(root, ["resources/audio/steps.wav"])
    with Toolbox(workspace, choose_confinement(), only=[tool.name for tool in sound_editing.TOOLS]) as box:
        yield lambda name, **arguments: box.call(name, arguments)


@pytest.mark.parametrize("suffix", [".wav", ".mp3", ".flac", ".ogg", ".m4a"])
def test_clips_are_exact_in_every_format(call: Call, root: Path, suffix: str) -> None:
    result = call("AudioClipTool", audio="steps.wav", start_time=1.25, end_time=2.5, filename=f"cut{suffix}")
    assert (result.is_error, result.files) == (False, (f"cut{suffix}",)), result.text
    assert "1.250 s, from 1.25 to 2.5 s, stereo, 22050 Hz" in result.text
    sound, rate = sound_of(root / f"cut{suffix}")
    assert sound.shape[0] == 2
    # Coders of AAC fill their last frame.
    assert sound.shape[1] / rate == pytest.approx(1.25, abs=0.05 if suffix == ".m4a" else 0.001)
    assert pitch(sound[0, : int(0.7 * rate)], rate) == pytest.approx(500, abs=3)
    assert pitch(sound[1, int(0.8 * rate) : int(1.2 * rate)], rate) == pytest.approx(700, abs=3)


def test_a_clip_without_times_or_name(call: Call, root: Path) -> None:
    first, second = call("AudioClipTool", audio="steps.wav"), call("AudioClipTool", audio="steps.wav")
    assert (first.files, second.files) == (("steps_clip.mp3",), ("steps_clip_2.mp3",))
    assert "4.000 s, from 0 to 4 s" in first.text


def test_times_beyond_the_sound_are_drawn_in(call: Call) -> None:
    result = call("AudioClipTool", audio="steps.wav", start_time=-1, end_time=99, filename="all.wav", output_dir="out")
    assert result.files == ("out/all.wav",)
    assert "start_time -1 is before the beginning; the clip starts at 0 s." in result.text
    assert "end_time 99 s is after the end; the sound is 4.00 s long." in result.text


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        ({"start_time": 3, "end_time": 1}, "the clip would end at 1 s, not after its start at 3 s"),
        ({"start_time": 7}, "the sound is 4.00 s long; nothing of it lies after 7 s"),
        ({"start_time": -3, "end_time": -1}, "-1 is before it"),
    ],
)
def test_a_clip_of_nothing_is_refused(call: Call, root: Path, times: dict[str, float], reason: str) -> None:
    result = call("AudioClipTool", audio="steps.wav", filename="none.mp3", **times)
    assert result.is_error
    assert reason in result.text
    assert not (root / "none.mp3").exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("empty.mp3", "'empty.mp3' is empty (0 bytes)"),
        ("broken.mp3", "'broken.mp3' "),
        ("notes.wav", "'notes.wav' is neither sound nor video: by its content it is text"),
        ("picture.png", "'picture.png' is a single image (PNG image), neither sound nor video"),
        ("silent.mp4", "'silent.mp4' is a video without sound"),
    ],
)
@pytest.mark.parametrize("tool", ["AudioClipTool", "NoiseReduction", "PitchShifting"])
def test_what_is_no_sound_is_said(call: Call, tool: str, name: str, reason: str) -> None:
    result = call(tool, audio=name)
    assert result.is_error
    assert reason in result.text
    assert result.files == ()


def test_the_sound_of_a_video_is_taken(call: Call, root: Path) -> None:
    result = call("AudioClipTool", audio="talk.mp4", start_time=1, end_time=2, filename="talk")
    assert result.files == ("talk.mp3",)
    sound, rate = sound_of(root / "talk.mp3")
    assert sound.shape[1] / rate == pytest.approx(1, abs=0.001)
    assert pitch(sound[0], rate) == pytest.approx(660, abs=2)


def test_the_file_that_is_read_is_not_written_over(call: Call, root: Path) -> None:
    before = (root / "plain.wav").read_bytes()
    result = call("AudioClipTool", audio="plain.wav", filename="plain.wav")
    assert result.is_error
    assert "is the file to read" in result.text
    assert call("AudioClipTool", audio="steps.wav", filename="resources/audio/steps.wav").is_error
    assert (root / "plain.wav").read_bytes() == before


def test_what_a_damaged_file_still_holds_is_kept(call: Call, root: Path) -> None:
    call("AudioClipTool", audio="steps.wav", filename="whole.mp3")
    data = bytearray((root / "whole.mp3").read_bytes())
    data[len(data) // 2 : len(data) // 2 + 3000] = b"\xff\xfb\x00" * 1000
    (root / "scratched.mp3").write_bytes(data)
    result = call("AudioClipTool", audio="scratched.mp3", filename="saved.wav", start_time=0, end_time=1)
    assert not result.is_error
    sound, rate = sound_of(root / "saved.wav")
    assert pitch(sound[0][:rate], rate) == pytest.approx(300, abs=3)


# -- noise -------------------------------------------------------------------------------------------------------------


def _voice(seconds: float = 5.0) -> Any:
    """Bursts of a gliding voice-like sound with pauses."""
    import numpy as np

    times = np.arange(round(seconds * RATE)) / RATE
    phase = 2 * np.pi * np.cumsum(120 + 20 * np.sin(np.pi * times)) / RATE
    voice = sum(np.sin(number * phase) / number for number in range(1, 15))
    gate = np.convolve((np.sin(2 * np.pi * 0.9 * times) > 0.1).astype(float), np.ones(400) / 400, "same")
    return 0.12 * gate * voice


def _snr(sound: Any, clean: Any) -> float:
    import numpy as np

    return 10 * math.log10(float(np.sum(clean**2) / np.sum((sound - clean) ** 2)))


def test_noise_goes_down_without_delay(call: Call, root: Path) -> None:
    import numpy as np

    clean = _voice()
    noisy = clean + np.random.default_rng(1).normal(0, 0.02, len(clean))
    write_wave(root / "noisy.wav", np.stack([noisy, noisy]))
    result = call("NoiseReduction", audio="noisy.wav")
    assert (result.is_error, result.files) == (False, ("noisy_denoised.wav",)), result.text
    assert "Noise floor -34" in result.text
    sound, rate = sound_of(root / "noisy_denoised.wav")
    assert (sound.shape, rate) == ((2, len(clean)), RATE)
    assert _snr(sound[0], clean) > _snr(noisy, clean) + 10
    lags = np.correlate(sound[0][20_000:60_000], clean[20_100:59_900], "valid")
    assert int(lags.argmax()) == 100


def test_a_steady_tone_is_not_taken_for_noise(call: Call, root: Path) -> None:
    import numpy as np

    clean = tone(440, 4, peak=0.1)[0]
    noisy = clean + np.random.default_rng(2).normal(0, 0.025, len(clean))
    write_wave(root / "hum.wav", noisy)
    assert not call("NoiseReduction", audio="hum.wav").is_error
    sound, _ = sound_of(root / "hum_denoised.wav")
    assert _snr(sound[0], clean) > _snr(noisy, clean) + 12


def test_a_clean_or_silent_sound_comes_back_as_it_was() -> None:
    import numpy as np

    for clean in (_voice(2.0)[None].astype(np.float32), np.zeros((1, RATE), np.float32)):
        profile = NoiseProfile(RATE, 1)
        profile.listen(clean)
        gate = NoiseGate(profile, iter([clean[:, :5000], clean[:, 5000:]]))
        out = np.concatenate(list(gate.blocks()), axis=1)
        assert out.shape == clean.shape
        assert float(np.abs(out - clean).max()) < 0.02
        assert gate.findings() == ["There was hardly any steady noise to take away."]


# -- pitch -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("semitones", "hz"), [(4, 554.37), (-12, 220.0), (0.5, 452.89)])
def test_the_pitch_is_really_shifted(call: Call, root: Path, semitones: float, hz: float) -> None:
    result = call("PitchShifting", audio="plain.wav", semitones=semitones)
    assert not result.is_error, result.text
    assert f"{semitones:+g} semitones, 2.000 s" in result.text
    assert f"440 Hz becomes {hz:.1f} Hz" in result.text
    sound, rate = sound_of(root / result.files[0])
    assert (sound.shape, rate) == ((1, 2 * RATE), RATE)
    assert pitch(sound[0][2000:-2000], rate) == pytest.approx(hz, rel=0.003)
    assert level(sound[0][2000:-2000]) == pytest.approx(level(tone(440, 1)[0]), abs=0.6)


def test_without_semitones_it_says_that_nothing_is_shifted(call: Call, root: Path) -> None:
    result = call("PitchShifting", audio="plain.wav")
    assert "The pitch is as before: semitones is 0 or was left out." in result.text
    assert call("PitchShifting", audio="plain.wav", semitones=90).is_error


def test_a_long_sound_is_shifted_in_parts_that_join(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    monkeypatch.setattr(sound_editing, "_SHIFT_BLOCK_S", 1.0)
    monkeypatch.chdir(tmp_path)
    write_wave(tmp_path / "long.wav", tone(440, 4.3, channels=2))
    sound_editing.shift_pitch("up.wav", "long.wav", 4)
    sound, rate = sound_of(tmp_path / "up.wav")
    assert sound.shape == (2, round(4.3 * RATE))
    steps = sound[0][: sound.shape[1] // 441 * 441].reshape(-1, 441)
    levels = np.sqrt((steps**2).mean(axis=1))[2:-2]
    assert float(levels.min()) > 0.2
    assert pitch(sound[0], rate) == pytest.approx(554.37, rel=0.003)


def test_a_missing_library_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    write_wave(tmp_path / "a.wav", tone(440, 0.1))
    with pytest.raises(ToolFault, match=r"AudioClipTool needs av and numpy.*pip install 'pytest-gta\[media\]'"):
        sound_editing.clip_audio("b.mp3", str(tmp_path / "a.wav"))
    shutil.rmtree(tmp_path, ignore_errors=True)
