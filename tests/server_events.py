"""What the local OpenAI server sends to a client that asks for a stream: the whole answer, as events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

MEDIA_TYPE = "text/event-stream"


def streamed(body: Mapping[str, Any], *, is_response: bool) -> bytes:
    """Return a completion (or an answer of the Responses API) as the events of a stream."""
    events = _of_response(body) if is_response else _of_completion(body)
    return b"".join(events)


def _of_completion(body: Mapping[str, Any]) -> Iterable[bytes]:
    choice = body["choices"][0]
    message = choice["message"]
    shared = {**{name: body[name] for name in ("id", "created", "model")}, "object": "chat.completion.chunk"}
    calls = [{"index": i, **call} for i, call in enumerate(message.get("tool_calls") or [])]
    delta = {"role": "assistant", "content": message["content"], **({"tool_calls": calls} if calls else {})}
    yield _event({**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _event({**shared, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    yield _event({**shared, "choices": [], "usage": body.get("usage")})
    yield b"data: [DONE]\n\n"


def _of_response(body: Mapping[str, Any]) -> Iterable[bytes]:
    yield _event({"type": "response.created", "response": {**body, "status": "in_progress", "output": []}})
    for index, item in enumerate(body["output"]):
        yield _event({"type": "response.output_item.added", "output_index": index, "item": item})
        yield _event({"type": "response.output_item.done", "output_index": index, "item": item})
    yield _event({"type": "response.completed", "response": body})


def _event(value: Mapping[str, Any]) -> bytes:
    kind = f"event: {value['type']}\n" if "type" in value else ""
    return f"{kind}data: {json.dumps(value)}\n\n".encode()
