from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest

from pytest_gta.benchmark.usage import Tokens, Usage
from pytest_gta.llm.spending import LEDGER, Budget, Ledger, Spent


def used(tokens: int, usd: float | None = 0.5) -> Usage:
    return Usage(calls=1, tokens=Tokens(input=tokens - 10, cached=5, output=10), cost_usd=usd)


def test_every_process_sees_what_all_have_spent(tmp_path: Path) -> None:
    one, other = Ledger(tmp_path), Ledger(tmp_path)
    assert one.spent() == Spent()
    one.add(used(100))
    other.add(used(200, None))
    assert one.spent() == other.spent() == Spent(0.5, 300, 1)
    other.add(used(50))
    assert one.spent() == Ledger(tmp_path).spent() == Spent(1.0, 350, 1)


def test_nothing_used_leaves_no_line(tmp_path: Path) -> None:
    Ledger(tmp_path).add(Usage(calls=1))
    assert not (tmp_path / LEDGER).exists()


def test_a_line_torn_by_a_killed_process_is_skipped(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.add(used(100))
    with (tmp_path / LEDGER).open("a") as lines:
        lines.write('{"usd": 0.5, "tok')
    assert ledger.spent() == Spent(0.5, 100)
    ledger.add(used(100))
    assert ledger.spent() == Spent(1.0, 200)


def _spend_and_die(folder: Path) -> None:
    ledger = Ledger(folder)
    for _ in range(50):
        ledger.add(used(100))
    os._exit(9)


def test_what_processes_spent_counts_though_they_die(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_spend_and_die, args=(tmp_path,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert Ledger(tmp_path).spent() == Spent(100.0, 20_000)


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (Budget(), None),
        (Budget(cost_usd=2.0), None),
        (Budget(cost_usd=1.5), "budget reached: $1.5 of $1.5 spent"),
        (Budget(tokens=5001), None),
        (Budget(cost_usd=2.0, tokens=4000), "budget reached: 5,000 of 4,000 tokens used"),
    ],
)
def test_a_budget_is_reached(budget: Budget, said: str | None) -> None:
    assert budget.reached(Spent(1.5, 5000)) == said
