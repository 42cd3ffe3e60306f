"""What sound and video files share: their facts by PyAV where it is installed, else those that MP4 stores plainly."""

from __future__ import annotations

import importlib.util
import math
import struct
from collections.abc import Iterator
from typing import Any

from pytest_gta.formats import sound_tempo
from pytest_gta.formats.reading import Reading, Source
from pytest_gta.formats.wording import one_line

_MOST_BOXES = 10_000
_LEVEL_RATE = 8_000
_CONTAINERS = (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"udta")


def has_av() -> bool:
    """Whether PyAV, which decodes sound and video, is installed."""
    return importlib.util.find_spec("av") is not None


def open_media(source: Source) -> Any:
    """Open a sound or video file with PyAV.

    Raises:
        OSError: When it is damaged; PyAV's errors are of that kind or `ValueError`.
    """
    av = importlib.import_module("av")
    source.stream.seek(0)
    return av.open(source.stream, mode="r", metadata_errors="replace")


def add_media_facts(source: Source, reading: Reading) -> bool:
    """Add what PyAV measures of a file; False when it is not installed or cannot open the file."""
    if not has_av():
        return False
    try:
        with open_media(source) as container:
            if container.duration:
                reading.facts["seconds"] = round(container.duration / 1_000_000, 3)
            for stream in container.streams.video[:1]:
                context = stream.codec_context
                if context is None:
                    continue
                reading.facts["pixels"] = f"{context.width} x {context.height}"
                if stream.average_rate:
                    reading.facts["frames per second"] = round(float(stream.average_rate), 3)
                reading.facts["video coding"] = str(context.name)
            for stream in container.streams.audio[:1]:
                context = stream.codec_context
                if context is None:
                    continue
                reading.facts["channels"] = int(context.channels)
                reading.facts["sample rate Hz"] = int(context.sample_rate)
                reading.facts["sound coding"] = str(context.name)
            if container.streams.video and not container.streams.audio:
                reading.note("it has no sound")
            if container.streams.subtitles:
                reading.facts["subtitle tracks"] = len(container.streams.subtitles)
            title = container.metadata.get("title", "")
            if title:
                reading.add(f"[title: {one_line(title, 300)}]")
        _add_level(source, reading)
    except (OSError, ValueError, EOFError) as error:
        reading.fault(f"it is damaged or incomplete ({one_line(str(error), 120)})")
        return bool(reading.facts)
    return True


def _add_level(source: Source, reading: Reading) -> None:
    """Measure loudness of the first sound track, up to the time limit."""
    with open_media(source) as container:
        if not container.streams.audio:
            return
        av = importlib.import_module("av")
        resampler = av.AudioResampler(format="s16", layout="mono", rate=_LEVEL_RATE)
        peak, blocks = 0, []
        onsets = sound_tempo.Onsets(_LEVEL_RATE) if sound_tempo.can_measure() else None
        for frame in container.decode(audio=0):
            for converted in resampler.resample(frame):
                samples = memoryview(bytes(converted.planes[0])[: converted.samples * 2]).cast("h")
                if len(samples):
                    peak = max(peak, max(samples), -min(samples))
                    part = samples[::4]
                    blocks.append(math.sqrt(sum(value * value for value in part) / len(part)))
                    if onsets is not None and not onsets.full:
                        onsets.add(_full_scale(samples))
            if reading.expired:
                reading.fault("the level of the sound was measured for its beginning only")
                break
    if blocks:
        level = math.sqrt(sum(block * block for block in blocks) / len(blocks))
        silent = sum(block < 32768 * 10 ** (-50 / 20) for block in blocks) / len(blocks)
        reading.facts["peak dBFS"] = _decibels(peak)
        reading.facts["level dBFS"] = _decibels(level)
        reading.facts["silent share %"] = round(100 * silent, 1)
        if not peak:
            reading.note("its sound is silent from start to end")
        if onsets is not None and (tempo := onsets.tempo()):
            reading.facts[sound_tempo.FACT] = sound_tempo.in_words(tempo)


def _full_scale(samples: memoryview) -> Any:
    import numpy as np

    return np.frombuffer(samples, np.int16) / 32768.0


def _decibels(value: float) -> float:
    return round(20 * math.log10(value / 32768), 1) if value > 0 else -120.0


def iso_duration(source: Source) -> float | None:
    """Return the length in seconds that an MP4-like file stores; None when it stores none, as one in fragments does."""
    for name, data in _boxes(source):
        if name == b"mvhd" and len(data) >= 32:
            if data[0] == 1:
                scale, length = struct.unpack(">IQ", data[20:32])
            else:
                scale, length = struct.unpack(">II", data[12:20])
            return float(length / scale) if scale and length else None
    return None


def iso_tracks(source: Source) -> list[tuple[str, int, int]]:
    """Return the tracks of an MP4-like file as kind (``video``, ``sound``, ...), width and height in pixels."""
    kinds: list[tuple[str, int, int]] = []
    size = (0, 0)
    for name, data in _boxes(source):
        if name == b"tkhd" and len(data) >= 84:
            width, height = struct.unpack(">II", data[-8:])
            size = (width >> 16, height >> 16)
        elif name == b"hdlr" and len(data) >= 12 and data[8:12] in (b"vide", b"soun", b"sbtl", b"text"):
            kind = {b"vide": "video", b"soun": "sound"}.get(data[8:12], "subtitles")
            kinds.append((kind, *size))
    return kinds


def _boxes(source: Source) -> Iterator[tuple[bytes, bytes]]:
    """Yield the small boxes of an MP4-like file, those inside containers too."""
    ends = [source.size]
    at = 0
    for _ in range(_MOST_BOXES):
        while ends and at >= ends[-1]:
            ends.pop()
        if not ends:
            return
        source.stream.seek(at)
        header = source.stream.read(16)
        if len(header) < 8:
            return
        size, name = struct.unpack(">I4s", header[:8])
        head = 8
        if size == 1 and len(header) == 16:
            size, head = struct.unpack(">Q", header[8:])[0], 16
        end = ends[-1] if size == 0 else at + size
        if end <= at + head - 1 and size != 0:
            return
        if name in _CONTAINERS:
            ends.append(min(end, ends[-1]))
            at += head
            continue
        if name in (b"mvhd", b"tkhd", b"hdlr"):
            source.stream.seek(at + head)
            yield name, source.stream.read(min(end - at - head, 4096))
        at = end
