"""Several runs side by side: one table, each run against the first, and the published figures on request.

As text for the terminal, as Markdown, and as JSON. The same values in each.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from pytest_gta.benchmark.comparison import ChangeVerdict, Comparison, NothingInCommon, compare, unlike
from pytest_gta.benchmark.metrics import summarize
from pytest_gta.benchmark.published import TABLES, PublishedRow
from pytest_gta.benchmark.reference_scores import FOREIGN, OTHER_RUBRIC
from pytest_gta.benchmark.repeats import scores_by_task
from pytest_gta.benchmark.results import RunResult
from pytest_gta.reporters.change import change_lines
from pytest_gta.reporters.markdown import plain
from pytest_gta.reporters.outcome import Measured
from pytest_gta.reporters.wording import agent_name, count, duration, interval, money, points, rate

_NO_BREAK = "\u00a0"
NOT_MEASURED = "published, not measured"


@dataclass(frozen=True, slots=True)
class Entry:
    """One run of the table.

    Attributes:
        letter: What it is called in the table.
        source: The file or directory it was read from.
        result: The run.
        summary: Its metrics at the common threshold.
        comparison: It against the first run; None for that itself, or without a common task.
        warnings: Why it cannot quite be compared with the first run.
    """

    letter: str
    source: str
    result: RunResult
    summary: dict[str, Any]
    comparison: Comparison | None
    warnings: tuple[str, ...]
    link: str = ""
    """Where its own report is, for a page; "" when there is none."""

    @property
    def agent(self) -> str:
        """The agent and its model."""
        return agent_words(self.result)

    @property
    def name(self) -> str:
        """Where it was read from and its agent; just the agent for one of several of a run."""
        return f"{self.source}: {self.agent}" if self.is_of_a_file else self.agent

    @property
    def is_of_a_file(self) -> bool:
        """Whether it was read from a file, and is not just one agent of several of a run."""
        return bool(self.source != (self.result.run.get("agent") or {}).get("label"))

    @property
    def seconds_a_task(self) -> float | None:
        """Mean time of the agent, over the tasks it worked on; None when there is none."""
        times = [task.agent.wall_s for task in self.result.tasks if task.agent]
        return fmean(times) if times else None


def agent_words(result: RunResult) -> str:
    """Return a run's agent and its model in words."""
    agent = result.run.get("agent") or {}
    named = agent_name(agent)
    read_from = result.run.get(FOREIGN)
    return f"{named} ({read_from})" if read_from else named


def entries_of(measured: Sequence[Measured], links: Mapping[str, str] | None = None) -> list[Entry]:
    """Return the agents of one run as a table, each compared with the first.

    Args:
        measured: The run, one part for each agent.
        links: Where each agent's own report is, by label.
    """
    found = entries([(one.label, one.result) for one in measured], float(measured[0].result.run["threshold"]))
    return [replace(entry, link=(links or {}).get(entry.source, "")) for entry in found]


def entries(runs: Sequence[tuple[str, RunResult]], threshold: float) -> list[Entry]:
    """Return the runs, counted at one threshold, each compared with the first.

    Args:
        runs: Where each was read from, and the run.
        threshold: Points from which a task or leaf succeeds.
    """
    first = runs[0][1]
    made = []
    for number, (source, run) in enumerate(runs):
        summary = summarize(run.tasks, threshold) | {"wall_s": run.summary.get("wall_s")}
        if FOREIGN in run.run:
            # Such a file says nothing of what the agent took: unknown, not none.
            summary |= {"cost_usd": {"agent": None, "judge": None}, "agent_s": None, "score_per_usd": None}
        comparison, warnings = None, list(unlike(first.run, run.run))
        if number:
            try:
                comparison = compare(first.tasks, run.tasks, threshold)
            except NothingInCommon:
                warnings.append("no task that both have a score for")
            if others := run.run.get(OTHER_RUBRIC):
                warnings.append(f"{count(others, 'task')} scored by another rubric: the file's own scores count")
            if _tools(first) and _tools(run) and _tools(first) != _tools(run):
                warnings.append(f"other tools offered ({len(_tools(first))}, now {len(_tools(run))})")
        made.append(Entry(_letter(number), source, run, summary, comparison, tuple(warnings)))
    return made


def verdict(table: Sequence[Entry]) -> ChangeVerdict:
    """Return whether any run is worse than the first; what cannot be compared is inconclusive."""
    later = table[1:]
    found = {entry.comparison.verdict for entry in later if entry.comparison and not entry.warnings}
    if ChangeVerdict.FAIL in found:
        return ChangeVerdict.FAIL
    if ChangeVerdict.INCONCLUSIVE in found or any(entry.warnings or entry.comparison is None for entry in later):
        return ChangeVerdict.INCONCLUSIVE
    return ChangeVerdict.PASS


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"#{number + 1}"


def _tools(run: RunResult) -> frozenset[str]:
    return frozenset(name for task in run.tasks if task.agent for name in task.agent.tools_offered)


# -- text -------------------------------------------------------------------------------------------------------------


def text_lines(table: Sequence[Entry], threshold: float, *, published: bool) -> Iterator[str]:
    """Yield the table as text of 80 columns."""
    for entry in table:
        measured = f"{entry.summary['graded']} of {count(entry.summary['tasks'], 'task')} graded"
        yield f"{entry.letter:<3}{entry.name}, {measured}"
    yield ""
    root_sr = f"Root SR@{threshold:g} %"
    yield f"{'':<3}{root_sr:<22}{'Root Score':<21}{'Leaf':>6}{'Tool':>6}{'Cost':>9}{'Score/$':>8}"
    for entry in table:
        summary = entry.summary
        sr = f"{_bare(summary['root_sr'])} {interval(summary['root_sr_ci'])}"
        score = f"{points(summary['root_score'])} {interval(summary['root_score_ci'], 2)}"
        cost = summary["cost_usd"]["agent"]
        yield (
            f"{entry.letter:<3}{sr:<22}{score:<21}{_bare(summary['leaf_sr']):>6}{_bare(summary['tool_sr']):>6}"
            f"{'unknown' if cost is None else money(cost):>9}{_ratio(summary['score_per_usd']):>8}"
        )
    yield ""
    yield from _times(table)
    yield ""
    for entry in table[1:]:
        for warning in entry.warnings:
            yield f"WARNING: {entry.letter} is not like A: {warning}"
        if entry.comparison is not None:
            yield f"{entry.letter} against A: {_verdict_words(entry.comparison)}"
            yield from list(change_lines(entry.comparison.as_json()))[1:]
    if published:
        yield from _published_text()


def _times(table: Sequence[Entry]) -> list[str]:
    beginning = "Agents' time  "
    each = (f"{entry.letter} {_time(entry)}" for entry in table)
    # Each is kept together on its line.
    joined = "; ".join(text.replace(" ", _NO_BREAK) for text in each)
    wrapped = textwrap.wrap(joined, 79, initial_indent=beginning, subsequent_indent=" " * len(beginning))
    return [line.replace(_NO_BREAK, " ") for line in wrapped]


def _time(entry: Entry) -> str:
    whole, each = entry.summary["agent_s"], entry.seconds_a_task
    return duration(whole) if whole is None or each is None else f"{duration(each)} a task, {duration(whole)} in all"


def _verdict_words(comparison: Comparison) -> str:
    tasks = f"over {count(len(comparison.tasks), 'common task')}"
    if comparison.is_better:
        return f"significantly better {tasks}"
    return {
        ChangeVerdict.PASS: f"no drop shown {tasks}",
        ChangeVerdict.FAIL: f"significantly worse {tasks}",
        ChangeVerdict.INCONCLUSIVE: f"lower, may be noise, {tasks}",
    }[comparison.verdict]


def _published_text() -> Iterator[str]:
    for title, rows in TABLES:
        yield f"{title} ({NOT_MEASURED})"
        yield f"  {'':<30}{'Root SR':>8}{'Score':>7}{'Leaf':>7}{'Tool':>7}{'Cost':>7}{'Score/$':>9}"
        for row in rows:
            yield (
                f"  {row.name:<30}{row.root_sr:>8.2f}{row.root_score:>7.2f}{row.leaf_sr:>7.2f}"
                f"{'-' if row.tool_sr is None else f'{row.tool_sr:.2f}':>7}"
                f"{'-' if row.cost_usd is None else f'${row.cost_usd:g}':>7}{_ratio(row.score_per_usd):>9}"
            )
        yield ""


def _bare(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if value < 100 else f"{value:.0f}"


def task_lines(table: Sequence[Entry], threshold: float) -> Iterator[str]:
    """Yield every task with its root score in each run as a Markdown table: where do they differ?

    With repeats it is the mean. What reaches the threshold is bold.
    """
    scores = [scores_by_task(entry.result.tasks) for entry in table]
    slugs = dict.fromkeys(task.slug for entry in table for task in entry.result.tasks)
    heads = (entry.letter if entry.is_of_a_file else plain(entry.source) for entry in table)
    yield f"| Task |{''.join(f' {head} |' for head in heads)}"
    yield f"|---|{'--:|' * len(table)}"
    for slug in slugs:
        means = [fmean(of_run[slug]) if slug in of_run else None for of_run in scores]
        cells = (points(mean) if mean is None or mean < threshold else f"**{points(mean)}**" for mean in means)
        yield f"| {plain(slug)} | {' | '.join(cells)} |"


# -- markdown and JSON ------------------------------------------------------------------------------------------------


def markdown_lines(table: Sequence[Entry], threshold: float, *, published: bool) -> Iterator[str]:
    """Yield the table as Markdown; names of files, agents and models cannot act as markup."""
    yield f"| Run | Agent | Tasks | Root SR@{threshold:g} | Root Score | Leaf SR | Tool SR | Cost | Time | Score/Cost |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for entry in table:
        summary = entry.summary
        cost = summary["cost_usd"]["agent"]
        cells = (
            f"[{entry.letter}: {plain(entry.source)}]({entry.link})"
            if entry.link
            else f"{entry.letter}: {plain(entry.source)}",
            plain(entry.agent),
            f"{summary['graded']} of {summary['tasks']}",
            f"{rate(summary['root_sr'])} {interval(summary['root_sr_ci'])}",
            f"{points(summary['root_score'])} {interval(summary['root_score_ci'], 2)}",
            rate(summary["leaf_sr"]),
            rate(summary["tool_sr"]),
            "unknown" if cost is None else money(cost),
            _time(entry),
            _ratio(summary["score_per_usd"]),
        )
        yield f"| {' | '.join(cells)} |"
    for title, rows in TABLES if published else ():
        yield from (_published_row(row, title) for row in rows)
    yield ""
    for entry in table[1:]:
        for warning in entry.warnings:
            yield f"- **{entry.letter} is not like A**: {plain(warning)}"
        if entry.comparison is not None:
            sr, score = entry.comparison.root_sr, entry.comparison.root_score
            yield (
                f"- {entry.letter} against A: {_verdict_words(entry.comparison)}; Root SR {sr.difference:+.1f} % "
                f"{interval(sr.interval)}, Root Score {score.difference:+.2f} {interval(score.interval, 2)}, "
                f"{len(entry.comparison.won)} won, {len(entry.comparison.lost)} lost"
            )


def _published_row(row: PublishedRow, title: str) -> str:
    cells = (
        plain(row.name),
        f"*{NOT_MEASURED}* ({title.split(',')[0]})",
        "",
        f"{row.root_sr:.2f} %",
        f"{row.root_score:.2f}",
        f"{row.leaf_sr:.2f} %",
        "-" if row.tool_sr is None else f"{row.tool_sr:.2f} %",
        "-" if row.cost_usd is None else f"${row.cost_usd:g}",
        "-" if row.minutes is None else duration(row.minutes * 60),
        _ratio(row.score_per_usd),
    )
    return f"| {' | '.join(cells)} |"


def as_json(table: Sequence[Entry], threshold: float, *, published: bool) -> Mapping[str, Any]:
    """Return the table as a JSON value."""
    return {
        "threshold": threshold,
        "verdict": verdict(table).value,
        "runs": [
            {
                "letter": entry.letter,
                "source": entry.source,
                "run": entry.result.run,
                "summary": entry.summary,
                "seconds_a_task": entry.seconds_a_task,
                "warnings": entry.warnings,
                "against_first": entry.comparison.as_json() if entry.comparison else None,
            }
            for entry in table
        ],
        **(
            {
                "published": [
                    {"table": title, "measured": False, "label": NOT_MEASURED, "rows": [asdict(row) for row in rows]}
                    for title, rows in TABLES
                ]
            }
            if published
            else {}
        ),
    }
