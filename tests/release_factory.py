"""Makes datasets in the official release's shape, of any size, as a folder or a zip.

At its full size of 132 tasks the numbers are the release's own: 1156 leaves, 231 of them at the top of their rubric,
34/31/21/16/16/14 tasks a category, 46 tasks with input files, ids with gaps, and a task 126 with bare file names.
"""

from __future__ import annotations

import io
import json
import struct
import wave
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pytest_gta.benchmark.tool_names import TOOL_CAPABILITIES

FULL_SIZE = 132
LEAVES = 1156
TOP_LEAVES = 231
TASKS_WITH_INPUTS = 46
TOP_FOLDER = "gta_workflow_dataset"
CATEGORY_SHARES = {
    "Data Analysis & Quantitative Reasoning": 34,
    "Educational & Instructional Content": 31,
    "Planning & Decision Support": 21,
    "Business & Marketing Strategy": 16,
    "Creative Design & Expressive Generation": 16,
    "Information Retrieval & Knowledge QA": 14,
}
BARE_NAMES_TASK = "126"

Record = dict[str, Any]
Index = dict[str, Record]

_DELIVERABLES = ("report_{}.docx", "table_{}.csv", "deck_{}.pptx", "page_{}.html", "book_{}.xlsx", "summary_{}.pdf")
_INPUTS = (("file", "files", "pdf"), ("image", "images", "png"), ("file", "files", "csv"), ("audio", "audio", "wav"))


def make_release(
    target: Path,
    *,
    tasks: int = FULL_SIZE,
    inputs: bool = True,
    top_folder: str = TOP_FOLDER,
    edit: Callable[[Index], object] | None = None,
    edit_tools: Callable[[Record], object] | None = None,
    extra_files: dict[str, bytes] | None = None,
    leave_out: tuple[str, ...] = (),
) -> Path:
    """Write a dataset and return its path, for ``--gta-dataset=PATH``.

    Args:
        target: A zip when it ends in ``.zip``, else a folder.
        tasks: How many tasks.
        inputs: Whether some of them are given files.
        top_folder: The folder inside a zip that holds everything; "" for none.
        edit: Changes the index before it is written, e.g. to plant a fault: ``lambda index: index["1"].pop("files")``.
        edit_tools: Changes ``toolmeta.json`` before it is written.
        extra_files: Further files, by their path in the dataset.
        leave_out: Input files that the index names and the dataset lacks.
    """
    index = release_index(tasks, inputs=inputs)
    tools = tool_metadata()
    if edit:
        edit(index)
    if edit_tools:
        edit_tools(tools)
    files = {
        "end.json": json.dumps(index).encode(),
        "toolmeta.json": json.dumps(tools).encode(),
        **{path: input_bytes(path) for path in _input_paths(index) if path not in leave_out},
        **(extra_files or {}),
    }
    if target.suffix == ".zip":
        _write_zip(target, files, f"{top_folder}/" if top_folder else "")
    else:
        for name, data in files.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(data)
    return target


def release_index(tasks: int = FULL_SIZE, *, inputs: bool = True) -> Index:
    """Return what ``end.json`` holds."""
    categories = _spread_categories(tasks)
    index: Index = {}
    for position in range(tasks):
        task_id = str(1 + position + position // 3)
        given = _inputs(task_id, position) if inputs else []
        index[task_id] = _task(task_id, position, categories[position], given)
    return index


def tool_metadata() -> Record:
    """Return what ``toolmeta.json`` holds: the 37 tools, each with one required and one optional parameter."""
    return {
        name: {
            "name": name,
            "description": f"Does what {name} does.",
            "inputs": [_parameter("text", "query"), _parameter("int", "k", optional=True)],
            "outputs": [_parameter("text", None)],
        }
        for name in TOOL_CAPABILITIES
    }


def input_bytes(path: str) -> bytes:
    """Return a small, whole file of the kind that `path` ends in."""
    suffix = path.rpartition(".")[2].lower()
    makers: dict[str, Callable[[], bytes]] = {"png": png_bytes, "wav": wav_bytes, "pdf": pdf_bytes}
    return makers[suffix]() if suffix in makers else b"region,units\nnorth,12\nsouth,7\n"


def leaf_ids(record: Record) -> list[str]:
    """Return the ids of a record's leaves, in the rubric's order."""
    return [node["id"] for node in _walk(record["sub_tasks"]) if not node.get("sub_tasks")]


def png_bytes(width: int = 4, height: int = 3) -> bytes:
    """Return a grey picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\x80" * width for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def wav_bytes(seconds: float = 0.1, rate: int = 8000) -> bytes:
    """Return a short silence."""
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(b"\0\0" * round(seconds * rate))
    return out.getvalue()


def pdf_bytes(text: str = "Twelve units were sold in the north.") -> bytes:
    """Return a document of one page."""
    stream = f"BT /F1 12 Tf 40 100 Td ({text}) Tj ET".encode("ascii")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % offset for offset in offsets))
    out.write(b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start)
    return out.getvalue()


# -- the parts of a task ----------------------------------------------------------------------------------------------


def _task(task_id: str, position: int, category: str, inputs: list[Any]) -> Record:
    deliverable = _DELIVERABLES[position % len(_DELIVERABLES)].format(task_id)
    given = "".join(f" Use {entry['path']}." for entry in inputs if isinstance(entry, dict))
    request = f"Prepare what the harbour office of town {task_id} reviews.{given} Deliver it as {deliverable}."
    return {
        "tools": [],
        "files": inputs,
        "dialogs": [{"role": "user", "content": request, "resources": list(inputs)}],
        "sub_tasks": _rubric(task_id, position, deliverable),
        "workflow_category_6class": category,
    }


def _inputs(task_id: str, position: int) -> list[Any]:
    if task_id == BARE_NAMES_TASK:
        return ["LatencyReport.pdf", "LatencyData.csv"]
    others = TASKS_WITH_INPUTS - 1
    if _share(others, position + 1) == _share(others, position):
        return []
    entries: list[Any] = []
    for n in range(1 + position % 2):
        kind, folder, suffix = _INPUTS[(position // 3 + n) % len(_INPUTS)]
        url = f"https://example.org/{task_id}-{n}.{suffix}" if n else None
        entries.append({"type": kind, "path": f"resources/{folder}/{task_id}-{n}.{suffix}", "url": url})
    return entries


def _rubric(task_id: str, position: int, deliverable: str) -> list[Record]:
    leaves = _share(LEAVES, position + 1) - _share(LEAVES, position)
    swing = (position // 2) % 6  # neighbours take from each other, so that tasks differ and the sum stays
    leaves += swing if position % 2 else -swing
    top = _share(TOP_LEAVES, position + 1) - _share(TOP_LEAVES, position)
    nodes = [_leaf(task_id, f"cp{n}", deliverable, n) for n in range(1, top + 1)]
    rest, number = leaves - top, top
    while rest > 0:
        number += 1
        size = rest if rest <= 4 else 3
        rest -= size
        nodes.append(_inner(task_id, f"cp{number}", deliverable, size, nested=size == 3 and number % 2 == 0))
    return nodes


def _inner(task_id: str, node_id: str, deliverable: str, size: int, *, nested: bool) -> Record:
    children = [_leaf(task_id, f"{node_id}-{n}", deliverable, n) for n in range(1, size + 1)]
    if nested:
        inner = f"{node_id}-1"
        below = [_leaf(task_id, f"{inner}-{n}", deliverable, n) for n in (1, 2)]
        children = [_node(inner, f"Part {inner} of the review is complete.", 2, below), *children[1:2]]
    return _node(node_id, f"Section {node_id} of the review holds together.", 1 + size % 5, children)


def _leaf(task_id: str, node_id: str, deliverable: str, number: int) -> Record:
    text = f"{deliverable} states figure {node_id} of town {task_id} with its unit and its year."
    return {"id": node_id, "requirements": text, "weight": 1 + number % 4}


def _node(node_id: str, requirements: str, weight: int, children: list[Record]) -> Record:
    return {"id": node_id, "requirements": requirements, "weight": weight, "sub_tasks": children}


def _parameter(kind: str, name: str | None, *, optional: bool = False) -> Record:
    return {
        "type": kind,
        "name": name,
        "description": None,
        "optional": optional,
        "default": None,
        "filetype": None,
    }


# -- how much of everything -------------------------------------------------------------------------------------------


def _share(whole: int, tasks: int) -> int:
    """Return how much of what the full release has the first `tasks` tasks hold."""
    return round(whole * tasks / FULL_SIZE)


def _spread_categories(tasks: int) -> list[str]:
    """Give each category its share at every length; the first six tasks have one each."""
    given = dict.fromkeys(CATEGORY_SHARES, 0)
    order = []
    for position in range(tasks):
        name = max(given, key=lambda n: CATEGORY_SHARES[n] * (position + 1) / FULL_SIZE - given[n])
        given[name] += 1
        order.append(name)
    return order


def _input_paths(index: Index) -> list[str]:
    entries = [entry for record in index.values() if isinstance(record, dict) for entry in record.get("files") or ()]
    return [entry["path"] for entry in entries if isinstance(entry, dict) and isinstance(entry.get("path"), str)]


def _walk(nodes: list[Record]) -> Iterator[Record]:
    for node in nodes:
        yield node
        yield from _walk(node.get("sub_tasks") or [])


def _write_zip(target: Path, files: dict[str, bytes], prefix: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(prefix + name, data)
