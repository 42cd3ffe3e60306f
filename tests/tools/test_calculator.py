"""The calculator computes ordinary mathematics, and says what it will not do."""

from __future__ import annotations

import pytest

from pytest_gta.tools.calculator import calculate
from pytest_gta.tools.tool import ToolFault


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2**10+sqrt(9)", "1027.0"),
        ("math.sqrt(2)", "1.4142135623730951"),
        ("round(1250 * (1 + 0.035)**10, 2)", "1763.25"),
        ("abs(-3) + len([1, 2]) + int('4') + float('0.5')", "9.5"),
        ("sorted([3, 1, 2])", "[1, 2, 3]"),
        ("sum([x**2 for x in range(1, 101)])", "338350"),
        ("max(3, 7) - min([4, 2])", "5"),
        ("comb(50, 3), factorial(20)", "(19600, 2432902008176640000)"),
        ("log(e), ln(e), log10(1000), degrees(pi)", "(1.0, 1.0, 3.0, 180.0)"),
        ("mean([1, 2, 3, 6]), median([3, 1, 2]), round(stdev([2, 4, 4, 4, 5, 5, 7, 9]), 4)", "(3, 2, 2.1381)"),
        ("1 if 2 > 1 and not False else 0", "1"),
        ("7 // 2, 7 % 2, -7 // 2, divmod(17, 5)", "(3, 1, -4, (3, 2))"),
        ("3 \u00d7 4 \u2212 6 \u00f7 2", "9.0"),
        ("\u221a(16)", "4.0"),
        ("= 2 + 3", "5"),
        ("`2 + 3`", "5"),
        ("2**1000 % 97", "36"),
        ("pow(3, 200, 13)", "9"),
        ("10**400 // 10**399", "10"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("range(3)", "[0, 1, 2]"),
        ("inf > 10**300", "True"),
        ("{'a': 1}['a'] + [5, 6][1]", "7"),
        ("max(1,200), sum([1,200])", "(200, 201)"),
        ("1, 200", "(1, 200)"),
    ],
)
def test_ordinary_mathematics(expression: str, value: str) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("9**9**9**9", "digits; at most 2,000"),
        ("9**9**9", "digits; at most 2,000"),
        ("1 << 10**9", "digits; at most 2,000"),
        ("factorial(10**9)", "digits; at most 2,000"),
        ("perm(10**6, 10**5)", "too large"),
        ("10**1500 * 10**1500", "digits; at most 2,000"),
        ("sum(range(10**9))", "range of 1,000,000,000"),
        ("[0] * 10**9", "1,000,000,000 items"),
        ("'a' * 10**10", "10,000,000,000 items"),
        ("1/0", "division by zero"),
        ("5 % 0", "division by zero"),
        ("x + 1", "`x` is not known"),
        ("print(1)", "`print` is not known"),
        ("__import__('os').getcwd()", "`__import__` is not known"),
        ("open('/etc/passwd')", "`open` is not known"),
        ("().__class__.__bases__", "not available"),
        ("math.__loader__", "not available"),
        ("(lambda: 1)()", "not available|Lambda"),
        ("2^3", r"write \*\* for a power"),
        ("5!", r"not one Python expression.*write 5! as factorial\(5\)"),
        ("x = 3", "not one Python expression.*without ="),
        ("15%", "write 15 % as 15/100"),
        ("12.5% * 200", "write 15 % as 15/100"),
        ("1,200*3", "several numbers in Python; write 1,200 as 1200"),
        ("(2,500,000 + 1)/2", "write 2,500,000 as 2500000"),
        ("1,050 + 2", "write 1,050 as 1050"),
        ("import os", "not one Python expression"),
        ("", "empty"),
        ("sqrt(-1)", "ValueError: "),
        ("1.5e308 * 10.0 ** 308 ** 2", "OverflowError|digits"),
        ("(" * 500 + "1" + ")" * 500, "nested|parentheses"),
        ("'x' + 1", "TypeError"),
    ],
)
def test_what_it_will_not_do(expression: str, reason: str) -> None:
    with pytest.raises(ToolFault, match=reason):
        calculate(expression)
