"""Theorems are proved or refuted as the conjunction of what is asserted; what cannot be read is explained."""

from __future__ import annotations

import importlib.util

import pytest

from pytest_gta.tools import prover
from pytest_gta.tools.prover import prove
from pytest_gta.tools.tool import ToolFault
from pytest_gta.tools.toolbox import Toolbox

pytestmark = pytest.mark.skipif(importlib.util.find_spec("z3") is None, reason="z3 is not installed")

SOCRATES = """
(declare-sort U) (declare-fun human (U) Bool) (declare-fun mortal (U) Bool) (declare-const socrates U)
(assert (=> (and (forall ((x U)) (=> (human x) (mortal x))) (human socrates)) (mortal socrates)))
"""
FERMAT = """
(declare-const a Int) (declare-const b Int) (declare-const c Int)
(assert (not (and (> a 2) (> b 2) (> c 2) (= (+ (* a a a) (* b b b)) (* c c c)))))
"""


@pytest.mark.parametrize(
    "theorem",
    [
        "(declare-const x Int)(assert (=> (> x 2) (> (* x x) 4)))",
        SOCRATES,
        f"```smt2\n{SOCRATES}\n(check-sat)\n```",
        "(set-logic QF_LRA)\n(assert true) ; nothing to it\n(check-sat)\n(get-model)\n(exit)",
        '(declare-const |odd (name| Bool)\n(assert (or |odd (name| (not |odd (name|)))\n(echo "fine)")',
    ],
)
def test_what_always_holds_is_proved(theorem: str) -> None:
    assert prove(theorem) == "Proved: the conjunction of the assertions is true under every interpretation."


def test_what_does_not_hold_has_a_counterexample(toolbox: Toolbox) -> None:
    answer = toolbox.call("Prover", {"theorem": "(declare-const x Int)(assert (=> (> (* x x) 8) (= x 3)))"})
    assert not answer.is_error
    verdict, _, consistency = answer.text.partition("Taken together")
    assert verdict.startswith("Not proved.")
    x = int(verdict.partition("x = ")[2])
    assert x * x > 8 and x != 3
    assert "are satisfiable" in consistency


def test_contradicting_constraints_are_said_to_be_so() -> None:
    answer = prove("(declare-const x Int)(assert (> x 2))(assert (< x 1))(check-sat)")
    assert answer.startswith("Not proved.") and "the assertions are unsatisfiable" in answer


def test_what_z3_cannot_tell_in_time_is_unknown() -> None:
    answer = prove(FERMAT, solve_s=0.2)
    assert answer.startswith("Unknown: neither a proof nor a counterexample was found (no answer within 0.2 s).")


@pytest.mark.parametrize(
    ("theorem", "words"),
    [
        ("", "empty"),
        ("(check-sat)", "asserts nothing"),
        ("(declare-const x Int)(push)(assert (> x 1))(pop)", r"not between \(push\) and \(pop\)"),
        ("(declare-const x Int)\n(assert (> y 2))", r"line 2, column 11: unknown constant y\n    \(assert \(> y 2\)\)"),
        ("(assert (> 1 2)", "2 opening and 1 closing"),
        ("(declare-const x Int)\n(asert (> x 2))", "line 2: unknown command asert; did you mean assert"),
        ("All men are mortal.", r"\(assert"),
        ("(forall ((x Int)) (> x 0))", "unknown command forall"),
    ],
)
def test_what_cannot_be_read_is_explained(theorem: str, words: str) -> None:
    with pytest.raises(ToolFault, match=words):
        prove(theorem)


def test_without_z3_the_answer_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prover.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ToolFault, match=r"pytest-gta\[tools\]"):
        prove("(assert true)")
