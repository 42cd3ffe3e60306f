"""By which interface a judge is asked: Chat Completions, or the Responses API with pictures uploaded once a task.

Sent inline, a task's pictures travel with each of its questions; from the endpoint's file store they travel once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.model_error import ModelError, ModelErrorKind
from pytest_gta.llm.reply import Reply
from pytest_gta.llm.responses_client import ResponsesClient
from pytest_gta.llm.run_control import RunControl

UPLOAD_S = 60.0
"""Seconds for one upload."""
_AT_ONCE = 4
_MARK = "judge-api-"


class JudgeApi(StrEnum):
    """Which interface is used."""

    AUTO = "auto"
    """Responses when there are pictures and the endpoint stores them, else Chat Completions."""
    RESPONSES = "responses"
    CHAT = "chat"


class _Memory:
    """What an endpoint turned out to have, for all tasks of the process."""

    def __init__(self) -> None:
        self.stores = True
        self.responds = True
        self.answered = False


@cache
def _memory_of(base_url: str | None, model: str) -> _Memory:
    return _Memory()


class Transport:
    """How the questions about one task travel; made for a task, opened before its first question, closed after all.

    Args:
        client: The judge's client of Chat Completions.
        control: What all processes of the run share; it is noted there which interface was used.
        api: Which one is wanted.
    """

    def __init__(self, client: ChatClient, control: RunControl | None, api: JudgeApi) -> None:
        self._chat, self._control, self._api = client, control, api
        self._memory = _memory_of(client.endpoint.base_url, client.endpoint.model)
        self._store: ResponsesClient | None = None
        self._responses: ResponsesClient | None = None
        self._noted: set[JudgeApi] = set()

    async def open(self, messages: Sequence[dict[str, Any]]) -> None:
        """Upload the pictures of a task's prompt where that can be done; what cannot be uploaded stays inline."""
        if self._api is JudgeApi.CHAT:
            return
        pictures = list(dict.fromkeys(_pictures(messages)))
        forced = self._api is JudgeApi.RESPONSES
        if not forced and (not pictures or not self._memory.stores or not self._memory.responds):
            return
        client = self._store = self._chat.with_interface(ResponsesClient)
        if pictures and self._memory.stores:
            # The first alone: an endpoint without a store is asked once, not once a picture.
            stored = await client.upload(pictures[0], deadline_s=UPLOAD_S)
            if stored:
                await self._upload(client, pictures[1:])
            else:
                self._memory.stores = False
        if forced or client.files:
            self._responses = client

    async def chat(self, messages: Sequence[dict[str, Any]], **settings: Any) -> Reply:
        """Ask for one reply, as `ChatClient.chat` does.

        Raises:
            ModelError: When there is none.
        """
        client = self._responses
        if client is None:
            self._note(JudgeApi.CHAT)
            return await self._chat.chat(messages, **settings)
        try:
            reply = await client.chat(messages, **settings)
        except ModelError as error:
            known = self._memory.answered or self._api is JudgeApi.RESPONSES
            if known or error.kind is not ModelErrorKind.BAD_REQUEST:
                raise
            # It stores files, but does not speak Responses (or not with them): remembered for all tasks.
            self._memory.responds = False
            self._responses = None
            return await self.chat(messages, **settings)
        self._memory.answered = True
        self._note(JudgeApi.RESPONSES)
        return reply

    async def close(self) -> None:
        """Remove the task's pictures from the endpoint's store."""
        if self._store is not None:
            await self._store.forget()

    async def _upload(self, client: ResponsesClient, pictures: Sequence[str]) -> None:
        gate = asyncio.Semaphore(_AT_ONCE)

        async def one(picture: str) -> None:
            async with gate:
                await client.upload(picture, deadline_s=UPLOAD_S)

        await asyncio.gather(*(one(picture) for picture in pictures))

    def _note(self, api: JudgeApi) -> None:
        if self._control is not None and api not in self._noted:
            self._noted.add(api)
            (self._control.folder / f"{_MARK}{api.value}").touch()


def interfaces_used(control: Path) -> str:
    """Return which interfaces a run's judges were asked by: ``chat``, ``responses``, ``chat and responses``, or "".

    Args:
        control: The folder of the run's `RunControl`.
    """
    return " and ".join(sorted(path.name.removeprefix(_MARK) for path in control.glob(f"{_MARK}*")))


def _pictures(messages: Sequence[dict[str, Any]]) -> Iterator[str]:
    for message in messages:
        for part in message["content"] if isinstance(message["content"], list) else ():
            if part.get("type") == "image_url":
                yield part["image_url"]["url"]
