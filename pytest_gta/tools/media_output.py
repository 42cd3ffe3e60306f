"""Sound and video files written piece by piece: sound as its suffix says, video as MP4 that plays everywhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

SOUND_SUFFIXES = (".mp3", ".wav", ".flac", ".ogg", ".m4a", ".opus", ".aac")
"""What sound can be written as."""
_CODERS = {
    ".wav": "pcm_s16le",
    ".mp3": "libmp3lame",
    ".flac": "flac",
    ".ogg": "libopus",
    ".m4a": "aac",
    ".aac": "aac",
    ".opus": "libopus",
}
_BIT_RATE = 192_000


class SoundOutput(contextlib.AbstractContextManager["SoundOutput"]):
    """A sound file being written.

    Attributes:
        samples: Samples of each channel so far.
    """

    def __init__(self, path: Path, rate: int, channels: int) -> None:
        """Start a file of the kind that its suffix says.

        Args:
            path: Where.
            rate: Samples a second of what will be written.
            channels: Its channels; a format that has no place for more than two gets two.
        """
        import av

        suffix = path.suffix.lower()
        coder = _CODERS[suffix]
        self._container = av.open(f"file:{path}", "w", format="adts" if suffix == ".aac" else None)
        self._track = SoundTrack(self._container, coder, rate, channels)
        self.samples = 0

    def write(self, block: np.ndarray[Any, Any]) -> None:
        """Add a block of float samples, (channels, samples), full scale being 1."""
        self.samples += block.shape[1]
        self._track.write(block)

    def __exit__(self, *_: object) -> None:
        self._track.finish()
        self._container.close()


class SoundTrack:
    """The sound track of a file being written."""

    def __init__(self, container: Any, coder: str, rate: int, channels: int) -> None:
        """Add a track to a container."""
        import av

        self._container = container
        self._rate, self._layout = rate, {1: "mono", 2: "stereo", 6: "5.1", 8: "7.1"}.get(channels, "")
        rates = av.Codec(coder, "w").audio_rates
        self._stream = container.add_stream(coder, rate=_nearest(rate, rates))
        lossy = not coder.startswith(("pcm", "flac"))
        keeps = self._layout and (channels <= 2 or coder != "libmp3lame")
        self._stream.layout = self._layout if keeps else "stereo"
        if lossy:
            self._stream.bit_rate = _BIT_RATE if channels > 1 else _BIT_RATE // 2
        self._stream.codec_context.thread_count = 1
        self._mixed_down = not self._layout
        self._at = 0

    @property
    def seconds(self) -> float:
        """How much has been written."""
        return self._at / self._rate

    def write(self, block: np.ndarray[Any, Any]) -> None:
        """Add a block of float samples, (channels, samples)."""
        import av
        import numpy as np

        if self._mixed_down:
            block = np.repeat(block.mean(axis=0, keepdims=True), 2, axis=0)
        # Small pieces: a coder keeps each frame it is given until it is through with it.
        for start in range(0, block.shape[1], 8192):
            piece = np.ascontiguousarray(np.clip(block[:, start : start + 8192], -1.0, 1.0), dtype=np.float32)
            frame = av.AudioFrame.from_ndarray(piece, format="fltp", layout=self._layout or "stereo")
            frame.sample_rate = self._rate
            frame.pts, frame.time_base = self._at, Fraction(1, self._rate)
            self._at += piece.shape[1]
            self._container.mux(self._stream.encode(frame))

    def finish(self) -> None:
        """Write what the coder still holds."""
        self._container.mux(self._stream.encode(None))


class VideoOutput(contextlib.AbstractContextManager["VideoOutput"]):
    """An MP4 being written: H.264 in the pixel format that every player knows, AAC, the index in front."""

    def __init__(self, path: Path, size: tuple[int, int], rate: Fraction, sound: tuple[int, int] | None = None) -> None:
        """Start a file.

        Args:
            path: Where.
            size: Width and height; made even, as the format wants it.
            rate: Pictures a second.
            sound: Samples a second and channels of its sound; None for none.
        """
        import av

        self._container = av.open(f"file:{path}", "w", format="mp4", options={"movflags": "+faststart"})
        self._stream: Any = self._container.add_stream("libx264", rate=rate)
        self.size = max(2, size[0] // 2 * 2), max(2, size[1] // 2 * 2)
        self._stream.width, self._stream.height = self.size
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"crf": "20", "preset": "veryfast"}
        self._stream.codec_context.thread_count = 1
        self._stream.codec_context.time_base = 1 / rate
        self._rate = rate
        self.frames = 0
        self._sound = SoundTrack(self._container, "aac", *sound) if sound else None
        self._waiting: Iterator[np.ndarray[Any, Any]] = iter(())

    def with_sound(self, blocks: Iterator[np.ndarray[Any, Any]]) -> None:
        """Take the sound from `blocks`, as far as the pictures have come."""
        self._waiting = blocks

    def write(self, frame: Any) -> None:
        """Add a picture, and the sound that belongs to the time before it."""
        import av

        frame = frame.reformat(*self.size, format="yuv420p")
        frame.pts, frame.time_base = self.frames, 1 / self._rate
        frame.pict_type = av.video.frame.PictureType.NONE
        self.frames += 1
        self._container.mux(self._stream.encode(frame))
        self._hear(self.seconds)

    @property
    def seconds(self) -> float:
        """How much has been written."""
        return float(self.frames / self._rate)

    def _hear(self, until: float) -> None:
        while self._sound is not None and self._sound.seconds < until:
            block = next(self._waiting, None)
            if block is None:
                return
            self._sound.write(block)

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._container.mux(self._stream.encode(None))
            for block in self._waiting:
                if self._sound is not None:
                    self._sound.write(block)
            if self._sound is not None:
                self._sound.finish()
        with contextlib.suppress(OSError, ValueError):
            self._container.close()


def _nearest(rate: int, rates: Any) -> int:
    """The lowest rate a coder knows that loses nothing, else its highest."""
    if not rates or rate in rates:
        return rate
    above = [known for known in rates if known > rate]
    return int(min(above) if above else max(rates))
