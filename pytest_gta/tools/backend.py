"""What a tool works with: libraries of an extra, a model or service of the user's; and what of it is missing here."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass

SETTINGS = {
    "vision": "GTA_VISION_MODEL",
    "speech": "GTA_SPEECH_MODEL",
    "image": "GTA_IMAGE_MODEL",
    "search": "SERPER_API_KEY or GTA_SEARCH_URL",
}
"""What sets up each kind of endpoint that a tool may ask."""


@dataclass(frozen=True, slots=True)
class Backend:
    """One way in which a tool can do its work.

    Attributes:
        name: What does it, in a few words ("RapidOCR, offline").
        modules: What has to be importable.
        extra: The extra of this package that brings them; "" when they are dependencies.
        endpoint: The kind of endpoint it asks, one of `SETTINGS`; "" for none.
        program: A program that has to be on the search path; "" for none.
    """

    name: str
    modules: tuple[str, ...] = ()
    extra: str = ""
    endpoint: str = ""
    program: str = ""

    def __post_init__(self) -> None:
        if self.endpoint and self.endpoint not in SETTINGS:
            raise ValueError(f"{self.name}: endpoint {self.endpoint!r} is none of {', '.join(SETTINGS)}")

    def missing(self, set_up: Collection[str]) -> str:
        """Return what brings this backend, "" when it is there.

        Args:
            set_up: The kinds of endpoints that are set up.
        """
        lacking = [name for name in self.modules if not _installed(name)]
        if lacking:
            return f"pip install 'pytest-gta[{self.extra}]'" if self.extra else f"pip install {' '.join(lacking)}"
        if self.endpoint and self.endpoint not in set_up:
            return f"set {SETTINGS[self.endpoint]}"
        if self.program and shutil.which(self.program) is None:
            return f"the program {self.program}"
        return ""


BUILT_IN = Backend("built in")
VISION = Backend("vision endpoint", endpoint="vision")
SPEECH = Backend("speech endpoint", endpoint="speech")
IMAGES = Backend("image endpoint", endpoint="image")
PYAV = Backend("PyAV", ("av", "numpy"), "media")
RAPIDOCR = Backend("RapidOCR, offline", ("rapidocr", "onnxruntime", "numpy"), "ocr")
TESSERACT = Backend("tesseract", program="tesseract")
SEARCH = Backend("Serper, SearXNG or a record", endpoint="search")


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a tool can work on this machine.

    Attributes:
        backend: The backend it would use; when none is there, the names of all that it could.
        needs: What would bring each of the missing ones, the most wanted first; empty when it is ready.
        better: What would bring a backend that it would rather use than the one it has; "" for none.
    """

    backend: str
    needs: tuple[str, ...] = ()
    better: str = ""

    @property
    def ready(self) -> bool:
        """Whether a call can succeed."""
        return not self.needs

    @property
    def words(self) -> str:
        """The state in a few words."""
        if self.ready:
            return "ready" + (f" (better: {self.better})" if self.better else "")
        return f"needs {' or '.join(self.needs)}"


def readiness(backends: Sequence[Backend], set_up: Collection[str]) -> Readiness:
    """Return whether one of a tool's backends is there.

    Args:
        backends: Those of the tool, the most wanted first; none for a tool that needs nothing besides this package.
        set_up: The kinds of endpoints that are set up.
    """
    backends = backends or (BUILT_IN,)
    missing = [backend.missing(set_up) for backend in backends]
    for backend, lacks in zip(backends, missing, strict=True):
        if not lacks:
            return Readiness(backend.name, better=missing[0])
    return Readiness(" or ".join(backend.name for backend in backends), tuple(dict.fromkeys(missing)))


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
