"""What the `gta_result` fixture hands to a test: a task's result that can check itself."""

from __future__ import annotations

from pydantic import Field

from pytest_gta.benchmark.results import TaskResult
from pytest_gta.reporters.score_sheet import score_sheet


class BelowThreshold(AssertionError):
    """A measured task below the threshold; its text is the score sheet of what was lost."""


class JudgedTask(TaskResult):
    """A graded task.

    Attributes:
        threshold: Points from which it succeeds.
        gated: Whether a gate over the run decides, so that a low score is reported (``UNMET``) but fails no test.
    """

    threshold: float = Field(exclude=True)
    gated: bool = Field(exclude=True)

    def check(self) -> None:
        """Pass when the task succeeds, or when a gate over the whole run decides instead.

        Raises:
            BelowThreshold: Else; an AssertionError whose text is the score sheet.
        """
        __tracebackhide__ = True
        if not self.success and not self.gated:
            raise BelowThreshold(score_sheet(self, self.threshold, lost_only=True))

    def sheet(self) -> str:
        """Return the score sheet: headline, rubric with scores and reasons, deliverables."""
        return score_sheet(self, self.threshold)
