"""YAML that people write, read strictly: every value knows its line, and nothing is guessed.

Aliases, duplicate keys and keys that mean nothing are faults. A word such as ``no`` that YAML takes for a truth value
is not a text.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import yaml

from pytest_gta.benchmark.regular_file import size_of_regular

MAX_BYTES = 8 << 20

Fault = Callable[[int, str], None]
"""Told of a fault: its line, counted from 1, and a clause without a full stop."""

Node: TypeAlias = yaml.Node

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NAMES = {"null": "empty", "bool": "a truth value", "int": "a number", "float": "a number", "timestamp": "a date"}


class NotYaml(ValueError):
    """A text that cannot be read as one YAML document.

    Attributes:
        line: Where, counted from 1.
        reason: Why, as a clause without a full stop.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line, self.reason = line, reason


def read_document(path: Path) -> Node:
    """Return the root of a document in a file.

    Raises:
        OSError: When it cannot be read, is no regular file, or is far larger than what a person writes.
        NotYaml: When it is no document.
    """
    size_of_regular(path, MAX_BYTES)
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotYaml(data[: error.start].count(b"\n") + 1, "is not UTF-8 text") from None
    try:
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        written = text.splitlines()[line - 1 : line]
        tab = " (indent with blanks, not tabs)" if any(text.startswith("\t") for text in written) else ""
        raise NotYaml(line, f"is not YAML: {error.problem or error.context}{tab}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise NotYaml(1, f"is not YAML: {' '.join(str(error).split())[:200]}") from None
    if root is None:
        raise NotYaml(1, "is empty")
    seen: set[int] = set()
    for node in _walk(root):
        if id(node) in seen:
            raise NotYaml(line_of(node), "an alias (`*name`) repeats this value; write it out instead")
        seen.add(id(node))
    return root


def line_of(node: Node) -> int:
    """Return the line a value begins on, counted from 1."""
    return int(node.start_mark.line) + 1


def named(node: Node | None) -> str:
    """Return what a value is, in words."""
    if node is None:
        return "missing"
    if isinstance(node, yaml.MappingNode):
        return "a set of keys"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    kind = node.tag.rpartition(":")[2]
    if kind == "float" and number_of(node) is None:
        return "not finite"
    return _NAMES.get(kind, "a text")


def fields_of(node: Node, known: Sequence[str], fault: Fault) -> dict[str, Node]:
    """Return the values of a mapping by key; what is not in `known`, or is there twice, is a fault and left out."""
    if not isinstance(node, yaml.MappingNode):
        fault(line_of(node), f"is {named(node)}, expected the keys {', '.join(known)}")
        return {}
    fields: dict[str, Node] = {}
    for key_node, value in node.value:
        key = str(key_node.value) if isinstance(key_node, yaml.ScalarNode) else "?"
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"it has {', '.join(known)}"
            fault(line_of(key_node), f"there is no key `{key[:40]}` here; {hint}")
        elif key in fields:
            fault(line_of(key_node), f"the key `{key}` is there twice")
        else:
            fields[key] = value
    return fields


def text_of(node: Node | None) -> str | None:
    """Return a text, None for anything else."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":str") else None


def name_of(node: Node | None) -> str | None:
    """Return a text, or a whole number as it is written; None for anything else."""
    if isinstance(node, yaml.ScalarNode) and node.tag.endswith((":str", ":int")):
        return str(node.value)
    return None


def number_of(node: Node | None) -> float | None:
    """Return a finite number, None for anything else."""
    if not isinstance(node, yaml.ScalarNode) or not node.tag.endswith((":int", ":float")):
        return None
    try:
        number = float(node.value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def items_of(node: Node | None) -> list[Node] | None:
    """Return the entries of a list, None for anything else."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else None


def is_empty(node: Node | None) -> bool:
    """Whether a key is not there or has no value."""
    return node is None or (isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null"))


def _walk(root: Node) -> Iterator[Node]:
    """Yield every node; one that is reached twice is yielded twice and entered once."""
    waiting, entered = [root], set()
    while waiting:
        node = waiting.pop()
        yield node
        if id(node) in entered:
            continue
        entered.add(id(node))
        if isinstance(node, yaml.MappingNode):
            waiting.extend(part for pair in node.value for part in pair)
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend(node.value)
