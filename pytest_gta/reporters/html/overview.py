"""The overview of the report: headline, groups, the table of tasks - as values that the template only lays out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_gta.benchmark.capability import CapabilityBasis
from pytest_gta.benchmark.results import RunResult, TaskResult, TaskStatus
from pytest_gta.benchmark.task import CATEGORIES
from pytest_gta.benchmark.usage import total
from pytest_gta.reporters.attention import by_need, heaviest_loss, look_at_first, spent, without_score
from pytest_gta.reporters.html.failures import Failures
from pytest_gta.reporters.html.opinions import widest_spread
from pytest_gta.reporters.html.previews import taken
from pytest_gta.reporters.visible_text import visible
from pytest_gta.reporters.wording import agent_name, count, duration, inferred, interval, money, points, quantity, rate

LOOK_AT_FIRST = 5
NOTE_CHARACTERS = 180

_SHORT_NAMES = {slug: slug.replace("_", " ").capitalize() for slug in CATEGORIES.values()} | {
    "retrieval_qa": "Retrieval and QA"
}
STATES = {
    "reached": "Success",
    "below": "Below",
    "unscored": "Unscored",
    "error": "Error",
    "not_run": "Not run",
}
"""How a task ended, for the filter and the table."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Tile:
    """One number of the headline, with what is to be said of it below."""

    name: str
    value: str
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """A row of a group's table: a category, a kind of deliverable, a capability; `note` says what is only inferred."""

    key: str
    name: str
    tasks: int
    root_sr: float | None
    root_score: float | None
    leaf_sr: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A task in the table of tasks.

    Attributes:
        anchor: Where its details are in the page.
        name: Its run key.
        category: The category's slug.
        category_name: The category in words.
        kinds: File kinds it asks for or gives.
        capabilities: What it asks of an agent.
        inferred: Whether that is inferred rather than stated.
        state: One of `STATES`.
        score: Root score.
        reached: Leaves that reach the threshold.
        leaves: Leaves there are.
        files: Files delivered.
        turns: Model turns of the agent, None when unknown.
        cost: Agent and judge together, USD, None when unknown.
        seconds: Time of the agent, None without one.
        weakest: What to know first: the error, or the checkpoint that lost most.
        again: Root score after feedback, None without one.
        before: Its score in the baseline, None without one.
        spread: Points between the lowest and the highest score of the leaf that judges differ on most, None without.
        stages: Stages at which its leaves were lost, by the run's diagnosis.
    """

    anchor: str
    name: str
    category: str
    category_name: str
    kinds: tuple[str, ...]
    capabilities: tuple[str, ...]
    inferred: bool
    state: str
    score: float | None
    reached: int
    leaves: int
    files: int
    turns: int | None
    cost: float | None
    seconds: float | None
    weakest: str
    again: float | None = None
    before: float | None = None
    spread: float | None = None
    stages: tuple[str, ...] = ()

    @property
    def change(self) -> float | None:
        """The score minus that of the baseline, None when either is missing."""
        return None if self.score is None or self.before is None else self.score - self.before

    @property
    def state_name(self) -> str:
        """The state in words."""
        return STATES[self.state]


def anchors(tasks: Sequence[TaskResult]) -> dict[str, str]:
    """Return where each task is in the page, by run key: its name made safe, and never twice the same."""
    found: dict[str, str] = {}
    used: set[str] = set()
    for task in tasks:
        plain = "task-" + (_UNSAFE.sub("-", task.run_key)[:80] or "unnamed")
        name, number = plain, 1
        while name in used:
            number += 1
            name = f"{plain}-{number}"
        used.add(name)
        found[task.run_key] = name
    return found


def category_name(slug: str) -> str:
    """Return a category in one or two words."""
    return _SHORT_NAMES.get(slug, slug)


def state_of(task: TaskResult) -> str:
    """Return how a task ended, as one of `STATES`."""
    if task.status is TaskStatus.GRADED:
        return "reached" if task.success else "below"
    return task.status.value


def rows(result: RunResult, threshold: float, places: Mapping[str, str], failures: Failures) -> list[Row]:
    """Return the rows of the table, those that need attention first."""
    baseline = result.gate.baseline or {}
    before = {one["task"]: one["before"] for one in baseline.get("by_task", ())}
    return [
        _row(task, threshold, places[task.run_key], before.get(task.slug), failures) for task in by_need(result.tasks)
    ]


def _row(task: TaskResult, threshold: float, anchor: str, before: float | None, failures: Failures) -> Row:
    leaves = task.leaves()
    return Row(
        anchor=anchor,
        name=task.run_key,
        category=task.category,
        category_name=category_name(task.category),
        kinds=task.kinds,
        capabilities=task.capabilities,
        inferred=task.capability_basis is CapabilityBasis.INFERRED,
        state=state_of(task),
        score=task.root_score,
        reached=sum(leaf.score is not None and leaf.score >= threshold for leaf in leaves),
        leaves=len(leaves),
        files=len(taken(task)),
        turns=task.agent.turns or None if task.agent else None,
        cost=spent(task),
        seconds=task.agent.wall_s if task.agent else None,
        weakest=_weakest(task),
        again=task.feedback.root_score if task.feedback and not task.feedback.carried_over else None,
        before=before,
        spread=widest_spread(task),
        stages=failures.stages(task.run_key),
    )


def _weakest(task: TaskResult) -> str:
    if task.root_score is None:
        text = task.error or f"the judge left {_without_score(task)} without a score"
    elif (node := heaviest_loss(task)) is None:
        return ""
    else:
        leaf = node.checkpoint
        text = f"{leaf.id} \u2212{node.lost:.1f}: {leaf.requirements}"
    line = " ".join(text.split())
    return line if len(line) <= NOTE_CHARACTERS else line[: NOTE_CHARACTERS - 1] + "\u2026"


def _without_score(task: TaskResult) -> str:
    return count(sum(leaf.score is None for leaf in task.leaves()), "leaf")


def tiles(result: RunResult) -> list[Tile]:
    """Return the numbers beside Root SR."""
    summary = result.summary
    cost, tokens = summary["cost_usd"], summary["tokens"]
    agent_tokens, judge_tokens = (tokens[who]["input"] + tokens[who]["output"] for who in ("agent", "judge"))
    tools = f"{summary['tool_calls']:,} calls, {summary['tool_errors']:,} errors"
    leaves = f"of {count(summary['scored_leaves'], 'leaf')} with a score"
    whole = total((cost["agent"], cost["judge"]))
    agent_s = f"agent {duration(summary['agent_s'])} in all" if summary.get("agent_s") else ""
    return [
        Tile("Root Score", points(summary["root_score"]), "/ 10", f"95 % {interval(summary['root_score_ci'], 2)}"
             if summary["root_score_ci"] else ""),
        Tile("Leaf SR", *_value(rate(summary["leaf_sr"])), leaves),
        Tile("Tool SR", *_value(rate(summary["tool_sr"])), tools if summary["tool_calls"] else "no tool calls"),
        Tile("Cost", "unknown" if whole is None else money(whole), "",
             f"agent {_money(cost['agent'])}, judge {_money(cost['judge'])}"),
        Tile("Tokens", quantity(agent_tokens + judge_tokens), "",
             f"agent {quantity(agent_tokens)}, judge {quantity(judge_tokens)}"),
        Tile("Time", duration(summary.get("wall_s")), "", agent_s),
    ]  # fmt: skip


def _value(text: str) -> tuple[str, str]:
    value, _, unit = text.partition(" ")
    return value, unit


def _money(amount: float | None) -> str:
    return "unknown" if amount is None else money(amount)


def missing_line(summary: Mapping[str, Any]) -> str:
    """Return what is without a score and what Root SR could be, "" when nothing is missing."""
    parts, bounds = without_score(summary), summary["root_sr_bounds"]
    between = f". With them, Root SR lies between {bounds[0]:.1f} and {bounds[1]:.1f} %" if parts and bounds else ""
    return parts + between


def groups(table: Mapping[str, Mapping[str, Any]], *, named: bool = False) -> list[Group]:
    """Return the rows of one of the summary's tables.

    Args:
        table: Metrics by group.
        named: Whether the groups are categories, which have longer names.
    """
    return [
        Group(
            visible(key),
            category_name(key) if named else key,
            row["tasks"],
            row["root_sr"],
            row["root_score"],
            row["leaf_sr"],
            inferred(row),
        )
        for key, row in table.items()
    ]


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """How one number changed against the baseline, as texts."""

    name: str
    before: str
    after: str
    difference: str
    interval: str


def changes(baseline: Mapping[str, Any]) -> list[ChangeRow]:
    """Return the changes against a baseline, from what the gate says of it."""
    return [
        ChangeRow(
            name,
            f"{baseline[key]['before']:.{digits}f}",
            f"{baseline[key]['after']:.{digits}f}",
            f"{baseline[key]['difference']:+.{digits}f}".replace("-", "\u2212"),
            interval(baseline[key]["interval"], digits),
        )
        for name, key, digits in (("Root SR, %", "root_sr", 1), ("Root Score", "root_score", 2))
    ]


def flipped(tasks: Sequence[TaskResult], slugs: Sequence[str], places: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return tasks by their slug, each with where (the first repeat of) it is in the page, "" when it is not."""
    found: dict[str, str] = {}
    for task in tasks:
        found.setdefault(task.slug, places[task.run_key])
    return [(slug, found.get(slug, "")) for slug in slugs]


def subtitle(result: RunResult) -> list[str]:
    """Return what stands below the title: dataset, judge, day."""
    run, tasks = result.run, len(result.tasks)
    of = int(run["dataset"].get("tasks") or tasks)
    part = f"{tasks:,} of {of:,} tasks" if of != tasks else count(tasks, "task")
    day = str(run.get("started_at") or "")[:10]
    return [f"{run['dataset']['name']}, {part}", f"judged by {run['judge']['model']}", *([day] if day else [])]


def facts(result: RunResult) -> list[tuple[str, str]]:
    """Return what was measured on what, as names and values."""
    run = result.run
    agent, judge, dataset = run["agent"], run["judge"], run["dataset"]
    settings = ", ".join(f"{name} {value}" for name, value in (agent.get("settings") or {}).items())
    found = [
        ("Dataset", f"{dataset['name']}, {count(int(dataset.get('tasks') or 0), 'task')}"),
        ("Dataset sha256", str(dataset.get("sha256") or "unknown")),
        ("Agent", agent_name(agent)),
        ("Agent settings", settings),
        ("Endpoint", str(agent.get("base_url") or "")),
        ("Judge", f"{judge['model']}, {count(int(judge.get('samples') or 1), 'sample')} a leaf"),
        ("Judge prompt", f"version {judge.get('prompt_version')}"),
        ("Judge endpoint", " ".join(filter(None, (judge.get("base_url"), judge.get("api"))))),
        ("Success from", f"{run['threshold']:g} points"),
        ("Tools confined by", str(run.get("sandbox") or "")),
        ("Started", str(run.get("started_at") or "")),
        ("Finished", str(run.get("finished_at") or "not finished")),
        ("pytest-gta", str(run.get("pytest_gta_version") or "")),
        ("Command", str(run.get("command") or "")),
    ]
    return [(name, value) for name, value in found if value]


def needy(tasks: Sequence[TaskResult], table: Sequence[Row]) -> list[Row]:
    """Return the rows of the tasks to look at first."""
    by_name = {row.name: row for row in table}
    return [by_name[task.run_key] for task in look_at_first(tasks, LOOK_AT_FIRST)]
