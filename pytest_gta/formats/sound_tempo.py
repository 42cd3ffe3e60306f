"""The tempo of a sound, estimated from how regularly its onsets come; None where there is no clear beat."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass
from typing import Any

FACT = "estimated tempo BPM"

RATE = 8_000
"""Samples a second that are looked at, about: beats are heard below 4 kHz."""
LONGEST_S = 180.0
"""Seconds from the beginning that are looked at."""
SHORTEST_S = 5.0
"""Of a shorter sound no tempo is told."""

_HOP_S = 0.01
_WINDOW = 256
_BANDS = 12
_SLOWEST, _FASTEST = 40.0, 220.0
_USUAL, _OCTAVES = 120.0, 1.0
"""Where most music is, and how far from it a tempo is still as likely as not."""
_FASTER = 0.85
_CLEAR = 0.3
"""The least clarity of a beat that is told."""
_FLOOR = 1e-4
_STEEPEST = 0.1
"""Of the steepest rises, as a mean over the bands in natural logarithms: a sound that only swells has no onsets."""
_QUIETEST = 10 ** (-50 / 20)


@dataclass(frozen=True, slots=True)
class Beat:
    """What comes regularly in a sound.

    Attributes:
        tempo: Beats a minute.
        clarity: How much of the onsets comes again one, two and three beats later, from 0 to 1.
    """

    tempo: float
    clarity: float


def can_measure() -> bool:
    """Whether numpy, which this needs, is installed."""
    return importlib.util.find_spec("numpy") is not None


def in_words(tempo: float) -> str:
    """Return a tempo as a fact; what is felt as the beat may be every second one of these, or there may be twice."""
    return f"about {tempo:.0f}, perhaps its half or double"


class Onsets:
    """Gathers where a sound gets louder, block by block, so that a long one takes little memory.

    Args:
        rate: Samples a second of what is given.
    """

    def __init__(self, rate: int) -> None:
        self._step = max(1, rate // RATE)
        self._rate = rate / self._step
        self._hop = max(1, round(self._rate * _HOP_S))
        self._left: Any = None
        self._bands: list[Any] = []
        self._count = 0
        self._loudest = 0.0

    @property
    def seconds(self) -> float:
        """How much was given."""
        return self._count / self._rate

    @property
    def full(self) -> bool:
        """Whether no more is looked at."""
        return self.seconds >= LONGEST_S

    def add(self, samples: Any) -> None:
        """Take samples of one channel, of full scale, as an array of numpy; of a block's end a few may be lost."""
        import numpy as np

        usable = len(samples) // self._step * self._step
        # The mean of a few samples is a low pass good enough to find beats by.
        slow = np.asarray(samples[:usable], dtype=np.float32).reshape(-1, self._step).mean(axis=1)
        self._count += len(slow)
        if len(slow):
            self._loudest = max(self._loudest, float(np.abs(slow).max()))
        values = slow if self._left is None else np.concatenate([self._left, slow])
        count = max(0, (len(values) - _WINDOW) // self._hop + 1)
        if count:
            frames = np.lib.stride_tricks.sliding_window_view(values, _WINDOW)[:: self._hop][:count]
            power = np.abs(np.fft.rfft(frames * np.hanning(_WINDOW).astype(np.float32), axis=1)) ** 2
            edges = np.unique(np.geomspace(1, power.shape[1], _BANDS + 1).astype(int))
            self._bands.append(np.add.reduceat(power, edges[:-1], axis=1))
        self._left = values[count * self._hop :]

    def tempo(self) -> float | None:
        """Return the beats a minute; None when there are none, or what was given is too short or silent."""
        if self.seconds < SHORTEST_S or self._loudest < _QUIETEST or not self._bands:
            return None
        strength = self._strength()
        beat = beat_of(strength, self._rate / self._hop) if float(strength.max()) >= _STEEPEST else None
        return beat.tempo if beat is not None and beat.clarity >= _CLEAR else None

    def _strength(self) -> Any:
        import numpy as np

        power = np.concatenate(self._bands)
        # Below this, what is left of a steady tone in other bands would go up and down as well.
        level = np.log(power + max(float(power.max()) * _FLOOR, 1e-12))
        rises = np.maximum(np.diff(level, axis=0), 0).mean(axis=1)
        # A beat between two moments is to weigh as much as one that falls into one.
        return np.convolve(rises, (0.25, 0.5, 0.25), "same")


def beat_of(strength: Any, rate: float) -> Beat | None:
    """Return the likeliest beat of a row of onset strengths, however faint; None when nothing comes again at all.

    Args:
        strength: How much louder each moment is than the one before, as an array of numpy.
        rate: Moments a second.
    """
    import numpy as np

    values = strength - strength.mean()
    if not float(np.abs(values).max(initial=0.0)):
        return None
    size = 1 << (2 * len(values) - 1).bit_length()
    echo = np.fft.irfft(np.abs(np.fft.rfft(values, size)) ** 2)[: len(values)]
    # Of a long delay fewer moments overlap.
    echo = echo / echo[0] * len(values) / np.arange(len(values), 0, -1)
    first, last = int(rate * 60 / _FASTEST), min(int(rate * 60 / _SLOWEST) + 1, len(values) // 3)
    peaks = [lag for lag in range(max(first, 2), last) if echo[lag] >= max(echo[lag - 1], echo[lag + 1])]
    if not peaks:
        return None
    best = max(peaks, key=lambda lag: float(echo[lag]) * _likely(rate * 60 / lag))
    faster = [lag for lag in peaks if abs(2 * lag - best) <= 2 and echo[lag] >= _FASTER * echo[best]]
    lag = faster[0] if faster else best
    beats = [count * lag for count in (1, 2, 3) if count * lag + 3 < len(values) * 0.7]
    clarity = min(float(echo[beat - 2 : beat + 3].max()) for beat in beats)
    return Beat(60 * rate / _refined(echo, lag, len(values)), min(max(clarity, 0.0), 1.0))


def _likely(tempo: float) -> float:
    return math.exp(-0.5 * (math.log2(tempo / _USUAL) / _OCTAVES) ** 2)


def _refined(echo: Any, lag: int, size: int) -> float:
    """Return the beat's length in moments, measured over several beats: one is only a few dozen moments long."""
    period = float(lag)
    for beats in (1, 2, 4, 8):
        centre = round(period * beats)
        if centre + 3 >= size // 2:
            break
        near = echo[centre - 2 : centre + 3]
        top = centre - 2 + int(near.argmax())
        if echo[top] < _CLEAR / 2:
            break
        left, middle, right = (float(echo[i]) for i in (top - 1, top, top + 1))
        bend = left - 2 * middle + right
        period = (top + (0.5 * (left - right) / bend if bend else 0.0)) / beats
    return period
