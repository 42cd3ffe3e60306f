"""What is said in a recording: by the real recogniser where it is installed, and how its answers are used."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.formats import speech
from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.read import read_file
from pytest_gta.formats.speech import Spoken, Transcript
from tests.media_factory import needs_media, spoken, tone, write_video, write_wave

needs_speech = pytest.mark.skipif(
    not speech.can_hear() or importlib.util.find_spec("hibari") is None, reason="needs the stt and tts extras"
)
SENTENCES = "Our revenue grew by twelve percent this quarter. The next meeting is on Monday."


@needs_speech
def test_speech_is_written_down_in_the_extract(tmp_path: Path) -> None:
    extract = read_file(write_wave(tmp_path / "talk.wav", spoken(SENTENCES), 24_000))
    assert extract.text.startswith("[speech, English, written down by a recogniser, which can mishear:]\n[0.0 s] ")
    assert "revenue grew by 12% this quarter" in extract.text
    assert "meeting is on Monday" in extract.text
    assert extract.faults == ("the sound itself is not played, only what was measured of it and said in it is given",)


@needs_speech
def test_speech_of_a_video_is_written_down_too(tmp_path: Path) -> None:
    path = write_video(tmp_path / "talk.mp4", 6, 5, sound=spoken(SENTENCES)[None], rate=24_000)
    extract = read_file(path)
    assert "revenue grew" in extract.text
    assert len(extract.pictures) == 8
    assert extract.faults == ("the video is given as facts and single frames, of its sound what is said",)


@needs_speech
def test_a_tone_holds_no_speech(tmp_path: Path) -> None:
    extract = read_file(write_wave(tmp_path / "tone.wav", tone(440, 2)))
    assert (extract.text, extract.notes) == ("", ("no speech was heard in it",))


@needs_speech
def test_weights_that_are_not_the_known_ones_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(speech._WEIGHTS, "config.json", "0" * 64)
    extract = read_file(write_wave(tmp_path / "talk.wav", spoken("Hello there."), 24_000))
    assert any("config.json of the speech model is not the file that is expected" in fault for fault in extract.faults)


@needs_speech
def test_time_that_is_over_is_said(tmp_path: Path) -> None:
    answers = iter([False, True, True])
    sound = write_wave(tmp_path / "talk.wav", spoken(SENTENCES), 24_000)
    from pytest_gta.tools.media_input import MediaInput

    with MediaInput(sound) as media:
        blocks = (block[0] for block in media.blocks(rate=speech.SPEECH_HZ, mono=True))
        transcript = speech.transcribe(blocks, lambda: next(answers))
    assert not transcript.whole
    assert len(transcript.parts) == 1


@needs_media
def test_long_sounds_are_cut_where_it_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    monkeypatch.setattr(speech, "_PART_S", 4)
    monkeypatch.setattr(speech, "_CUT_S", 2)
    sound = tone(200, 10, speech.SPEECH_HZ)[0]
    sound[int(2.5 * speech.SPEECH_HZ) : int(3.5 * speech.SPEECH_HZ)] = 0
    parts = list(speech._parts(iter(np.split(sound, 20))))
    assert np.array_equal(np.concatenate(parts), sound)
    assert 2.5 < len(parts[0]) / speech.SPEECH_HZ < 3.5
    assert all(len(part) <= 4.6 * speech.SPEECH_HZ for part in parts)


@needs_media
def test_how_far_a_recording_was_heard_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def hear(blocks: Iterator[Any], expired: Any) -> Transcript:
        return Transcript((Spoken(0.0, 1.5, "Hello."),), "German", 90.0, whole=False)

    monkeypatch.setattr(speech, "can_hear", lambda: True)
    monkeypatch.setattr(speech, "transcribe", hear)
    path = write_wave(tmp_path / "a.wav", tone(440, 1))
    extract = read_file(path)
    assert extract.text.splitlines()[1] == "[0.0 s] Hello."
    assert "speech after 90 s was not written down, for lack of time" in extract.faults
    assert read_file(path, ReadLimits(details=False)).text == ""
