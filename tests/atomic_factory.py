"""Makes a small dataset in GTA-Atomic's shape: four questions with a key, an open one, one answered by a picture."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.release_factory import png_bytes

Index = dict[str, dict[str, Any]]


def make_atomic(target: Path, *, edit: Callable[[Index], object] | None = None) -> Path:
    """Write a dataset and return its path.

    Args:
        target: A zip when it ends in ``.zip``, else a folder.
        edit: Changes the index before it is written.
    """
    index: Index = {
        "0": _question(0, "How many apples are there?", {"whitelist": [["7", "seven"]], "blacklist": None}, ["OCR"]),
        "1": _question(
            1,
            "Which city is it, and in which country?",
            {"whitelist": [["Oslo"], ["Norway"]], "blacklist": [["Sweden"]]},
            ["ImageDescription", "GoogleSearch"],
        ),
        "2": _question(2, "What is the total?", {"whitelist": [["$12"]], "blacklist": None}, ["OCR", "Calculator"]),
        "3": _question(3, "Describe the weather.", ["It rains.", "It is raining."], ["ImageDescription"]),
        "4": _question(4, "Draw a box around the cat.", None, ["TextToBbox", "DrawBox"]),
        "10": _question(10, "Where is the cat?", {"whitelist": [["left"]], "blacklist": None}, ["TextToBbox"]),
    }
    if edit:
        edit(index)
    tools = {name: _tool(name) for name in ("OCR", "ImageDescription", "GoogleSearch", "Calculator", "TextToBbox")}
    files = {"dataset.json": json.dumps(index).encode(), "toolmeta.json": json.dumps(tools).encode()}
    files |= {f"image/image_{number}.png": png_bytes() for number in index}
    if target.suffix == ".zip":
        target.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(target, "w") as archive:
            for name, data in files.items():
                archive.writestr(f"gta_dataset/{name}", data)
    else:
        for name, data in files.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(data)
    return target


def _question(number: int, text: str, answer: Any, tools: list[str]) -> dict[str, Any]:
    picture = f"image/image_{number}.png"
    call = {"type": "function", "function": {"name": tools[0], "arguments": {"image": picture}}}
    return {
        "tools": [_tool(name) for name in tools],
        "files": [{"type": "image", "path": picture, "url": None}],
        "dialogs": [
            {"role": "user", "content": text},
            {"role": "assistant", "tool_calls": [call], "thought": "I look at it."},
            {"role": "tool", "name": tools[0], "content": {"type": "text", "content": "-"}},
            {"role": "assistant", "content": "That is it."},
            {"role": "user", "content": "Thank you."},
        ],
        "gt_answer": answer,
    }


def _tool(name: str) -> dict[str, Any]:
    kind = "text" if name == "Calculator" else "image"
    parameter = {"type": kind, "name": "expression" if kind == "text" else "image", "description": None}
    parameter |= {"optional": False, "default": None, "filetype": None}
    return {"name": name, "description": f"Does what {name} does.", "inputs": [parameter], "outputs": []}
