"""Sound files: how long, how many channels, how loud, how much of it silent, and what is said where that is known."""

from __future__ import annotations

import array
import math
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_gta.formats import sound_pitch, sound_tempo
from pytest_gta.formats.media import add_media_facts, iso_duration
from pytest_gta.formats.reading import Reading, Source, Unreadable
from pytest_gta.formats.speech import add_transcript

_UNHEARD = "the sound itself is not shown or transcribed, only what was measured of it"
_HEARD = "the sound itself is not played, only what was measured of it and said in it is given"
_BLOCK_S = 0.05
_SILENCE_DBFS = -50.0
_MOST_BLOCKS = 4_000
_MOST_WINDOWS = 300
_BLOCK_BYTES = 2_000_000
_FLOAT, _EXTENSIBLE, _PCM = 3, 65_534, 1


@dataclass(frozen=True, slots=True)
class _Wave:
    """Where the samples of a WAV file lie and how they are stored."""

    coding: int
    channels: int
    rate: int
    bits: int
    start: int
    size: int

    @property
    def frame_bytes(self) -> int:
        return self.channels * self.bits // 8


def read(source: Source, reading: Reading) -> None:
    """Measure a sound file.

    Raises:
        Unreadable: When nothing can be measured of it.
    """
    reading.fault(_UNHEARD)
    _measure(source, reading)
    if add_transcript(source, reading):
        reading.faults[reading.faults.index(_UNHEARD)] = _HEARD


def _measure(source: Source, reading: Reading) -> None:
    head = source.data(64)
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        _read_wave(source, reading)
    elif add_media_facts(source, reading):
        return
    elif head[:4] == b"fLaC":
        _read_flac(head, reading)
    elif head[:4] == b"OggS":
        _read_ogg(source, reading)
    elif head[4:8] == b"ftyp":
        seconds = iso_duration(source)
        if seconds is None:
            raise Unreadable("its length is not stored where it should be; the file may be incomplete")
        reading.facts["seconds"] = round(seconds, 3)
    else:
        _read_mpeg(source, reading)


def _read_wave(source: Source, reading: Reading) -> None:
    wave = _wave(source)
    frames = wave.size // wave.frame_bytes
    reading.facts["seconds"] = round(frames / wave.rate, 3)
    reading.facts["channels"] = wave.channels
    reading.facts["sample rate Hz"] = wave.rate
    reading.facts["bits"] = wave.bits
    if source.size < wave.start + wave.size:
        reading.fault("the file ends before its samples do; it is incomplete")
    if not frames:
        reading.note("it holds no samples")
        return
    peak, levels = _levels(source, wave, frames)
    heard = [level for level in levels if level > 0]
    reading.facts["peak dBFS"] = _decibels(peak)
    reading.facts["level dBFS"] = _decibels(math.sqrt(sum(level * level for level in levels) / len(levels)))
    silent = sum(_decibels(level) < _SILENCE_DBFS for level in levels) / len(levels)
    reading.facts["silent share %"] = round(100 * silent, 1)
    if heard and (pitch := _pitch(source, wave, frames)):
        reading.facts["strongest frequency Hz"] = pitch
    if heard and (tempo := _tempo(source, wave, frames, reading)):
        reading.facts[sound_tempo.FACT] = sound_tempo.in_words(tempo)
    if not heard:
        reading.note("it is silent from start to end")
    elif peak >= 0.999:
        reading.note("its peaks reach full scale; it may be clipped")


def _wave(source: Source) -> _Wave:
    """Find the format and the samples; the standard library knows only one coding of the several in use."""
    stream = source.stream
    stream.seek(12)
    coding = channels = rate = bits = 0
    while True:
        header = stream.read(8)
        if len(header) < 8:
            raise Unreadable("it holds no samples; the file is incomplete")
        name, size = header[:4], struct.unpack("<I", header[4:])[0]
        if name == b"fmt ":
            data = stream.read(size + size % 2)
            if len(data) < 16:
                raise Unreadable("its format is not stored where it should be")
            coding, channels, rate, _, _, bits = struct.unpack("<HHIIHH", data[:16])
            if coding == _EXTENSIBLE and len(data) >= 26:
                coding = struct.unpack("<H", data[24:26])[0]
        elif name == b"data":
            start = stream.tell()
            # Writers that stream leave the size open; what is there counts.
            size = min(size, max(source.size - start, 0)) if size >= 0x7FFFFFFF else size
            break
        else:
            stream.seek(size + size % 2, 1)
    if not channels or not rate or bits not in (8, 16, 24, 32, 64) or coding not in (_PCM, _FLOAT):
        raise Unreadable(f"its samples are coded in a way that is not read (code {coding}, {bits} bits)")
    return _Wave(coding, channels, rate, bits, start, size)


def _levels(source: Source, wave: _Wave, frames: int) -> tuple[float, list[float]]:
    """Return the peak and the level of blocks spread over the sound, both as shares of full scale."""
    block = max(1, int(wave.rate * _BLOCK_S))
    count = max(1, frames // block)
    step = max(1, count // _MOST_BLOCKS)
    peak = 0.0
    levels = []
    for index in range(0, count, step):
        source.stream.seek(wave.start + index * block * wave.frame_bytes)
        values = list(_samples(source.stream.read(block * wave.frame_bytes), wave))
        if not values:
            break
        peak = max(peak, max(values), -min(values))
        # Every few samples tell the level of a block as well as all of them.
        part = values[:: max(1, len(values) // 500)]
        levels.append(math.sqrt(sum(value * value for value in part) / len(part)))
    return peak, levels or [0.0]


def _pitch(source: Source, wave: _Wave, frames: int) -> str:
    """Return the strongest frequency of each stretch of the first channel, "" where that cannot be told."""
    if not sound_pitch.can_measure():
        return ""
    length = int(wave.rate * sound_pitch.WINDOW_S)

    def windows() -> Iterator[tuple[float, list[float]]]:
        for start in sound_pitch.starts(frames / wave.rate, _MOST_WINDOWS):
            source.stream.seek(wave.start + int(start * wave.rate) * wave.frame_bytes)
            data = source.stream.read(min(length, frames - int(start * wave.rate)) * wave.frame_bytes)
            yield start, list(_samples(data, wave))[:: wave.channels]

    return sound_pitch.in_words(sound_pitch.strongest(windows(), wave.rate))


def _tempo(source: Source, wave: _Wave, frames: int, reading: Reading) -> float | None:
    """Estimate the tempo of the sound's beginning, all channels together; None where there is no clear beat."""
    if not sound_tempo.can_measure():
        return None
    onsets = sound_tempo.Onsets(wave.rate)
    source.stream.seek(wave.start)
    # A header may claim any rate and any number of channels.
    block = max(1, min(wave.rate, _BLOCK_BYTES // wave.frame_bytes))
    for left in range(frames, 0, -block):
        data = source.stream.read(min(block, left) * wave.frame_bytes)
        if not data or onsets.full or reading.expired:
            break
        onsets.add(_mixed(data, wave))
    return onsets.tempo()


def _mixed(data: bytes, wave: _Wave) -> Any:
    """Return the mean of the channels as an array of numpy."""
    import numpy as np

    data = data[: len(data) // wave.frame_bytes * wave.frame_bytes]
    width = wave.bits // 8
    values: Any
    if wave.coding == _FLOAT:
        values = np.nan_to_num(np.frombuffer(data, "<f4" if width == 4 else "<f8"), posinf=0.0, neginf=0.0)
    elif width == 1:
        values = np.frombuffer(data, np.uint8) / 128.0 - 1.0
    elif width == 3:
        whole = np.zeros((len(data) // 3, 4), np.uint8)
        whole[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        values = whole.reshape(-1).view("<i4") / 2.0**31
    else:
        values = np.frombuffer(data, f"<i{width}") / 2.0 ** (wave.bits - 1)
    return values.reshape(-1, wave.channels).mean(axis=1)


def _samples(data: bytes, wave: _Wave) -> Iterator[float]:
    width = wave.bits // 8
    data = data[: len(data) // width * width]
    if wave.coding == _FLOAT:
        floats = array.array("f" if width == 4 else "d", data)
        if sys.byteorder == "big":
            floats.byteswap()
        yield from (value if math.isfinite(value) else 0.0 for value in floats)
    elif width == 1:
        yield from ((byte - 128) / 128 for byte in data)
    elif width == 3:
        yield from (int.from_bytes(data[i : i + 3], "little", signed=True) / 8_388_608 for i in range(0, len(data), 3))
    else:
        whole = array.array({2: "h", 4: "i", 8: "q"}[width], data)
        if sys.byteorder == "big":
            whole.byteswap()
        top = float(2 ** (wave.bits - 1))
        yield from (value / top for value in whole)


def _decibels(share: float) -> float:
    return round(20 * math.log10(share), 1) if share > 0 else -120.0


def _read_flac(head: bytes, reading: Reading) -> None:
    if len(head) < 26:
        raise Unreadable("the file is incomplete")
    packed = int.from_bytes(head[18:26], "big")
    rate, channels, samples = packed >> 44, (packed >> 41 & 7) + 1, packed & 0xFFFFFFFFF
    if not rate:
        raise Unreadable("its format is not stored where it should be")
    reading.facts["seconds"] = round(samples / rate, 3)
    reading.facts["channels"] = channels
    reading.facts["sample rate Hz"] = rate


def _read_ogg(source: Source, reading: Reading) -> None:
    head = source.data(512)
    at = head.find(b"\x01vorbis")
    if at >= 0 and len(head) >= at + 16:
        channels, rate = head[at + 11], int.from_bytes(head[at + 12 : at + 16], "little")
    elif (at := head.find(b"OpusHead")) >= 0:
        channels, rate = head[at + 9], 48_000
    else:
        raise Unreadable("it is neither Vorbis nor Opus")
    source.stream.seek(max(0, source.size - 65_536))
    tail = source.stream.read()
    last = tail.rfind(b"OggS")
    if last < 0 or not rate:
        raise Unreadable("the file is incomplete")
    reading.facts["seconds"] = round(int.from_bytes(tail[last + 6 : last + 14], "little") / rate, 3)
    reading.facts["channels"] = channels
    reading.facts["sample rate Hz"] = rate


_MPEG_RATES = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}
_MPEG_KBITS = {
    3: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}


def _read_mpeg(source: Source, reading: Reading) -> None:
    """Read the first frame of an MP3; its length follows from size and bit rate, or from its own count of frames."""
    data = source.data(262_144)
    start = 0
    if data[:3] == b"ID3" and len(data) > 10:
        start = 10 + sum((byte & 0x7F) << shift for byte, shift in zip(data[6:10], (21, 14, 7, 0), strict=True))
    for at in range(start, min(len(data) - 4, start + 65_536)):
        if data[at] != 0xFF or data[at + 1] & 0xE6 != 0xE2:
            continue
        version, rate_index, bits_index = data[at + 1] >> 3 & 3, data[at + 2] >> 2 & 3, data[at + 2] >> 4
        if version == 1 or rate_index == 3 or bits_index in (0, 15):
            continue
        rate = _MPEG_RATES[version][rate_index]
        kbits = _MPEG_KBITS[3 if version == 3 else 2][bits_index]
        reading.facts["channels"] = 1 if data[at + 3] >> 6 == 3 else 2
        reading.facts["sample rate Hz"] = rate
        mark = data[at : at + 200].find(b"Xing")
        mark = mark if mark >= 0 else data[at : at + 200].find(b"Info")
        if mark >= 0 and data[at + mark + 7] & 1:
            frames = int.from_bytes(data[at + mark + 8 : at + mark + 12], "big")
            reading.facts["seconds"] = round(frames * (1152 if version == 3 else 576) / rate, 2)
        else:
            reading.facts["seconds"] = round((source.size - at) * 8 / (kbits * 1000), 1)
        return
    raise Unreadable("no MP3 or AAC frame was found that could be measured")
