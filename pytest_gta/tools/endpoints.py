"""The models and services that tools outside the confined process ask: for sight, speech, pictures and the web."""

from __future__ import annotations

import base64
import copy
import math
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self, TypeVar

from pytest_gta.benchmark.usage import Usage
from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.media_client import MediaClient
from pytest_gta.llm.model_error import ModelError
from pytest_gta.llm.retry import RetryPolicy
from pytest_gta.tools.tool import ToolFault
from pytest_gta.tools.web_search import SearchHits, SearchSettings, WebSearch

DEADLINE_S = 90.0
"""Seconds an answer may take, unless a call says otherwise."""
MAX_RECORDING_BYTES = 25 * 1024**2
"""The largest recording sent; OpenAI takes no larger one."""

T = TypeVar("T")


class ToolEndpoints:
    """What the user has set up for tools to ask; each of it may be missing.

    Every method raises `ToolFault` when what it needs is not set, saying what to set, and when no answer came, in one
    line without secrets. They block, and may be called from several threads.

    Args:
        vision: A chat model that takes pictures.
        speech: A model that writes down recordings.
        images: A model that makes and changes pictures.
        search: How the web is searched.
        retry: How often and how long to try again.
    """

    def __init__(
        self,
        vision: Endpoint | None = None,
        speech: Endpoint | None = None,
        images: Endpoint | None = None,
        search: SearchSettings | None = None,
        *,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.vision, self.speech, self.images = vision, speech, images
        self.search_settings = search or SearchSettings()
        self._retry = retry or RetryPolicy(attempts=4, rate_limited_attempts=8)
        self._search = WebSearch(self.search_settings)
        self._ends_at = math.inf
        self._meter = _Meter()

    @property
    def usage(self) -> Usage:
        """What all calls so far have used; the cost of pictures and transcripts is not known."""
        return self._meter.usage

    def until(self, ends_at: float) -> Self:
        """Return the same, with every answer due by then, on `time.monotonic`'s clock."""
        bound = copy.copy(self)
        bound._ends_at = ends_at
        return bound

    def describe(
        self, prompt: str, pictures: Sequence[tuple[bytes, str]], *, deadline_s: float = DEADLINE_S, room: int = 2_000
    ) -> str:
        """Return what the vision model answers.

        Args:
            prompt: What to ask.
            pictures: Each as its bytes and media type (``image/png``).
            deadline_s: Seconds it may take in all.
            room: Tokens the answer may have.
        """
        endpoint = self.vision
        if endpoint is None:
            raise ToolFault(_missing("a vision model", "vision"))
        parts = [{"type": "text", "text": prompt}, *(_picture_part(data, kind) for data, kind in pictures)]
        messages = [{"role": "user", "content": parts}]
        client = ChatClient(endpoint, retry=self._retry)
        try:
            reply = client.chat_blocking(messages, deadline_s=self._seconds(deadline_s), max_output_tokens=room)
        except ModelError as error:
            self._meter.book(error.usage)
            raise ToolFault(f"the vision model gave no answer: {error}") from None
        self._meter.book(reply.usage)
        if reply.refusal:
            raise ToolFault(f"the vision model declined: {reply.refusal.strip()[:500]}")
        text = _without_thoughts(reply.text).strip()
        if not text:
            raise ToolFault("the vision model's answer is empty")
        return text

    def transcribe(self, path: Path, *, deadline_s: float = DEADLINE_S) -> str:
        """Return what is said in a recording; "" when nothing is.

        Args:
            path: The file; its suffix tells the format.
            deadline_s: Seconds it may take in all.
        """
        if self.speech is None:
            raise ToolFault(_missing("a speech model", "speech"))
        path = Path(path)
        if path.stat().st_size > MAX_RECORDING_BYTES:
            raise ToolFault(f"the recording is larger than the {MAX_RECORDING_BYTES // 1024**2} MiB that can be sent")
        sound = path.read_bytes()
        return self._media(
            self.speech,
            "the speech model",
            lambda model, left_s: model.transcribe(path.name, sound, deadline_s=left_s),
            deadline_s,
        )

    def generate_image(self, prompt: str, size: str = "", *, deadline_s: float = DEADLINE_S) -> bytes:
        """Return a picture of what a text says, as the endpoint encodes it.

        Args:
            prompt: The text.
            size: ``"1024x1024"``; left to the endpoint when "" or when it refuses that size.
            deadline_s: Seconds it may take in all.
        """
        return self._picture(lambda model, left_s: model.generate_image(prompt, size, deadline_s=left_s), deadline_s)

    def edit_image(self, png: bytes, prompt: str, *, deadline_s: float = DEADLINE_S) -> bytes:
        """Return a picture changed as a text says, as the endpoint encodes it.

        Args:
            png: The picture, a PNG.
            prompt: What to change.
            deadline_s: Seconds it may take in all.
        """
        return self._picture(lambda model, left_s: model.edit_image(png, prompt, deadline_s=left_s), deadline_s)

    def search(self, query: str, k: int, *, deadline_s: float = 30.0) -> SearchHits:
        """Return what a search of the web found.

        Args:
            query: Search words.
            k: Results at most.
            deadline_s: Seconds it may take in all.
        """
        return self._search.find(query, k, deadline_s=self._seconds(deadline_s))

    def _picture(self, ask: Callable[[MediaClient, float], bytes], deadline_s: float) -> bytes:
        if self.images is None:
            raise ToolFault(_missing("an image model", "image"))
        return self._media(self.images, "the image model", ask, deadline_s)

    def _media(self, where: Endpoint, who: str, ask: Callable[[MediaClient, float], T], deadline_s: float) -> T:
        client = MediaClient(where, retry=self._retry)
        try:
            return ask(client, self._seconds(deadline_s))
        except ModelError as error:
            raise ToolFault(f"{who} gave no answer: {error}") from None
        finally:
            self._meter.book(client.usage)

    def _seconds(self, deadline_s: float) -> float:
        return max(0.0, min(deadline_s, self._ends_at - time.monotonic()))


class _Meter:
    """Usage added up over threads."""

    def __init__(self) -> None:
        self.usage = Usage()
        self._lock = threading.Lock()

    def book(self, usage: Usage) -> None:
        with self._lock:
            self.usage += usage


def _missing(what: str, name: str) -> str:
    upper = name.upper()
    return (
        f"it needs {what} and none is set up: set --gta-{name}-model (GTA_{upper}_MODEL) and, for a server other than "
        f"OpenAI, --gta-{name}-base-url (GTA_{upper}_BASE_URL); the key is read from GTA_{upper}_API_KEY, else from "
        "OPENAI_API_KEY. This cannot be changed from within a task: go on without this tool"
    )


def _picture_part(data: bytes, media_type: str) -> dict[str, object]:
    encoded = base64.b64encode(data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{encoded}"}}


def _without_thoughts(text: str) -> str:
    """Return what follows a reasoning model's thoughts, which some servers leave in the answer."""
    return text.rpartition("</think>")[2] if "</think>" in text else text
