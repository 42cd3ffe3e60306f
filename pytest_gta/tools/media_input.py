"""Sound and video files opened to work on: refused in plain words when they are none, decoded piece by piece."""

from __future__ import annotations

import contextlib
import importlib.util
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.formats.reading import Source
from pytest_gta.formats.sniff import FileType, sniff
from pytest_gta.tools.tool import ToolFault

if TYPE_CHECKING:
    import numpy as np

_DAMAGE_TOLERATED = 200
"""Packets in a row that cannot be decoded before the rest of a file is given up."""
_SEEKS_EXACTLY = ("wav", "flac", "mov", "matroska", "ogg")
_FAR_S = 30.0


def need_media(tool: str) -> None:
    """Make sure that the libraries for sound and video are installed.

    Raises:
        ToolFault: With the command that installs them.
    """
    missing = [name for name in ("av", "numpy") if importlib.util.find_spec(name) is None]
    if missing:
        raise ToolFault(f"{tool} needs {' and '.join(missing)}, not installed here: pip install 'pytest-gta[media]'")


class MediaInput(contextlib.AbstractContextManager["MediaInput"]):
    """A sound or video file, opened to be decoded.

    Attributes:
        path: The file.
        container: PyAV's view of it.
        sound: Its first sound track, or None.
        video: Its first track of moving pictures (not a cover picture), or None.
        damaged: Packets that could not be decoded so far.
    """

    def __init__(self, path: str | Path) -> None:
        """Open a file.

        Raises:
            ToolFault: It is empty, damaged, or neither sound nor video; says what it is.
        """
        import av

        self.path = Path(path)
        self.damaged = 0
        if self.path.stat().st_size == 0:
            raise ToolFault(f"{str(path)!r} is empty (0 bytes)")
        found = self._sniffed()
        moving_image = found.media_type in ("image/gif", "image/webp")
        if found.family == "image" and not moving_image:
            raise ToolFault(f"{str(path)!r} is a single image ({found.name}), neither sound nor video")
        if found.family not in ("audio", "video", "image", "other"):
            what = "text" if found.family == "text" else f"a {found.name}"
            raise ToolFault(f"{str(path)!r} is neither sound nor video: by its content it is {what}")
        try:
            # "file:" keeps a name with a colon from being taken for an address.
            self.container = av.open(f"file:{self.path}", metadata_errors="replace")
        except (OSError, ValueError) as error:
            raise ToolFault(f"{str(path)!r} cannot be opened as sound or video: {_why(found, error)}") from None
        streams = self.container.streams
        moving = [stream for stream in streams.video if not _is_cover(stream)]
        self.sound: Any = next((stream for stream in streams.audio if stream.codec_context is not None), None)
        self.video: Any = next((stream for stream in moving if stream.codec_context is not None), None)
        for stream in (self.sound, self.video):
            if stream is not None:
                # The time of a call is counted over all threads; one thread makes it predictable.
                stream.codec_context.thread_count = 1
        if self.sound is None and self.video is None:
            self.container.close()
            raise ToolFault(f"{str(path)!r} holds no sound or video that can be decoded")

    def __exit__(self, *_: object) -> None:
        self.container.close()

    def need_sound(self) -> None:
        """Make sure that there is sound.

        Raises:
            ToolFault: There is none.
        """
        if self.sound is None:
            raise ToolFault(f"{str(self.path)!r} is a video without sound")

    def need_video(self) -> None:
        """Make sure that there are moving pictures.

        Raises:
            ToolFault: There are none.
        """
        if self.video is None:
            raise ToolFault(f"{str(self.path)!r} is a sound file, it has no picture")

    @property
    def zero(self) -> float:
        """The time that counts as the beginning, in seconds of the file's own clock."""
        return (self.container.start_time or 0) / 1_000_000

    def seconds(self) -> float:
        """Return the length: as stored, else measured by going through the file."""
        stream = self.video or self.sound
        stored = self.container.duration
        if stored and stored > 0:
            return float(stored) / 1_000_000
        if stream.duration and stream.time_base:
            return float(stream.duration * stream.time_base)
        end = self.zero
        with contextlib.suppress(OSError, ValueError, EOFError):
            for packet in self.container.demux(stream):
                if packet.pts is not None:
                    end = max(end, float((packet.pts + (packet.duration or 0)) * packet.time_base))
        self.container.seek(0)
        return end - self.zero

    # -- sound -------------------------------------------------------------------------------------------------------

    @property
    def rate(self) -> int:
        """Samples a second of its sound."""
        return int(self.sound.codec_context.sample_rate)

    @property
    def channels(self) -> int:
        """Channels of its sound."""
        return int(self.sound.codec_context.channels)

    def blocks(
        self, start: float = 0.0, end: float = math.inf, *, rate: int = 0, mono: bool = False
    ) -> Iterator[np.ndarray[Any, Any]]:
        """Yield the sound from `start` to `end`, in seconds, as float blocks of (channels, samples).

        The first sample is the one at `start`: a track that begins later is preceded by silence.

        Args:
            start: Seconds.
            end: Seconds.
            rate: Samples a second to convert to; the file's own unless given.
            mono: Whether to mix all channels into one.
        """
        import av
        import numpy as np

        rate = rate or self.rate
        context = self.sound.codec_context
        layout = "mono" if mono else _layout(context)
        resampler = av.AudioResampler(format="fltp", layout=layout, rate=rate)
        if start > _FAR_S and self.container.format.name.partition(",")[0] in _SEEKS_EXACTLY:
            self._seek(self.sound, start - 1.0)
        # As the track's own clock says; a file of sound alone begins with its first sample.
        base = self.zero if self.video is not None else None
        wanted = max(0, round(start * rate))
        last = math.inf if math.isinf(end) else round(end * rate)
        at = -1
        for frame in self._frames(self.sound):
            if at < 0:
                time = float(frame.time) if frame.time is not None else 0.0
                base = self._sound_start() if base is None else base
                at = max(0, round((time - base) * rate))
                if at > wanted:
                    yield np.zeros((1 if mono else self.channels, int(min(at, last)) - wanted), np.float32)
                    wanted = int(min(at, last))
            for block in _converted(resampler, frame):
                piece = block[:, max(0, wanted - at) : max(0, int(min(last - at, block.shape[1])))]
                at += block.shape[1]
                if piece.shape[1]:
                    wanted += piece.shape[1]
                    yield piece
            if at >= last:
                return
        for block in _converted(resampler, None):
            piece = block[:, max(0, wanted - at) : max(0, int(min(last - at, block.shape[1])))]
            at += block.shape[1]
            if piece.shape[1]:
                yield piece

    def _sound_start(self) -> float:
        stream = self.sound
        return float(stream.start_time * stream.time_base) if stream.start_time and stream.time_base else 0.0

    # -- pictures ----------------------------------------------------------------------------------------------------

    @property
    def frame_rate(self) -> Fraction:
        """Pictures a second to show it with: its own rate, or a multiple of a very slow one."""
        rate = self.video.average_rate or self.video.guessed_rate or Fraction(25)
        rate = Fraction(rate)
        if rate <= 0 or rate > 240:
            return Fraction(25)
        if rate < 10:
            # Slow and uneven ones (slides, GIF) are shown again and again, so that they can be cut anywhere.
            return rate * math.ceil(10 / rate) if rate.denominator == 1 else Fraction(20)
        return min(rate, Fraction(120))

    @property
    def size(self) -> tuple[int, int]:
        """Width and height as stored, before any turning."""
        context = self.video.codec_context
        return int(context.width), int(context.height)

    def pictures(self, start: float = 0.0) -> Iterator[tuple[float, Any]]:
        """Yield frames with their times in seconds, from the one shown at `start` on."""
        if start > 1.0:
            self._seek(self.video, start)
        zero = self.zero
        held: tuple[float, Any] | None = None
        count = 0
        for frame in self._frames(self.video):
            time = float(frame.time) - zero if frame.time is not None else count / float(self.frame_rate)
            count += 1
            if time <= start:
                held = (max(time, 0.0), frame)
                continue
            if held is not None:
                yield held
                held = None
            yield time, frame
        if held is not None:
            yield held

    def pictures_at(self, times: list[float]) -> Iterator[tuple[float, Any]]:
        """Yield the frame that is shown at each of some rising times, with its own time; fewer when the video ends."""
        seen = -1.0
        for index, time in enumerate(times):
            # Going on from the last frame is cheaper than seeking when the next one is near.
            if index == 0 or time - times[index - 1] > 5.0:
                stream = self.pictures(time)
                held = next(stream, None)
                ahead = next(stream, None)
            while ahead is not None and ahead[0] <= time:
                held, ahead = ahead, next(stream, None)
            if held is None:
                return
            if held[0] > seen:
                seen = held[0]
                yield held

    def at_rate(self, rate: Fraction, start: float, end: float) -> Iterator[Any]:
        """Yield what is shown at each step of a constant rate from `start` to `end`, upright, ``pts`` a count."""
        count = max(1, math.floor((end - start) * rate + 0.5))
        stream = self.pictures(start)
        held = next(stream, None)
        ahead = next(stream, None)
        if held is None:
            return
        step = float(1 / rate)
        turned: Any = None
        for number in range(count):
            # A frame counts from a little before its time: stored times are rounded.
            time = start + (number + 0.25) * step
            while ahead is not None and ahead[0] <= time:
                held, ahead, turned = ahead, next(stream, None), None
            turned = upright(held[1]) if turned is None else turned
            turned.pts, turned.time_base = number, 1 / rate
            turned.pict_type = 0
            yield turned

    # -- decoding ----------------------------------------------------------------------------------------------------

    def _seek(self, stream: Any, seconds: float) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.container.seek(
                int((seconds + self.zero) / stream.time_base), stream=stream, backward=True, any_frame=False
            )

    def _frames(self, stream: Any) -> Iterator[Any]:
        """Decode, leaving out what is damaged."""
        in_a_row = 0
        packets = self.container.demux(stream)
        while True:
            try:
                packet = next(packets)
            except StopIteration:
                return
            except (OSError, ValueError, EOFError):
                self.damaged += 1
                return
            try:
                frames = packet.decode()
            except (OSError, ValueError, EOFError):
                self.damaged += 1
                in_a_row += 1
                if in_a_row > _DAMAGE_TOLERATED:
                    return
                continue
            in_a_row = 0
            yield from frames

    def _sniffed(self) -> FileType:
        with self.path.open("rb") as stream:
            return sniff(Source(self.path.name, stream, self.path.stat().st_size, self.path.parent))


def upright(frame: Any) -> Any:
    """Return a frame as it is to be looked at: a telephone stores its pictures lying, with a note how to turn them."""
    turns = round(getattr(frame, "rotation", 0) / 90) % 4
    if not turns:
        return frame
    import av
    import numpy as np

    return av.VideoFrame.from_ndarray(np.ascontiguousarray(np.rot90(frame.to_ndarray(format="rgb24"), turns)))


def _why(found: FileType, error: Exception) -> str:
    if found.family == "other" and found.media_type != "application/octet-stream":
        return f"by its content it is a {found.name}"
    return (
        "it is damaged, incomplete or something else"
        if isinstance(error, ValueError)
        else str(getattr(error, "strerror", "") or error)
    )


def _is_cover(stream: Any) -> bool:
    return "attached_pic" in str(getattr(stream, "disposition", "")).lower()


def _layout(context: Any) -> str:
    return str(context.layout.name) or {1: "mono", 2: "stereo"}.get(int(context.channels), "stereo")


def _converted(resampler: Any, frame: Any) -> Iterator[Any]:
    for converted in resampler.resample(frame):
        yield converted.to_ndarray()
