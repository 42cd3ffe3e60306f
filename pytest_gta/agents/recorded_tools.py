"""The tools as an agent gets them: every call goes into the transcript, and none is run once the task has ended."""

from __future__ import annotations

import inspect
import itertools
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pytest_gta.agents.failure import failure_line
from pytest_gta.agents.protocol import AgentUnavailable, Tools
from pytest_gta.agents.transcript import Transcript
from pytest_gta.tools.specification import ToolSpec
from pytest_gta.tools.tool import ToolResult
from pytest_gta.workspace.confinement import ConfinementUnavailable

if TYPE_CHECKING:
    from pytest_gta.tools.toolbox import Toolbox


class TaskEnded(BaseException):
    """Unwinds an agent that calls a tool after its task has ended; not an `Exception`, so that no loop swallows it."""


class RecordedTools:
    """Hands calls on to a toolbox, one at a time, and records call and result.

    Args:
        tools: The toolbox.
        transcript: Where calls go; agents may add their own steps to it.

    Attributes:
        left_s: Gives the seconds that are left of the task's time, which no call may outlast; None without a limit.
    """

    def __init__(self, tools: Tools, transcript: Transcript) -> None:
        self.transcript = transcript
        self.left_s: Callable[[], float] | None = None
        self._tools = tools
        # A toolbox of the user's own need not know of it.
        self._takes_timeout = "timeout_s" in inspect.signature(tools.call).parameters
        self._ended = threading.Event()
        self._one_at_a_time = threading.Lock()
        self._numbers = itertools.count(1)

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """What is on offer."""
        return self._tools.specs

    def call(
        self, name: str, arguments: str | Mapping[str, Any], *, call_id: str | None = None, turn: int = 0
    ) -> ToolResult:
        """Call one tool. See `pytest_gta.agents.protocol.Tools.call`.

        Args:
            name: The tool.
            arguments: An object, or the raw JSON a model wrote.
            call_id: The model's id of the call, for the transcript.
            turn: The model turn, for the transcript.

        Raises:
            TaskEnded: When the task has ended meanwhile.
        """
        with self._one_at_a_time:
            if self._ended.is_set():
                raise TaskEnded
            number = call_id or f"c{next(self._numbers)}"
            written = (
                arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
            )
            self.transcript.add("tool_call", written, name=name, call_id=number, turn=turn)
            began = time.monotonic()
            result = self._run(name, arguments)
            self.transcript.add(
                "tool_result",
                result.text,
                name=name,
                call_id=number,
                turn=turn,
                files=result.files,
                wall_s=time.monotonic() - began,
                is_error=result.is_error,
            )
        if self._ended.is_set():
            raise TaskEnded
        return result

    def end_by(self, deadline: float) -> None:
        """Let no call outlast a moment, in seconds of `time.monotonic`."""
        self.left_s = lambda: deadline - time.monotonic()

    def end(self) -> None:
        """Refuse every further call."""
        self._ended.set()

    @property
    def ended(self) -> bool:
        """Whether the task has ended."""
        return self._ended.is_set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tools, name)

    def _run(self, name: str, arguments: str | Mapping[str, Any]) -> ToolResult:
        try:
            if self.left_s is not None and self._takes_timeout:
                return cast("Toolbox", self._tools).call(name, arguments, timeout_s=self.left_s())
            return self._tools.call(name, arguments)
        except ConfinementUnavailable as fault:
            raise AgentUnavailable(f"its tools cannot be run: {fault}") from fault
        except Exception as error:
            # A toolbox does not raise; one that a user wrote may. The model gets an answer either way.
            return ToolResult(f"the tool failed: {failure_line(error)}", is_error=True)
