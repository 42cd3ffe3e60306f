"""The table of tools in the documentation, from what the tools say of themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_gta.tools.backend import BUILT_IN, Backend
from pytest_gta.tools.specification import ToolSpec
from pytest_gta.tools.tool import Tool


def tools_table(tools: Iterable[Tool]) -> Iterator[str]:
    """Yield the lines of a Markdown table with a row for each tool.

    Arguments that may be left out stand in brackets; an extra of this package stands behind the backend it brings.
    """
    yield "| tool | capability | what it does | arguments | works with |"
    yield "|---|---|---|---|---|"
    for tool in tools:
        backends = " or ".join(_named(backend) for backend in tool.backends or (BUILT_IN,))
        cells = (f"`{tool.name}`", tool.spec.capability, _purpose(tool.spec), _arguments(tool), backends)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _purpose(spec: ToolSpec) -> str:
    """The first sentence of a tool's description."""
    return re.split(r"(?<=[^\s.][^\s.]\.)\s+(?=[A-Z])", spec.description, maxsplit=1)[0]


def _arguments(tool: Tool) -> str:
    names = [f"[{p.name}]" if p.optional else p.name for p in tool.spec.parameters]
    return ", ".join(f"`{name}`" for name in [*names, *(["[offset]"] if tool.paged else [])])


def _named(backend: Backend) -> str:
    return f"{backend.name} (`{backend.extra}`)" if backend.extra else backend.name
