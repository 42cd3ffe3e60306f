"""A voice that reads a text aloud, offline: Hibari's for English, espeak-ng's where it is installed."""

from __future__ import annotations

import importlib
import importlib.util
import io
import re
import shutil
import subprocess
import wave
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

VOICE_HZ = 24_000
"""Samples a second of what is spoken."""

_SCRIPTS = (
    ("\u0400-\u04ff", "ru", "Russian"),
    ("\u0370-\u03ff", "el", "Greek"),
    ("\u0590-\u05ff", "he", "Hebrew"),
    ("\u0600-\u06ff", "ar", "Arabic"),
    ("\u0900-\u097f", "hi", "Hindi"),
    ("\uac00-\ud7af", "ko", "Korean"),
    ("\u3040-\u30ff", "ja", "Japanese"),
    ("\u4e00-\u9fff", "cmn", "Chinese"),
)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


_ENGLISH = _words("the a an of to and in is are for with on this that it we you our your from by at be as or")
_OTHERS = _words(
    "der die das und ist nicht ein eine mit für auf le la les des est une dans pour el los las una por para con "
    "che il di non het een van niet och att som não uma"
)


class Narrator:
    """Speaks.

    Attributes:
        name: Whose voice it is; "" when there is none.
        why_silent: Why there is none, and what would bring one.
    """

    def __init__(self, text: str) -> None:
        """Choose the voice for a text by its script and, where that is Latin, by its commonest words."""
        self.name, self.why_silent = "", ""
        self._language = "en"
        language = _language_of(text)
        has_hibari = all(importlib.util.find_spec(name) is not None for name in ("hibari", "onnxruntime"))
        if not re.search(r"\w", text):
            self.why_silent = "there are no words to speak"
        elif language == "English" and has_hibari:
            self.name = "Hibari"
        elif shutil.which("espeak-ng") and language != "another language":
            self.name = "espeak-ng"
            self._language = next((code for _, code, name in _SCRIPTS if name == language), "en")
        elif language == "English":
            self.why_silent = "no voice is installed: pip install 'pytest-gta[tts]'"
        else:
            self.why_silent = f"the voice that is installed speaks English only, and the text is in {language}"

    def speak(self, texts: Sequence[str], speed: float = 1.0) -> list[np.ndarray[Any, Any]]:
        """Return texts as speech, each as one channel of `VOICE_HZ`.

        Args:
            texts: What to say.
            speed: How much faster than usual.
        """
        if self.name == "Hibari":
            voice = importlib.import_module("hibari").Hibari()
            return [_tidied(voice(text, speed=speed, seed=number)) for number, text in enumerate(texts)]
        return [_tidied(self._by_espeak(text, speed)) for text in texts]

    def _by_espeak(self, text: str, speed: float) -> np.ndarray[Any, Any]:
        import av
        import numpy as np

        program = shutil.which("espeak-ng") or "espeak-ng"
        command = [program, "-v", self._language, "-s", str(round(160 * speed)), "--stdout", "--stdin"]
        said = subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout  # noqa: S603
        # Its WAV, written to a pipe, does not know its own length.
        with wave.open(io.BytesIO(said)) as opened:
            rate = opened.getframerate()
        samples = np.frombuffer(said[44 : 44 + (len(said) - 44) // 2 * 2], "<i2").astype(np.float32) / 32768
        resampler = av.AudioResampler(format="flt", layout="mono", rate=VOICE_HZ)
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples[None]), format="flt", layout="mono")
        frame.sample_rate = rate
        parts = [part.to_ndarray().reshape(-1) for given in (frame, None) for part in resampler.resample(given)]
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)


def _language_of(text: str) -> str:
    for characters, _, name in _SCRIPTS:
        if len(re.findall(f"[{characters}]", text)) * 4 > len(re.findall(r"\w", text)):
            return name
    words = re.findall(r"[^\W\d_]+", text.lower())
    english, other = sum(word in _ENGLISH for word in words), sum(word in _OTHERS for word in words)
    accents = sum(not word.isascii() for word in words)
    return "another language" if other + accents > english and other + accents >= 2 else "English"


def _tidied(speech: Any) -> np.ndarray[Any, Any]:
    """Without the silence before and after it, its peaks at an even level."""
    import numpy as np

    speech = np.asarray(speech, dtype=np.float32).reshape(-1)
    loud = np.flatnonzero(np.abs(speech) > 0.004)
    if not len(loud):
        return np.zeros(0, np.float32)
    speech = speech[max(0, loud[0] - 480) : loud[-1] + 1200]
    even: np.ndarray[Any, Any] = speech * np.float32(0.8 / max(float(np.abs(speech).max()), 0.05))
    return even
