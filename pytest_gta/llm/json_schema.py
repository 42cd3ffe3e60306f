"""JSON schemas in the form that structured output wants."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import BaseModel


@cache
def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's schema with every field required and no others allowed, references resolved in place.

    Defaults and titles are left out: strict endpoints reject the one and the other only costs tokens.
    """
    schema = model.model_json_schema()
    closed = _closed(schema, schema.get("$defs", {}))
    assert isinstance(closed, dict)
    return closed


def response_format(name: str, schema: dict[str, Any], *, strict: bool) -> dict[str, Any]:
    """Return the ``response_format`` that asks for `schema`."""
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": schema} | ({"strict": True} if strict else {}),
    }


def in_words(schema: dict[str, Any]) -> str:
    """Return a sentence that asks for `schema`, for endpoints that cannot be held to it."""
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else, no code fence. Its JSON schema: {text}"


def _closed(node: Any, definitions: dict[str, Any], is_properties: bool = False) -> Any:
    if isinstance(node, list):
        return [_closed(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if is_properties:
        return {name: _closed(value, definitions) for name, value in node.items()}
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        return _closed({**target, **{k: v for k, v in node.items() if k != "$ref"}}, definitions)
    kept = {
        key: _closed(value, definitions, is_properties=key == "properties")
        for key, value in node.items()
        if key not in ("title", "default", "$defs")
    }
    if kept.get("type") == "object" and "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept
