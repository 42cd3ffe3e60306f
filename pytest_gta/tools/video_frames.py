"""Frames taken from a video at even steps, ready to be looked at."""

from __future__ import annotations

import base64
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_gta.tools.media_input import MediaInput, need_media, upright
from pytest_gta.tools.tool import ToolFault

if TYPE_CHECKING:
    from PIL.Image import Image

PRELOAD = ("numpy", "av", "PIL.Image", "PIL.JpegImagePlugin")


@dataclass(frozen=True, slots=True)
class Sampling:
    """Which moments of a video are looked at.

    Attributes:
        times: In seconds, rising.
        every: Frames from one to the next.
        asked: Frames from one to the next that were asked for.
        seconds: Length of the video.
        rate: Its frames a second.
    """

    times: tuple[float, ...]
    every: int
    asked: int
    seconds: float
    rate: float

    @property
    def remark(self) -> str:
        """How the moments were chosen, for the reader."""
        frames = max(1, round(self.seconds * self.rate))
        step = f"every {_ordinal(self.every)} frame" if self.every > 1 else "every frame"
        text = f"{len(self.times)} of its {frames} frames were looked at ({step}, from {self.times[0]:.1f} to "
        text += f"{self.times[-1]:.1f} s)"
        if self.every > self.asked:
            text += f"; not every {_ordinal(self.asked)}, as asked for, since that would be too many"
        return text + "."


def sampled(media: MediaInput, frame_skip: int, most: int) -> Sampling:
    """Choose every `frame_skip`-th frame of a video, or as many as are allowed, spread over all of it.

    Raises:
        ToolFault: `frame_skip` is no step.
    """
    if frame_skip < 1:
        raise ToolFault(f"frame_skip is {frame_skip}; it is a step from frame to frame, 1 or more")
    rate = float(media.video.average_rate or media.video.guessed_rate or 25)
    seconds = media.seconds()
    frames = max(1, round(seconds * rate))
    every = max(frame_skip, math.ceil(frames / most))
    numbers = range(0, frames, every)
    # A little past the frame's own time, since stored times are rounded.
    times = tuple((number + 0.25) / rate for number in numbers)
    return Sampling(times, every, frame_skip, seconds, rate)


def take_frames(video: str, frame_skip: int, most: int, longest_px: int) -> dict[str, Any]:
    """Return frames of a video as pictures; what a tool outside the confined process calls in it.

    Args:
        video: The file.
        frame_skip: Frames from one to the next.
        most: How many at most.
        longest_px: Their longest side.

    Returns:
        ``frames``, each with ``time``, ``number`` and ``data`` (a JPEG in base64), ``width`` and ``height`` of the
        video, ``facts`` and ``remark`` in words.

    Raises:
        ToolFault: The file is no video that can be decoded.
    """
    need_media("Looking at a video")
    frames: list[dict[str, Any]] = []
    with MediaInput(video) as media:
        media.need_video()
        sampling = sampled(media, frame_skip, most)
        width = height = 0
        for time, frame in media.pictures_at(list(sampling.times)):
            picture = upright(frame).to_image()
            width, height = picture.size
            frames.append(
                {"time": round(time, 3), "number": round(time * sampling.rate), "data": _jpeg(picture, longest_px)}
            )
        if not frames:
            raise ToolFault(f"no picture of {video!r} could be decoded")
        sound = "with sound" if media.sound is not None else "without sound"
        damaged = " The file is damaged: parts of it could not be decoded." if media.damaged else ""
    facts = f"{sampling.seconds:.1f} s, {width} x {height}, {sampling.rate:g} fps, {sound}"
    seen = Sampling(tuple(f["time"] for f in frames), sampling.every, frame_skip, sampling.seconds, sampling.rate)
    return {"frames": frames, "width": width, "height": height, "facts": facts, "remark": seen.remark + damaged}


def _jpeg(picture: Image, longest_px: int) -> str:
    scale = longest_px / max(picture.size)
    if scale < 1:
        picture = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
    out = io.BytesIO()
    picture.convert("RGB").save(out, "JPEG", quality=88)
    return base64.b64encode(out.getvalue()).decode("ascii")


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
