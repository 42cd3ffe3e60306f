"""What one task may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The budgets of one task.

    Attributes:
        max_turns: Model turns, over all messages of the user.
        task_timeout_s: Seconds the agent has, time spent waiting for an overloaded endpoint left out.
        wall_cap_s: Seconds after which it ends even if most of them were waiting; twice the timeout unless given.
        calls_per_turn: Tool calls that are run of one turn.
        calls_per_task: Tool calls that are run of one task.
        identical_calls: Times the same call (same tool, same arguments) is run; for a tool that does not exist,
            whatever the arguments.
        loop_turns: Turns with calls refused for being repeated before the model is told to answer.
        max_output_tokens: Output tokens of one turn; None leaves it to the endpoint.
        picture_bytes: Bytes of input pictures that are shown to the model; 0 shows none.
        pictures: How many of them.
    """

    max_turns: int = 50
    task_timeout_s: float = 1800.0
    wall_cap_s: float | None = None
    calls_per_turn: int = 32
    calls_per_task: int = 300
    identical_calls: int = 6
    loop_turns: int = 3
    max_output_tokens: int | None = None
    picture_bytes: int = 12_000_000
    pictures: int = 8

    @property
    def wall_s(self) -> float:
        """Seconds after which a task ends whatever happens."""
        return self.wall_cap_s if self.wall_cap_s is not None else 2 * self.task_timeout_s
