"""Sound and video files made for tests, and what is measured of those that the tools make."""

from __future__ import annotations

import importlib.util
import math
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

needs_media = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("av", "numpy", "python_stretch")),
    reason="needs the media extra",
)


def tone(hz: float, seconds: float, rate: int = 22_050, peak: float = 0.5, channels: int = 1) -> Any:
    """Return a sine as (channels, samples)."""
    import numpy as np

    times = np.arange(round(seconds * rate)) / rate
    return np.tile((peak * np.sin(2 * np.pi * hz * times)).astype(np.float32), (channels, 1))


def write_wave(path: Path, sound: Any, rate: int = 22_050) -> Path:
    """Write (channels, samples) as 16-bit WAV."""
    import numpy as np

    sound = np.atleast_2d(sound)
    with wave.open(str(path), "wb") as out:
        out.setnchannels(sound.shape[0])
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes((np.clip(sound.T, -1, 1) * 32_767).round().astype("<i2").tobytes())
    return path


def write_video(
    path: Path,
    seconds: float = 4.0,
    fps: int = 10,
    size: tuple[int, int] = (320, 240),
    paint: Callable[[Image.Image, float], None] | None = None,
    sound: Any = None,
    rate: int = 44_100,
    codec: str = "libx264",
    rotation: int = 0,
) -> Path:
    """Write a video whose red grows with time; `paint` draws on each picture, `sound` is (channels, samples)."""
    import av
    import numpy as np

    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=fps)
        stream.width, stream.height = size
        stream.pix_fmt = "rgb8" if codec == "gif" else "yuv420p"
        track: Any = None
        if sound is not None:
            track = container.add_stream("libopus" if path.suffix == ".webm" else "aac", rate=rate)
            track.layout = "stereo" if sound.shape[0] == 2 else "mono"
        for number in range(round(seconds * fps)):
            image = Image.new("RGB", size, (min(255, round(255 * number / (seconds * fps))), 30, 60))
            if paint is not None:
                paint(image, number / fps)
            container.mux(stream.encode(av.VideoFrame.from_image(image)))
        container.mux(stream.encode(None))
        if track is not None:
            for start in range(0, sound.shape[1], 1024):
                piece = np.ascontiguousarray(sound[:, start : start + 1024], dtype=np.float32)
                frame = av.AudioFrame.from_ndarray(piece, format="fltp", layout=track.layout.name)
                frame.sample_rate, frame.pts = rate, start
                container.mux(track.encode(frame))
            container.mux(track.encode(None))
    return path


def caption(words: str, size: int = 32, at: tuple[int, int] = (20, 20)) -> Callable[[Image.Image, float], None]:
    """Return a painter of words on a light strip."""

    def paint(image: Image.Image, seconds: float) -> None:
        draw = ImageDraw.Draw(image)
        draw.rectangle((0, at[1] - 8, image.width, at[1] + size + 12), fill="white")
        draw.text(at, words, fill="black", font=ImageFont.load_default(size))

    return paint


def sound_of(path: Path) -> tuple[Any, int]:
    """Return the sound of a file, (channels, samples), and its rate, decoded without this project's code."""
    import av
    import numpy as np

    with av.open(str(path)) as container:
        resampler = av.AudioResampler(format="fltp")
        blocks = [block.to_ndarray() for frame in container.decode(audio=0) for block in resampler.resample(frame)]
        rate = container.streams.audio[0].codec_context.sample_rate
    return np.concatenate(blocks, axis=1), rate


def pictures_of(path: Path) -> tuple[list[Image.Image], list[float]]:
    """Return the frames of a video and their times."""
    import av

    with av.open(str(path)) as container:
        frames = [(frame.to_image(), float(frame.time)) for frame in container.decode(video=0)]
    return [image for image, _ in frames], [time for _, time in frames]


def pitch(sound: Any, rate: int) -> float:
    """Return the strongest frequency in Hz, to a fraction of a step."""
    import numpy as np

    spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound))))
    top = int(spectrum.argmax())
    left, middle, right = (math.log(float(value) + 1e-9) for value in spectrum[top - 1 : top + 2])
    return (top + 0.5 * (left - right) / (left - 2 * middle + right)) * rate / len(sound)


def level(sound: Any) -> float:
    """Return the level in dBFS."""
    import numpy as np

    return 20 * math.log10(float(np.sqrt(np.mean(np.square(sound)))) + 1e-9)


def spoken(text: str) -> Any:
    """Return text as speech, one dimension, 24,000 samples a second; the same each time."""
    from hibari import Hibari

    return Hibari()(text, seed=1)
