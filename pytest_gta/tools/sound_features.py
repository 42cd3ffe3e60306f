"""The features of a sound that people compute to compare sounds: spectrum, MFCC, pitch, tempo; by numpy alone.

Frames, windows and formulas are the customary ones of audio analysis (frames of 2048 samples every 512 at 22,050 Hz,
40 to 128 mel bands, an orthonormal cosine transform), so that the numbers can be compared with those of other programs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pytest_gta.formats.sound_tempo import beat_of

Values = np.ndarray[Any, Any]

ANALYSIS_HZ = 22_050
"""Samples a second that a sound is converted to beforehand, one channel."""
LONGEST_S = 1_800.0
"""How much of a sound is looked at; its features are held frame by frame."""

_SIZE, _HOP = 2_048, 512
_BANDS, _COEFFICIENTS = 128, 13
_ROLLOFF = 0.85
_RANGE_DB = 80.0
_SILENCE_DBFS = -50.0
_LOWEST_HZ, _HIGHEST_HZ = 60.0, 1_500.0
_CLEAR = 0.85
"""How like itself a frame has to be, one period later, to have a pitch."""
_FAINT = 0.15
"""The least clarity of a beat that is told at all."""
_NOTES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")


class SoundFeatures:
    """Takes in a sound block by block and tells what it is like."""

    def __init__(self) -> None:
        """Begin; a frame is centred on its time, so there is half a frame of silence at either end."""
        self._held = np.zeros(_SIZE // 2, np.float32)
        self._window = np.hanning(_SIZE + 1)[:-1].astype(np.float32)
        self._hz = np.fft.rfftfreq(_SIZE, 1 / ANALYSIS_HZ)
        self._mel = _mel_filters()
        self._frames: dict[str, list[Values]] = {
            name: [] for name in ("centroid", "bandwidth", "rolloff", "crossings", "level", "mel", "pitch", "clear")
        }

    def listen(self, samples: Values) -> None:
        """Take in the next samples of the one channel."""
        whole = np.concatenate((self._held, samples))
        # Bounded pieces: a spectrum takes many times the room of its samples.
        while len(whole) >= _SIZE:
            count = min((len(whole) - _SIZE) // _HOP + 1, 512)
            frames = np.lib.stride_tricks.sliding_window_view(whole, _SIZE)[::_HOP][:count]
            self._measure(frames)
            whole = whole[count * _HOP :]
        self._held = whole

    def _measure(self, frames: Values) -> None:
        keep = self._frames
        spectrum = np.fft.rfft(frames * self._window, axis=1)
        magnitude = np.abs(spectrum)
        total = np.maximum(magnitude.sum(axis=1), 1e-10)
        centroid = (magnitude * self._hz).sum(axis=1) / total
        spread = (magnitude * (self._hz - centroid[:, None]) ** 2).sum(axis=1) / total
        below = np.cumsum(magnitude, axis=1)
        keep["centroid"].append(centroid)
        keep["bandwidth"].append(np.sqrt(spread))
        keep["rolloff"].append(self._hz[(below >= _ROLLOFF * below[:, -1:]).argmax(axis=1)])
        signs = np.signbit(frames)
        keep["crossings"].append((signs[:, 1:] != signs[:, :-1]).mean(axis=1))
        keep["level"].append(np.sqrt(np.square(frames, dtype=np.float64).mean(axis=1)))
        keep["mel"].append((magnitude**2 @ self._mel.T).astype(np.float32))
        hertz, clear = _pitches(frames)
        keep["pitch"].append(hertz)
        keep["clear"].append(clear)

    def result(self) -> dict[str, Any]:
        """Return all that was measured; what cannot be told is None."""
        self.listen(np.zeros(_SIZE, np.float32))
        found = {name: np.concatenate(parts) for name, parts in self._frames.items()}
        heard = 20 * np.log10(np.maximum(found["level"], 1e-9)) > _SILENCE_DBFS
        loudest = 10 * np.log10(np.maximum(found["mel"], 1e-10))
        bands = np.maximum(loudest, loudest.max() - _RANGE_DB)
        cepstrum = bands @ _cosines().T
        return {
            "silence_percent": 100 * float((~heard).mean()),
            "tempo": _tempo(bands),
            "pitch": _pitch(found["pitch"], found["clear"], heard),
            "spectral_centroid_hz": _spread_of(found["centroid"][heard], 1),
            "spectral_bandwidth_hz": _spread_of(found["bandwidth"][heard], 1),
            "spectral_rolloff_hz": _spread_of(found["rolloff"][heard], 1),
            "zero_crossing_rate": _spread_of(found["crossings"][heard], 4),
            "mfcc": {
                "mean": [round(float(value), 2) for value in cepstrum.mean(axis=0)],
                "var": [round(float(value), 2) for value in cepstrum.var(axis=0)],
            },
        }


def _spread_of(values: Values, digits: int) -> dict[str, float | None]:
    if not len(values):
        return {"mean": None, "var": None}
    return {"mean": round(float(values.mean()), digits), "var": round(float(values.var()), digits + 2)}


def _pitches(frames: Values) -> tuple[Values, Values]:
    """Return for each frame how many Hz its likeliest pitch has, and how clear it is, from 0 to 1."""
    size = 2 * _SIZE
    spectrum = np.fft.rfft(frames, size, axis=1)
    alike = np.fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :_SIZE]
    squares = np.square(frames, dtype=np.float64)
    before = np.cumsum(squares[:, ::-1], axis=1)[:, ::-1]
    # The energies of the two parts that are compared at each lag: what is left of a frame without its end or start.
    lags = np.arange(_SIZE)
    ends = np.cumsum(squares, axis=1)[:, ::-1]
    both = ends[:, lags] + before[:, lags]
    likeness = 2 * alike / np.maximum(both, 1e-10)
    first, last = int(ANALYSIS_HZ / _HIGHEST_HZ), int(ANALYSIS_HZ / _LOWEST_HZ)
    window = likeness[:, first - 1 : last + 2]
    peaks = (window[:, 1:-1] > window[:, :-2]) & (window[:, 1:-1] >= window[:, 2:])
    inner = np.where(peaks, window[:, 1:-1], -1.0)
    best = inner.max(axis=1)
    # The shortest of the lags that are nearly as good: every multiple of a period is one too.
    at = (inner >= best[:, None] * 0.93).argmax(axis=1) + 1
    rows = np.arange(len(frames))
    left, middle, right = window[rows, at - 1], window[rows, at], window[rows, at + 1]
    bend = left - 2 * middle + right
    shift = np.where(np.abs(bend) > 1e-9, 0.5 * (left - right) / np.where(bend == 0, 1, bend), 0.0)
    return ANALYSIS_HZ / (at + first - 1 + np.clip(shift, -0.5, 0.5)), np.clip(best, 0.0, 1.0)


def _pitch(hertz: Values, clear: Values, heard: Values) -> dict[str, Any]:
    voiced = heard & (clear >= _CLEAR)
    share = 100 * float(voiced.sum()) / max(1, int(heard.sum()))
    if voiced.sum() < 3 or share < 5:
        return {"median_hz": None, "note": None, "low_hz": None, "high_hz": None, "voiced_percent": round(share, 1)}
    low, middle, high = (float(value) for value in np.quantile(hertz[voiced], (0.1, 0.5, 0.9)))
    return {
        "median_hz": round(middle, 1),
        "note": note(middle),
        "low_hz": round(low, 1),
        "high_hz": round(high, 1),
        "voiced_percent": round(share, 1),
    }


def note(hertz: float) -> str:
    """Return the nearest note of the tempered scale, with its octave: 440 is A4."""
    number = round(69 + 12 * math.log2(hertz / 440))
    return f"{_NOTES[number % 12]}{number // 12 - 1}"


def _tempo(bands: Values) -> dict[str, float | None]:
    """Find the beat: how often the sound swells, by how alike its swelling is some time later."""
    swelling = np.maximum(np.diff(bands, axis=0), 0).mean(axis=1)
    rate = ANALYSIS_HZ / _HOP
    # Slow changes are no beats.
    width = max(3, int(rate * 1.0))
    smooth = np.convolve(np.pad(swelling, width // 2, mode="edge"), np.ones(width) / width, "valid")[: len(swelling)]
    onsets = np.maximum(swelling - smooth, 0)
    if len(onsets) < rate * 3 or onsets.max(initial=0.0) < 0.5:
        return {"bpm": None, "clarity": 0.0}
    beat = beat_of(onsets, rate)
    if beat is None:
        return {"bpm": None, "clarity": 0.0}
    return {"bpm": round(beat.tempo, 1) if beat.clarity >= _FAINT else None, "clarity": round(beat.clarity, 2)}


def _mel_filters() -> Values:
    """Triangles on the mel scale that is straight up to 1000 Hz, each of the same area."""
    top = ANALYSIS_HZ / 2
    highest = 15 + math.log(top / 1000) / (math.log(6.4) / 27)
    mels = np.linspace(0, highest, _BANDS + 2)
    hertz = np.where(mels < 15, mels * 200 / 3, 1000 * np.exp((mels - 15) * math.log(6.4) / 27))
    hz = np.fft.rfftfreq(_SIZE, 1 / ANALYSIS_HZ)
    rising = (hz - hertz[:-2, None]) / (hertz[1:-1] - hertz[:-2])[:, None]
    falling = (hertz[2:, None] - hz) / (hertz[2:] - hertz[1:-1])[:, None]
    return np.asarray(np.maximum(0, np.minimum(rising, falling)) * (2 / (hertz[2:] - hertz[:-2]))[:, None])


def _cosines() -> Values:
    """The first rows of the orthonormal cosine transform."""
    places = np.arange(_BANDS) + 0.5
    rows = np.cos(np.pi / _BANDS * np.arange(_COEFFICIENTS)[:, None] * places) * math.sqrt(2 / _BANDS)
    rows[0] /= math.sqrt(2)
    return np.asarray(rows)
