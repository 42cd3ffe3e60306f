"""Says which of a model's tool calls are run: bounds on calls a turn, a task, and of the same call."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection

from pytest_gta.agents.limits import Limits
from pytest_gta.llm.reply import ToolCall


class CallGuard:
    """Counts calls, those of unknown tools and with unreadable arguments included.

    Args:
        limits: The bounds.
        offered: Names of the tools there are.
    """

    def __init__(self, limits: Limits, offered: Collection[str]) -> None:
        self._limits, self._offered = limits, frozenset(offered)
        self._same: Counter[tuple[str, str]] = Counter()
        self._task = self._turn = self._refused_as_repeated = self._loop_turns = 0
        self._why_repeated = ""

    def begin_turn(self) -> None:
        """Start counting the calls of a turn."""
        self._turn = self._refused_as_repeated = 0

    def refusal(self, call: ToolCall) -> str:
        """Count a call; return why it is not run, for the model, or "" when it is."""
        if self._task >= self._limits.calls_per_task:
            return f"Not run: this task's limit of {self._limits.calls_per_task} tool calls is reached."
        if self._turn >= self._limits.calls_per_turn:
            return f"Not run: only {self._limits.calls_per_turn} tool calls are run in one turn."
        known = call.name in self._offered
        key = (call.name, _canonical(call.arguments)) if known else ("", "")
        if self._same[key] >= self._limits.identical_calls:
            what = f"the same call of {call.name}" if known else "calling tools that do not exist"
            self._why_repeated = f"{what} was made more than {self._limits.identical_calls} times"
            self._refused_as_repeated += 1
            return f"Not run: {self._why_repeated}. Do something else, or give your final answer."
        self._same[key] += 1
        self._turn += 1
        self._task += 1
        return ""

    def end_turn(self) -> str:
        """Return why the model should now be told to answer, or ""."""
        if self._task >= self._limits.calls_per_task:
            return f"the limit of {self._limits.calls_per_task} tool calls was reached"
        repeating = self._refused_as_repeated > 0 and self._turn == 0
        self._loop_turns = self._loop_turns + 1 if repeating else 0
        return self._why_repeated if self._loop_turns >= self._limits.loop_turns else ""


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments.strip()
