"""The finished outputs of a run judged a second time, so that two judgings of the same thing can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pytest_gta.benchmark.judge_noise import JudgeNoise, ScorePair, judge_noise
from pytest_gta.benchmark.results import LeafStatus, Verdict
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.benchmark.task import Task
from pytest_gta.benchmark.usage import Usage
from pytest_gta.run.finished_work import FinishedWork

_TASKS_AT_ONCE = 4
"""Tasks whose files are read at one time; how many calls are in flight is the judge's own limit."""


@dataclass(frozen=True, slots=True)
class TaskTwice:
    """One task judged twice.

    Attributes:
        task: The task.
        first: Verdicts by leaf id: those of the run, or of a judging of its own.
        second: Verdicts of the second judging.
        anew: Whether the first ones are not the run's, because that judged otherwise.
        usage: What the judging took.
    """

    task: Task
    first: Mapping[str, Verdict]
    second: Mapping[str, Verdict]
    anew: bool
    usage: Usage


@dataclass(frozen=True, slots=True)
class SecondJudging:
    """A run judged twice.

    Attributes:
        noise: How far the two judgings agree.
        tasks: The tasks that were judged.
        left_out: Run keys of tasks that could not be, and why.
        unscored: Leaves that one of the judgings gave no score, with the reason of each.
        usage: What it took.
    """

    noise: JudgeNoise
    tasks: tuple[TaskTwice, ...]
    left_out: Mapping[str, str]
    unscored: Mapping[str, str]
    usage: Usage


def judge_again(work: FinishedWork, tell: Callable[[str], None] = lambda _line: None) -> SecondJudging:
    """Judge every finished task of a run again, and compare.

    The run's own verdicts are the first judging where they were reached in the very same way: same judge, prompt,
    number of samples and evidence, which is what a verdict's key says. Where that differs, a task is judged twice.

    Args:
        work: The run.
        tell: Told of each task in one line.
    """
    left_out: dict[str, str] = {}
    ready: list[Task] = []
    for key in work.run.run_keys():
        reason = _why_not(work, key)
        if reason:
            left_out[key] = reason
        else:
            ready.append(work.tasks[key])
    done: list[TaskTwice] = []
    bench = work.bench
    # Made in this thread, since several would each make their own.
    _ = (bench.judge, bench.confinement, bench.renderers, bench.evidence_budget)
    pool = ThreadPoolExecutor(_TASKS_AT_ONCE, thread_name_prefix="gta-again")
    try:
        for number, twice in enumerate(pool.map(lambda task: _twice(work, task), ready), 1):
            done.append(twice)
            tell(f"{number} of {len(ready)}: {twice.task.slug}" + (", judged twice" if twice.anew else ""))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    leaves = [pair for twice in done for pair in _leaf_pairs(twice)]
    roots = [pair for twice in done if (pair := _root_pair(twice)) is not None]
    return SecondJudging(
        noise=judge_noise(leaves, roots, work.bench.settings.threshold),
        tasks=tuple(done),
        left_out=left_out,
        unscored=dict(reason for twice in done for reason in _unscored(twice)),
        usage=sum((twice.usage for twice in done), Usage()),
    )


def _why_not(work: FinishedWork, key: str) -> str | None:
    directory = work.run.task(key)
    if key not in work.tasks:
        return "the dataset does not have this task"
    if directory.agent() is None:
        return "its agent has not ended"
    if not directory.workspace.is_dir():
        return "its deliverables are not here"
    return None


def _twice(work: FinishedWork, task: Task) -> TaskTwice:
    from pytest_gta.judge.drawing import Drawer
    from pytest_gta.judge.evidence import build_evidence
    from pytest_gta.workspace.confined_process import ConfinedProcess
    from pytest_gta.workspace.workspace import Workspace

    bench, directory = work.bench, work.run.task(task.slug)
    agent = directory.agent()
    answer = agent.final_answer if agent else ""
    workspace = Workspace.open(directory.workspace, task.brief.inputs, request=task.request)
    with (
        Drawer(bench.renderers, workspace.root, cache=bench.workshop.drawings) as drawer,
        ConfinedProcess(bench.confinement, readable=[workspace.root, drawer.folder], writable=None) as process,
    ):
        evidence = build_evidence(
            task.brief,
            answer,
            workspace,
            workspace.deliverables(),
            process=process,
            budget=bench.evidence_budget,
            drawer=drawer,
        )
    second = bench.judge.judge_task(task.brief, task.leaves, evidence, final_answer=answer)
    first: Mapping[str, Verdict] = directory.verdicts()
    anew = not all(_judged_alike(first.get(leaf_id), verdict) for leaf_id, verdict in second.items())
    if anew:
        first = bench.judge.judge_task(task.brief, task.leaves, evidence, final_answer=answer)
    spent = [*second.values(), *(first.values() if anew else ())]
    return TaskTwice(task, first, second, anew, sum((verdict.usage for verdict in spent), Usage()))


def _judged_alike(first: Verdict | None, second: Verdict) -> bool:
    """Whether a verdict of the run is a judging like this one. One from a cache is: it was asked for once."""
    return first is not None and first.status.is_score and first.key == second.key


def _leaf_pairs(twice: TaskTwice) -> Iterator[ScorePair]:
    """Yield the leaves that a judge scored twice; where nothing was delivered there is nobody to disagree."""
    for leaf_id, second in twice.second.items():
        first = twice.first[leaf_id]
        if first.status is LeafStatus.SCORED and second.status is LeafStatus.SCORED:
            assert first.score is not None and second.score is not None
            yield ScorePair(twice.task.slug, leaf_id, first.score, second.score)


def _root_pair(twice: TaskTwice) -> ScorePair | None:
    first, second = (score_tree(twice.task.checkpoints, dict(v)).score for v in (twice.first, twice.second))
    return None if first is None or second is None else ScorePair(twice.task.slug, "", first, second)


def _unscored(twice: TaskTwice) -> Iterator[tuple[str, str]]:
    for leaf_id, second in twice.second.items():
        failed = next((v for v in (second, twice.first[leaf_id]) if not v.status.is_score), None)
        if failed is not None:
            yield f"{twice.task.slug} {leaf_id}", f"{failed.status}: {failed.analysis}"
