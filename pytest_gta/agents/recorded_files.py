"""What agents with finished results share: files copied into the workspace, and remarks on what was not."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from pytest_gta.agents.failure import reads_like_an_outage
from pytest_gta.agents.protocol import AgentUnavailable, Tools
from pytest_gta.workspace.workspace import PathRefused, Workspace


def copy_in(source: Path, relative: str, workspace: Workspace) -> str:
    """Copy one file under its own name; return why its name cannot be used, or "".

    Raises:
        AgentUnavailable: When it cannot be read, or the workspace cannot be written: a file that was recorded and is
            not judged would be a made-up zero.
    """
    if relative in workspace.inputs:
        return "has the name of an input file"
    try:
        target = workspace.resolve(relative, writing=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        out = target.open("xb")
    except PathRefused as refusal:
        return str(refusal)
    except (FileExistsError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        return f"its name cannot be used: {error.strerror}"
    except OSError as error:
        raise AgentUnavailable(f"{relative} cannot be copied into the workspace: {error.strerror}") from error
    try:
        # Opened without following a link, in case the entry was exchanged since it was listed.
        with out, open_regular(source) as reader:
            shutil.copyfileobj(reader, out, 1 << 20)
    except OSError as error:
        raise AgentUnavailable(f"{source} cannot be copied: {error.strerror or error}") from error
    return ""


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading without following a link or waiting for a pipe.

    Raises:
        OSError: When it is not there, not readable or not a regular file.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file")
    return os.fdopen(fd, "rb")


def outage_remark(answer: str) -> list[str]:
    """Return a remark on a recorded answer that is no answer, if it is one."""
    if not reads_like_an_outage(answer):
        return []
    return ["the recorded answer reads like an outage of the agent's model, judged as it stands"]


def summary(remarks: Sequence[str]) -> str:
    """Return remarks as one line."""
    if len(remarks) <= 1:
        return "".join(remarks)
    return f"{remarks[0]}; and {len(remarks) - 1} more remarks in the transcript"


def note(tools: Tools, text: str) -> None:
    """Add a remark to the transcript, when there is one."""
    transcript = getattr(tools, "transcript", None)
    if transcript is not None:
        transcript.add("note", text)
