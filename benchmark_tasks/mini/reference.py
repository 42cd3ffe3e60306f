"""Make the reference deliverables of `mini`: ``python -m benchmark_tasks.mini.reference FOLDER``.

Writes ``<task id>/final.txt`` and ``<task id>/files/*``, the layout that ``--gta-agent=outputs:FOLDER`` scores.
"""

from __future__ import annotations

import shutil
import sys
from importlib import import_module
from pathlib import Path

from benchmark_tasks.mini.build import NAMES
from benchmark_tasks.mini.sources.authored import read_task


def make_references(folder: Path) -> dict[str, str]:
    """Write the reference deliverables of every task to `folder`, replacing those that are there.

    Returns:
        Task id to reason, for tasks whose deliverables need a library that is not installed (``av`` for film).
    """
    left_out: dict[str, str] = {}
    for name in NAMES:
        task_id = read_task(name).id
        shutil.rmtree(folder / task_id, ignore_errors=True)
        files = folder / task_id / "files"
        files.mkdir(parents=True)
        try:
            answer: str = import_module(f"benchmark_tasks.mini.references.{name}").make(files)
        except ModuleNotFoundError as missing:
            shutil.rmtree(folder / task_id)
            left_out[task_id] = f"{missing}; install it to make this reference"
            continue
        (folder / task_id / "final.txt").write_text(answer, encoding="utf-8")
    return left_out


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m benchmark_tasks.mini.reference FOLDER")
    for task, reason in make_references(Path(sys.argv[1])).items():
        print(f"task {task} is left out: {reason}", file=sys.stderr)
