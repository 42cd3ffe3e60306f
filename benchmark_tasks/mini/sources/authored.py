"""An authored task: a text file with the request and the rubric, and a module that makes the inputs and the numbers.

``<name>.toml`` holds ``id``, ``capabilities`` (the classes of tools that a solution needs), ``request``, ``inputs`` and
``sub_tasks``, nested as in a release. Numbers in it that
follow from the input files are written as ``{name}``, with a format where needed (``{net:,.2f}``), and are filled in
from the module's ``values()``. So no leaf can ask for a number whose derivation is not on record.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import Any

CATEGORIES = {
    "1": "Data Analysis & Quantitative Reasoning",
    "2": "Educational & Instructional Content",
    "3": "Planning & Decision Support",
    "4": "Business & Marketing Strategy",
    "5": "Creative Design & Expressive Generation",
    "6": "Information Retrieval & Knowledge QA",
}
"""The first digit of a two-digit task id names its category."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A value that follows from the input files.

    Attributes:
        value: The value; a number, a text or a list of them.
        how: How it follows from the inputs, in words or arithmetic.
    """

    value: Any
    how: str


@dataclass(frozen=True, slots=True)
class AuthoredTask:
    """A task of `mini`, numbers filled in.

    Attributes:
        id: Two digits; the first one names the category.
        record: Its entry of ``end.json``.
        derivations: Leaf id to the name, value and origin of each number that was filled in there.
    """

    id: str
    record: dict[str, Any]
    derivations: dict[str, dict[str, dict[str, Any]]]


def read_task(name: str) -> AuthoredTask:
    """Return the task that ``<name>.toml`` and the module ``<name>`` describe.

    Raises:
        KeyError: When the text asks for a value that the module does not give.
    """
    text = tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))
    values: dict[str, Derived] = import_module(f"{__package__}.{name}").values()
    request, _ = _fill(text["request"], values)
    resources = [{"type": kind, "path": f"resources/{path}", "url": None} for kind, path in text["inputs"]]
    derivations: dict[str, dict[str, dict[str, Any]]] = {}
    sub_tasks = [_node(node, f"cp{i}", values, derivations) for i, node in enumerate(text["sub_tasks"], 1)]
    record = {
        "tools": [],
        "files": resources,
        "dialogs": [{"role": "user", "content": request.strip(), "resources": resources}],
        "sub_tasks": sub_tasks,
        "workflow_category_6class": CATEGORIES[text["id"][0]],
        "capabilities": text["capabilities"],
    }
    return AuthoredTask(text["id"], record, derivations)


def _node(
    node: Mapping[str, Any],
    node_id: str,
    values: Mapping[str, Derived],
    derivations: dict[str, dict[str, dict[str, Any]]],
) -> dict[str, Any]:
    requirements, used = _fill(node["requirements"], values)
    entry: dict[str, Any] = {"id": node_id, "requirements": requirements, "weight": node["weight"]}
    if used:
        derivations[node_id] = {name: {"value": values[name].value, "how": values[name].how} for name in used}
    if "sub_tasks" in node:
        entry["sub_tasks"] = [
            _node(child, f"{node_id}-{i}", values, derivations) for i, child in enumerate(node["sub_tasks"], 1)
        ]
    return entry


class _Recorder(Formatter):
    """Fills in values and remembers which."""

    def __init__(self) -> None:
        self.used: list[str] = []

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        value = kwargs[str(key)].value
        if key not in self.used:
            self.used.append(str(key))
        return ", ".join(map(str, value)) if isinstance(value, list) else value


def _fill(text: str, values: Mapping[str, Derived]) -> tuple[str, list[str]]:
    recorder = _Recorder()
    return recorder.vformat(text, (), values), recorder.used
