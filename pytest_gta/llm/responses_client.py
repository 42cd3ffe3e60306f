"""A client of the Responses API that is asked and answers as `ChatClient` does, with pictures from the file store.

A conversation in the chat API's form is translated on its way out, the reply on its way in; deadlines, retries,
adaptation, usage and price are those of `ChatClient`.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from pytest_gta.benchmark.usage import Usage
from pytest_gta.llm.api_fault import ApiFault, no_answer, read_fault
from pytest_gta.llm.capabilities import Capabilities, capabilities_of
from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.connection import connection
from pytest_gta.llm.endpoint_client import Progress
from pytest_gta.llm.reply import Reply

_LIFETIME_S = 24 * 3600
"""After this an endpoint removes a file by itself, should this program not come to do it."""
_DELETE_S = 10.0
_NAMES = {"max_output_tokens": "max_completion_tokens", "text": "response_format", "text.format": "response_format"}
"""Fields of this API, and what they are called in the chat API."""


class ResponsesClient(ChatClient):
    """Talks to one endpoint by the Responses API. Tools are not offered through it."""

    @cached_property
    def _capabilities(self) -> Capabilities:
        # What one of an endpoint's interfaces accepts says little about the other.
        return capabilities_of(f"{self.endpoint.base_url or ''} responses", self.endpoint.model, False)

    @cached_property
    def files(self) -> dict[str, str]:
        """Files in the endpoint's store, by the ``data:`` address that stands for each in a conversation.

        A picture that is among them is not sent again.
        """
        return {}

    async def upload(self, address: str, *, deadline_s: float) -> bool:
        """Put a picture into the endpoint's file store, unless it is there.

        Nothing is retried and nothing raised: a picture that cannot be stored is sent with each question instead.

        Args:
            address: The picture as a ``data:`` address.
            deadline_s: Seconds it may take.

        Returns:
            Whether it is there now.
        """
        if address in self.files:
            return True
        head, _, data = address.partition(",")
        media_type = head.removeprefix("data:").partition(";")[0]
        name = f"picture.{media_type.rpartition('/')[2] or 'png'}"
        given = (name, base64.b64decode(data), media_type)
        for more in ({"expires_after": {"anchor": "created_at", "seconds": _LIFETIME_S}}, {}):
            number = await self._store(given, more, deadline_s)
            if number:
                self.files[address] = number
                return True
        return False

    async def _store(self, file: tuple[str, bytes, str], more: Mapping[str, Any], deadline_s: float) -> str:
        import openai

        try:
            async with asyncio.timeout(deadline_s):
                files = connection(self.endpoint).files.with_raw_response
                raw = await files.create(file=file, purpose="vision", **more)
                body = json.loads(raw.http_response.content)
        except (openai.OpenAIError, TimeoutError, ValueError):
            return ""
        number = body.get("id") if isinstance(body, dict) else None
        return number if isinstance(number, str) else ""

    async def forget(self) -> None:
        """Remove from the file store what this client put there; what cannot be removed expires."""
        import openai

        async def remove(number: str) -> None:
            try:
                async with asyncio.timeout(_DELETE_S):
                    await connection(self.endpoint).files.with_raw_response.delete(number)
            except (openai.OpenAIError, TimeoutError):
                return

        numbers = list(self.files.values())
        self.files.clear()
        await asyncio.gather(*(remove(number) for number in numbers))

    async def _send(
        self, messages: list[dict[str, Any]], sent: dict[str, Any], progress: Progress
    ) -> ApiFault | tuple[Reply, int]:
        import openai

        progress.usage += Usage(calls=1)
        body = _request(messages, sent, self.files)
        try:
            raw = await connection(self.endpoint).responses.with_raw_response.create(
                model=self.endpoint.model, input="", extra_body=body
            )
        except openai.APIStatusError as error:
            fault = read_fault(error.status_code, error.response.content, error.response.headers)
            return replace(fault, param=_NAMES.get(fault.param, fault.param))
        except openai.APIConnectionError as error:
            return no_answer(error)
        content = raw.http_response.content
        # What is no such reply is said where all replies are read.
        with contextlib.suppress(ValueError, TypeError, AttributeError):
            content = json.dumps(_completion(json.loads(content))).encode()
        return self._read(content, raw.http_response.headers, progress)


def _request(
    messages: Sequence[Mapping[str, Any]], sent: Mapping[str, Any], files: Mapping[str, str]
) -> dict[str, Any]:
    """Return the fields of a Responses request for a chat request."""
    body: dict[str, Any] = {
        "input": [{"role": m["role"], "content": [*_parts(m["content"], files)]} for m in messages],
        # Graded work is not to stay with the provider longer than its answer takes.
        "store": False,
    }
    for name, value in sent.items():
        if name in ("max_completion_tokens", "max_tokens"):
            body["max_output_tokens"] = value
        elif name == "response_format":
            wanted = value.get("json_schema", {})
            body["text"] = {"format": {"type": value["type"], **wanted}}
        elif name != "model":
            body[name] = value
    return body


def _parts(content: Any, files: Mapping[str, str]) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "input_text", "text": content}]
    parts = []
    for part in content:
        if part["type"] == "text":
            parts.append({"type": "input_text", "text": part["text"]})
            continue
        address = part["image_url"]["url"]
        stored = files.get(address)
        parts.append({"type": "input_image", **({"file_id": stored} if stored else {"image_url": address})})
    return parts


def _completion(body: dict[str, Any]) -> dict[str, Any]:
    """Return a Responses reply as a chat completion; anything else as it is."""
    if not isinstance(body.get("output"), list):
        return body
    texts: list[str] = []
    refusals: list[str] = []
    for item in body["output"]:
        for part in (item.get("content") or ()) if item.get("type") == "message" else ():
            if part.get("type") == "output_text":
                texts.append(str(part.get("text") or ""))
            elif part.get("type") == "refusal":
                refusals.append(str(part.get("refusal") or ""))
    message = {"role": "assistant", "content": "".join(texts), "refusal": " ".join(refusals) or None}
    reason = str((body.get("incomplete_details") or {}).get("reason"))
    finish = {"max_output_tokens": "length", "content_filter": "content_filter"}.get(reason, "stop")
    completion: dict[str, Any] = {"choices": [{"message": message, "finish_reason": finish}]}
    if body.get("status") == "failed":
        completion = {"error": body.get("error") or {"message": "the response failed"}}
    used = body.get("usage")
    if isinstance(used, dict) and "input_tokens" in used:
        completion["usage"] = {
            "prompt_tokens": used["input_tokens"],
            "completion_tokens": used.get("output_tokens"),
            "prompt_tokens_details": used.get("input_tokens_details"),
            "completion_tokens_details": used.get("output_tokens_details"),
        }
    return completion
