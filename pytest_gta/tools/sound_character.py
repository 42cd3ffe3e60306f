"""SoundCharacteristicExtraction: what a sound is like, in numbers and plain words."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from pytest_gta.tools.backend import PYAV
from pytest_gta.tools.media_input import MediaInput, need_media
from pytest_gta.tools.sound_editing import AUDIO
from pytest_gta.tools.specification import ToolSpec
from pytest_gta.tools.tool import Tool, ToolFault

PRELOAD = ("numpy", "av")

SOUND_CHARACTERISTIC_EXTRACTION = Tool(
    ToolSpec(
        "SoundCharacteristicExtraction",
        "perception",
        "Measures a sound file, or the sound of a video: length, channels, rate, level and peak (dBFS), silence, tempo "
        "(BPM), pitch (Hz and note), brightness (spectral centroid, bandwidth, rolloff), zero crossings and 13 MFCCs, "
        "means and variances, in words and as JSON.",
        (AUDIO,),
    ),
    "pytest_gta.tools.sound_character:describe_sound",
    reads=("audio",),
    backends=(PYAV,),
)
TOOLS = (SOUND_CHARACTERISTIC_EXTRACTION,)
"""The tools of this module."""


def describe_sound(audio: str) -> str:
    """Return what was measured of a sound.

    Raises:
        ToolFault: The file cannot be read or holds no sound.
    """
    need_media("SoundCharacteristicExtraction")
    from pytest_gta.tools.sound_features import ANALYSIS_HZ, LONGEST_S, SoundFeatures

    with MediaInput(audio) as media:
        media.need_sound()
        rate, channels = media.rate, media.channels
        coding = str(media.sound.codec_context.name)
        levels = _Levels()
        for block in media.blocks():
            levels.listen(block)
        damaged = media.damaged
    if not levels.samples:
        raise ToolFault(f"no sound could be decoded in {audio!r}")
    seconds = levels.samples / rate
    features = SoundFeatures()
    with MediaInput(audio) as media:
        for block in media.blocks(0.0, LONGEST_S, rate=ANALYSIS_HZ, mono=True):
            features.listen(block[0])
    found = features.result()
    facts: dict[str, Any] = {
        "file": audio,
        "seconds": round(seconds, 3),
        "channels": channels,
        "sample_rate_hz": rate,
        "coding": coding,
        "level_dbfs": round(levels.level, 1),
        "peak_dbfs": round(levels.peak, 1),
        "rms": round(levels.rms, 5),
        "silence_percent": round(found.pop("silence_percent"), 1),
        **found,
    }
    notes = []
    if seconds > LONGEST_S:
        notes.append(f"Tempo, pitch and spectrum were measured over the first {LONGEST_S / 60:g} minutes.")
    if damaged:
        notes.append("The file is damaged: parts of it could not be decoded.")
    rows = [f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in facts.items()]
    return "\n".join([*_words(facts), *notes, "", "{", ",\n".join(rows), "}"])


class _Levels:
    """Peak and level over all channels."""

    def __init__(self) -> None:
        self.samples = 0
        self._sum = self._top = 0.0
        self._values = 0

    def listen(self, block: Any) -> None:
        import numpy as np

        self.samples += block.shape[1]
        self._values += block.size
        self._sum += float(np.square(block, dtype=np.float64).sum())
        self._top = max(self._top, float(np.abs(block).max(initial=0.0)))

    @property
    def rms(self) -> float:
        return float((self._sum / max(1, self._values)) ** 0.5)

    @property
    def level(self) -> float:
        return _decibels(self.rms)

    @property
    def peak(self) -> float:
        return _decibels(self._top)


def _decibels(share: float) -> float:
    return 20 * math.log10(share) if share > 1e-6 else -120.0


def _words(facts: dict[str, Any]) -> Sequence[str]:
    """Say the same for a reader."""
    channels = {1: "mono", 2: "stereo"}.get(facts["channels"], f"{facts['channels']} channels")
    lines = [
        f"{facts['file']}: {_length(facts['seconds'])}, {channels}, {facts['sample_rate_hz']} Hz, {facts['coding']}.",
        f"Level: {facts['level_dbfs']} dBFS RMS, peak {facts['peak_dbfs']} dBFS ({_loudness(facts)}); "
        f"{facts['silence_percent']} % of it is silent.",
    ]
    if facts["peak_dbfs"] <= -100:
        return [*lines, "It is silent from start to end, so there is no tempo, pitch or timbre to tell."]
    tempo, pitch = facts["tempo"], facts["pitch"]
    if tempo["bpm"] is None:
        lines.append("Tempo: no steady beat was found.")
    else:
        sure = "clear" if tempo["clarity"] >= 0.5 else "faint, so half or twice as much may be meant"
        lines.append(f"Tempo: about {tempo['bpm']} BPM (the beat is {sure}).")
    if pitch["median_hz"] is None:
        lines.append("Pitch: none that can be told (noise, or many tones at once).")
    else:
        lines.append(
            f"Pitch: {pitch['median_hz']} Hz in the middle ({pitch['note']}), mostly from {pitch['low_hz']} to "
            f"{pitch['high_hz']} Hz; {pitch['voiced_percent']} % of the sound that is heard has a clear pitch."
        )
    centroid = facts["spectral_centroid_hz"]["mean"]
    bright = "dark" if centroid < 1000 else "of medium brightness" if centroid < 2500 else "bright"
    lines.append(
        f"Timbre: {bright}; spectral centroid {centroid} Hz, bandwidth {facts['spectral_bandwidth_hz']['mean']} Hz, "
        f"85 % of the energy below {facts['spectral_rolloff_hz']['mean']} Hz, zero crossing rate "
        f"{facts['zero_crossing_rate']['mean']} (means)."
    )
    return lines


def _loudness(facts: dict[str, Any]) -> str:
    if facts["peak_dbfs"] >= -0.1:
        return "reaches full scale, perhaps clipped"
    level = facts["level_dbfs"]
    return "loud" if level > -14 else "of usual level" if level > -26 else "quiet" if level > -45 else "very quiet"


def _length(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s ({seconds:g} s)"
