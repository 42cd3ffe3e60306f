"""The reference implementation's eval pack: one JSON file with the finished answers and files of many tasks.

    {"schema_version": 1,
     "generated_from": {...},
     "tasks": [{"task_id", "sample_idx", "origin_prompt", "assistant_outputs", "attached_files", "full_tree", "meta"}]}

It is read as its producers write it and written with exactly these fields.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_gta.benchmark.task import Checkpoint

SCHEMA_VERSION = 1
_LEVELS = 6
"""Folders above a pack in which relative files are looked for."""
NAMES = "workspace_paths"
"""In ``meta`` of packs written here: the deliverables' names, in the order of ``attached_files``."""


class PackError(ValueError):
    """A pack that cannot be used; one line that names the place and the reason."""


@dataclass(frozen=True, slots=True)
class PackedTask:
    """One task of a pack.

    Attributes:
        task_id: The dataset's id.
        prompt: The user's messages.
        final_answer: The last text of the assistant that is not blank; "" when there is none.
        files: What is attached, as it is written: relative to the repository or the pack, or absolute.
        names: What each of `files` is called as a deliverable, as far as the pack tells; else empty.
        tree: The rubric, as it goes into the file.
        meta: Anything its producer tells of it.
    """

    task_id: str
    prompt: tuple[str, ...] = ()
    final_answer: str = ""
    files: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    tree: Any = None
    meta: Mapping[str, Any] = field(default_factory=dict)


def read_pack(file: Path) -> dict[str, PackedTask]:
    """Return the tasks of a pack by id, in its order.

    Raises:
        PackError: When it is no pack, an entry has no id, or an id is there twice.
    """
    try:
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise PackError(f"{file} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise PackError(f"{file} is not JSON: {str(error)[:120]}") from None
    entries = content.get("tasks") if isinstance(content, dict) else None
    if not isinstance(entries, list):
        raise PackError(f"{file} is not an eval pack: it has no list `tasks`")
    tasks = [_read_entry(file, number, entry) for number, entry in enumerate(entries, 1)]
    twice = [task_id for task_id, times in Counter(task.task_id for task in tasks).items() if times > 1]
    if twice:
        raise PackError(f"{file} has more than one entry for task {', '.join(twice)}; keep one of each")
    if not tasks:
        raise PackError(f"{file} holds no tasks")
    return {task.task_id: task for task in tasks}


def _read_entry(file: Path, number: int, entry: Any) -> PackedTask:
    where = f"{file}: entry {number} of `tasks`"
    if not isinstance(entry, dict):
        raise PackError(f"{where} is not an object")
    task_id = entry.get("task_id")
    if isinstance(task_id, bool) or not isinstance(task_id, int | str) or not str(task_id).strip():
        raise PackError(f"{where} has no usable `task_id`")
    meta = entry.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    files = tuple(_strings(f"{where} (task {task_id}): `attached_files`", entry.get("attached_files")))
    names = meta.get(NAMES)
    named = isinstance(names, list) and len(names) == len(files) and all(isinstance(name, str) for name in names)
    return PackedTask(
        task_id=str(task_id).strip(),
        prompt=tuple(_strings(f"{where}: `origin_prompt`", entry.get("origin_prompt"))),
        final_answer=_final_answer(entry.get("assistant_outputs")),
        files=files,
        names=tuple(names) if named and isinstance(names, list) else (),
        tree=entry.get("full_tree"),
        meta=meta,
    )


def _strings(where: str, value: Any) -> Iterator[str]:
    """Yield the texts of a text, null, or a list of texts (one list a round is taken as well); empty ones are none."""
    if value is None:
        return
    if isinstance(value, str):
        if value.strip():
            yield value.strip()
        return
    if not isinstance(value, list):
        raise PackError(f"{where} is {json.dumps(value)[:60]}, expected a list of texts")
    for item in value:
        yield from _strings(where, item)


def _final_answer(outputs: Any) -> str:
    """Return the last text of the assistant that is not blank; rounds are lists in the list."""
    answer = ""
    pending = [outputs]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value[::-1]
        elif isinstance(value, str) and value.strip():
            answer = value.strip()
        elif isinstance(value, dict) and value.get("role", "assistant") == "assistant":
            text = value.get("content")
            answer = text.strip() if isinstance(text, str) and text.strip() else answer
    return answer


def pack_text(tasks: Iterable[PackedTask], generated_from: Mapping[str, Any]) -> str:
    """Return a pack as the text of its file."""
    entries = [
        {
            "task_id": int(task.task_id) if task.task_id.isdecimal() and task.task_id == str(int(task.task_id))
            else task.task_id,
            "sample_idx": number,
            "origin_prompt": list(task.prompt),
            "assistant_outputs": [[{"role": "assistant", "content": task.final_answer}]],
            "attached_files": list(task.files),
            "full_tree": task.tree,
            "meta": {**task.meta, NAMES: list(task.names)} if task.names else dict(task.meta),
        }
        for number, task in enumerate(tasks, 1)
    ]  # fmt: skip
    content = {"schema_version": SCHEMA_VERSION, "generated_from": dict(generated_from), "tasks": entries}
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def tree_of(checkpoints: Sequence[Checkpoint]) -> list[dict[str, Any]]:
    """Return a rubric in the form a pack has it in."""
    nodes = []
    for checkpoint in checkpoints:
        weight = checkpoint.weight
        node: dict[str, Any] = {
            "id": checkpoint.id,
            "requirements": checkpoint.requirements,
            "weight": int(weight) if weight == int(weight) else weight,
        }
        if checkpoint.children:
            node["sub_tasks"] = tree_of(checkpoint.children)
        nodes.append(node)
    return nodes


def deliverable_names(task: PackedTask) -> tuple[str, ...]:
    """Return what each attached file is called as a deliverable.

    What the pack tells; else its path below ``<task id>/files/``, as result folders have it; else its own name. Where
    two would have one name, as much of their folders as tells them apart is kept.
    """
    if task.names:
        return task.names
    paths = [PurePosixPath(text.removeprefix("sandbox:").replace("\\", "/")) for text in task.files]
    names = [_below_result_folder(path, task.task_id) or PurePosixPath(path.name) for path in paths]
    depth = 1
    while len(set(names)) < len(names) and depth < max(len(path.parts) for path in paths):
        depth += 1
        taken = Counter(names)
        names = [
            PurePosixPath(*[part for part in path.parts if part != "/"][-depth:]) if taken[name] > 1 else name
            for path, name in zip(paths, names, strict=True)
        ]
    return tuple(name.as_posix() for name in names)


def _below_result_folder(path: PurePosixPath, task_id: str) -> PurePosixPath | None:
    parts = path.parts
    for at in range(len(parts) - 2, 0, -1):
        if parts[at] == "files" and parts[at - 1] == task_id:
            return PurePosixPath(*parts[at + 1 :])
    return None


def find_file(written: str, pack: Path) -> Path | None:
    """Return where an attached file is: absolute, or below the pack's folder or one of the folders above it.

    The repository's root is one of those, and the current folder is looked in last. None when it is nowhere.
    """
    text = written.removeprefix("sandbox:")
    for form in dict.fromkeys((text, text.replace("\\", "/"))):
        if "\0" in form:
            return None
        path = Path(form)
        if path.is_absolute():
            candidates = [path]
        else:
            folder = pack.absolute().parent
            above = [base for base in folder.parents[:_LEVELS] if base != Path(base.anchor)]
            candidates = [base / path for base in (folder, *above, Path.cwd())]
        for candidate in candidates:
            try:
                if candidate.is_file():
                    return candidate
            except OSError:
                continue
    return None
