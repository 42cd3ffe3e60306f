"""A judge that has gone: after three tasks in a row without one reply from it, the run starts nothing new.

Each of those tasks has waited through all of its retries. The rest keeps its agents' time and money, and
``--gta-resume`` goes on when the judge is back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_gta.benchmark.results import LeafStatus, TaskResult
from pytest_gta.benchmark.run_directory import append_line, read_lines

if TYPE_CHECKING:
    from pytest_gta.llm.run_control import RunControl

MOST = 3
"""Tasks in a row, over all workers."""


def note(control: RunControl, result: TaskResult) -> None:
    """Count a judged task, and halt the run when it is one too many that the judge was silent on.

    Args:
        control: What all processes of the run share.
        result: The task's result.
    """
    count = control.folder / "silent-judge.jsonl"
    if not _is_silent(result):
        count.unlink(missing_ok=True)
        return
    append_line(count, f'{{"run_key": "{result.run_key}"}}')
    if sum(1 for _ in read_lines(count)) >= MOST:
        why = next((leaf.analysis for leaf in result.leaves() if leaf.analysis), "no reason given")
        control.halt(f"the judge has not answered for {MOST} tasks in a row ({why})")


def _is_silent(result: TaskResult) -> bool:
    """Whether no leaf of it has ever had a reply, not even one that could not be read."""
    failed = all(leaf.status == LeafStatus.JUDGE_ERROR for leaf in result.leaves())
    return failed and result.judge.usage.tokens.output == 0
