"""What a model sees of a tool: its name, what it is for and the parameters it takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

CAPABILITIES = ("perception", "operation", "logic", "creativity")
"""The benchmark's four classes of tools."""

_JSON_TYPES = {"int": "integer", "float": "number", "bool": "boolean"}


@dataclass(frozen=True, slots=True)
class ToolParameter:
    """One argument of a tool.

    Attributes:
        name: Its name.
        type: The benchmark's word: text, int, float, bool, image, audio, video or file. The last four are paths.
        description: What to pass, for a model to read.
        optional: Whether it may be left out.
        default: What holds when it is left out; None for "nothing".
        filetype: Media type of a ``file``, where the benchmark gives one.
        example: A value that works, shown when a model got it wrong.
        lists: Whether a list or object is taken as well as text that holds one.
    """

    name: str
    type: str
    description: str
    optional: bool = False
    default: Any = None
    filetype: str | None = None
    example: Any = None
    lists: bool = False

    def json_schema(self) -> dict[str, Any]:
        """Return the parameter as JSON Schema."""
        schema: dict[str, Any] = {"type": _JSON_TYPES.get(self.type, "string"), "description": self.description}
        if self.default not in (None, ""):
            schema["default"] = self.default
        return schema


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool.

    Attributes:
        name: The benchmark's name for it.
        capability: One of `CAPABILITIES`.
        description: What it does, for a model to read.
        parameters: What it takes, in order.
    """

    name: str
    capability: str
    description: str
    parameters: tuple[ToolParameter, ...] = ()

    def __post_init__(self) -> None:
        if self.capability not in CAPABILITIES:
            raise ValueError(f"{self.name}: capability {self.capability!r} is none of {', '.join(CAPABILITIES)}")

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the parameters that must be given."""
        return tuple(parameter.name for parameter in self.parameters if not parameter.optional)

    def function_schema(self) -> dict[str, Any]:
        """Return the entry for the ``tools=`` of a chat completion."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": {
                    "type": "object",
                    "properties": {parameter.name: parameter.json_schema() for parameter in self.parameters},
                    "required": list(self.required),
                    "additionalProperties": False,
                },
            },
        }

    def example(self) -> str:
        """Return the arguments of a call that would be accepted, as JSON."""
        return json.dumps({p.name: _example(p) for p in self.parameters if not p.optional}, ensure_ascii=False)

    def as_released(self, entry: Mapping[str, Any]) -> ToolSpec:
        """Return the tool as a release's ``toolmeta.json`` describes it.

        The release's words win. A parameter it does not know stays when it can be left out or must be given; one that
        only the release knows is not shown, because a call could not honour it.
        """
        told = {str(p.get("name")): p for p in entry.get("inputs") or () if isinstance(p, Mapping)}
        parameters = tuple(
            replace(p, description=text) if (text := _words(told.get(p.name, {}))) else p for p in self.parameters
        )
        order = list(told)
        known = sorted(parameters, key=lambda p: order.index(p.name) if p.name in told else len(order))
        return replace(self, description=_words(entry) or self.description, parameters=tuple(known))


def _words(entry: Mapping[str, Any]) -> str:
    text = entry.get("description")
    return text.strip() if isinstance(text, str) else ""


def _example(parameter: ToolParameter) -> Any:
    if parameter.example is not None:
        return parameter.example
    by_type: dict[str, Any] = {
        "int": 3,
        "float": 1.5,
        "bool": True,
        "image": "picture.png",
        "file": "resources/file.pdf",
    }
    return by_type.get(parameter.type, "...")
