"""The calculator: one expression, evaluated without Python's own `eval`."""

from __future__ import annotations

import ast
import math
import re
import statistics
from collections.abc import Callable
from typing import Any

from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool, ToolFault

MAX_DIGITS = 2_000
"""Digits of a whole number in a result."""
MAX_ITEMS = 10_000
"""Length of a list or a range."""
_MAX_TEXT = 10_000
_GROUPED = re.compile(r"\b[1-9]\d{0,2}(?:,\d{3})+\b")
"""1,200 as people write it; Python takes it for two numbers."""
_CALLS_AND_LISTS = re.compile(r"\w+\([^()]*\)|\[[^\[\]]*\]")
_PERCENT = re.compile(r"\d\s*%(?!\s*[\w(.])|\d%\s*[-+*/)]")
_FACTORIAL = re.compile(r"[\w)]!(?!=)")
_SIGNS = {"\u00d7": "*", "\u00b7": "*", "\u00f7": "/", "\u2212": "-", "\u2013": "-", "\u03c0": "pi", "\u221a": "sqrt"}
"""Signs of printed mathematics that mean one thing."""

CALCULATOR = Tool(
    ToolSpec(
        "Calculator",
        "logic",
        "Evaluates one arithmetic expression in Python syntax and returns its value. Knows + - * / // % **, "
        "comparisons, lists, `x if c else y`, [x*2 for x in range(5)], and the functions of Python's math module "
        "(sqrt, log, sin, pi, comb, ... with or without `math.`), max, min, round, sum, abs, int, float, len, sorted, "
        "mean, median, stdev. No statements, imports or variables: for those use Solver.",
        (
            ToolParameter(
                "expression",
                "text",
                "One expression, e.g. round(1250 * (1 + 0.035)**10, 2). Write % as /100 and numbers without commas "
                "or units.",
                example="round(1250 * (1 + 0.035)**10, 2)",
            ),
        ),
    ),
    "pytest_gta.tools.calculator:calculate",
    timeout_s=2,
)


def preload(function: str, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the library a call needs."""
    return ("simpleeval",)


def calculate(expression: str) -> str:
    """Return the value of an expression as text.

    Raises:
        ToolFault: When it is not an expression, uses something unknown or has no sensible value.
    """
    import simpleeval

    source = expression.strip().strip("`").strip()
    source = source.removeprefix("=").strip() if not source.startswith("==") else source
    for written, meant in _SIGNS.items():
        source = source.replace(written, meant)
    if not source:
        raise ToolFault("the expression is empty")
    simpleeval.MAX_POWER = 100_000
    simpleeval.MAX_STRING_LENGTH = MAX_ITEMS
    evaluator = simpleeval.EvalWithCompoundTypes(functions=_functions(), names=_names())
    evaluator.operators[ast.Pow] = _power
    evaluator.operators[ast.LShift] = _shift
    evaluator.operators[ast.Mult] = _times
    try:
        tree = ast.parse(source, mode="eval")
        if _has_grouped_digits(tree, source):
            raise ToolFault(f"a number with commas is several numbers in Python{_advice(source)}")
        if any(isinstance(node, ast.BitXor) for node in ast.walk(tree)):
            raise ToolFault("`^` is not a power in Python: write ** for a power")
        return _shown(evaluator.eval(source))
    except ToolFault:
        raise
    except SyntaxError as error:
        raise ToolFault(f"not one Python expression: {error.msg}{_place(source, error)}{_advice(source)}") from None
    except (simpleeval.NameNotDefined, simpleeval.FunctionNotDefined) as error:
        name = getattr(error, "name", None) or getattr(error, "func_name", "?")
        raise ToolFault(f"`{name}` is not known here; only numbers and mathematical functions are") from None
    except ZeroDivisionError:
        raise ToolFault("division by zero") from None
    except RecursionError:
        raise ToolFault("the expression is nested too deep") from None
    except Exception as error:
        raise ToolFault(f"{type(error).__name__}: {error}") from None


def _names() -> dict[str, Any]:
    constants = {name: getattr(math, name) for name in ("pi", "e", "tau", "inf", "nan")}
    return {**constants, "True": True, "False": False, "None": None, "math": _Math()}


class _Math:
    """``math.sqrt`` and its like, for expressions that name the module."""

    def __getattr__(self, name: str) -> Any:
        if name in (functions := _functions()):
            return functions[name]
        return getattr(math, name)


def _functions() -> dict[str, Callable[..., Any]]:
    from_math = {
        name: value for name in dir(math) if not name.startswith("_") and callable(value := getattr(math, name))
    }
    builtin = (max, min, sum, abs, int, float, len, sorted, str, bool, divmod, list, tuple, set, any, all)
    return {
        **from_math,
        **{function.__name__: function for function in builtin},
        "round": _round,
        "pow": lambda x, y, z=None: pow(x, y, z) if z is not None else _power(x, y),
        "range": _range,
        "factorial": _factorial,
        "comb": _bounded(math.comb),
        "perm": _bounded(math.perm),
        "mean": statistics.mean,
        "median": statistics.median,
        "stdev": statistics.stdev,
        "variance": statistics.variance,
        "ln": math.log,
    }


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 0 and abs(base) > 1:
        _check_digits(exponent * math.log10(abs(base)))
    return base**exponent


def _shift(value: int, places: int) -> int:
    _check_digits(places * math.log10(2) + (math.log10(abs(value)) if value else 0))
    return value << places


def _times(left: Any, right: Any) -> Any:
    for items, count in ((left, right), (right, left)):
        if isinstance(items, str | list | tuple) and isinstance(count, int) and len(items) * count > MAX_ITEMS:
            raise ToolFault(f"that would have {len(items) * count:,} items; at most {MAX_ITEMS:,} are allowed")
    return left * right


def _round(number: Any, digits: int | None = None) -> Any:
    return round(number, digits)


def _range(*bounds: int) -> range:
    numbers = range(*bounds)
    if len(numbers) > MAX_ITEMS:
        raise ToolFault(f"a range of {len(numbers):,} numbers is too long; at most {MAX_ITEMS:,} are allowed")
    return numbers


def _factorial(number: int) -> int:
    if number > 1:
        _check_digits(math.lgamma(number + 1) / math.log(10))
    return math.factorial(number)


def _bounded(function: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def checked(n: int, k: int) -> int:
        if min(k, n - k) > MAX_DIGITS * 4:
            raise ToolFault(f"{function.__name__}({n}, {k}) is too large")
        return function(n, k)

    return checked


def _check_digits(digits: float) -> None:
    if digits > MAX_DIGITS:
        raise ToolFault(f"the result would have about {digits:,.0f} digits; at most {MAX_DIGITS:,} are allowed")


def _shown(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value:
        _check_digits(abs(value).bit_length() * math.log10(2))
    if isinstance(value, range):
        value = list(value)
    text = str(value)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}... [cut: {len(text):,} characters]"


def _has_grouped_digits(tree: ast.AST, source: str) -> bool:
    """Return whether 1,200 stands in an expression where it is no argument of a call and no item of a list."""
    tuples = (ast.get_source_segment(source, node) or "" for node in ast.walk(tree) if isinstance(node, ast.Tuple))
    return any(_GROUPED.search(_CALLS_AND_LISTS.sub("", written)) for written in tuples)


def _advice(source: str) -> str:
    if grouped := _GROUPED.search(source):
        return f"; write {grouped[0]} as {grouped[0].replace(',', '')}"
    if _PERCENT.search(source):
        return "; % is the remainder in Python: write 15 % as 15/100"
    if _FACTORIAL.search(source):
        return "; write 5! as factorial(5)"
    if "=" in source.replace("==", ""):
        return "; write only what is to be computed, without ="
    return ""


def _place(source: str, error: SyntaxError) -> str:
    at = error.offset or 0
    return f", at {source[max(0, at - 10) : at + 10]!r}" if 0 < at <= len(source) else ""
