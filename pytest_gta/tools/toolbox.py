"""The tools of one task: bound to its workspace and its confinement, called by name with what a model wrote."""

from __future__ import annotations

import difflib
import inspect
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Self

from pytest_gta.tools.arguments import read_arguments
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.specification import ToolSpec
from pytest_gta.tools.tool import OFFSET, Tool, ToolFault, ToolResult
from pytest_gta.workspace.confined_process import ConfinedError, ConfinedProcess, Limits
from pytest_gta.workspace.confinement import Confinement, ConfinementUnavailable
from pytest_gta.workspace.workspace import PathRefused, Workspace

__all__ = ["CallRecord", "Tool", "ToolFault", "ToolResult", "Toolbox"]

MAX_TEXT = 30_000
"""Characters of one answer."""

_LEAST_S = 0.1


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call, for the transcript.

    Attributes:
        name: The tool, as the model called it.
        ok: Whether it was not an error.
        seconds: Wall time.
        bytes: Size of the answer's text as UTF-8.
    """

    name: str
    ok: bool
    seconds: float
    bytes: int


class Toolbox:
    """The tools of one task. Calls from several threads are answered one after the other.

    Args:
        workspace: The task's folder.
        confinement: What holds back the process that tools run in; it is started by the first call that needs it.
        only: Names to offer; all there are unless given.
        metadata: A release's ``toolmeta.json``: its tools are offered, in its words.
        timeout_s: Seconds one call may take.
        extra: Tools contributed by the user, offered besides; one with a known name takes that one's place.
        on_call: Called after each call.
        limits: Bounds on the confined process.
        endpoints: Models and services that tools may ask; none unless given.

    Attributes:
        calls: Calls so far, also those that could not be made sense of.
        errors: Those of them that came back as errors.
        unknown: Names in `metadata` or `only` that there is no tool for.
    """

    def __init__(
        self,
        workspace: Workspace,
        confinement: Confinement,
        *,
        only: Sequence[str] | None = None,
        metadata: Mapping[str, Mapping[str, Any]] | None = None,
        timeout_s: float = 120.0,
        extra: Iterable[Tool] = (),
        on_call: Callable[[CallRecord], None] | None = None,
        limits: Limits | None = None,
        endpoints: ToolEndpoints | None = None,
    ) -> None:
        from pytest_gta.tools.table import TOOLS

        self.workspace = workspace
        self.calls = 0
        self.errors = 0
        self._timeout_s = timeout_s
        self._on_call = on_call
        self._lock = threading.RLock()
        self._confinement, self._limits = confinement, limits or Limits()
        self._endpoints = endpoints or ToolEndpoints()
        self._process: ConfinedProcess | None = None
        contributed = {tool.name: tool for tool in extra}
        tools = {tool.name: tool for tool in TOOLS} | contributed
        wanted = list(tools)
        if metadata:
            wanted = [*metadata, *(name for name in contributed if name not in metadata)]
        if only is not None:
            wanted = list(dict.fromkeys(only))
        self.unknown = tuple(name for name in wanted if name not in tools)
        self._tools = {name: _shown(tools[name], (metadata or {}).get(name)) for name in wanted if name in tools}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What is on offer."""
        return tuple(tool.spec for tool in self._tools.values())

    def call(
        self, name: str, arguments: str | Mapping[str, Any] | None, *, timeout_s: float | None = None
    ) -> ToolResult:
        """Call one tool.

        Args:
            name: Its name, as the model wrote it.
            arguments: The raw text a model wrote, or an object.
            timeout_s: Seconds this call may take, where that is less than any call may: what is left of the task's
                time.

        Returns:
            The answer; an error result for anything that a model did wrong or that its call brought about.

        Raises:
            ConfinementUnavailable: When the confined process cannot be started: the machine's fault, no answer.
        """
        started = time.monotonic()
        with self._lock:
            try:
                result = self._answer(name, arguments, timeout_s)
            except (ToolFault, PathRefused) as fault:
                result = ToolResult(str(fault), is_error=True)
            except ConfinedError as error:
                # A fault's words are for the model as they are; of any other exception the kind says half.
                kind = (
                    ""
                    if error.error_type in ("", "ToolFault", "PathRefused", "MemoryError")
                    else f"{error.error_type}: "
                )
                result = ToolResult(f"{name} failed: {kind}{error}", is_error=True)
            self.calls += 1
            self.errors += result.is_error
        if self._on_call is not None:
            size = len(result.text.encode("utf-8", "replace"))
            self._on_call(CallRecord(name, not result.is_error, time.monotonic() - started, size))
        return result

    def close(self) -> None:
        """End the confined process."""
        with self._lock:
            if self._process is not None:
                self._process.close()
                self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- one call ----------------------------------------------------------------------------------------------------

    def _answer(self, name: str, arguments: str | Mapping[str, Any] | None, left_s: float | None) -> ToolResult:
        tool = self._tools.get(name)
        if tool is None:
            named = {known.lower(): known for known in self._tools}
            close = difflib.get_close_matches(name.replace("_", "").lower(), named, n=3, cutoff=0.5)
            hint = (
                f"did you mean {' or '.join(named[word] for word in close)}?"
                if close
                else f"there are {', '.join(self._tools) or 'none'}."
            )
            raise ToolFault(f"there is no tool {name[:80]!r}; {hint}")
        given = read_arguments(arguments, tool.spec)
        offset = given.pop(OFFSET.name, 0) if tool.paged else 0
        kwargs = self._with_paths(tool, given)
        timeout_s = min(self._timeout_s, tool.timeout_s or self._timeout_s)
        if left_s is not None and left_s < timeout_s:
            timeout_s = max(_LEAST_S, round(left_s, 1))
        if isinstance(tool.function, str):
            value = self._confined().call(tool.function, kwargs, timeout_s)
        else:
            value = self._in_process(tool, kwargs, time.monotonic() + timeout_s)
        return self._finish(tool, ToolResult.from_value(value), offset)

    def _with_paths(self, tool: Tool, given: dict[str, Any]) -> dict[str, Any]:
        """Resolve every argument that is a path."""
        kwargs = dict(given)
        for name in tool.reads:
            if name in kwargs:
                real = self.workspace.resolve(kwargs[name])
                kwargs[name] = self.workspace.relative(real) if isinstance(tool.function, str) else str(real)
        folder = kwargs.pop("output_dir", None)
        if tool.writes:
            named = kwargs.pop("filename", None)
            target = self._target(tool, str(named or _usual_name(tool, kwargs)), folder)
            target = target if named else self._unused(target)
            kwargs["target"] = target if isinstance(tool.function, str) else str(self.workspace.root / target)
        elif folder is not None:
            kwargs["output_dir"] = self.workspace.relative(self.workspace.resolve_folder(folder, writing=True))
        return kwargs

    def _target(self, tool: Tool, filename: str, folder: str | None) -> str:
        name = filename.strip().strip("`\"'").strip()
        # "Q1: Report" is a title, and would be taken for an address of the kind "Q1:".
        name = name.replace(": ", " - ")
        if not name.lower().endswith((tool.writes, *tool.writes_also)):
            name += tool.writes
        if folder and folder.strip() not in (".", "./"):
            inside = self.workspace.relative(self.workspace.resolve_folder(folder, writing=True))
            # A model that names the folder in both places means it once.
            if inside != "." and not PurePosixPath(name).is_absolute() and not name.startswith(inside + "/"):
                name = f"{inside}/{name}"
        return self.workspace.relative(self.workspace.resolve(name, writing=True))

    def _unused(self, target: str) -> str:
        """A name that nobody asked for takes no earlier file's place."""
        path = PurePosixPath(target)
        number = 1
        while (self.workspace.root / target).exists():
            number += 1
            target = str(path.with_name(f"{path.stem}_{number}{path.suffix}"))
        return target

    def _confined(self) -> ConfinedProcess:
        if self._process is None:
            self._process = ConfinedProcess(
                self._confinement,
                readable=(self.workspace.root,),
                writable=self.workspace.root,
                protected=tuple(self.workspace.root / name for name in self.workspace.protected),
                limits=self._limits,
            )
        return self._process

    def _in_process(self, tool: Tool, kwargs: dict[str, Any], deadline: float) -> Any:
        assert callable(tool.function)

        def confined(target: str, arguments: Mapping[str, Any]) -> Any:
            return self._confined().call(target, arguments, max(_LEAST_S, deadline - time.monotonic()))

        offered: dict[str, Any] = {
            "workspace": self.workspace,
            "confined": confined,
            "endpoints": self._endpoints.until(deadline),
        }
        wanted = inspect.signature(tool.function).parameters
        kwargs = {name: value for name, value in offered.items() if name in wanted} | kwargs
        try:
            return tool.function(**kwargs)
        except (ToolFault, PathRefused, ConfinedError, ConfinementUnavailable):
            raise
        except Exception as error:
            raise ToolFault(f"{tool.name} failed: {type(error).__name__}: {error}") from error

    def _finish(self, tool: Tool, result: ToolResult, offset: int) -> ToolResult:
        """Keep the files that are really there, and cut the text to what fits in one answer."""
        files = []
        for path in dict.fromkeys(result.files):
            try:
                files.append(self.workspace.relative(self.workspace.resolve(path)))
            except PathRefused:
                continue
        text = _page(result.text, offset, tool) if tool.paged else _cut(result.text)
        unnamed = [path for path in files if path not in text]
        if unnamed:
            text = f"{text}\nFiles: {', '.join(unnamed)}".strip()
        return ToolResult(text, tuple(files), result.is_error)


def _usual_name(tool: Tool, kwargs: Mapping[str, Any]) -> str:
    """The name of a file that was given none: the tool's, with ``{audio}`` as the stem of what that argument names."""
    stems = {name: PurePosixPath(str(kwargs[name]).replace(os.sep, "/")).stem for name in tool.reads if name in kwargs}
    return tool.writes_as.format(**stems)


def _shown(tool: Tool, entry: Mapping[str, Any] | None) -> Tool:
    spec = tool.spec.as_released(entry) if entry else tool.spec
    if tool.paged:
        spec = replace(spec, parameters=(*spec.parameters, OFFSET))
    return replace(tool, spec=spec)


def _cut(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}\n[cut: {MAX_TEXT:,} of {len(text):,} characters are shown]"


def _page(text: str, offset: int, tool: Tool) -> str:
    if offset < 0 or (offset and offset >= len(text)):
        raise ToolFault(f"`offset` is {offset}, and the answer has {len(text):,} characters, counted from 0")
    end = offset + MAX_TEXT
    if end >= len(text):
        return text[offset:] if not offset else f"[from character {offset:,} to the end]\n{text[offset:]}"
    # Pages end with a line where one ends near by, so that no row or sentence is torn.
    line_end = text.rfind("\n", end - 2_000, end)
    end = line_end + 1 if line_end > 0 else end
    first = f"[from character {offset:,}]\n" if offset else ""
    return (
        f"{first}{text[offset:end]}\n[characters {offset:,} to {end:,} of {len(text):,}; "
        f'to read on, call {tool.name} again with the same arguments and "offset": {end}]'
    )
