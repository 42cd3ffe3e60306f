"""The scoreboard: collects what arrives of each task, from any worker, into the run's result.

It is fed with plain strings (verdicts and results as JSON) by whatever runs the tests, and keeps the last word on each
task: its result if one arrived or a score is on disk, else what is known of how it ended. A dead worker's finished
leaves count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_gta.benchmark.rebuilding import finished, unfinished, unfinished_second
from pytest_gta.benchmark.results import TaskResult, TaskStatus, Verdict
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.benchmark.task import Task, TaskFault
from pytest_gta.benchmark.usage import total


@dataclass
class _Entry:
    """What has arrived of one task."""

    nodeid: str = ""
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    result: TaskResult | None = None
    unasked: bool = False
    """A test of it ended that asks for no score; another may still."""


class Scoreboard:
    """Collects results by run key (the task's slug).

    Args:
        tasks: The selected tasks, in order; a bad one as its fault.
        run: The run's directory, for what became of a task whose result never arrives.
        threshold: Points from which a task succeeds.
        feedback: What feedback second attempts are given; "none" for no second attempts.
        keeps: Whether scores that are on disk now, of earlier sessions of the run, are as good as new ones.
    """

    def __init__(
        self,
        tasks: Sequence[Task | TaskFault],
        run: RunDirectory,
        *,
        threshold: float,
        feedback: str = "none",
        keeps: bool = True,
    ) -> None:
        self._run, self._threshold, self._feedback = run, threshold, feedback
        self._outdated = {} if keeps else {task.slug: finished(run.task(task.slug), threshold) for task in tasks}
        self._tasks = {task.slug: task for task in tasks}
        self._entries: dict[str, _Entry] = {slug: _Entry() for slug in self._tasks}
        self._expected: set[str] = set()

    def expect(self, run_keys: Sequence[str]) -> None:
        """Say which tasks were collected for running; the others were deselected and are not part of the run."""
        self._expected.update(key for key in run_keys if key in self._tasks)

    def restart(self, run_key: str, nodeid: str) -> None:
        """Forget a task's earlier attempt: a new one has begun."""
        self._entries[run_key] = _Entry(nodeid, unasked=self._entries[run_key].unasked)
        self._expected.add(run_key)

    def add_verdict(self, run_key: str, verdict_json: str) -> Verdict:
        """Take one judged leaf and return it."""
        verdict = Verdict.model_validate_json(verdict_json)
        self._entries[run_key].verdicts[verdict.leaf_id] = verdict
        return verdict

    def add_result(self, run_key: str, result_json: str) -> TaskResult:
        """Take a task's result and return it."""
        result = TaskResult.model_validate_json(result_json)
        self._entries[run_key].result = result
        return result

    def add_crash(self, run_key: str, reason: str) -> TaskResult:
        """Record that a task's worker died before its result arrived, and return what is known of the task.

        That is an error, or the score of its first attempt when the worker died in the second.
        """
        entry = self._entries[run_key]
        entry.result = self._without_result(run_key, TaskStatus.ERROR, reason)
        return entry.result

    def forget(self, run_key: str) -> None:
        """Leave a task out of the run, unless a result arrives: it was skipped, or its test asks for no score."""
        self._entries[run_key].unasked = True

    def has_result(self, run_key: str) -> bool:
        """Whether the task's result has arrived."""
        return self._entries[run_key].result is not None

    def task_results(self) -> tuple[TaskResult, ...]:
        """Return the result of every task of the run, in order, those without one as error or not run."""
        return tuple(self._resolve(slug) for slug in self._tasks if slug in self._in_run())

    @property
    def leaves_judged(self) -> int:
        """Leaves with a verdict so far."""
        return sum(len(entry.verdicts) for entry in self._entries.values())

    @property
    def leaves_expected(self) -> int:
        """Leaves of all tasks of the run."""
        tasks = (self._tasks[slug] for slug in self._in_run())
        return sum(len(task.leaves) for task in tasks if isinstance(task, Task))

    @property
    def tasks_expected(self) -> int:
        """Tasks of the run."""
        return len(self._in_run())

    @property
    def tasks_finished(self) -> int:
        """Tasks that have ended, with a score or without."""
        return sum(entry.result is not None for entry in self._entries.values())

    @property
    def cost_usd(self) -> float | None:
        """Money spent so far by finished tasks; None when a price is unknown, or nothing is known to have been used."""
        results = [entry.result for entry in self._entries.values() if entry.result is not None]
        used = [result.judge.usage for result in results]
        used += [result.agent.usage for result in results if result.agent]
        seconds = [result.feedback for result in results if result.feedback]
        used += [second.judge.usage for second in seconds]
        used += [second.agent.usage for second in seconds if second.agent]
        if not any(usage.calls or usage.cost_usd for usage in used):
            return None
        return total(usage.cost_usd for usage in used)

    def _in_run(self) -> set[str]:
        return {key for key in self._expected if self._entries[key].result or not self._entries[key].unasked}

    def _resolve(self, slug: str) -> TaskResult:
        found = self._entries[slug].result
        return found or self._without_result(slug, TaskStatus.NOT_RUN, "the run ended before this task did")

    def _without_result(self, slug: str, status: TaskStatus, reason: str) -> TaskResult:
        entry, directory = self._entries[slug], self._run.task(slug)
        kept = finished(directory, self._threshold)
        if kept is not None and kept.status is TaskStatus.GRADED and kept != self._outdated.get(slug):
            if kept.feedback is None and self._feedback != "none":
                second = unfinished_second(self._feedback, status, reason, directory)
                kept = kept.model_copy(update={"feedback": second})
            return kept
        return unfinished(self._tasks[slug], entry.nodeid, status, reason, directory, entry.verdicts)
