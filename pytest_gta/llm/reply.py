"""What a model answered."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from pytest_gta.benchmark.usage import Tokens, Usage


@dataclass(frozen=True)
class ToolCall:
    """One call a model asks for.

    Attributes:
        id: What the answer must refer to; unique within the conversation's turn.
        name: The tool; may be one that does not exist.
        arguments: The raw text the model wrote; may be anything.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Reply:
    """A model's answer.

    Attributes:
        text: What it wrote; "" when it only calls tools or refuses.
        tool_calls: In the order it wrote them.
        finish_reason: As the endpoint says: ``stop``, ``length``, ``tool_calls``, ``content_filter``, ...
        refusal: The endpoint's words when the model or a filter declined; None otherwise.
        usage: What all attempts used.
        message: The assistant message to append to the history.
        waited_s: Seconds spent waiting to retry, which were not the model's.
    """

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    refusal: str | None
    usage: Usage
    message: dict[str, Any] = field(repr=False)
    waited_s: float = 0.0


class NotAReply(ValueError):
    """A body that holds no chat completion."""


def read_reply(body: Any, usage: Usage) -> Reply:
    """Read a chat completion as loosely as servers write it.

    Args:
        body: The parsed body.
        usage: What all attempts used, this one included.

    Raises:
        NotAReply: When there is no message in it.
    """
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise NotAReply("the answer holds no message")
    text = _text(message.get("content"))
    refusal = message.get("refusal")
    finish = choice.get("finish_reason") or "stop"
    calls, raw_calls = _tool_calls(message.get("tool_calls"))
    if not isinstance(refusal, str) or not refusal:
        refusal = (text or "stopped by the endpoint's content filter") if finish == "content_filter" else None
    return Reply(
        text=text,
        tool_calls=calls,
        finish_reason=str(finish),
        refusal=refusal,
        usage=usage,
        message=_history_message(message, text, raw_calls),
    )


def read_tokens(body: Any) -> tuple[Tokens, int] | None:
    """Return the tokens an answer reports and how many of them were hidden reasoning; None when it reports none."""
    used = body.get("usage") if isinstance(body, dict) else None
    if not isinstance(used, dict) or "prompt_tokens" not in used:
        return None
    read = used.get("prompt_tokens_details") or {}
    written = used.get("completion_tokens_details") or {}
    cached = read.get("cached_tokens") if isinstance(read, dict) else None
    cached = cached or used.get("prompt_cache_hit_tokens")  # DeepSeek's name for it
    reasoning = written.get("reasoning_tokens") if isinstance(written, dict) else None
    tokens = Tokens(
        input=_count(used.get("prompt_tokens")), cached=_count(cached), output=_count(used.get("completion_tokens"))
    )
    return tokens, _count(reasoning)


def _count(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) and 0 <= value < 1e12 else 0


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # parts; only those of type text are the answer
        return "".join(p["text"] for p in content if isinstance(p, dict) and isinstance(p.get("text"), str))
    return ""


def _tool_calls(raw: Any) -> tuple[tuple[ToolCall, ...], list[dict[str, Any]]]:
    """Return the calls as values and as messages: every one with an id of its own and arguments as text."""
    calls: list[ToolCall] = []
    kept: list[dict[str, Any]] = []
    seen: set[str] = set()
    for entry in raw if isinstance(raw, list) else []:
        function = entry.get("function") if isinstance(entry, dict) else None
        if not isinstance(function, dict):
            continue
        given = function.get("arguments")
        arguments = given if isinstance(given, str) else json.dumps({} if given is None else given)
        call_id = _string(entry.get("id"))
        if not call_id or call_id in seen:
            call_id = f"{call_id or 'call'}_{len(calls)}"
        seen.add(call_id)
        name = _string(function.get("name"))
        calls.append(ToolCall(call_id, name, arguments))
        # The entry's other fields stay: some providers sign their calls and want the signature back.
        kept.append({**entry, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}})
    return tuple(calls), kept


def _history_message(message: dict[str, Any], text: str, raw_calls: list[dict[str, Any]]) -> dict[str, Any]:
    kept: dict[str, Any] = {"role": "assistant", "content": text or (None if raw_calls else "")}
    if raw_calls:
        kept["tool_calls"] = raw_calls
        # Reasoning models that call tools want their reasoning back while the turn lasts; elsewhere it is rejected.
        kept |= {k: message[k] for k in ("reasoning_content", "reasoning_details") if message.get(k)}
    if isinstance(message.get("refusal"), str) and message["refusal"] and not text:
        kept["content"] = message["refusal"]
    return kept
