"""Writes tasks as the YAML files that users write."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

TASK = """\
category: planning
request: Write plan.md for the harbour office.
checkpoints:
  - requirement: plan.md names the three berths.
    weight: 2
  - requirement: plan.md states the date of the review with its year.
"""


def write_task(path: Path, text: str = TASK, *, inputs: Mapping[str, bytes] = {}) -> Path:
    """Write a task's file with its input files beside it, and list those under `files`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for name, data in inputs.items():
        (path.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (path.parent / name).write_bytes(data)
    listed = "".join(f"  - {name}\n" for name in inputs)
    path.write_text(text + (f"files:\n{listed}" if listed else ""))
    return path
