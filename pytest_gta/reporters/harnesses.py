"""The agents of one run side by side, as files: JSON, one HTML page, Markdown. The same table in each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_gta.benchmark.run_directory import write_atomic
from pytest_gta.reporters.attention import look_at_first, why
from pytest_gta.reporters.leaderboard import agent_words, as_json, entries_of, markdown_lines, task_lines
from pytest_gta.reporters.leaderboard_page import comparison_page
from pytest_gta.reporters.markdown import MOST_CHARACTERS, plain
from pytest_gta.reporters.outcome import Measured, Outcome
from pytest_gta.reporters.wording import benchmark_name, count, points

LOOK_AT_FIRST = 5


def write_json(measured: Sequence[Measured], outcome: Outcome, target: Path, *, wall_s: float | None) -> Path:
    """Write the table of agents as JSON: of each its run, its summary and gate, and how it stands against the first.

    Args:
        measured: The run, one part for each agent.
        outcome: What the whole means.
        target: The file to write.
        wall_s: Seconds the whole took; None when unknown.
    """
    table = as_json(entries_of(measured), _threshold(measured), published=False)
    gates = {one.label: one.outcome.gate.model_dump(mode="json") for one in measured}
    runs = [{"label": run["source"], **run, "gate": gates[run["source"]]} for run in table["runs"]]
    whole = {**table, "runs": runs, "gate": outcome.gate.model_dump(mode="json"), "wall_s": wall_s}
    write_atomic(target, json.dumps(whole, indent=1) + "\n")
    return target


def write_page(measured: Sequence[Measured], outcome: Outcome, target: Path, links: Mapping[str, str]) -> Path:
    """Write the table of agents as an HTML page.

    Args:
        measured: The run, one part for each agent.
        outcome: What the whole means.
        target: The file to write.
        links: Where each agent's own report is, by label.
    """
    table = entries_of(measured, links)
    notes = (f"**{plain(outcome.line, 2000)}**", _facts(measured))
    page = comparison_page(table, _threshold(measured), published=False, title=_title(measured), notes=notes)
    write_atomic(target, page)
    return target


def write_summary(
    measured: Sequence[Measured], outcome: Outcome, target: Path, *, job_summary: str | None = None
) -> Path:
    """Write the table of agents, and what to look at first of each, as Markdown for a pull request.

    Args:
        measured: The run, one part for each agent.
        outcome: What the whole means.
        target: The file to write.
        job_summary: A file that the summary is added to, such as the one ``GITHUB_STEP_SUMMARY`` names.
    """
    text = "\n".join(_summary(measured, outcome)) + "\n"
    tasks = ["", "<details><summary>All tasks</summary>", "", *task_lines(entries_of(measured), _threshold(measured))]
    all_tasks = "\n".join([*tasks, "", "</details>", ""])
    if len(text) + len(all_tasks) <= MOST_CHARACTERS:
        text += all_tasks
    write_atomic(target, text)
    if job_summary:
        with Path(job_summary).open("a", encoding="utf-8") as summary:
            summary.write(f"{text}\n")
    return target


def _summary(measured: Sequence[Measured], outcome: Outcome) -> Iterator[str]:
    yield f"## {_title(measured)}\n"
    yield f"**{plain(outcome.line, 2000)}**\n"
    yield f"{_facts(measured)}\n"
    yield from markdown_lines(entries_of(measured), _threshold(measured), published=False)
    for one in measured:
        found = look_at_first(one.result.tasks, LOOK_AT_FIRST)
        if found:
            yield f"\n### {plain(agent_words(one.result))}: look at first\n"
            yield "| Task | Score | Why |"
            yield "|---|--:|---|"
            for task in found:
                yield f"| {plain(task.run_key)} | {points(task.root_score)} | {plain(why(task))} |"


def _title(measured: Sequence[Measured]) -> str:
    return f"{benchmark_name(measured[0].result.run['dataset'])}: {count(len(measured), 'agent')}"


def _facts(measured: Sequence[Measured]) -> str:
    """Return what all agents were measured on, by whom, and how sure the numbers are."""
    run = measured[0].result.run
    dataset, judge = run["dataset"], run["judge"]
    return (
        f"{plain(str(dataset['name']))} (sha256 {plain(str(dataset.get('sha256'))[:12])}), judged by "
        f"{plain(str(judge['model']))} (prompt {plain(str(judge.get('prompt_version')))}), "
        f"pytest-gta {plain(str(run.get('pytest_gta_version')))}. Intervals are 95 %; each agent is held against the "
        "first over the tasks that both have a score for."
    )


def _threshold(measured: Sequence[Measured]) -> float:
    return float(measured[0].result.run["threshold"])
