from __future__ import annotations

import array
import importlib.util
import math
import struct
import wave
from pathlib import Path

import pytest

from pytest_gta.formats import media, speech, video
from pytest_gta.formats.read import read_file

SPOKEN = "the sound itself is not shown or transcribed, only what was measured of it"


@pytest.fixture(autouse=True)
def _without_recogniser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "can_hear", lambda: False)


@pytest.fixture
def without_av(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "has_av", lambda: False)
    monkeypatch.setattr(video, "has_av", lambda: False)


def tone(path: Path, seconds: float = 2.0, silent: float = 0.0, peak: float = 0.5) -> Path:
    rate = 8_000
    samples = [int(32_767 * peak * math.sin(n * 0.3)) for n in range(int(rate * seconds))]
    samples += [0] * int(rate * silent)
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(array.array("h", samples).tobytes())
    return path


def test_wave_is_measured(tmp_path: Path) -> None:
    extract = read_file(tone(tmp_path / "a.wav", seconds=3, silent=1))
    facts = extract.facts
    assert (extract.kind, extract.media_type, extract.faults) == ("audio", "audio/wav", (SPOKEN,))
    assert (facts["seconds"], facts["channels"], facts["sample rate Hz"], facts["bits"]) == (4.0, 1, 8_000, 16)
    assert facts["peak dBFS"] == pytest.approx(-6.0, abs=0.1)
    assert facts["level dBFS"] == pytest.approx(-10.3, abs=0.2)
    assert facts["silent share %"] == pytest.approx(25, abs=1)


def test_silence_is_said(tmp_path: Path) -> None:
    extract = read_file(tone(tmp_path / "quiet.wav", seconds=0, silent=1))
    assert extract.notes == ("it is silent from start to end",)
    assert extract.facts["silent share %"] == 100


def test_incomplete_wave(tmp_path: Path) -> None:
    path = tone(tmp_path / "cut.wav")
    path.write_bytes(path.read_bytes()[:10_000])
    assert "the file ends before its samples do; it is incomplete" in read_file(path).faults
    path.write_bytes(path.read_bytes()[:20])
    assert read_file(path).faults == (SPOKEN, "WAV audio: its format is not stored where it should be")


def test_float_and_24_bit_waves(tmp_path: Path) -> None:
    def write(name: str, code: int, bits: int, data: bytes) -> Path:
        form = struct.pack("<HHIIHH", code, 1, 8_000, 8_000 * bits // 8, bits // 8, bits)
        chunks = b"fmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", len(data)) + data
        path = tmp_path / name
        path.write_bytes(b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks)
        return path

    floats = array.array("f", [0.25, -0.25] * 4_000).tobytes()
    assert read_file(write("f.wav", 3, 32, floats)).facts["peak dBFS"] == pytest.approx(-12.0, abs=0.1)
    deep = (4_194_304).to_bytes(3, "little", signed=True) * 8_000
    assert read_file(write("d.wav", 1, 24, deep)).facts["peak dBFS"] == pytest.approx(-6.0, abs=0.1)


@pytest.mark.usefixtures("without_av")
def test_flac_and_mp3_headers_without_a_decoder(tmp_path: Path) -> None:
    packed = (44_100 << 44) | (1 << 41) | (15 << 36) | 88_200
    flac = tmp_path / "a.flac"
    flac.write_bytes(b"fLaC" + b"\x80\x00\x00\x22" + b"\0" * 10 + packed.to_bytes(8, "big") + b"\0" * 16)
    assert read_file(flac).facts == {"seconds": 2.0, "channels": 2, "sample rate Hz": 44_100}
    mp3 = tmp_path / "a.mp3"
    frame = b"\xff\xfb\x90\x00" + b"\0" * 413
    mp3.write_bytes(frame * 40)
    assert read_file(mp3).facts == {"channels": 2, "sample rate Hz": 44_100, "seconds": 1.0}


def box(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data) + 8) + name + data


@pytest.mark.usefixtures("without_av")
def test_mp4_facts_without_a_decoder(tmp_path: Path) -> None:
    header = box(b"mvhd", b"\0" * 12 + struct.pack(">II", 1_000, 12_500) + b"\0" * 80)
    track = box(b"tkhd", b"\0" * 76 + struct.pack(">II", 640 << 16, 360 << 16))
    handler = box(b"mdia", box(b"hdlr", b"\0" * 8 + b"vide" + b"\0" * 13))
    path = tmp_path / "a.mp4"
    path.write_bytes(box(b"ftyp", b"isom\0\0\0\0") + box(b"moov", header + box(b"trak", track + handler)))
    extract = read_file(path)
    assert extract.facts == {"seconds": 12.5, "pixels": "640 x 360"}
    assert extract.notes == ("it has no sound",)
    assert extract.faults == ("its frames cannot be shown without a video decoder; `pip install av` adds one",)


@pytest.mark.usefixtures("without_av")
def test_mp4_that_is_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "cut.mp4"
    path.write_bytes(box(b"ftyp", b"isom\0\0\0\0") + struct.pack(">I", 1_000_000) + b"mdat" + b"\0" * 100)
    assert "no tracks are stored where they should be; the file may be incomplete" in read_file(path).faults


@pytest.mark.skipif(importlib.util.find_spec("av") is None, reason="needs the av package")
def test_frames_are_spread_over_a_video_without_sound(tmp_path: Path) -> None:
    import av
    from PIL import Image

    path = tmp_path / "v.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
        for number in range(40):
            frame = av.VideoFrame.from_image(Image.new("RGB", (320, 240), (number * 6, 0, 0)))
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    extract = read_file(path)
    assert (extract.facts["seconds"], extract.facts["pixels"]) == (4.0, "320 x 240")
    assert [p.where for p in extract.pictures] == [f"at {at} s" for at in (0.3, 0.8, 1.3, 1.8, 2.3, 2.8, 3.3, 3.8)]
    assert extract.notes == ("it has no sound",)
    assert extract.faults == ("the video is given as facts and single frames",)
