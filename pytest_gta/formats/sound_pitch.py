"""The strongest frequency of a sound, stretch by stretch: what tells one tone from another without hearing them."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

WINDOW_S = 0.2
"""Seconds that are looked at as one."""
MOST_STRETCHES = 12
"""More than these are no tones but music or speech, and are told by their range."""

_SAME = 0.03
"""Two windows whose frequencies differ by less, half a semitone, belong to one stretch."""
_QUIET = 10 ** (-50 / 20)
_LEAST_CLEAR = 0.1
_LOWEST_HZ = 25.0


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a sound with one strongest frequency.

    Attributes:
        start: Seconds from the beginning.
        end: Seconds from the beginning.
        hertz: Its strongest frequency; None where it is silent or noise.
    """

    start: float
    end: float
    hertz: float | None


def can_measure() -> bool:
    """Whether numpy, which this needs, is installed."""
    return importlib.util.find_spec("numpy") is not None


def strongest(windows: Iterable[tuple[float, Sequence[float]]], rate: int) -> list[Stretch]:
    """Return the stretches of a sound.

    Args:
        windows: Start in seconds and samples (of full scale, one channel) of windows, in order.
        rate: Samples a second.
    """
    found = [(start, len(samples) / rate, _peak(samples, rate)) for start, samples in windows if len(samples) > 64]
    return list(_joined(found))


def in_words(stretches: Sequence[Stretch]) -> str:
    """Return the stretches as a fact, e.g. ``0-1 s 293.7, 1-2 s 440.0``; "" when none of them has a tone."""
    tones = [stretch for stretch in stretches if stretch.hertz is not None]
    if not tones:
        return ""
    if len(stretches) <= MOST_STRETCHES:
        return ", ".join(f"{s.start:.3g}-{s.end:.3g} s {_shown(s.hertz)}" for s in stretches)
    values = sorted((s.hertz or 0.0, s.end - s.start) for s in tones)
    half, passed, middle = sum(seconds for _, seconds in values) / 2, 0.0, values[-1][0]
    for hertz, seconds in values:
        passed += seconds
        if passed >= half:
            middle = hertz
            break
    return (
        f"changes {len(stretches) - 1} times; between {values[0][0]:.1f} and {values[-1][0]:.1f}, median {middle:.1f}"
    )


def _shown(hertz: float | None) -> str:
    return "none" if hertz is None else f"{hertz:.1f}"


def _peak(samples: Sequence[float], rate: int) -> float | None:
    import numpy as np

    values: Any = np.asarray(samples, dtype=float)
    if math.sqrt(float(np.mean(values**2))) < _QUIET:
        return None
    size = 4 * len(values)
    power = np.abs(np.fft.rfft((values - values.mean()) * np.hanning(len(values)), size)) ** 2
    power[: max(1, int(_LOWEST_HZ * size / rate))] = 0
    top = int(np.argmax(power))
    if not 0 < top < len(power) - 1:
        return None
    # Noise spreads over all frequencies; a tone holds much of the sound in a few neighbours.
    near = power[max(top - 8, 0) : top + 9].sum()
    if near < _LEAST_CLEAR * power.sum():
        return None
    left, middle, right = (math.log(float(power[i]) + 1e-300) for i in (top - 1, top, top + 1))
    bend = left - 2 * middle + right
    return (top + (0.5 * (left - right) / bend if bend else 0.0)) * rate / size


def _joined(found: Sequence[tuple[float, float, float | None]]) -> Iterator[Stretch]:
    group: list[tuple[float, float, float | None]] = []
    for item in found:
        if group and not _alike(group[-1][2], item[2]):
            yield _stretch(group)
            group = []
        group.append(item)
    if group:
        yield _stretch(group)


def _alike(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= _SAME * max(one, other)


def _stretch(group: Sequence[tuple[float, float, float | None]]) -> Stretch:
    values = sorted(hertz for _, _, hertz in group if hertz is not None)
    start, end = group[0][0], group[-1][0] + group[-1][1]
    # Windows that reach into the next tone stand at the ends of the order, not in its middle.
    return Stretch(round(start, 2), round(end, 2), values[len(values) // 2] if values else None)


def starts(seconds: float, most: int) -> Iterator[float]:
    """Yield where windows start: one after the other, or of a long sound evenly spread."""
    count = max(1, int(seconds / WINDOW_S))
    step = max(1, -(-count // most))
    for index in range(0, count, step):
        yield index * WINDOW_S
