"""Tool calls for models without them: tools offered in words, calls read from a JSON reply held to a schema.

The caller sees ordinary `ToolCall`s and keeps an ordinary history; it is rewritten to plain text on the way out.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytest_gta.llm.reply import Reply, ToolCall

_TEXT_KINDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}


def call_schema(tools: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of a reply: a call of one of the tools with its own arguments, or the final answer."""
    choices = [
        {
            "type": "object",
            "properties": {
                "tool": {"type": "string", "enum": [function["name"]]},
                "arguments": function.get("parameters") or {"type": "object"},
            },
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
        for function in (tool["function"] for tool in tools)
    ]
    answer = {
        "type": "object",
        "properties": {"final_answer": {"type": "string"}},
        "required": ["final_answer"],
        "additionalProperties": False,
    }
    return {"anyOf": [*choices, answer]}


def in_plain_text(messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the history without tool messages: calls as the JSON the model writes, results as user messages.

    Neighbouring messages of one role are joined, since many chat templates want the roles to alternate; the tools are
    described at the end of the system message, so that the prompt's beginning stays the same from turn to turn.
    """
    names: dict[str, str] = {}
    plain: list[dict[str, Any]] = [{"role": "system", "content": ""}]
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if role == "developer":
            role = "system"
        if role == "assistant":
            calls = [call["function"] for call in message.get("tool_calls") or []]
            names |= {c["id"]: c["function"]["name"] for c in message.get("tool_calls") or []}
            written = [f'{{"tool":{json.dumps(c["name"])},"arguments":{c["arguments"] or "{}"}}}' for c in calls]
            said = [content] if isinstance(content, str) and content else []
            content = "\n".join(said + written)
        elif role == "tool":
            name = names.get(message.get("tool_call_id", ""), "the tool")
            role, content = "user", _join(f"Result of {name}:", content)
        if role == plain[-1]["role"]:
            plain[-1] = {
                "role": role,
                "content": _join(plain[-1]["content"], content) if plain[-1]["content"] else content,
            }
        else:
            plain.append({"role": role, "content": content})
    plain[0] = {"role": "system", "content": _join(plain[0]["content"], describe(tools))}
    return plain


def describe(tools: Sequence[dict[str, Any]]) -> str:
    """Return what a model must know to call the tools, a line each."""
    lines = ["You act by calling tools, one at a time:"]
    for function in (tool["function"] for tool in tools):
        parameters = function.get("parameters") or {}
        required = parameters.get("required", ())
        shown = ", ".join(
            f"{name}{'' if name in required else '?'}: {_kind(kind)}"
            for name, kind in parameters.get("properties", {}).items()
        )
        lines.append(f"- {function['name']}({shown}): {' '.join(function.get('description', '').split())}")
    lines.append(
        'Reply with one JSON object and nothing else: {"tool": NAME, "arguments": {...}} to call a tool, '
        'or {"final_answer": TEXT} when the work is done.'
    )
    return "\n".join(lines)


def with_calls(reply: Reply) -> Reply:
    """Return the reply with the call or the final answer its text holds; as it is when the text holds neither."""
    found = _object_in(reply.text)
    if found is None:
        return reply
    if isinstance(found.get("tool"), str):
        given = found.get("arguments", {})
        arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        call = ToolCall(f"call_{uuid.uuid4().hex[:12]}", found["tool"], arguments)
        entry = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
        message = {"role": "assistant", "content": None, "tool_calls": [entry]}
        return replace(reply, text="", tool_calls=(call,), finish_reason="tool_calls", message=message)
    if "final_answer" in found:
        answer = found["final_answer"]
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        return replace(reply, text=text, message={"role": "assistant", "content": text})
    return reply


def _object_in(text: str) -> dict[str, Any] | None:
    """Return the first JSON object in the text that is a call or an answer; what it drafted while thinking is none."""
    decoder = json.JSONDecoder(strict=False)
    thought, closing, said = text.rpartition("</think>")
    if closing and "{" in said and not thought.lstrip().startswith("{"):
        text = said
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(text, start)
        except ValueError:
            start = text.find("{", start + 1)
            continue
        if isinstance(value, dict) and ("tool" in value or "final_answer" in value):
            return value
        start = text.find("{", start + 1)
    return None


def _join(first: Any, second: Any) -> Any:
    """Join two message contents, text or parts."""
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}" if first else second
    parts = [[{"type": "text", "text": c}] if isinstance(c, str) else list(c or ()) for c in (first, second)]
    return [part for part in parts[0] + parts[1] if part.get("text") != ""]


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return "|".join(str(value) for value in schema["enum"])
    kind = schema.get("type", "")
    if kind == "array":
        return f"list of {_kind(schema.get('items') or {})}"
    return _TEXT_KINDS.get(kind, kind if isinstance(kind, str) and kind else "any")
