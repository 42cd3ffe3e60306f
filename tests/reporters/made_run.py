"""A run as large as the benchmark's, with its run directory, made in a moment: what reports are tried on."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

from PIL import Image, ImageDraw

from pytest_gta.benchmark.capability import CapabilityBasis
from pytest_gta.benchmark.comparison import compare
from pytest_gta.benchmark.diagnosis import DIAGNOSIS
from pytest_gta.benchmark.results import (
    CheckpointResult,
    DeliverableRecord,
    Gate,
    JudgeRecord,
    LeafStatus,
    Opinion,
    RunResult,
    StopReason,
    TaskResult,
    TaskStatus,
    Verdict,
)
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.benchmark.task import CATEGORIES, Checkpoint
from pytest_gta.benchmark.usage import Tokens, Usage
from tests.domain import a_file, a_run, an_agent, inner, leaf, scored, unscored

THINGS = ("budget table", "itinerary", "cover picture", "executive summary", "sources page", "speaker notes", "legend")
KINDS = ("docx", "pdf", "image", "xlsx", "html")


def made_run(root: Path, *, tasks: int = 132, transcript_bytes: int = 20_000, seed: int = 7) -> RunResult:
    """Make a run directory and return the run: most tasks graded, some unscored, in error and not run."""
    chance = random.Random(seed)
    run = RunDirectory(root)
    root.mkdir(parents=True, exist_ok=True)
    transcript = root / "transcript"
    _write_transcript(transcript, transcript_bytes, chance)
    results = [_task(run, str(number), transcript, chance) for number in range(1, tasks + 1)]
    transcript.unlink()
    run.write_manifest({"id": "made"})
    return a_run(
        *results,
        started_at="2026-03-01T10:00:00+00:00",
        finished_at="2026-03-01T11:12:00+00:00",
        command="pytest --gta-model=m1 -n 8",
    )


def diagnosed_and_compared(root: Path, result: RunResult, *, seed: int = 8) -> RunResult:
    """Return a made run whose leaves several judges scored and which has a baseline; its diagnosis is in its folder."""
    chance = random.Random(seed)
    before = [
        task.model_copy(update={"root_score": min(10.0, max(0.0, task.root_score + chance.uniform(-2, 3)))})
        for task in result.tasks
        if task.root_score is not None and chance.random() < 0.9
    ]
    tasks = tuple(_judged_by_three(task, chance) for task in result.tasks)
    _diagnose(root, tasks, chance)
    comparison = compare(before, tasks, 7)
    gate = Gate(verdict=comparison.verdict.value, reasons=("as made",), baseline=comparison.as_json())
    return result.model_copy(update={"tasks": tasks, "gate": gate})


def _judged_by_three(task: TaskResult, chance: random.Random) -> TaskResult:
    def node(one: CheckpointResult) -> CheckpointResult:
        if one.checkpoints:
            return one.model_copy(update={"checkpoints": tuple(node(child) for child in one.checkpoints)})
        if one.score is None:
            return one
        steps = (-chance.choice((0, 0, 1, 3)), 0, chance.choice((0, 2)))
        scores = [min(10.0, max(0.0, one.score + step)) for step in steps]
        panel = tuple(
            Opinion(judge=name, status=LeafStatus.SCORED, score=score, analysis=_reason(chance))
            for name, score in zip(("gpt-5.2", "claude-sonnet-4.5", "qwen3-235b-a22b"), scores, strict=True)
        )
        return one.model_copy(update={"panel": panel, "spread": max(scores) - min(scores)})

    return task.model_copy(update={"checkpoints": tuple(node(top) for top in task.checkpoints)})


def _diagnose(root: Path, tasks: tuple[TaskResult, ...], chance: random.Random) -> None:
    stages, levels = ("PLAN", "REASON", "EXECUTE", "GROUNDING", "ASSEMBLE", "HANDOFF", "VERIFY"), ("A", "B", "C")
    words = {"quote": "the total is given as 612 and the rows add up to 640", "reason": _reason(chance)[:160]}
    leaves = [
        {"task": task.run_key, "leaf": leaf.id, "score": leaf.score, "label": chance.choice(stages), **words}
        for task in tasks
        for leaf in task.leaves()
        if leaf.score is not None and leaf.score < 7
    ]
    failed = [
        {"task": task.run_key, "leaf": "", "score": task.root_score, "label": chance.choice(levels), **words}
        for task in tasks
        if task.root_score is not None and task.root_score < 7
    ]
    shares = {
        group: {
            label: {"count": number, "percent": 100 * number / len(entries)}
            for label in labels
            if (number := sum(entry["label"] == label for entry in entries))
        }
        for group, labels, entries in (("stages", stages, leaves), ("levels", levels, failed))
    }
    value = {"judge": "j1", "threshold": 7.0, "leaves": leaves, "tasks": failed, "shares": shares}
    (root / DIAGNOSIS).write_text(json.dumps(value))


def _task(run: RunDirectory, task_id: str, transcript: Path, chance: random.Random) -> TaskResult:
    category = chance.choice(list(CATEGORIES.values()))
    key = f"{category}_{task_id}"
    directory = run.task(key)
    directory.workspace.mkdir(parents=True)
    os.link(transcript, directory.transcript)
    rubric = _rubric(chance)
    leaves = [node for top in rubric for node in top.walk() if node.is_leaf]
    skill = chance.choice((2, 5, 7, 9))
    verdicts: dict[str, Verdict] = {
        node.id: scored(node.id, min(10, max(0, round(chance.gauss(skill, 2)))), _reason(chance)) for node in leaves
    }
    fate = chance.random()
    status, error = TaskStatus.GRADED, None
    if fate < 0.04:
        verdicts[leaves[0].id] = unscored(leaves[0].id, analysis="the judge did not answer within 120 s")
        status, error = TaskStatus.UNSCORED, "1 leaf has no score"
    elif fate < 0.06:
        verdicts, status, error = {}, TaskStatus.ERROR, "the input resources/files/9.pdf is missing"
    root = score_tree(rubric, verdicts)
    cost = round(chance.lognormvariate(-1.5, 0.9), 4)
    return TaskResult(
        task_id=task_id,
        run_key=key,
        nodeid=f"benchmark_tasks/test_gta_workflow.py::test_workflow[{key}]",
        category=category,
        kinds=tuple(sorted(chance.sample(KINDS, 2))),
        capabilities=("perception", "operation", "logic")[int(task_id) % 3 :],
        capability_basis=CapabilityBasis.STATED if int(task_id) % 2 else CapabilityBasis.INFERRED,
        status=status,
        root_score=root.score if status is TaskStatus.GRADED else None,
        root_bounds=root.bounds,
        success=root.score >= 7 if root.score is not None and status is TaskStatus.GRADED else None,
        checkpoints=root.checkpoints,
        agent=None
        if status is TaskStatus.ERROR
        else an_agent(
            stop_reason=chance.choice((StopReason.FINISHED, StopReason.FINISHED, StopReason.MAX_TURNS)),
            turns=chance.randint(3, 50),
            tool_calls=chance.randint(2, 60),
            tool_errors=chance.randint(0, 4),
            wall_s=chance.uniform(20, 1200),
            usage=Usage(calls=9, tokens=Tokens(input=int(cost * 4e5), cached=900, output=4_000), cost_usd=cost),
            final_answer="The report is in report.html, its cover in cover.png. " * chance.randint(1, 30),
        ),
        judge=JudgeRecord(usage=Usage(calls=len(leaves), tokens=Tokens(input=40_000, output=900), cost_usd=0.02)),
        deliverables=() if status is TaskStatus.ERROR else _files(directory.workspace, chance),
        notes=("1 input of 2 not shown whole",) if chance.random() < 0.2 else (),
        error=error,
    )


def _rubric(chance: random.Random) -> tuple[Checkpoint, ...]:
    tops = []
    for i in range(1, chance.randint(3, 5)):
        children = [
            leaf(f"cp{i}-{j}", chance.randint(1, 3), f"The {chance.choice(THINGS)} covers {j + 2} points asked for.")
            for j in range(1, chance.randint(3, 5))
        ]
        tops.append(inner(f"cp{i}", chance.randint(1, 3), *children))
    return (*tops, leaf("cp9", 1, "All files are named as asked for and open without an error."))


def _reason(chance: random.Random) -> str:
    return (
        f"Page {chance.randint(1, 9)} shows the {chance.choice(THINGS)}, but its figures do not agree with the "
        f"{chance.choice(THINGS)}: the total is given as {chance.randint(100, 999)} and the rows add up to "
        f"{chance.randint(100, 999)}. " * chance.randint(1, 4)
    ).strip()


def _files(workspace: Path, chance: random.Random) -> tuple[DeliverableRecord, ...]:
    picture = Image.new("RGB", (640, 400), tuple(chance.choices(range(60, 256), k=3)))
    draw = ImageDraw.Draw(picture)
    for _ in range(24):
        x, y, shade = chance.randrange(600), chance.randrange(380), tuple(chance.choices(range(256), k=3))
        draw.ellipse((x, y, x + 60, y + 40), fill=shade)
    picture.save(workspace / "cover.png")
    (workspace / "report.html").write_text(
        "<!doctype html><title>Report</title><style>h1{color:navy}</style><h1>Report</h1>"
        + "<p>Sales rose in every quarter of the year, costs did not.</p>" * 20
    )
    (workspace / "table.csv").write_text("city,days,cost\n" + "Porto,3,410\nLisbon,2,380\n" * 30)
    return (
        a_file("cover.png", media_type="image/png", bytes=(workspace / "cover.png").stat().st_size),
        a_file("report.html", media_type="text/html", evidence="partial", note="text cut after 4,000 characters"),
        a_file("table.csv", media_type="text/csv"),
    )


def _write_transcript(path: Path, size: int, chance: random.Random) -> None:
    first = {"kind": "user", "at": "", "text": "Write a report on a week in Portugal, with a cover and a table. " * 30}
    lines = [json.dumps(first)]
    turn, written = 0, 0
    while written < size:
        turn += 1
        call = {"kind": "tool_call", "name": "PythonCode", "text": '{"code": "print(1)"}', "call_id": "c", "turn": turn}
        text = "row " + " ".join(str(chance.randint(0, 999)) for _ in range(60)) * 20
        result = {"kind": "tool_result", "name": "PythonCode", "text": text, "turn": turn, "wall_s": 0.4}
        if turn % 7 == 0:
            result["is_error"] = True
        lines += [json.dumps(call), json.dumps(result)]
        written += len(lines[-1]) + len(lines[-2])
    lines.append(json.dumps({"kind": "end", "name": "finished", "text": "The report is done."}))
    path.write_text("\n".join(lines) + "\n")
