"""Data written as YAML that people like to read: long texts as blocks, keys in the order given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from pytest_gta.benchmark.task import Checkpoint

WIDTH = 100


class _Dumper(yaml.SafeDumper):  # type: ignore[misc] # the library ships no types
    """Writes texts of several lines as blocks, and lists indented below their key."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _nothing(dumper: yaml.SafeDumper, _value: None) -> yaml.ScalarNode:
    """Leave the place empty, for a person to write in."""
    return dumper.represent_scalar("tag:yaml.org,2002:null", "")


_Dumper.add_representer(str, _text)
_Dumper.add_representer(type(None), _nothing)


def yaml_text(value: Mapping[str, Any]) -> str:
    """Return a mapping as YAML."""
    written: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)
    return written


def task_file_text(
    task_id: str, category: str, request: str, files: Sequence[str], checkpoints: Sequence[Checkpoint]
) -> str:
    """Return a task as the YAML file that `read_task_file` reads.

    Args:
        task_id: Its id.
        category: A slug, or a name.
        request: What the user asks for.
        files: Its input files, relative to the file.
        checkpoints: The tree; ids are given by position and not written.
    """
    record: dict[str, Any] = {"id": task_id, "category": category, "request": plain_text(request) + "\n"}
    if files:
        record["files"] = list(files)
    record["checkpoints"] = [_node(node) for node in checkpoints]
    return yaml_text(record)


def plain_text(text: str) -> str:
    """Return a text without blanks at the ends of its lines, so that it can stand as a block."""
    return "\n".join(line.rstrip() for line in text.strip().replace("\t", "    ").splitlines())


def plain_number(number: float) -> int | float:
    """Return a whole number without its decimals."""
    return int(number) if number == int(number) else number


def _node(node: Checkpoint) -> dict[str, Any]:
    below = {"checkpoints": [_node(child) for child in node.children]} if node.children else {}
    return {"requirement": " ".join(node.requirements.split()), "weight": plain_number(node.weight), **below}
