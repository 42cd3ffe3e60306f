"""Progress while a run goes on: a line for each task that ends, and on a terminal a count that is kept up to date.

With ``-v`` pytest's own lines say it all, with ``-q`` nothing is shown. A log that is not a terminal gets whole lines
only, so that it can be read afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Any

import pytest

from pytest_gta.benchmark.results import StopReason, TaskResult, TaskStatus
from pytest_gta.benchmark.usage import total
from pytest_gta.reporters.feedback import GOES_ON, after_feedback
from pytest_gta.reporters.scoreboard import Scoreboard
from pytest_gta.reporters.wording import duration, money, points

_NAME, _LONGEST_NAME = 22, 40
"""Columns for the name of an item, at least and at most."""
ENOUGH_TASKS = 3
"""Tasks that have to end before the time left is guessed."""


class LiveLines:
    """Writes progress to pytest's terminal reporter, when there is one.

    Args:
        config: pytest's configuration.
        scoreboards: What is known of each agent's part of the run.
        names: What each item may be called, to align what follows.
    """

    def __init__(self, config: pytest.Config, scoreboards: Sequence[Scoreboard], names: Collection[str]) -> None:
        self._config, self._scoreboards = config, scoreboards
        self._width = min(max([_NAME, *map(len, names)]), _LONGEST_NAME)
        self._count_shown = False
        self._line_begun = False
        self._started = time.monotonic()

    def leaf_judged(self) -> None:
        """Bring the count up to date, on a terminal."""
        reporter = self._reporter
        if reporter is not None and reporter.isatty:
            reporter.rewrite(f"  ...  {self._count()}", erase=True)
            self._count_shown = True

    def judge_waits(self, remark: str) -> None:
        """Say that the judge is waited for."""
        self._write_line(" wait", {"yellow": True}, f"  judge: {remark}")

    def goes_on(self, name: str, score: str) -> None:
        """Say that an agent goes on with its judged work, which may take as long again.

        Args:
            name: What to call the task: the id of its item.
            score: The score of its first attempt.
        """
        self._write_line(f"{score:>5}", {"yellow": True}, f"  {name:<{self._width}} {GOES_ON}")

    def task_ended(self, name: str, result: TaskResult) -> None:
        """Write the line of a task that ended.

        Args:
            name: What to call it: the id of its item.
            result: Its result.
        """
        score, markup = self._score(result)
        line = f"  {name:<{self._width}} {self._count()}{_remark(result)}"
        self._write_line(score, markup, line + self._time_left(score + line))

    def _write_line(self, first: str, markup: dict[str, bool], rest: str) -> None:
        reporter = self._reporter
        if reporter is None:
            return
        # pytest writes a file's name before its first letter; there are no letters here, so once is enough.
        file_shown = reporter.currentfspath
        if self._count_shown:
            reporter.rewrite("", erase=True)
            reporter.rewrite("")
            self._count_shown = False
        elif not self._line_begun:
            reporter.ensure_newline()
        self._line_begun = True
        reporter.write(first, **markup)
        reporter.write(f"{rest}\n")
        reporter.currentfspath = file_shown

    def _score(self, result: TaskResult) -> tuple[str, dict[str, bool]]:
        if result.root_score is None:
            return f"{_STATE_WORDS[result.status]:>5}", {"yellow": True}
        return f"{points(result.root_score):>5}", {"green": True} if result.success else {"red": True}

    def _count(self) -> str:
        boards = self._scoreboards
        judged, leaves = sum(board.leaves_judged for board in boards), sum(board.leaves_expected for board in boards)
        finished, tasks = self._tasks()
        parts = [f"{finished}/{tasks} tasks", f"{judged}/{leaves} leaves"]
        cost = total(board.cost_usd for board in boards)
        if cost is not None:
            parts.append(money(cost))
        return ", ".join(parts)

    def _tasks(self) -> tuple[int, int]:
        boards = self._scoreboards
        return sum(board.tasks_finished for board in boards), sum(board.tasks_expected for board in boards)

    def _time_left(self, line: str) -> str:
        """Return how long the rest will take at the pace so far; "" when that is too early to say, or has no room."""
        finished, tasks = self._tasks()
        rest = tasks - finished
        if finished < ENOUGH_TASKS or rest <= 0:
            return ""
        left = f", about {duration((time.monotonic() - self._started) / finished * rest)} left"
        return left if len(line) + len(left) < self._config.get_terminal_writer().fullwidth else ""

    @property
    def _reporter(self) -> Any:
        if self._config.get_verbosity() != 0:
            return None
        return self._config.pluginmanager.getplugin("terminalreporter")


_STATE_WORDS = {
    TaskStatus.GRADED: "?",
    TaskStatus.UNSCORED: "UNSC.",
    TaskStatus.ERROR: "ERROR",
    TaskStatus.NOT_RUN: "-",
}


def _remark(result: TaskResult) -> str:
    """Return how the agent ended, when it did not just finish, and what feedback made of its work."""
    told = f", after feedback {after_feedback(result.feedback)}" if result.feedback else ""
    if result.agent is None or result.agent.stop_reason is StopReason.FINISHED:
        return told
    return f", {result.agent.stop_reason.value}{told}"
