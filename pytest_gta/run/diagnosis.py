"""Diagnoses a run: has a model label each failed leaf with a stage and each failed task with a level."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pytest_gta.benchmark.diagnosis import DIAGNOSIS, Diagnosed, Diagnosis, read_diagnosis
from pytest_gta.benchmark.results import TaskResult
from pytest_gta.benchmark.run_directory import write_atomic
from pytest_gta.benchmark.usage import Usage
from pytest_gta.judge.failure_label import Label, Level, Stage

if TYPE_CHECKING:
    from pytest_gta.judge.failure_analysis import FailureAnalyst, Finding, Question
    from pytest_gta.run.finished_work import FinishedWork

MATERIAL_CHARACTERS = 60_000
_TASKS_AT_ONCE = 8


def diagnose(
    work: FinishedWork,
    results: Sequence[TaskResult],
    analyst: FailureAnalyst,
    *,
    model: str,
    tell: Callable[[str], None] = lambda _line: None,
) -> Diagnosis:
    """Label every failed leaf and task of a run; what is labelled already, from the same material, is not asked again.

    The file is written after every label, so that an interrupted diagnosis goes on where it was.

    Args:
        work: The run.
        results: Its tasks.
        analyst: Asks the model.
        model: What the model is called.
        tell: Told of the progress in a line.
    """
    from pytest_gta.judge.following import follow

    threshold = work.bench.settings.threshold
    entries = {(e.task, e.leaf): e for result in results for e in _failures(result, threshold)}
    known = read_diagnosis(work.run.root)
    earlier = {(e.task, e.leaf): e for e in (*known.leaves, *known.tasks)} if known else {}
    open_tasks = list(_open_tasks(work, results, analyst, entries, earlier, threshold))
    whole = sum(len(questions) for _, _, questions in open_tasks)

    def diagnosis() -> Diagnosis:
        leaves = tuple(e for e in entries.values() if e.leaf)
        tasks = tuple(e for e in entries.values() if not e.leaf)
        shares = {"stages": _shares(leaves, list(Stage)), "levels": _shares(tasks, list(Level))}
        return Diagnosis(judge=model, threshold=threshold, leaves=leaves, tasks=tasks, shares=shares)

    def keep() -> Diagnosis:
        now = diagnosis()
        write_atomic(work.run.root / DIAGNOSIS, json.dumps(now.model_dump(mode="json"), indent=1) + "\n")
        return now

    answered = 0

    def settle(found: tuple[str, Finding]) -> None:
        nonlocal answered
        task, finding = found
        answered += 1
        entry = entries[task, finding.leaf_id]
        update: dict[str, Any] = {"usage": entry.usage + finding.usage, "reason": finding.result.reason}
        if isinstance(finding.result, Label):
            update |= {"label": finding.result.label, "quote": finding.result.quote}
        entries[task, finding.leaf_id] = entry.model_copy(update=update)
        keep()
        tell(f"{answered} of {whole}: {task} {finding.leaf_id or 'as a whole'}: {update.get('label', 'no label')}")

    async def ask(done: Callable[[tuple[str, Finding]], None]) -> None:
        gate = asyncio.Semaphore(_TASKS_AT_ONCE)

        async def one(result: TaskResult, material: Sequence[tuple[str, str]], questions: Sequence[Question]) -> None:
            async with gate:
                await analyst.ask(material, questions, lambda finding: done((result.run_key, finding)))

        async with asyncio.TaskGroup() as group:
            for result, material, questions in open_tasks:
                group.create_task(one(result, material, questions))

    if open_tasks:
        follow(ask, settle)
    return keep()


def _failures(result: TaskResult, threshold: float) -> Iterator[Diagnosed]:
    """Yield the failed leaves of a task, and the task when it failed; what has no score is no failure."""
    for leaf in result.leaves():
        if leaf.score is not None and leaf.score < threshold:
            yield Diagnosed(task=result.run_key, leaf=leaf.id, requirement=leaf.requirements, score=leaf.score)
    if result.root_score is not None and result.root_score < threshold:
        yield Diagnosed(task=result.run_key, leaf="", score=result.root_score)


def _open_tasks(
    work: FinishedWork,
    results: Sequence[TaskResult],
    analyst: FailureAnalyst,
    entries: dict[tuple[str, str], Diagnosed],
    earlier: dict[tuple[str, str], Diagnosed],
    threshold: float,
) -> Iterator[tuple[TaskResult, tuple[tuple[str, str], ...], list[Question]]]:
    """Yield each task with its material and the questions that are still open; settles the others in `entries`."""
    from pytest_gta.agents.transcript import read_transcript
    from pytest_gta.judge.failure_analysis import leaf_question, task_question
    from pytest_gta.judge.failure_material import failure_material

    characters = min(MATERIAL_CHARACTERS, work.bench.evidence_budget.characters)
    for result in results:
        failed = [entry for (task, _), entry in entries.items() if task == result.run_key]
        if not failed:
            continue
        task = work.tasks.get(result.run_key)
        if task is None:
            reason = "the dataset does not have this task"
            entries.update({(e.task, e.leaf): e.model_copy(update={"reason": reason}) for e in failed})
            continue
        steps = read_transcript(work.run.task(result.run_key).transcript)
        material = failure_material(result, task.request, steps, threshold, characters=characters)
        questions = []
        for entry in failed:
            question = leaf_question(entry.leaf, entry.requirement) if entry.leaf else task_question()
            key, old = analyst.key(material, question), earlier.get((entry.task, entry.leaf))
            same = old is not None and old.key == key
            if old is not None and same and old.label is not None:
                entries[entry.task, entry.leaf] = old
                continue
            spent = old.usage if old is not None and same else Usage()
            update = {"key": key, "usage": spent, "reason": "not asked yet"}
            entries[entry.task, entry.leaf] = entry.model_copy(update=update)
            questions.append(question)
        if questions:
            yield result, material, questions


def _shares(entries: Sequence[Diagnosed], labels: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return how often each label was given, and its percentage of all that were given."""
    given = [entry.label for entry in entries if entry.label is not None]
    return {
        str(label): {"count": given.count(str(label)), "percent": 100 * given.count(str(label)) / len(given)}
        for label in labels
        if given
    }
