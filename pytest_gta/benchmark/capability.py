"""What a task asks of an agent: perception, operation, logic, creativity, the classes of the benchmark's tools.

GTA-2 (arXiv 2604.15715, table VI) gives Root SR over the tasks related to each class, and publishes neither which tasks
those are nor how that is decided; the release's own ``tools`` lists are empty. So a task either says it, in its
``capabilities`` or its ``tools``, or it is inferred by the rule of `infer_capabilities` - and always labelled as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from pytest_gta.benchmark.kinds import kind_of, mentioned_kinds
from pytest_gta.benchmark.tool_names import TOOL_CAPABILITIES

CAPABILITIES = ("perception", "operation", "logic", "creativity")
"""In the paper's order."""

_SENSED = frozenset(("image", "audio", "video"))
_TABLES = frozenset(("csv", "xlsx"))
_SCANS = re.compile(r"\b(?:scan(?:s|ned)?|photos?|photographs?|screenshots?|hand-?writ\w+)\b")
_NUMBERS = re.compile(
    r"\b(?:charts?|graphs?|plots?|plotted|calculat\w+|comput(?:e|es|ed|ation|ations)|equations?|formulas?|statistic\w*|"
    r"averages?|median|percent\w*|budgets?|costs?|prices?|totals?|sums?(?! (?:\w+ )?up\b)|prove|proofs?)\b|%"
)
_PICTURES = re.compile(
    r"\b(?:illustrat(?:ed|ions?)|posters?|logos?|cartoons?|artworks?|animations?|styli[sz](?:ed|ation))\b|"
    r"\b(?:creat|design|draw|generat|mak|produc|render)(?:e|es|ed|ing|s|n)? (?:[\w-]+ ){0,3}"
    r"(?:images?|pictures?|videos?|films?|scenes?)\b"
)


class CapabilityBasis(StrEnum):
    """How it is known what a task asks for."""

    STATED = "stated"
    """The task says so, in ``capabilities``."""
    TOOLS = "tools"
    """They are the classes of the tools that the task names, in ``tools``."""
    INFERRED = "inferred"
    """Guessed by rule from its request and its inputs."""


@dataclass(frozen=True, slots=True)
class TaskCapabilities:
    """What a task asks for.

    Attributes:
        names: Some of `CAPABILITIES`, in that order; empty when nothing was found.
        basis: How that is known.
    """

    names: tuple[str, ...]
    basis: CapabilityBasis


def capabilities_of(
    stated: Iterable[str], tools: Iterable[str], request: str, inputs: Iterable[str]
) -> TaskCapabilities:
    """Return what a task asks for: what it states, else the classes of its tools, else what can be inferred.

    Args:
        stated: Its ``capabilities``; names that are none of the four are passed over.
        tools: Its ``tools``; unknown ones are passed over.
        request: What the user asks for.
        inputs: The names of its input files.
    """
    classes = {TOOL_CAPABILITIES.get(name, "") for name in tools}
    for found, basis in ((set(stated), CapabilityBasis.STATED), (classes, CapabilityBasis.TOOLS)):
        if names := _in_order(found):
            return TaskCapabilities(names, basis)
    return TaskCapabilities(infer_capabilities(request, inputs), CapabilityBasis.INFERRED)


def infer_capabilities(request: str, inputs: Iterable[str]) -> tuple[str, ...]:
    """Return what a request with its input files seems to ask for.

    - perception: an input is a picture, a recording or a film, or there are inputs and the request speaks of a scan, a
      photo, a screenshot or handwriting;
    - operation: there are inputs, or the request speaks of a kind of file;
    - logic: an input is a table, a workbook is asked for, or the request speaks of a chart or of numbers to work out
      (costs, totals, averages, percentages, formulas, proofs);
    - creativity: the request speaks of an illustration, a poster, a logo, an animation, a style, or of making a picture
      or a film.

    Args:
        request: What the user asks for.
        inputs: The names of the input files.
    """
    text = request.lower()
    given = {kind_of(name) for name in inputs}
    asked = mentioned_kinds(text)
    found = {
        "perception": bool(given & _SENSED) or bool(given and _SCANS.search(text)),
        "operation": bool(given or asked),
        "logic": bool(given & _TABLES or "xlsx" in asked or _NUMBERS.search(text)),
        "creativity": bool(_PICTURES.search(text)),
    }
    return _in_order(name for name, is_asked in found.items() if is_asked)


def _in_order(names: Iterable[str]) -> tuple[str, ...]:
    found = set(names)
    return tuple(name for name in CAPABILITIES if name in found)
