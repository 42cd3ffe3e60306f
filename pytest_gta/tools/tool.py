"""A tool as the toolbox knows it: what a model sees, and what runs when it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_gta.tools.backend import Backend
from pytest_gta.tools.specification import ToolParameter, ToolSpec

OFFSET = ToolParameter(
    "offset",
    "int",
    "Character to go on from when an earlier answer was cut; the answer says which.",
    optional=True,
    default=0,
    example=30000,
)
"""The one argument that paged tools take besides the benchmark's own."""

ToolFunction = Callable[..., Any]

ConfinedCall = Callable[[str, Mapping[str, Any]], Any]
"""Runs ``"package.module:function"`` with arguments in the task's confined process, in the time that the call has left.

Raises `pytest_gta.workspace.confined_process.ConfinedError` when no value comes back.
"""


class ToolFault(Exception):
    """Something a model can put right; the message says what, and is handed to it as it is."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a model gets back.

    Attributes:
        text: The answer, or what was wrong.
        files: Files the call made, relative to the workspace.
        is_error: Whether the call failed.
    """

    text: str
    files: tuple[str, ...] = ()
    is_error: bool = False

    @classmethod
    def from_value(cls, value: Any) -> ToolResult:
        """Read what a tool's function returned: text, a result, or ``{"text", "files", "is_error"}``."""
        if isinstance(value, ToolResult):
            return value
        if isinstance(value, Mapping):
            files = value.get("files") or ()
            return cls(
                _as_text(value.get("text")),
                tuple(str(path) for path in files) if isinstance(files, list | tuple) else (),
                bool(value.get("is_error")),
            )
        return cls(_as_text(value))


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    A function that is named, as ``"package.module:function"``, runs in the task's confined process, in the workspace
    as current folder. It is given the arguments that were passed, checked and converted, and nothing for those left
    out; what is in `reads` comes as a path relative to the workspace of a file that is there. It returns text or
    ``{"text": ..., "files": [...], "is_error": ...}`` and raises `ToolFault` for what a model can put right. A module
    may name libraries in ``PRELOAD``, a tuple, or in what its function ``preload(function_name, arguments)`` returns:
    they are imported once in the server, before the call forks from it, and are there for every later call.

    A callable runs in this process, with absolute paths for what is in `reads`; it is given the `Workspace` when it has
    a parameter of that name, with a parameter ``confined`` a `ConfinedCall`, for the part of its work that reads
    or writes files, and with a parameter ``endpoints`` the models and services it may ask
    (`pytest_gta.tools.endpoints.ToolEndpoints`), which answer within the call's time.

    Attributes:
        spec: What a model sees.
        function: What runs.
        reads: Arguments that are the path of a file to read.
        writes: Suffix of the file it makes (``.docx``), or "". The toolbox then takes ``filename`` and ``output_dir``
            and passes ``target`` instead: a path relative to the workspace that may be written, its folder made. The
            suffix is added unless the name has it.
        writes_also: Other suffixes that a name may have and keeps (``.css`` for a page's style sheet).
        writes_as: Name of the file when ``filename`` may be left out and is; ``{audio}`` in it stands for the stem of
            the file that argument names. A number is added where such a file is there already.
        paged: Whether a long answer can be read on with an ``offset``.
        timeout_s: Seconds it may take, when less than the toolbox allows.
        backends: What it can work with, the most wanted first, so that the user can be told what is missing before it
            is called; none for a tool that needs nothing besides this package's dependencies.
    """

    spec: ToolSpec
    function: str | ToolFunction
    reads: tuple[str, ...] = ()
    writes: str = ""
    writes_also: tuple[str, ...] = ()
    writes_as: str = "output"
    paged: bool = False
    timeout_s: float | None = None
    backends: tuple[Backend, ...] = ()

    @property
    def name(self) -> str:
        """The name a model calls it by."""
        return self.spec.name


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
