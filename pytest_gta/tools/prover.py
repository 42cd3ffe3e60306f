"""The prover: whether what SMT-LIB2 text asserts is always true, by z3."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import re
from typing import Any

from pytest_gta.tools.backend import Backend
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool, ToolFault

SOLVE_S = 20.0
"""Seconds z3 may look for an answer to each of its two questions."""
_MEMORY_MIB = 2048
_MOST_SHOWN = 4_000

PROVER = Tool(
    ToolSpec(
        "Prover",
        "logic",
        "Proves or refutes a theorem given as SMT-LIB2 text (z3): answers whether the conjunction of all assertions is "
        "true under every interpretation. To prove that hypotheses H imply C, assert (=> H C). Answers proved, a "
        "counterexample, or unknown, and also whether the assertions can hold together at all. (check-sat) and "
        "(get-model) are not needed.",
        (
            ToolParameter(
                "theorem",
                "text",
                "SMT-LIB2 text: declarations and assertions.",
                example="(declare-const x Int)\n(assert (=> (> x 2) (> (* x x) 4)))",
            ),
        ),
    ),
    "pytest_gta.tools.prover:prove",
    timeout_s=60,
    backends=(Backend("z3", ("z3",), "tools"),),
)

_FENCED = re.compile(r"```[\w+-]*[ \t]*\n(.*?)```", re.DOTALL)
_ERROR = re.compile(r'\(error "(?:line (\d+) column (\d+): )?(.*?)"\)', re.DOTALL)

_TOKEN = re.compile(r';[^\n]*|"(?:[^"]|"")*"|\|[^|]*\||[()]')
_NAME = re.compile(r"\s*([^\s()]+)")
_COMMANDS = (
    *("assert", "declare-const", "declare-fun", "declare-sort", "declare-datatype", "declare-datatypes"),
    *("define-fun", "define-fun-rec", "define-funs-rec", "define-const", "define-sort", "push", "pop", "reset"),
    *("reset-assertions", "check-sat", "check-sat-assuming", "check-sat-using", "get-model", "get-value", "get-proof"),
    *("get-unsat-core", "get-unsat-assumptions", "get-assertions", "get-assignment", "get-info", "get-option"),
    *("set-logic", "set-info", "set-option", "echo", "exit", "eval", "simplify", "help", "display", "assert-soft"),
    *("minimize", "maximize", "get-objectives", "declare-rel", "declare-var", "rule", "query"),
)


def preload(function: str, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the library a call needs, to import once."""
    return ("z3",)


def prove(theorem: str, solve_s: float = SOLVE_S) -> str:
    """Return whether the assertions of SMT-LIB2 text are always true.

    Args:
        theorem: The text, bare or in a code fence.
        solve_s: Seconds z3 may look for an answer to each of its two questions.

    Raises:
        ToolFault: It cannot be read, or asserts nothing.
    """
    if importlib.util.find_spec("z3") is None:
        raise ToolFault("it needs z3, which is not installed here: pip install 'pytest-gta[tools]'")
    z3 = importlib.import_module("z3")
    z3.set_param("memory_max_size", _MEMORY_MIB)
    fenced = _FENCED.search(theorem)
    source = (fenced[1] if fenced else theorem).strip()
    if not source:
        raise ToolFault("the theorem is empty")
    _check_commands(source)
    try:
        assertions = list(z3.parse_smt2_string(source))
    except z3.Z3Exception as error:
        raise ToolFault(_explained(_text(error), source)) from None
    if not assertions:
        popped = " and not between (push) and (pop)" if "(pop" in source else ""
        raise ToolFault(f"it asserts nothing: state the theorem as (assert ...){popped}")
    formula = z3.And(*assertions) if len(assertions) > 1 else assertions[0]
    verdict = _validity(z3, formula, solve_s)
    if verdict.startswith("Proved"):
        return verdict
    return f"{verdict}\n{_consistency(z3, assertions, solve_s)}"


def _check_commands(source: str) -> None:
    """Refuse commands that there are not: z3 would pass over a misspelt assertion without a word."""
    depth = 0
    for token in _TOKEN.finditer(source):
        if token[0] == "(":
            depth += 1
            name = _NAME.match(source, token.end())
            if depth == 1 and name and name[1] not in _COMMANDS:
                line = source.count("\n", 0, token.start()) + 1
                close = difflib.get_close_matches(name[1], _COMMANDS, n=1)
                hint = f"; did you mean {close[0]}?" if close else "; state the theorem as (assert ...)"
                raise ToolFault(f"the theorem is not valid SMT-LIB2: line {line}: unknown command {name[1]}{hint}")
        elif token[0] == ")":
            depth -= 1


def _validity(z3: Any, formula: Any, solve_s: float) -> str:
    answer, model, reason = _check(z3, [z3.Not(formula)], solve_s)
    if answer == "unsat":
        return "Proved: the conjunction of the assertions is true under every interpretation."
    if answer == "sat":
        return f"Not proved. The conjunction of the assertions is false, for instance, for:\n{model}"
    return f"Unknown: neither a proof nor a counterexample was found ({reason})."


def _consistency(z3: Any, assertions: list[Any], solve_s: float) -> str:
    """Say whether the assertions can hold together: what many who write (check-sat) mean to ask."""
    answer, model, reason = _check(z3, assertions, solve_s)
    if answer == "unsat":
        return "Taken together as constraints, the assertions are unsatisfiable: no interpretation makes all true."
    if answer == "sat":
        return f"Taken together as constraints, the assertions are satisfiable, for instance by:\n{model}"
    return f"Whether the assertions can hold together is unknown ({reason})."


def _check(z3: Any, formulas: list[Any], solve_s: float) -> tuple[str, str, str]:
    """Return ``sat``, ``unsat`` or ``unknown``, then a model, then the reason for not knowing."""
    solver = z3.Solver()
    solver.set("timeout", max(1, int(solve_s * 1000)))
    solver.set("random_seed", 0)
    try:
        solver.add(*formulas)
        answer = str(solver.check())
        if answer == "sat":
            return answer, _model(solver.model()), ""
        return answer, "", _reason(solver.reason_unknown(), solve_s) if answer == "unknown" else ""
    except z3.Z3Exception as error:
        return "unknown", "", _reason(_text(error), solve_s)


def _model(model: Any) -> str:
    shown = [f"  {name} = {model[name]}" for name in sorted(model.decls(), key=lambda name: str(name.name()))]
    shown = [line.replace("\n", "\n    ") for line in shown]
    text = "\n".join(shown) or "  (any values)"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}\n  [cut]"


def _reason(said: str, solve_s: float) -> str:
    if "timeout" in said or "canceled" in said:
        return f"no answer within {solve_s:g} s"
    if "memory" in said:
        return f"more than {_MEMORY_MIB} MiB of memory would be needed"
    return said.strip().strip("()") or "no reason given"


def _explained(said: str, source: str) -> str:
    """Return z3's complaints with the lines they are about."""
    lines = source.splitlines()
    told = []
    for number, column, message in _ERROR.findall(said)[:5]:
        text = f"line {number}, column {column}: {message}" if number else message
        if number and 1 <= int(number) <= len(lines):
            text += f"\n    {lines[int(number) - 1].strip()[:200]}"
        told.append(text)
    hint = ""
    if source.count("(") != source.count(")"):
        hint = f"\nIt has {source.count('(')} opening and {source.count(')')} closing brackets."
    elif "unknown constant" in said:
        hint = "\nDeclare names before they are used: (declare-const x Int), (declare-fun f (Int) Bool)."
    elif "'(' expected" in said:
        hint = "\nWrite commands in brackets: (declare-const x Int) (assert (=> (> x 2) (> x 1)))."
    complaint = "\n".join(told) or said.strip()[:500]
    return f"the theorem is not valid SMT-LIB2: {complaint}{hint}"


def _text(error: Exception) -> str:
    value = error.args[0] if error.args else ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
