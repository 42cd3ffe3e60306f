"""The one client of OpenAI-compatible chat endpoints."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from pydantic import BaseModel

from pytest_gta.benchmark.usage import Tokens, Usage
from pytest_gta.llm.api_fault import ApiFault, no_answer, read_fault
from pytest_gta.llm.capabilities import Capabilities, capabilities_of
from pytest_gta.llm.connection import connection
from pytest_gta.llm.emulated_tools import call_schema, in_plain_text, with_calls
from pytest_gta.llm.endpoint_client import EndpointClient, Progress
from pytest_gta.llm.event_loop import EventLoopThread
from pytest_gta.llm.json_schema import in_words, response_format, schema_of
from pytest_gta.llm.model_error import ModelErrorKind
from pytest_gta.llm.pricing import price
from pytest_gta.llm.redaction import one_line
from pytest_gta.llm.reply import NotAReply, Reply, read_reply, read_tokens

Client = TypeVar("Client", bound="ChatClient")

_GROWTH = 4
"""How much more room a reply gets that its output limit cut off."""


@dataclass(frozen=True)
class _Request:
    messages: Sequence[dict[str, Any]]
    tools: list[dict[str, Any]] | None
    schema: type[BaseModel] | None
    temperature: float | None
    max_output_tokens: int | None
    extra: Mapping[str, Any]


class ChatClient(EndpointClient):
    """Talks to one endpoint: deadlines, retries, adaptation, usage and price are decided here and nowhere else.

    Slots of the run are the caller's: ``async with control.slot(): await client.chat(...)``.
    """

    @cached_property
    def _capabilities(self) -> Capabilities:
        return capabilities_of(self.endpoint.base_url, self.endpoint.model, self.endpoint.native_tools)

    @property
    def adaptations(self) -> tuple[str, ...]:
        """What is not sent, or sent otherwise, because the endpoint rejected it; a sentence each."""
        return self._capabilities.notes

    def with_interface(self, kind: type[Client]) -> Client:
        """Return a client of the same endpoint by another of its interfaces, with the same control and retries."""
        return kind(self.endpoint, control=self._control, on_wait=self._on_wait, retry=self._retry)

    def chat_blocking(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        tools: list[dict[str, Any]] | None = None,
        schema: type[BaseModel] | None = None,
        deadline_s: float,
        temperature: float | None = None,
        max_output_tokens: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Do what `chat` does from code that is not asynchronous, on the process's background event loop."""
        return EventLoopThread.shared().run(
            self.chat(
                messages,
                tools=tools,
                schema=schema,
                deadline_s=deadline_s,
                temperature=temperature,
                max_output_tokens=max_output_tokens,
                extra=extra,
            )
        )

    async def chat(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        tools: list[dict[str, Any]] | None = None,
        schema: type[BaseModel] | None = None,
        deadline_s: float,
        temperature: float | None = None,
        max_output_tokens: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Ask for one reply.

        Args:
            messages: The conversation in the chat API's own form.
            tools: Tools on offer, as ``{"type": "function", "function": {...}}``.
            schema: What the reply's text must be the JSON of. The reply is held to it as far as the endpoint can;
                the text is still the caller's to validate.
            deadline_s: Seconds until an answer must be there whole, all attempts and waits included.
            temperature: Left to the endpoint when None.
            max_output_tokens: Room for the reply, hidden reasoning included; left to the endpoint when None. A reply
                cut off before it says anything (or, with a schema, before it is whole) is asked for again with more.
            extra: Further fields of the request that only this endpoint knows.

        Raises:
            ModelError: When there is no reply; `kind` says why, `usage` what it took.
        """
        request = _Request(messages, tools or None, schema, temperature, max_output_tokens, extra or {})
        progress = Progress(deadline=time.monotonic() + deadline_s)
        try:
            async with asyncio.timeout(max(0.0, deadline_s)):
                return await self._converse(request, progress)
        except TimeoutError:
            raise self._timed_out(deadline_s, progress) from None

    async def _converse(self, request: _Request, progress: Progress) -> Reply:
        room, widened = request.max_output_tokens, 0
        while True:
            await self._hold(progress)
            sent = self._parameters(request, room)
            answer = await self._within_limit(self._send(self._messages(request, sent), sent, progress), progress)
            if isinstance(answer, ApiFault):
                if answer.refusal:
                    return _refused(answer, progress)
                if answer.kind is ModelErrorKind.CONTEXT_EXCEEDED:
                    if room is not None and answer.blames_output:
                        room = None
                        continue
                elif self._capabilities.learn(answer, sent):
                    continue
                await self._back_off(answer, progress)
                continue
            reply, reasoning = answer
            if reply.finish_reason == "length" and not _whole(reply, request):
                if room is not None and widened < self._retry.more_room:
                    room, widened = room * _GROWTH, widened + 1
                    self._say(f"asking again with room for {room} tokens: the reply was cut off")
                    continue
                raise self._error(ModelErrorKind.BAD_REPLY, _cut_off(reply, reasoning, room), progress)
            emulated = request.tools is not None and "tools" not in sent
            return replace(with_calls(reply) if emulated else reply, waited_s=progress.waited_s)

    def _parameters(self, request: _Request, room: int | None) -> dict[str, Any]:
        """Return the request without its messages, in the form the endpoint is known to accept."""
        known = self._capabilities
        sent: dict[str, Any] = {"model": self.endpoint.model, **request.extra}
        if not known.stop:
            sent.pop("stop", None)
        if request.temperature is not None and known.temperature:
            sent["temperature"] = request.temperature
        if room is not None and known.limit:
            sent[known.limit] = room
        if request.tools and known.native_tools:
            sent["tools"] = request.tools
        wanted = self._wanted_json(request)
        if wanted is not None and known.format != "text":
            name, schema = wanted
            # A choice between objects is beyond what strict endpoints accept at the top.
            strict = known.format == "json_schema" and "anyOf" not in schema
            sent["response_format"] = (
                {"type": "json_object"}
                if known.format == "json_object"
                else response_format(name, schema, strict=strict)
            )
        return sent

    def _messages(self, request: _Request, sent: dict[str, Any]) -> list[dict[str, Any]]:
        messages = list(request.messages)
        if request.tools and "tools" not in sent:
            return in_plain_text(messages, request.tools)
        wanted = self._wanted_json(request)
        if wanted is not None and sent.get("response_format", {}).get("type") != "json_schema":
            messages.append({"role": "user", "content": in_words(wanted[1])})
        return messages

    def _wanted_json(self, request: _Request) -> tuple[str, dict[str, Any]] | None:
        if request.tools and not self._capabilities.native_tools:
            return "next_step", call_schema(request.tools)
        return (request.schema.__name__, schema_of(request.schema)) if request.schema is not None else None

    async def _send(
        self, messages: list[dict[str, Any]], sent: dict[str, Any], progress: Progress
    ) -> ApiFault | tuple[Reply, int]:
        """Send one request; return the reply and its hidden reasoning tokens, or what went wrong."""
        import openai

        progress.usage += Usage(calls=1)
        body = {key: value for key, value in sent.items() if key != "model"}
        try:
            raw = await connection(self.endpoint).chat.completions.with_raw_response.create(
                # The library would walk through every message to transform what needs no transforming.
                messages=[],
                model=self.endpoint.model,
                extra_body={"messages": messages, **body},
            )
        except openai.APIStatusError as error:
            return read_fault(error.status_code, error.response.content, error.response.headers)
        except openai.APIConnectionError as error:
            return no_answer(error)
        return self._read(raw.http_response.content, raw.http_response.headers, progress)

    def _read(self, content: bytes, headers: Mapping[str, str], progress: Progress) -> ApiFault | tuple[Reply, int]:
        try:
            body = json.loads(content)
        except ValueError:
            kind = headers.get("content-type", "").split(";")[0] or "nothing"
            hint = "" if "json" in kind else "; the base URL usually ends in /v1"
            return ApiFault(200, ModelErrorKind.BAD_REPLY, True, f"answered 200 with {kind} that is not JSON{hint}")
        reported = read_tokens(body)
        tokens, reasoning = reported or (Tokens(), 0)
        cost = price(self.endpoint, tokens) if reported else None
        used = Usage(tokens=tokens, cost_usd=cost)
        progress.usage += used
        if self._control is not None:
            self._control.ledger.add(used)
        try:
            return read_reply(body, progress.usage), reasoning
        except NotAReply as error:
            inner = body.get("error") if isinstance(body, dict) else None
            if inner:  # some gateways wrap a failure in a success
                code = inner.get("code") if isinstance(inner, dict) else None
                return read_fault(code if isinstance(code, int) and code >= 400 else 502, content, headers)
            return ApiFault(200, ModelErrorKind.BAD_REPLY, True, f"answered 200, but {error}")


def _whole(reply: Reply, request: _Request) -> bool:
    """Whether a reply that met its output limit still says what was asked for."""
    if reply.tool_calls or reply.refusal:
        return True
    if request.schema is None or request.tools:
        return bool(reply.text.strip())
    try:
        json.loads(reply.text)
    except ValueError:
        return False
    return True


def _cut_off(reply: Reply, reasoning: int, room: int | None) -> str:
    limit = f"the output limit of {room} tokens" if room else "the endpoint's output limit"
    if reply.text.strip():
        return f"the reply was truncated by {limit}"
    spent = f" ({reasoning} tokens of hidden reasoning)" if reasoning else ""
    return f"the reply is empty: {limit} was used up before the model wrote anything{spent}"


def _refused(fault: ApiFault, progress: Progress) -> Reply:
    said = one_line(fault.message)
    return Reply(
        text="",
        tool_calls=(),
        finish_reason="content_filter",
        refusal=said,
        usage=progress.usage,
        message={"role": "assistant", "content": said},
        waited_s=progress.waited_s,
    )
