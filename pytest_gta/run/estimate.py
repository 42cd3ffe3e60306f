"""``--gta-estimate``: about what the selected tasks would take in calls, tokens and money, before anything is spent.

Without a past run it rests on the assumptions below, which are round numbers, and leaves the provider's prompt cache
out: better too much than too little. With one (``--gta-baseline``) it rests on what each task took there.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_gta.benchmark.results import RunResult, TaskResult
from pytest_gta.benchmark.task import Task, TaskFault
from pytest_gta.benchmark.usage import Tokens, total
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.pricing import price
from pytest_gta.reporters.wording import count, money, quantity
from pytest_gta.run.finished_run import read_run
from pytest_gta.run.spending_limit import paid_models
from pytest_gta.settings import LOCAL_MODEL, Settings

if TYPE_CHECKING:
    from pytest_gta.run.bench import Bench

CHARACTERS_A_TOKEN = 4
JUDGE_PROMPT_TOKENS = 1_100
"""Instructions, and the list of files."""
EVIDENCE_TOKENS = 10_000
"""What a task's deliverables come to, pictures included."""
VERDICT_TOKENS = 300
"""A verdict, hidden reasoning included."""
TURNS = 15
TURN_INPUT_TOKENS = 15_000
"""What a turn is sent on average: the tools' descriptions and the conversation so far."""
TURN_OUTPUT_TOKENS = 600


@dataclass(frozen=True, slots=True)
class Estimate:
    """About what a run takes.

    Attributes:
        tasks: Tasks, each of their repeats counted.
        leaves: Leaves to be judged.
        judge_calls: Calls of all judges, re-asks not counted.
        agent: Tokens of the agent; None when nothing is known of it.
        judge: Tokens of the judges.
        agent_usd: Money for the agent; None when unknown.
        judge_usd: Money for the judges; None when unknown.
        basis: What it rests on, in a sentence.
    """

    tasks: int
    leaves: int
    judge_calls: int
    agent: Tokens | None
    judge: Tokens
    agent_usd: float | None
    judge_usd: float | None
    basis: str


def estimate(
    tasks: Sequence[Task], settings: Settings, past: RunResult | None, *, model_runs: bool, recorded: bool
) -> Estimate:
    """Return about what a run of these tasks takes.

    Args:
        tasks: The selected tasks.
        settings: The options.
        past: A run to go by.
        model_runs: Whether the agent is the model of ``--gta-model`` itself.
        recorded: Whether the agent's work is done already, so that only the judge costs.
    """
    judges = [(model, url) for role, model, url in paid_models(settings, model_runs=False) if role == "judge"]
    each = settings.judge_samples
    leaves = sum(len(task.leaves) for task in tasks)
    known = _Past(past) if past is not None and past.tasks else None
    judged = sum((known.judge(task) if known else _judge_tokens(task) for task in tasks), Tokens())
    if known:
        before = past.run.get("judge", {}) if past else {}
        asked_before = int(before.get("samples") or 1) * max(1, len(before.get("panel") or ()))
        judged = _scaled(judged, 1 / asked_before)
    agent: Tokens | None = Tokens()
    if not recorded:
        agent = _agent_tokens(len(tasks)) if model_runs else None
        if known:
            agent = sum((known.agent(task) for task in tasks), Tokens())
    attempts = 1 if settings.feedback == "none" else 2
    if attempts > 1:
        judged, agent = _scaled(judged, attempts), agent and _scaled(agent, attempts)
    agent_usd: float | None = 0.0
    if not recorded:
        agent_usd = _usd(settings.model, settings.base_url, agent) if model_runs else None
    basis = (
        f"what the tasks took in {past.run.get('id', 'a past run')}"
        if known and past
        else f"assumptions ({TURNS} turns a task, {EVIDENCE_TOKENS:,} tokens of evidence, no prompt cache); "
        "may be off by a factor of three, a past run given by --gta-baseline makes it better"
    )
    if attempts > 1:
        basis += "; each task counts twice, for a second attempt after feedback, which is the most there can be"
    return Estimate(
        tasks=len(tasks),
        leaves=leaves,
        judge_calls=leaves * each * len(judges) * attempts,
        agent=agent,
        judge=_scaled(judged, each * len(judges)),
        agent_usd=agent_usd,
        judge_usd=total(_usd(model, url, _scaled(judged, each)) for model, url in judges),
        basis=basis,
    )


def estimate_of(bench: Bench, tasks: Iterable[Task | TaskFault]) -> Estimate:
    """Return about what a run of these tasks takes, by the past run of ``--gta-baseline`` if there is one.

    Raises:
        SettingsError: When the past run cannot be read.
    """
    settings = bench.settings
    return estimate(
        [task for task in tasks if isinstance(task, Task)],
        settings,
        read_run(settings.baseline) if settings.baseline else None,
        model_runs=bench.agent_spec.runs_the_model,
        recorded=bench.agent_under_test.is_recorded,
    )


def estimate_lines(made: Mapping[str, Estimate]) -> Iterator[str]:
    """Yield an estimate as lines for the terminal; every number in it is marked as one.

    Args:
        made: Of each agent, by label.
    """
    parts = list(made.values())
    tasks, leaves, calls = (sum(getattr(part, key) for part in parts) for key in ("tasks", "leaves", "judge_calls"))
    yield f"Tasks    {count(tasks, 'task')}, {count(leaves, 'leaf')}" + (
        f", of {count(len(parts), 'agent')}" if len(parts) > 1 else ""
    )
    for label, part in made.items():
        agent = "tokens unknown" if part.agent is None else _words(part.agent)
        yield f"Agent    {f'{label}: ' if label else ''}{agent}, {_money(part.agent_usd)}"
    judge = sum((part.judge for part in parts), Tokens())
    judge_usd = total(part.judge_usd for part in parts)
    yield f"Judge    {count(calls, 'call')}, {_words(judge)}, {_money(judge_usd)}"
    yield f"In all   {_money(total((judge_usd, *(part.agent_usd for part in parts))))}"
    for basis in dict.fromkeys(part.basis for part in parts):
        yield from textwrap.wrap(basis, 79, initial_indent="From     ", subsequent_indent=" " * 9)
    yield "ESTIMATE: nothing was run, nothing was spent"


def _words(tokens: Tokens) -> str:
    if not any((tokens.input, tokens.output)):
        return "no tokens"
    return f"about {quantity(tokens.input)} tokens in, {quantity(tokens.output)} out"


def _money(amount: float | None) -> str:
    return "cost unknown" if amount is None else "no cost" if amount == 0 else f"about {money(amount)}"


def _judge_tokens(task: Task) -> Tokens:
    shared = JUDGE_PROMPT_TOKENS + EVIDENCE_TOKENS + len(task.request) // CHARACTERS_A_TOKEN
    leaves = task.leaves
    asked = sum(len(leaf.requirements) for leaf in leaves) // CHARACTERS_A_TOKEN
    return Tokens(input=shared * len(leaves) + asked, output=VERDICT_TOKENS * len(leaves))


def _agent_tokens(tasks: int) -> Tokens:
    return Tokens(input=tasks * TURNS * TURN_INPUT_TOKENS, output=tasks * TURNS * TURN_OUTPUT_TOKENS)


def _scaled(tokens: Tokens, factor: float) -> Tokens:
    return Tokens(
        input=round(tokens.input * factor), cached=round(tokens.cached * factor), output=round(tokens.output * factor)
    )


def _usd(model: str | None, base_url: str | None, tokens: Tokens | None) -> float | None:
    if model == LOCAL_MODEL:
        return 0.0
    return None if model is None or tokens is None else price(Endpoint(model, base_url, ""), tokens)


class _Past:
    """What the tasks of a past run took; a task that is not among them takes the mean of those that are."""

    def __init__(self, run: RunResult) -> None:
        self._tasks: dict[str, list[TaskResult]] = {}
        for task in run.tasks:
            if task.agent is not None:
                self._tasks.setdefault(task.slug, []).append(task)
        self._all = [task for runs in self._tasks.values() for task in runs]

    def agent(self, task: Task) -> Tokens:
        runs = self._tasks.get(task.base_slug) or self._all
        whole = sum((run.agent.usage.tokens for run in runs if run.agent), Tokens())
        return _scaled(whole, 1 / len(runs)) if runs else _agent_tokens(1)

    def judge(self, task: Task) -> Tokens:
        # Verdicts that were reused had no tokens: what was asked stands for all.
        runs = self._tasks.get(task.base_slug) or self._all
        calls = sum(run.judge.usage.calls for run in runs)
        if not calls:
            return _judge_tokens(task)
        whole = sum((run.judge.usage.tokens for run in runs), Tokens())
        asked = sum(len(run.leaves()) - run.judge.cached_leaves for run in runs)
        return _scaled(whole, len(task.leaves) / max(1, asked))
