"""Noise in a recording: learnt from its quietest moments, then lowered wherever nothing louder is.

The sound is gone through twice, once to learn and once to clean, and is never held as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

Block = np.ndarray[Any, Any]

_QUIET_SHARE = 0.1
_MOST_QUIET = 512
_FEWEST_QUIET = 8
_EVEN_DB = 6.0
"""When the loud moments are less than this above the quiet ones, the quiet ones hold the wanted sound too."""
_NEIGHBOURS = 41
"""Frequencies whose median is taken for the noise then, so that a steady tone is not taken for it."""
_MEMORY = 0.97
_FLOOR = 10 ** (-22 / 20)
"""What is left of the noise: taken away altogether, it would come and go between words."""
_LITTLE_DB = 3.0
_SILENCE = 1e-12
_SILENT_SHARE = 0.05


class _Frames:
    """Cuts blocks of sound into windowed frames that overlap by three quarters."""

    def __init__(self, rate: int, channels: int) -> None:
        # About a twentieth of a second: longer than a period of the lowest voice, shorter than a syllable.
        self.size = 2 ** max(6, round(math.log2(rate * 0.046)))
        self.hop = self.size // 4
        self.window = np.sqrt(np.hanning(self.size + 1)[:-1]).astype(np.float32)
        self._held = np.zeros((channels, self.size - self.hop), np.float32)

    def spectra(self, block: Block) -> Block:
        """Return the spectra of the frames that are complete now: (frames, channels, frequencies)."""
        whole = np.concatenate((self._held, block), axis=1)
        count = max(0, (whole.shape[1] - self.size) // self.hop + 1)
        self._held = whole[:, count * self.hop :]
        if not count:
            return np.zeros((0, whole.shape[0], self.size // 2 + 1), np.complex64)
        frames = np.lib.stride_tricks.sliding_window_view(whole, self.size, axis=1)[:, :: self.hop][:, :count]
        return np.fft.rfft(frames * self.window, axis=2).astype(np.complex64).transpose(1, 0, 2)


class NoiseProfile:
    """What the quietest moments of a sound are like.

    Attributes:
        samples: Samples of each channel that were listened to.
    """

    def __init__(self, rate: int, channels: int) -> None:
        """Begin to listen."""
        self.rate, self.channels = rate, channels
        self.samples = 0
        self._frames = _Frames(rate, channels)
        self._energies: list[Block] = []
        self._quiet: Block | None = None
        self._quiet_energies = np.zeros(0, np.float32)

    def listen(self, block: Block) -> None:
        """Take in the next samples, (channels, samples)."""
        self.samples += block.shape[1]
        power = np.abs(self._frames.spectra(block)) ** 2
        if self._quiet is None:
            # The first frames begin with the silence put before the sound.
            power = power[3:]
            if not len(power):
                return
            self._quiet = power[:0]
        energy = power.mean(axis=(1, 2))
        self._energies.append(energy)
        heard = energy > _SILENCE
        power, energy = power[heard], energy[heard]
        self._quiet = np.concatenate((self._quiet, power))
        self._quiet_energies = np.concatenate((self._quiet_energies, energy))
        if len(self._quiet_energies) > 2 * _MOST_QUIET:
            self._keep(_MOST_QUIET)

    def _keep(self, most: int) -> None:
        assert self._quiet is not None
        kept = np.argsort(self._quiet_energies, kind="stable")[:most]
        self._quiet, self._quiet_energies = self._quiet[kept], self._quiet_energies[kept]

    @property
    def threshold(self) -> float:
        """Mean power of a frame up to which it counts as quiet."""
        return float(self._quiet_energies.max(initial=0.0))

    def noise(self) -> Block:
        """Return the power of the noise: (channels, frequencies)."""
        energies = np.concatenate(self._energies) if self._energies else np.zeros(0)
        heard = np.flatnonzero(energies > _SILENCE)
        inside = heard[-1] - heard[0] + 1 if len(heard) else 0
        energies = energies[heard]
        # A sound with perfect silence between its parts has no steady noise.
        if self._quiet is None or len(heard) < max(1, (1 - _SILENT_SHARE) * inside):
            return np.zeros((self.channels, self._frames.size // 2 + 1))
        self._keep(min(_MOST_QUIET, max(_FEWEST_QUIET, int(len(energies) * _QUIET_SHARE))))
        noise = self._quiet.mean(axis=0).astype(np.float64)
        loud = float(np.quantile(energies, 0.9))
        if 10 * math.log10(loud / float(self._quiet_energies.mean())) < _EVEN_DB:
            half = _NEIGHBOURS // 2
            padded = np.pad(noise, ((0, 0), (half, half)), mode="reflect")
            noise = np.median(np.lib.stride_tricks.sliding_window_view(padded, _NEIGHBOURS, axis=1), axis=2)
        return np.asarray(noise)


class NoiseGate:
    """Cleans a sound of the noise that a profile has learnt."""

    def __init__(self, profile: NoiseProfile, blocks: Iterator[Block]) -> None:
        """Take the sound that the profile listened to, from its beginning."""
        self._profile, self._blocks = profile, blocks
        self._before = self._after = 0.0
        self._floor_dbfs = -math.inf

    def blocks(self) -> Iterator[Block]:
        """Yield the clean sound, sample for sample where the other was."""
        profile = self._profile
        frames = _Frames(profile.rate, profile.channels)
        noise = profile.noise()
        threshold = profile.threshold
        size, hop = frames.size, frames.hop
        # The power of a frame's spectrum is the sound's times half the frame, for this window.
        self._floor_dbfs = _decibels(noise.mean() * 2 / size)
        noise = np.maximum(noise, 1e-14)
        previous = np.zeros_like(noise)
        held = np.zeros((profile.channels, size), np.float32)
        left, skip = profile.samples, size - hop
        for block in self._padded(size):
            spectra = frames.spectra(block)
            pieces = []
            for spectrum in spectra:
                power = (spectrum.real**2 + spectrum.imag**2).astype(np.float64)
                above = power / noise
                likely = _MEMORY * previous + (1 - _MEMORY) * np.maximum(above - 1, 0)
                gain = np.maximum(likely / (1 + likely), _FLOOR)
                previous = gain**2 * above
                if power.mean() <= threshold:
                    self._before += float(noise.sum())
                    self._after += float((gain**2 * noise).sum())
                # Windows that overlap by three quarters add up to two.
                held += np.fft.irfft(spectrum * gain, size, axis=1).astype(np.float32) * frames.window / 2
                pieces.append(held[:, :hop].copy())
                held = np.concatenate((held[:, hop:], np.zeros((profile.channels, hop), np.float32)), axis=1)
            if not pieces:
                continue
            out = np.concatenate(pieces, axis=1)
            dropped = min(skip, out.shape[1])
            skip -= dropped
            out = out[:, dropped : dropped + left]
            left -= out.shape[1]
            if out.shape[1]:
                yield out

    def _padded(self, size: int) -> Iterator[Block]:
        yield from self._blocks
        yield np.zeros((self._profile.channels, size), np.float32)

    def findings(self) -> list[str]:
        """Say what was found and done, once all is yielded."""
        down = 10 * math.log10(self._before / max(self._after, 1e-20)) if self._before else 0.0
        if self._floor_dbfs < -90 or down < _LITTLE_DB:
            return ["There was hardly any steady noise to take away."]
        return [
            f"Noise floor {self._floor_dbfs:.1f} dBFS, lowered by {down:.1f} dB in the quietest moments; what "
            "is louder than it is kept."
        ]


def _decibels(power: float) -> float:
    return 10 * math.log10(power) if power > 1e-20 else -200.0
