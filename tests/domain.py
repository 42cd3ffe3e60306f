"""Values of the domain for tests: rubrics, verdicts and task results in a line each."""

from __future__ import annotations

from typing import Any

from pytest_gta.benchmark.metrics import summarize
from pytest_gta.benchmark.results import (
    AgentRecord,
    DeliverableRecord,
    Gate,
    JudgeRecord,
    LeafStatus,
    RunResult,
    StopReason,
    TaskResult,
    TaskStatus,
    Verdict,
)
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.benchmark.task import Checkpoint, Task
from pytest_gta.benchmark.usage import Tokens, Usage


def leaf(node_id: str, weight: float = 1, text: str = "") -> Checkpoint:
    return Checkpoint(node_id, text or f"Requirement {node_id} is met.", weight)


def inner(node_id: str, weight: float, *children: Checkpoint) -> Checkpoint:
    return Checkpoint(node_id, f"Section {node_id}.", weight, children)


def scored(leaf_id: str, score: float, analysis: str = "", **more: Any) -> Verdict:
    return Verdict(leaf_id=leaf_id, status=LeafStatus.SCORED, score=score, analysis=analysis, **more)


def unscored(leaf_id: str, status: LeafStatus = LeafStatus.JUDGE_ERROR, analysis: str = "timed out") -> Verdict:
    return Verdict(leaf_id=leaf_id, status=status, analysis=analysis)


def by_id(*verdicts: Verdict) -> dict[str, Verdict]:
    return {verdict.leaf_id: verdict for verdict in verdicts}


def a_task(task_id: str = "7", category: str = "planning", *checkpoints: Checkpoint, **more: Any) -> Task:
    nodes = checkpoints or (inner("cp1", 3, leaf("cp1-1", 2), leaf("cp1-2", 1)), leaf("cp2", 1))
    return Task(task_id, category, more.pop("turns", ("Plan a trip.",)), more.pop("resources", ()), nodes, **more)


def an_agent(**more: Any) -> AgentRecord:
    usage = Usage(calls=3, tokens=Tokens(input=900, cached=300, output=120), cost_usd=0.25)
    values = {"label": "tools", "stop_reason": StopReason.FINISHED, "turns": 3, "usage": usage, "wall_s": 12.0}
    return AgentRecord(**(values | more))


def graded(task_id: str, score: float, *, threshold: float = 7, category: str = "planning", **more: Any) -> TaskResult:
    """A task of one leaf that has this score."""
    root = score_tree((leaf("cp1"),), by_id(scored("cp1", score, more.pop("analysis", "Seen on page 2."))))
    values: dict[str, Any] = {
        "task_id": task_id,
        "run_key": f"{category}_{task_id}",
        "nodeid": f"t.py::test[{category}_{task_id}]",
        "category": category,
        "status": TaskStatus.GRADED,
        "root_score": root.score,
        "root_bounds": root.bounds,
        "success": score >= threshold,
        "checkpoints": root.checkpoints,
        "agent": an_agent(),
        "judge": JudgeRecord(usage=Usage(calls=1, tokens=Tokens(input=100, output=10), cost_usd=0.01)),
    }
    return TaskResult(**(values | more))


def not_graded(task_id: str, status: TaskStatus, bounds: tuple[float, float] = (0, 10), **more: Any) -> TaskResult:
    values: dict[str, Any] = {
        "task_id": task_id,
        "run_key": f"planning_{task_id}",
        "nodeid": f"t.py::test[planning_{task_id}]",
        "category": "planning",
        "status": status,
        "root_bounds": bounds,
        "error": "1 of 1 leaves have no score",
    }
    return TaskResult(**(values | more))


def a_file(path: str = "report.docx", **more: Any) -> DeliverableRecord:
    values = {"bytes": 2048, "sha256": "0" * 64, "media_type": "text/plain", "evidence": "full"}
    return DeliverableRecord(path=path, **(values | more))


def a_run(*tasks: TaskResult, threshold: float = 7, gate: Gate | None = None, **run: Any) -> RunResult:
    summary = summarize(tasks, threshold)
    summary["wall_s"] = 95.0
    facts: dict[str, Any] = {
        "id": "r1",
        "pytest_gta_version": "0.1.0",
        "dataset": {"name": "mini", "sha256": "ab" * 32, "tasks": len(tasks)},
        "agent": {"kind": "tools", "label": "tools", "model": "m1", "base_url": None, "settings": {}},
        "judge": {"model": "j1", "prompt_version": "p1"},
        "sandbox": "process",
        "threshold": threshold,
    }
    return RunResult(run=facts | run, summary=summary, gate=gate or Gate(), tasks=tasks)
