"""The client of OpenAI-compatible endpoints that make pictures or write down speech."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pytest_gta.benchmark.usage import Usage
from pytest_gta.llm.api_fault import ApiFault, no_answer, read_fault
from pytest_gta.llm.connection import connection
from pytest_gta.llm.endpoint_client import EndpointClient, Progress
from pytest_gta.llm.event_loop import EventLoopThread
from pytest_gta.llm.http_request import fetch
from pytest_gta.llm.model_error import ModelErrorKind

MAX_PICTURE_BYTES = 64 * 1024**2
"""The largest picture taken from an endpoint."""
_ANY_SIZE = "auto"

_Send = Callable[[], Awaitable[Any]]

T = TypeVar("T")


class MediaClient(EndpointClient):
    """Asks for pictures and transcripts, with the same deadlines, retries and clean errors as `ChatClient`.

    Its calls block; they run on the process's background event loop. `usage` adds up what they took: what such calls
    cost is not known.
    """

    usage: Usage = Usage()

    def generate_image(self, prompt: str, size: str, *, deadline_s: float) -> bytes:
        """Return a picture of what a text says, as the endpoint encodes it.

        Args:
            prompt: The text.
            size: ``"1024x1024"``, or "" to leave it to the endpoint, which is also done when it refuses that size.
            deadline_s: Seconds until the picture must be there, all attempts and waits included.

        Raises:
            ModelError: When there is none.
        """
        sizes = [size, _ANY_SIZE] if size and size != _ANY_SIZE else [_ANY_SIZE]

        async def send() -> Any:
            more: dict[str, Any] = {} if sizes[0] == _ANY_SIZE else {"size": sizes[0]}
            images = connection(self.endpoint).images.with_raw_response
            return await images.generate(model=self.endpoint.model, prompt=prompt, **more)

        def adapt(fault: ApiFault) -> bool:
            refused = len(sizes) > 1 and "size" in f"{fault.param} {fault.message}".lower()
            return refused and sizes.pop(0) is not None

        return EventLoopThread.shared().run(self._picture(send, adapt, deadline_s))

    def edit_image(self, png: bytes, prompt: str, *, deadline_s: float) -> bytes:
        """Return a picture changed as a text says, as the endpoint encodes it.

        Args:
            png: The picture, a PNG.
            prompt: What to change.
            deadline_s: Seconds until the picture must be there, all attempts and waits included.

        Raises:
            ModelError: When there is none.
        """

        async def send() -> Any:
            images = connection(self.endpoint).images.with_raw_response
            return await images.edit(model=self.endpoint.model, image=("image.png", png, "image/png"), prompt=prompt)

        return EventLoopThread.shared().run(self._picture(send, lambda _: False, deadline_s))

    def transcribe(self, name: str, sound: bytes, *, deadline_s: float) -> str:
        """Return what is said in a recording.

        Args:
            name: The file's name; its suffix tells the format.
            sound: The file.
            deadline_s: Seconds until the text must be there, all attempts and waits included.

        Raises:
            ModelError: When there is none.
        """

        async def send() -> Any:
            transcriptions = connection(self.endpoint).audio.transcriptions.with_raw_response
            return await transcriptions.create(model=self.endpoint.model, file=(name, sound))

        def read(answer: Any) -> str:
            text = answer.get("text") if isinstance(answer, dict) else answer
            if not isinstance(text, str):
                raise ValueError("it holds no text")
            return text.strip()

        return EventLoopThread.shared().run(self._within(self._ask(send, read, lambda _: False), deadline_s))

    async def _picture(self, send: _Send, adapt: Callable[[ApiFault], bool], deadline_s: float) -> bytes:
        async def fetch(progress: Progress) -> bytes:
            found = await self._ask(send, _picture_in, adapt)(progress)
            return found if isinstance(found, bytes) else await self._download(found, progress)

        return await self._within(fetch, deadline_s)

    async def _within(self, work: Callable[[Progress], Awaitable[T]], deadline_s: float) -> T:
        progress = Progress(deadline=time.monotonic() + deadline_s)
        try:
            async with asyncio.timeout(max(0.0, deadline_s)):
                return await work(progress)
        except TimeoutError:
            raise self._timed_out(deadline_s, progress) from None
        finally:
            self.usage += progress.usage

    def _ask(
        self, send: _Send, read: Callable[[Any], T], adapt: Callable[[ApiFault], bool]
    ) -> Callable[[Progress], Awaitable[T]]:
        """Return what sends a request until it has an answer that can be read."""

        async def ask(progress: Progress) -> T:
            while True:
                await self._hold(progress)
                answer = await self._send(send, progress)
                if not isinstance(answer, ApiFault):
                    try:
                        return read(answer)
                    except ValueError as error:
                        answer = ApiFault(200, ModelErrorKind.BAD_REPLY, True, f"answered 200, but {error}")
                elif answer.refusal:
                    raise self._error(answer.kind, f"declined: {self._words(answer)}", progress)
                elif answer.kind is ModelErrorKind.BAD_REQUEST and adapt(answer):
                    continue
                await self._back_off(answer, progress)

        return ask

    async def _send(self, send: _Send, progress: Progress) -> Any:
        """Send one request; return its parsed answer, or what went wrong."""
        import openai

        progress.usage += Usage(calls=1, cost_usd=None)
        try:
            raw = await send()
        except openai.APIStatusError as error:
            return read_fault(error.status_code, error.response.content, error.response.headers)
        except openai.APIConnectionError as error:
            return no_answer(error)
        content, headers = raw.http_response.content, raw.http_response.headers
        kind = headers.get("content-type", "").split(";")[0]
        if kind == "text/plain":  # some servers write down speech without wrapping it
            return content.decode("utf-8", "replace")
        try:
            answer = json.loads(content)
        except ValueError:
            hint = "" if "json" in kind else "; the base URL usually ends in /v1"
            said = f"answered 200 with {kind or 'nothing'} that is not JSON{hint}"
            return ApiFault(200, ModelErrorKind.BAD_REPLY, True, said)
        inner = answer.get("error") if isinstance(answer, dict) else None
        if inner:  # some gateways wrap a failure in a success
            code = inner.get("code") if isinstance(inner, dict) else None
            return read_fault(code if isinstance(code, int) and code >= 400 else 502, content, headers)
        return answer

    async def _download(self, url: str, progress: Progress) -> bytes:
        """Fetch a picture the endpoint answered the address of; the key stays here."""
        left = max(1.0, progress.deadline - time.monotonic())
        try:
            answer = await asyncio.to_thread(fetch, url, timeout_s=left, most_bytes=MAX_PICTURE_BYTES, redirects=True)
            if answer.status != 200:
                raise ValueError(f"its address answered {answer.status}")
            return answer.body
        except (OSError, ValueError) as error:
            words = f"the picture it made cannot be fetched: {error}"
            raise self._error(ModelErrorKind.UNAVAILABLE, words, progress) from None


def _picture_in(answer: Any) -> bytes | str:
    """Return the first picture of an answer, or its address."""
    data = answer.get("data") if isinstance(answer, Mapping) else None
    first = data[0] if isinstance(data, list) and data else None
    if not isinstance(first, Mapping):
        raise ValueError("it holds no picture")
    encoded, url = first.get("b64_json"), first.get("url")
    if isinstance(url, str) and url.startswith("data:"):
        encoded = url.partition(",")[2]
    if isinstance(encoded, str) and encoded:
        try:
            return base64.b64decode(encoded, validate=True)
        except binascii.Error:
            raise ValueError("the picture in it is not base64") from None
    if isinstance(url, str) and urlsplit(url).scheme in ("http", "https"):
        return url
    raise ValueError("it holds no picture")
