"""The arguments of a tool call as a model wrote them: read, checked against the tool's parameters, converted.

Whatever is wrong is a `ToolFault` that names it and shows arguments that would do; the tool is then not run. Slips that
leave no doubt are put right: a number written as text, one path in a list, a code fence around the object.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import ToolFault

_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_PATH_TYPES = frozenset(("image", "audio", "video", "file"))
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_arguments(arguments: str | Mapping[str, Any] | None, spec: ToolSpec) -> dict[str, Any]:
    """Return the arguments of a call, converted to the types of the tool's parameters; what is null is left out.

    Raises:
        ToolFault: When they cannot be used.
    """
    given = _as_object(arguments, spec)
    known = {parameter.name: parameter for parameter in spec.parameters}
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f" (did you mean `{close[0]}`?)" if close else ""
            takes = ", ".join(f"`{k}`" for k in known) or "no arguments"
            _fault(spec, f"it has no argument `{name[:80]}`{hint}; it takes {takes}")
    missing = [f"`{name}`" for name in spec.required if given.get(name) is None]
    if missing:
        _fault(spec, f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    return {name: _convert(value, known[name], spec) for name, value in given.items() if value is not None}


def _fault(spec: ToolSpec, wrong: str) -> NoReturn:
    raise ToolFault(f"{spec.name} was not run: {wrong}. Arguments that would do: {spec.example()}")


def _as_object(arguments: str | Mapping[str, Any] | None, spec: ToolSpec) -> dict[str, Any]:
    if isinstance(arguments, str):
        return _parse(arguments, spec)
    if isinstance(arguments, Mapping):
        return {str(name): value for name, value in arguments.items()}
    if arguments is None:
        _fault(spec, "the arguments are null, not a JSON object")
    _fault(spec, f"the arguments are a {type(arguments).__name__}, not a JSON object")


def _parse(raw: str, spec: ToolSpec) -> dict[str, Any]:
    text = raw.strip()
    if fenced := _FENCE.match(text):
        text = fenced[1].strip()
    if not text:
        if not spec.required:
            return {}
        _fault(spec, "the arguments are empty")
    value = _decode(text, spec)
    if isinstance(value, str) and value.strip().startswith("{"):
        value = _decode(value.strip(), spec)  # an object that was encoded twice
    if not isinstance(value, dict):
        words = {list: "a list", str: "text", bool: "true or false", type(None): "null"}.get(type(value), "a number")
        _fault(spec, f"the arguments are {words}, not a JSON object")
    return value


def _decode(text: str, spec: ToolSpec) -> Any:
    def no_number(name: str) -> NoReturn:
        raise ValueError(f"{name} is not a JSON number")

    # strict=False: models put real line ends into strings, and what they mean is plain.
    decoder = json.JSONDecoder(strict=False, parse_constant=no_number)
    try:
        value, end = decoder.raw_decode(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text) - 1 or "Unterminated" in error.msg:
            _fault(spec, f"the arguments are cut off: the JSON ends within {_around(text, len(text))}")
        _fault(
            spec, f"the arguments are not valid JSON: {error.msg} at character {error.pos}, {_around(text, error.pos)}"
        )
    except RecursionError:
        _fault(spec, "the arguments are nested too deep")
    except ValueError as error:
        _fault(spec, f"the arguments are not valid JSON: {error}")
    rest = text[end:].strip()
    if rest:
        what = "a second object follows the first" if rest.startswith("{") else f"{rest[:40]!r} follows the JSON object"
        _fault(spec, f"{what}; send one object only, and one call for each")
    return value


def _around(text: str, position: int) -> str:
    return repr(text[max(0, position - 30) : position + 30])


def _convert(value: Any, parameter: ToolParameter, spec: ToolSpec) -> Any:
    if parameter.type == "int":
        return _whole_number(value, parameter, spec)
    if parameter.type == "float":
        return _number(value, parameter, spec)
    if parameter.type == "bool":
        word = value if isinstance(value, bool) else _WORDS.get(str(value).strip().lower())
        return word if isinstance(word, bool) else _wrong(value, "true or false", parameter, spec)
    if parameter.type in _PATH_TYPES:
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, dict):
            value = value.get("path", value)
        return value if isinstance(value, str) else _wrong(value, "a path, as text", parameter, spec)
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if parameter.lists and isinstance(value, list | dict):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return _wrong(value, "text", parameter, spec)


def _number(value: Any, parameter: ToolParameter, spec: ToolSpec) -> float:
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    return number if math.isfinite(number) else _wrong(value, "a number", parameter, spec)


def _whole_number(value: Any, parameter: ToolParameter, spec: ToolSpec) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    number = _number(value, parameter, spec)
    return int(number) if number == int(number) else _wrong(value, "a whole number", parameter, spec)


def _wrong(value: Any, wanted: str, parameter: ToolParameter, spec: ToolSpec) -> NoReturn:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    _fault(spec, f"`{parameter.name}` must be {wanted}, and {shown} is not")
