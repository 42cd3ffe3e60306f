"""What a run produces, as values with one JSON form: verdicts, task results, the run's result (schema 1).

Units everywhere: scores are points 0-10, rates percentages 0-100, money USD, times seconds, sizes bytes.
A number that was not measured is None (JSON null), never 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Self

from pydantic import Field, model_validator

from pytest_gta.benchmark.capability import CapabilityBasis
from pytest_gta.benchmark.coverage import Coverage
from pytest_gta.benchmark.gate import Gate
from pytest_gta.benchmark.usage import Metered, Usage
from pytest_gta.benchmark.value import Value

SCHEMA_VERSION = 1

Bounds = tuple[float, float]
"""The lowest and the highest value a number could have, were the missing part measured."""


class LeafStatus(StrEnum):
    """What is known of one leaf."""

    SCORED = "scored"
    """A judge gave it a score."""
    NOT_DELIVERED = "not_delivered"
    """The agent delivered nothing at all: 0 points, no judge call."""
    JUDGE_ERROR = "judge_error"
    """The judge could not be reached or understood. Not a score."""
    JUDGE_REFUSED = "judge_refused"
    """The judge declined to answer. Not a score."""
    NOT_RUN = "not_run"
    """Never sent to a judge. Not a score."""

    @property
    def is_score(self) -> bool:
        """Whether a leaf in this state has a score that counts."""
        return self in (LeafStatus.SCORED, LeafStatus.NOT_DELIVERED)


class TaskStatus(StrEnum):
    """What is known of one task."""

    GRADED = "graded"
    """Every leaf has a score."""
    UNSCORED = "unscored"
    """The agent ran, but the judge left leaves without a score."""
    ERROR = "error"
    """Ours or the environment's fault: inputs missing, agent cannot be built, worker died."""
    NOT_RUN = "not_run"
    """Never started: budget reached, interrupted, out of credit."""


class StopReason(StrEnum):
    """How the agent ended. What it delivered is judged all the same."""

    FINISHED = "finished"
    MAX_TURNS = "max_turns"
    TIMEOUT = "timeout"
    CONTEXT_EXCEEDED = "context_exceeded"
    AGENT_ERROR = "agent_error"
    NO_ANSWER = "no_answer"
    UNAVAILABLE = "unavailable"
    """Its endpoint stopped serving in the middle of its work: not its own fault, so its task is an error."""


class Opinion(Value):
    """What one judge of a panel said of one leaf.

    Attributes:
        judge: What the panel calls it.
        status: What came of it; decides whether `score` is a number.
        score: Points 0-10; None unless the status is a score.
        samples: The scores of its independent answers, in the order asked, when it was asked more than once.
        analysis: Its reason, or why there is no score.
        key: Digest of all that its verdict depends on.
        cached: Whether it was reused rather than asked for.
        coverage: What its call showed of the delivered files; None when that was not recorded.
    """

    judge: str
    status: LeafStatus
    score: float | None = Field(default=None, ge=0, le=10)
    samples: tuple[float, ...] = ()
    analysis: str = ""
    key: str = ""
    cached: bool = False
    coverage: Coverage | None = None

    @model_validator(mode="after")
    def _score_matches_status(self) -> Self:
        _check_score(self.status, self.score)
        return self


class Verdict(Value):
    """What a judge said of one leaf.

    Attributes:
        leaf_id: The checkpoint's id within its task.
        status: What is known; decides whether `score` is a number.
        score: Points 0-10; None unless the status is a score.
        analysis: The judge's reason, or why there is no score.
        key: Digest of all that the verdict depends on (judge, prompt version, evidence, requirement).
        evidence_note: What the judge was not shown; "" when it saw everything.
        cached: Whether it was reused rather than asked for.
        usage: What it took, re-asks included.
        wall_s: Seconds from asking to answer.
        samples: The scores of independent answers, in the order asked; empty when one judge was asked once.
        panel: What each judge said, when several judged; `score` is the median of theirs.
        coverage: What the call showed of the delivered files; of several calls what all of them showed. None when no
            reply came, and in verdicts of versions that did not record it.
        judge: Who gave it, as the run's manifest names its judge; "" until it is on disk.
    """

    leaf_id: str
    status: LeafStatus
    score: float | None = Field(default=None, ge=0, le=10)
    analysis: str = ""
    key: str = ""
    evidence_note: str = ""
    cached: bool = False
    usage: Usage = Usage()
    wall_s: float = 0.0
    samples: tuple[float, ...] = ()
    panel: tuple[Opinion, ...] = ()
    coverage: Coverage | None = None
    judge: str = ""

    @property
    def spread(self) -> float | None:
        """Points between the lowest and the highest score it was made of; None when it was made of one."""
        return spread_of(self.samples, self.panel)

    @model_validator(mode="after")
    def _score_matches_status(self) -> Self:
        _check_score(self.status, self.score)
        return self


def spread_of(samples: Iterable[float], panel: Iterable[Opinion]) -> float | None:
    """Return the points between the lowest and the highest of the judges' scores, or else of the samples'.

    None when there are not two to compare.
    """
    scores = [opinion.score for opinion in panel if opinion.score is not None] or list(samples)
    return max(scores) - min(scores) if len(scores) > 1 else None


def _check_score(status: LeafStatus, score: float | None) -> None:
    if status.is_score != (score is not None):
        raise ValueError(f"a {status} verdict {'needs' if status.is_score else 'cannot have'} a score")


class CheckpointResult(Value):
    """A node of the rubric with its score.

    Attributes:
        id: The checkpoint's id.
        requirements: Its text.
        weight: Its share among its siblings.
        score: Points 0-10, None when invalid.
        status: A `LeafStatus` for a leaf; ``scored`` or ``invalid`` for an inner node.
        analysis: The judge's reason; "" for an inner node.
        valid: Whether every leaf below has a score.
        bounds: The score with missing leaves as 0 and as 10.
        evidence_note: What the judge was not shown of the deliverables.
        cached: Whether the verdict was reused.
        samples: The scores of independent answers of one judge; empty when it was asked once.
        panel: What each judge of a panel said; empty without one.
        spread: Points between the lowest and the highest of those; None when there are not two.
        coverage: What the judge was shown of the delivered files; None for an inner node, and where it is not known.
        checkpoints: The children; empty for a leaf.
    """

    id: str
    requirements: str
    weight: float
    score: float | None
    status: str
    analysis: str = ""
    valid: bool
    bounds: Bounds
    evidence_note: str = ""
    cached: bool = False
    samples: tuple[float, ...] = ()
    panel: tuple[Opinion, ...] = ()
    spread: float | None = None
    coverage: Coverage | None = None
    checkpoints: tuple[CheckpointResult, ...] = ()

    def leaves(self) -> tuple[CheckpointResult, ...]:
        """Return the leaves at or below this node, in order."""
        return (self,) if not self.checkpoints else tuple(leaf for c in self.checkpoints for leaf in c.leaves())


class AgentRecord(Metered):
    """How the agent did, apart from what it delivered.

    Attributes:
        label: What reports call the agent.
        stop_reason: How it ended.
        stop_detail: One line saying why, when it did not just finish.
        turns: Model turns, 0 when unknown.
        tool_calls: Calls of the benchmark's tools, counting unknown tools and unreadable arguments.
        tool_errors: Those that came back as errors.
        wall_s: Seconds from start to end.
        final_answer: Its last message; "" when there is none.
        tools_offered: Names of the tools it was given, sorted.
        notes: What else is worth knowing, one line each: files of the agent's that were not taken, for example.
    """

    label: str
    stop_reason: StopReason
    stop_detail: str = ""
    turns: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    wall_s: float = 0.0
    final_answer: str = ""
    tools_offered: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class DeliverableRecord(Value):
    """One file the agent left, and how much of it the judge could see.

    Attributes:
        path: Its path in the workspace, as the agent named it.
        bytes: Size.
        sha256: Digest; None when it was not taken.
        media_type: By content where that is cheap, else by suffix.
        evidence: ``full``, ``partial``, ``none``; ``not_taken`` for a link, special file or cache.
        note: Why evidence is not full, or why the file was not taken.
    """

    path: str
    bytes: int
    sha256: str | None
    media_type: str
    evidence: str
    note: str = ""


class JudgeRecord(Metered):
    """Who judged one task, as the run's manifest names its judge, and what it took."""

    name: str = ""
    cached_leaves: int = 0
    wall_s: float = 0.0


class FeedbackResult(Value):
    """A task's second attempt, after the agent was told how the first was judged; fields as in `TaskResult`.

    `mode` is what it was told: ``coarse`` or ``checkpoint``. `carried_over` says that every leaf had succeeded: there
    was nothing to say, no second attempt was made, and the first result stands for it.
    """

    mode: str
    status: TaskStatus
    carried_over: bool = False
    root_score: float | None = None
    root_bounds: Bounds = (0.0, 10.0)
    success: bool | None = None
    checkpoints: tuple[CheckpointResult, ...] = ()
    agent: AgentRecord | None = None
    judge: JudgeRecord = JudgeRecord()
    deliverables: tuple[DeliverableRecord, ...] = ()
    error: str | None = None


class TaskResult(Value):
    """One judged task (or one that could not be judged, and why).

    With repeats there is one for each independent run of the task; `repeat` counts them from 1 and is 0 without.
    `capabilities` is what the task asks of an agent, `capability_basis` how that is known. All is of the
    agent's first attempt; `feedback` has the second, when there was one.
    """

    task_id: str
    run_key: str
    nodeid: str
    category: str
    kinds: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    capability_basis: CapabilityBasis | None = None
    status: TaskStatus
    root_score: float | None = None
    root_bounds: Bounds = (0.0, 10.0)
    success: bool | None = None
    checkpoints: tuple[CheckpointResult, ...] = ()
    agent: AgentRecord | None = None
    judge: JudgeRecord = JudgeRecord()
    deliverables: tuple[DeliverableRecord, ...] = ()
    notes: tuple[str, ...] = ()
    error: str | None = None
    resumed: bool = False
    repeat: int = 0
    feedback: FeedbackResult | None = None

    @property
    def slug(self) -> str:
        """The task's name, the same for all its repeats: the run key without the repeat's suffix."""
        return self.run_key.removesuffix(f"_r{self.repeat}") if self.repeat else self.run_key

    def leaves(self) -> tuple[CheckpointResult, ...]:
        """Return all leaves in the rubric's order."""
        return tuple(leaf for top in self.checkpoints for leaf in top.leaves())

    def leaf(self, leaf_id: str) -> CheckpointResult:
        """Return one leaf by its id.

        Raises:
            KeyError: When the task has no such leaf.
        """
        for leaf in self.leaves():
            if leaf.id == leaf_id:
                return leaf
        raise KeyError(f"task {self.task_id} has no leaf {leaf_id!r}; it has {', '.join(x.id for x in self.leaves())}")


class RunResult(Value):
    """A whole run: ``results.json``.

    Attributes:
        schema_version: 1.
        run: How it was made: id, times, versions, dataset, agent, judge, sandbox, threshold.
        summary: The metrics, as `pytest_gta.benchmark.metrics.summarize` returns them.
        gate: The gate's verdict.
        tasks: Every task that was selected, in id order.
    """

    schema_version: int = SCHEMA_VERSION
    run: dict[str, Any]
    summary: dict[str, Any]
    gate: Gate = Gate()
    tasks: tuple[TaskResult, ...]
