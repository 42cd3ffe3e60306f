"""The terminal: what is said before a run and after it. Fits 80 columns, and reads the same without colour."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.benchmark.atomic import AtomicDataset
from pytest_gta.benchmark.results import RunResult, TaskResult
from pytest_gta.benchmark.run_directory import AGENTS
from pytest_gta.benchmark.task import Task
from pytest_gta.benchmark.usage import Usage
from pytest_gta.reporters.attention import least_steady, look_at_first, measured, needy, why, without_score
from pytest_gta.reporters.change import change_lines
from pytest_gta.reporters.feedback import FIRST_COUNTS, gain_lines
from pytest_gta.reporters.leaderboard import agent_words, entries_of, text_lines
from pytest_gta.reporters.outcome import Measured, Outcome
from pytest_gta.reporters.wording import (
    benchmark_name,
    caution,
    count,
    duration,
    inferred,
    interval,
    money,
    points,
    quantity,
    rate,
    shortened,
)

if TYPE_CHECKING:
    from pytest_gta.run.bench import Bench
    from pytest_gta.run.lineup import Lineup

WORST_TASKS, WORST_TASKS_OF_EACH = 5, 3
_NAMED = 3
RELEASE_NOT_HERE = "gta: these are the bundled tasks; pytest-gta fetch workflow brings the release"


def header_lines(lineup: Lineup) -> list[str]:
    """Return what pytest prints before the run: dataset, agents, judge, confinement, where the files go."""
    settings, benches = lineup.settings, [one.bench for one in lineup.contenders]
    bench, release = benches[0], benches[0].release
    tasks = [task for task in lineup.tasks if isinstance(task, Task)]
    leaves = sum(len(task.leaves) for task in tasks)
    different = len({task.base_slug for task in lineup.tasks})
    of = "" if different == len(release.task_ids) else f"{different} of "
    times = f" {settings.repeat} times each" if settings.repeat > 1 else ""
    for_each = " for each agent" if lineup.is_several else ""
    judge = f"judge {settings.judge_model}"
    notes = dict.fromkeys(one.agent_under_test.seclusion.note for one in benches if one.agent_under_test.seclusion)
    lines = [
        f"gta: {release.name}, {of}{count(len(release.task_ids), 'task')}{times}, {count(leaves, 'leaf')}{for_each}, "
        f"success from {settings.threshold:g} points",
        *([RELEASE_NOT_HERE] if not settings.dataset and release.name == "mini" else ()),
        *([f"gta: {judge}"] if lineup.is_several else ()),
        *(
            f"gta: agent {one.label}: {_agent(one.bench)}{_part(one.bench, lineup)}"
            if lineup.is_several
            else f"gta: agent {_agent(one.bench)}, {judge}"
            for one in lineup.contenders
        ),
        *(f"gta: {remark}" for one in benches if (remark := _unknown_outputs(one))),
        *([f"gta: feedback {settings.feedback}: {FIRST_COUNTS}"] if settings.feedback != "none" else ()),
        f"gta: tools in {bench.confinement.note}",
        f"gta: renderers {_renderers(bench)}",
        *(f"gta: command {note}" for note in notes),
        f"gta: run directory {shown_path(lineup.run.root)}",
        *([f"gta: {fault}"] if (fault := _cache_fault(bench)) else ()),
    ]
    if isinstance(release, AtomicDataset):
        left_out = ", ".join(f"{number:,} because {why}" for why, number in release.left_out.items()) or "none"
        lines.append("gta: a question is a task of one leaf, its answer: Root SR is the share of right answers")
        lines.append(f"gta: questions left out: {left_out}")
    invalid = len(lineup.tasks) - len(tasks)
    if invalid:
        lines.append(f"gta: {count(invalid, 'task')} not usable, see the errors or `pytest-gta validate`")
    if settings.uses_local_model:
        lines.append("gta: the bundled model is tiny: its scores show that it all runs, nothing more")
    return lines


def _unknown_outputs(bench: Bench) -> str:
    """Say which finished outputs are of no task, as a folder with a mistyped id would be left out unseen."""
    unknown = sorted((bench.agent_under_test.recorded_ids or frozenset()) - set(bench.release.task_ids))
    names = ", ".join(unknown[:_NAMED]) + (f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else "")
    return f"finished outputs that are of no task of the dataset: {names}" if unknown else ""


def _cache_fault(bench: Bench) -> str:
    """Say that verdicts are paid for again, in this run or the next, when their cache is of no use."""
    from pytest_gta.judge.cache import fault_of

    kept = bench.settings.cache
    fault = fault_of(kept) if kept else ""
    what = "reused or kept" if "not a folder" in fault or "read" in fault else "kept"
    return f"--gta-cache {shown_path(kept)}: {fault}, so no verdict is {what}" if kept and fault else ""


def _agent(bench: Bench) -> str:
    spec = bench.agent_spec
    target = shown_path(spec.path) if spec.kind in ("outputs", "pack") else spec.target
    named = spec.harness or ":".join(filter(None, (spec.kind, target)))
    return " on ".join(filter(None, (named, bench.settings.model)))


def _part(bench: Bench, lineup: Lineup) -> str:
    has, whole = len(bench.tasks), len(lineup.tasks)
    return "" if has == whole else f", has {has} of {count(whole, 'task')}"


def _renderers(bench: Bench) -> str:
    if bench.settings.render == "off":
        return "off"
    if bench.evidence_budget.pictures <= 0:
        return "not used: this judge is shown no pictures"
    return ", ".join(bench.renderers.names) or "none (docs/judge.md says what they add)"


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """A line of the summary and how it is marked.

    Attributes:
        text: The line; its meaning never hangs on the marks.
        marks: Names that pytest's terminal writer knows: ``bold``, ``green``, ...
    """

    text: str
    marks: tuple[str, ...] = ()


def lines_of(
    measured: Sequence[Measured],
    outcome: Outcome,
    files: Sequence[Path],
    *,
    width: int = 80,
    quiet: bool = False,
    verbose: bool = False,
) -> Iterator[SummaryLine]:
    """Yield the summary of a run: of its one agent, or of each of several and the table of them.

    Args:
        measured: The run, one part for each agent.
        outcome: What the whole means.
        files: The reports written.
        width: Columns there are.
        quiet: Leave out all but the headlines and the meaning.
        verbose: Add the table by capability, of a run of one agent.
    """
    if len(measured) == 1 and not measured[0].label:
        yield from _of_one(measured[0].result, outcome, files, width, quiet, verbose)
        return
    for one in measured:
        yield SummaryLine(f"-- {shortened(agent_words(one.result), width - 8)} --", ("bold",))
        for line in headline(one.result.summary, one.result.run["threshold"]):
            yield SummaryLine(line)
        if not quiet:
            changes = change_lines(one.result.gate.baseline, width=width) if one.result.gate.baseline else ()
            gain = gain_lines(one.result.summary["feedback"]) if one.result.summary.get("feedback") else ()
            for line in ("", *changes, *gain, *_worst(one.result.tasks, width, WORST_TASKS_OF_EACH)):
                yield SummaryLine(line)
    if not quiet:
        threshold = measured[0].result.run["threshold"]
        for line in text_lines(entries_of(measured), threshold, published=False):
            yield SummaryLine(line)
        yield SummaryLine(_judging([one.result for one in measured]))
        own = [file for file in files if file.parent.parent.name == AGENTS]
        folders = [own[0].parent.parent / "*" / name for name in dict.fromkeys(file.name for file in own)]
        together = [*(file for file in files if file not in own), *folders]
        for line in (*_reports(together), *_caution([one.result for one in measured], width)):
            yield SummaryLine(line)
    yield from _meaning(outcome, width)


def _of_one(
    result: RunResult, outcome: Outcome, files: Sequence[Path], width: int, quiet: bool, verbose: bool
) -> Iterator[SummaryLine]:
    """Yield headline, table by category, worst tasks, costs, files, and what it all means."""
    for line in headline(result.summary, result.run["threshold"]):
        yield SummaryLine(line, ("bold",))
    if not quiet:
        changes = change_lines(result.gate.baseline, width=width) if result.gate.baseline else ()
        for line in (
            "",
            *_group_table("category", result.summary["by_category"]),
            *(_group_table("capability", result.summary.get("by_capability") or {}) if verbose else ()),
            *(_repeat_table(result.summary["repeats"]) if result.summary.get("repeats") else ()),
            *changes,
            *(gain_lines(result.summary["feedback"]) if result.summary.get("feedback") else ()),
            *_worst(result.tasks, width),
            *_spending(result),
            *_reports(files),
            *_caution([result], width),
        ):
            yield SummaryLine(line)
    yield from _meaning(outcome, width)


def _reports(files: Sequence[Path]) -> list[str]:
    return ["Reports  " + "\n         ".join(shown_path(file) for file in files)] if files else []


def _caution(results: Sequence[RunResult], width: int) -> Iterator[str]:
    for text in dict.fromkeys(caution(result.run) for result in results):
        yield from textwrap.wrap(text, width, initial_indent="Note     ", subsequent_indent="         ")


def _meaning(outcome: Outcome, width: int) -> Iterator[SummaryLine]:
    """Yield what it all means: in one line, or with each of several reasons on its own where that is too long."""
    reasons = outcome.gate.reasons
    word, _, rest = outcome.line.partition(": ")
    lines = [outcome.line]
    if len(outcome.line) > width and rest == "; ".join(reasons):
        indented = " " * len(f"{word}: ")
        lines = [f"{word}: {reasons[0]}", *(f"{indented}{reason}" for reason in reasons[1:])]
    for line in lines:
        yield SummaryLine(line, ("bold", _colour(outcome)))


def _colour(outcome: Outcome) -> str:
    return {0: "green", 1: "red"}.get(outcome.exit_code, "yellow")


def printed_summary(measured: Sequence[Measured], outcome: Outcome, files: Sequence[Path]) -> Iterator[str]:
    """Yield the lines that a command prints of a run: its benchmark, and the whole summary.

    Args:
        measured: The run, one part for each agent.
        outcome: Its meaning.
        files: The reports written.
    """
    yield f" {benchmark_name(measured[0].result.run['dataset'])} ".center(80, "=")
    for line in lines_of(measured, outcome, files, verbose=True):
        yield line.text


def write_summary(reporter: Any, measured: Sequence[Measured], outcome: Outcome, files: Sequence[Path]) -> None:
    """Write the summary of a run to pytest's terminal.

    Args:
        reporter: pytest's terminal reporter.
        measured: The run, one part for each agent.
        outcome: Its meaning.
        files: The reports written.
    """
    reporter.write_sep("=", benchmark_name(measured[0].result.run["dataset"]), bold=True)
    width = reporter.config.get_terminal_writer().fullwidth
    verbosity = reporter.config.get_verbosity()
    options = {"quiet": verbosity < 0, "verbose": verbosity > 0}
    for line in lines_of(measured, outcome, files, width=width, **options):
        reporter.write_line(line.text, **dict.fromkeys(line.marks, True))


def headline(summary: dict[str, Any], threshold: float) -> list[str]:
    """Return the run in two lines or three: Root SR with its interval, Root Score and Leaf SR, what is missing."""
    lines = [
        f"Root SR@{threshold:g} {rate(summary['root_sr'])} {interval(summary['root_sr_ci'])}  "
        f"({summary['succeeded']} of {measured(summary)})",
        f"Root Score {points(summary['root_score'])} / 10 {interval(summary['root_score_ci'], 2)}  "
        f"Leaf SR {rate(summary['leaf_sr'])}  Tool SR {rate(summary['tool_sr'])}",
    ]
    missing = without_score(summary)
    if missing:
        bounds = summary["root_sr_bounds"]
        between = f"; Root SR between {bounds[0]:.1f} and {bounds[1]:.1f} %" if bounds else ""
        lines.append(f"{missing}{between}")
    return lines


def _repeat_table(repeats: dict[str, Any]) -> Iterator[str]:
    """Yield the rates over repeats, and the tasks that differ most from one repeat to the next."""
    ks = list(repeats["at_k"].items())
    shown = ks if len(ks) <= 5 else [ks[0], ks[1], ks[len(ks) // 2], ks[-1]]
    if shown:
        yield f"{'':<10}" + "".join(f"{'k = ' + k:>10}" for k, _ in shown)
        yield f"{'pass@k':<10}" + "".join(f"{rate(at['pass_at']):>10}" for _, at in shown)
        yield f"{'pass^k':<10}" + "".join(f"{rate(at['pass_all']):>10}" for _, at in shown)
        yield ""
    unsteady = least_steady(repeats, WORST_TASKS)
    if unsteady:
        yield f"{'least steady':<28}{'runs':>5}{'reached':>9}{'mean':>7}{'spread':>8}{'range':>14}"
        for row in unsteady:
            span = f"{points(row['lowest'])}-{points(row['highest'])}"
            yield (
                f"  {row['task']:<26.26}{row['graded']:>5}{row['succeeded']:>9}{points(row['root_score']):>7}"
                f"{row['spread']:>8.2f}{span:>14}"
            )
        yield ""


def _group_table(head: str, table: Mapping[str, Mapping[str, Any]]) -> list[str]:
    if not table:
        return []
    lines = [f"{head:<20}{'tasks':>6}{'Root SR':>11}{'Root Score':>12}{'Leaf SR':>10}"]
    for name, row in table.items():
        note = inferred(row)
        lines.append(
            f"{name:<20.20}{row['tasks']:>6}{rate(row['root_sr']):>11}{points(row['root_score']):>12}"
            f"{rate(row['leaf_sr']):>10}{'  ' * bool(note)}{note}"
        )
    return [*lines, ""]


def _worst(tasks: Sequence[TaskResult], width: int, most: int = WORST_TASKS) -> list[str]:
    """Return the tasks to look at first, each with why."""
    chosen = look_at_first(tasks, most)
    if not chosen:
        return []
    lines = ["Look at first"]
    for task in chosen:
        beginning = f"  {points(task.root_score):>5}  {task.run_key}  "
        lines.append(beginning + shortened(why(task), max(width - 1 - len(beginning), 20)))
    more = len(needy(tasks)) - len(chosen)
    return [*lines, *([f"         and {more} more"] if more else []), ""]


def _spending(result: RunResult) -> list[str]:
    summary = result.summary
    tokens, cost = summary["tokens"], summary["cost_usd"]
    untold = cost["agent"] is None and not any(tokens["agent"].values())
    agent = "usage not told" if untold else f"{money(cost['agent'])}, {_tokens(tokens['agent'])}"
    return [
        f"Agent    {agent}, {duration(summary['agent_s'])} in all",
        _judging([result]),
        f"Time     {duration(summary['wall_s'])}",
    ]


def _judging(results: Sequence[RunResult]) -> str:
    """Return what the judge took, over all agents."""
    judging = [task.judge for result in results for task in result.tasks]
    usage = sum((one.usage for one in judging), Usage())
    cached = sum(one.cached_leaves for one in judging)
    reused = f", {count(cached, 'leaf')} reused" if cached else ""
    tokens = usage.tokens.model_dump()
    return f"Judge    {money(usage.cost_usd)}, {_tokens(tokens)}, {count(usage.calls, 'call')}{reused}"


def _tokens(tokens: dict[str, int]) -> str:
    cached = f" ({quantity(tokens['cached'])} cached)" if tokens["cached"] else ""
    return f"{quantity(tokens['input'])} tokens in{cached}, {quantity(tokens['output'])} out"


def shown_path(path: Path) -> str:
    """Return a path as short as it can be copied from the terminal: relative when it lies below the current folder."""
    relative = os.path.relpath(path)
    return relative if not relative.startswith("..") else str(path.absolute())
