"""Finished deliverables as an agent: ``<task id>/final.txt`` and ``<task id>/files/**``.

For a closed product whose results were saved by hand, or a run made elsewhere. Nothing is run; the files are copied
into the workspace and judged like those of any agent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_gta.agents.protocol import AgentRun, AgentUnavailable, Tools
from pytest_gta.agents.recorded_files import copy_in, note, open_regular, outage_remark, summary
from pytest_gta.agents.recorded_tasks import FILES, FINAL
from pytest_gta.benchmark.results import StopReason
from pytest_gta.benchmark.task import Brief
from pytest_gta.benchmark.usage import Usage
from pytest_gta.formats.legacy_encoding import encoding_of
from pytest_gta.workspace.workspace import Workspace

FINAL_LIMIT = 4_000_000
"""Bytes of a recorded final answer that are read."""


@dataclass(frozen=True, slots=True)
class OutputsAgent:
    """Hands in recorded outputs.

    Attributes:
        folder: Holds one folder a task, named by the task's id.
        label: What reports call it.
    """

    folder: Path
    label: str = "outputs"

    def run(self, task: Brief, tools: Tools, workspace: Workspace) -> AgentRun:
        """Copy the recorded files of a task into its workspace and return the recorded final answer.

        Raises:
            AgentUnavailable: When nothing is recorded for the task, or it cannot be read or copied.
        """
        root = self.folder / task.id
        if task.id in (".", "..") or Path(task.id).name != task.id or not os.path.lexists(root):
            raise AgentUnavailable(f"{self.folder} holds no outputs for task {task.id}")
        if root.is_symlink() or not root.is_dir():
            raise AgentUnavailable(f"{root} is not a plain folder (links are not followed)")
        answer, remark = _read_final(root)
        remarks = [remark] * bool(remark) + self._copy(root / FILES, workspace)
        remarks += outage_remark(answer)
        for text in remarks:
            note(tools, text)
        detail, unknown = summary(remarks), Usage(cost_usd=None)
        return AgentRun(StopReason.FINISHED, answer, detail, usage=unknown, notes=tuple(remarks))

    def _copy(self, source: Path, workspace: Workspace) -> list[str]:
        if source.is_symlink():
            return [f"{FILES} is a link and is not followed"]
        refused = []
        for relative, entry, reason in _walk(source):
            if not reason:
                reason = copy_in(entry, relative, workspace)
            if reason:
                refused.append(f"not taken: {relative} ({reason})")
        return refused


def _walk(source: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield (relative path, path, why it is not taken or "") of everything that is not a plain folder, sorted."""
    if not source.is_dir():
        return
    pending = [source]
    while pending:
        folder = pending.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda e: e.name)
        except OSError as error:
            yield str(folder.relative_to(source)), folder, error.strerror or "cannot be read"
            continue
        for entry in entries:
            path = Path(entry.path)
            relative = path.relative_to(source).as_posix()
            if entry.is_symlink():
                yield relative, path, "a link"
            elif entry.is_dir(follow_symlinks=False):
                pending.append(path)
            elif not entry.is_file(follow_symlinks=False):
                yield relative, path, "not a regular file"
            else:
                # A hard link is a plain file here: whoever could make one could as well have copied the content.
                yield relative, path, ""


def _read_final(root: Path) -> tuple[str, str]:
    """Return the recorded answer and a remark on it, either may be ""."""
    path = root / FINAL
    try:
        with open_regular(path) as reader:
            data = reader.read(FINAL_LIMIT + 1)
    except FileNotFoundError:
        return "", f"there is no {FINAL}: the final answer is empty"
    except OSError as error:
        if path.is_symlink() or not path.is_file():
            return "", f"{FINAL} is not a plain file (links are not followed): the final answer is empty"
        raise AgentUnavailable(f"{path} cannot be read: {error.strerror}") from error
    remark = "" if len(data) <= FINAL_LIMIT else f"{FINAL} is longer than {FINAL_LIMIT:,} bytes and was cut"
    return decoded(data[:FINAL_LIMIT]).strip(), remark


def decoded(data: bytes) -> str:
    """Return text in whatever encoding it was saved: UTF-8, UTF-16 or 32 with a mark, else the likeliest one."""
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8-sig"),
        (b"\xff\xfe\x00\x00", "utf-32"),
        (b"\x00\x00\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding, "replace").replace("\0", "")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        # A file cut at the limit may end within a character.
        if error.start >= len(data) - 3 and len(data) >= FINAL_LIMIT:
            text = data[: error.start].decode("utf-8")
        else:
            text = data.decode(encoding_of(data[:200_000]), "replace")
    return text.replace("\0", "")
