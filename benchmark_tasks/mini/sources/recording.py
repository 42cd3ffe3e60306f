"""Spoken recordings and films, made with optional libraries.

Speech needs ``hibari-tts`` (Apache-2.0, its voice comes inside the package), film needs ``av``. Where one of them is
not installed, a rebuild keeps the recording that is checked in.
"""

from __future__ import annotations

import shutil
import wave
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_DATASET = Path(__file__).parents[1]
SPEECH_RATE = 12_000


def speak(folder: Path, name: str, sentences: Sequence[str], *, pause: float = 0.45) -> None:
    """Record sentences as a mono 16-bit WAV.

    Args:
        folder: The dataset folder to write to.
        name: Path of the recording in it.
        sentences: What is said.
        pause: Seconds of silence after each sentence.
    """
    if find_spec("hibari") is None:
        _keep(folder, name)
        return
    numpy: Any = import_module("numpy")
    voice = import_module("hibari").Hibari(threads=1)
    parts: list[Any] = []
    for sentence in sentences:
        sound = numpy.asarray(voice(sentence, seed=0), dtype=numpy.float32)
        sound = sound[: len(sound) // 2 * 2].reshape(-1, 2).mean(axis=1)  # 24 kHz to 12 kHz
        parts += [sound, numpy.zeros(round(pause * SPEECH_RATE), dtype=numpy.float32)]
    samples = numpy.clip(numpy.concatenate(parts) * 30_000, -32_767, 32_767).astype("<i2")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(SPEECH_RATE)
        out.writeframes(samples.tobytes())


def film(folder: Path, name: str, frames: Iterable[Any], *, rate: int) -> None:
    """Write Pillow images of one even size as an MP4 (H.264) without sound.

    Args:
        folder: The dataset folder to write to.
        name: Path of the film in it.
        frames: The pictures in order.
        rate: Frames a second.
    """
    if find_spec("av") is None:
        _keep(folder, name)
        return
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_film(path, frames, rate=rate)


def write_film(path: Path, frames: Iterable[Any], *, rate: int) -> None:
    """Write Pillow images of one even size as an MP4 (H.264) without sound; needs ``av``."""
    av: Any = import_module("av")
    with av.open(str(path), "w", options={"fflags": "+bitexact"}) as container:
        stream: Any = None
        for image in frames:
            if stream is None:
                stream = container.add_stream("libx264", rate=rate, options={"crf": "21", "threads": "1"})
                stream.width, stream.height, stream.pix_fmt = image.width, image.height, "yuv420p"
            container.mux(stream.encode(av.VideoFrame.from_image(image)))
        container.mux(stream.encode())


def _keep(folder: Path, name: str) -> None:
    kept = _DATASET / name
    if not kept.is_file():
        raise RuntimeError(f"{name} is not there yet: install hibari-tts and av to make it")
    if folder.resolve() != _DATASET.resolve():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(kept, folder / name)
