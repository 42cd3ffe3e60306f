"""A run as Markdown, for a job's summary or a comment on a pull request.

Whatever a model, a judge or a file name says is shown as text: no markup, no links, nobody mentioned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_gta.benchmark.comparison import NothingInCommon, compare, unlike
from pytest_gta.benchmark.results import RunResult, TaskResult
from pytest_gta.benchmark.run_directory import write_atomic
from pytest_gta.benchmark.usage import total
from pytest_gta.reporters.attention import (
    by_need,
    heaviest_loss,
    least_steady,
    look_at_first,
    measured,
    spent,
    without_score,
)
from pytest_gta.reporters.feedback import FIRST_COUNTS, basis, gain_rows, without_gain
from pytest_gta.reporters.visible_text import visible
from pytest_gta.reporters.wording import (
    agent_name,
    benchmark_name,
    caution,
    count,
    duration,
    inferred,
    interval,
    money,
    points,
    rate,
)

MOST_CHARACTERS = 60_000
"""A summary of a job may have 1 MiB, a comment 65,536 characters."""
LOOK_AT_FIRST, CHANGED = 10, 10
CELL_CHARACTERS = 160

_MARKUP = re.compile(r"[\\`*{}\[\]()<>#+!|~&:@$^=]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|(?i:(?<=www)\.)")
_NO_BREAK = "\u200b"
_VERDICTS = {"pass": "Passed", "fail": "Failed", "inconclusive": "Inconclusive"}


def plain(text: str, most: int = CELL_CHARACTERS) -> str:
    """Return text on one line that Markdown shows as it is, at most `most` characters of it.

    Signs with a meaning become entities, which cannot act as markup. The parts of a mention or a reference are set
    apart by a space of no width, because those are found after entities are resolved.
    """
    line = " ".join(visible(text).split())
    line = line if len(line) <= most else line[: most - 1] + "\u2026"
    return _MARKUP.sub(lambda sign: f"&#{ord(sign[0])};" + (_NO_BREAK if sign[0] in "@#" else ""), line)


def markdown_summary(result: RunResult, baseline: RunResult | None = None) -> str:
    """Return the summary of a run: headline, change, categories, the tasks to look at first, all tasks.

    Args:
        result: The run.
        baseline: An earlier run to compare it with; without one, the comparison the gate made is shown, if any.
    """
    parts = [
        *_headline(result, baseline),
        *_change(result, baseline),
        *_repeats(result.summary),
        *_feedback(result.summary),
        *_groups("Category", result.summary["by_category"]),
        *_groups("Capability", result.summary.get("by_capability") or {}),
        *_first(result.tasks),
        *_measured(result),
    ]
    text = "\n".join(parts) + "\n"
    rows = _all_tasks(result, MOST_CHARACTERS - len(text))
    return text + "".join(rows)


def write_markdown(
    result: RunResult, target: Path, baseline: RunResult | None = None, *, job_summary: str | None = None
) -> Path:
    """Write the summary of a run and return where it is.

    Args:
        result: The run.
        target: The file to write.
        baseline: As for `markdown_summary`.
        job_summary: A file that the summary is added to, such as the one ``GITHUB_STEP_SUMMARY`` names.

    Raises:
        OSError: When a file cannot be written.
    """
    text = markdown_summary(result, baseline)
    write_atomic(target, text)
    if job_summary:
        with Path(job_summary).open("a", encoding="utf-8") as summary:
            summary.write(f"{text}\n")
    return target


def _headline(result: RunResult, baseline: RunResult | None) -> Iterator[str]:
    summary, threshold = result.summary, result.run["threshold"]
    agent = plain(agent_name(result.run["agent"]))
    yield f"## {benchmark_name(result.run['dataset'])}: Root SR {rate(summary['root_sr'])}, {agent}\n"
    if result.gate.verdict in _VERDICTS:
        reasons = "; ".join(plain(reason, 400) for reason in result.gate.reasons)
        yield f"**{_VERDICTS[result.gate.verdict]}**{': ' * bool(reasons)}{reasons}\n"
    missing = without_score(summary)
    if missing:
        bounds = summary["root_sr_bounds"]
        between = f"; Root SR lies between {bounds[0]:.1f} and {bounds[1]:.1f} %" if bounds else ""
        yield f"**Not all is measured**: {missing}{between}.\n"
    if caution(result.run):
        yield f"{caution(result.run)}\n"
    before = baseline.summary if baseline else None
    yield "| | This run |" + (" Baseline | Change |" if before else "")
    yield "|---|---|" + ("---|---|" if before else "")
    tasks = f"{summary['succeeded']} of {measured(summary)}"
    yield _row(
        f"Root SR@{threshold:g}", f"**{rate(summary['root_sr'])}** {interval(summary['root_sr_ci'])}, {tasks}",
        (rate(before["root_sr"]), _difference(summary["root_sr"], before["root_sr"], 1)) if before else None,
    )  # fmt: skip
    yield _row(
        "Root Score", f"**{points(summary['root_score'])}** / 10 {interval(summary['root_score_ci'], 2)}",
        (points(before["root_score"]), _difference(summary["root_score"], before["root_score"], 2)) if before else None,
    )  # fmt: skip
    for name, key in (("Leaf SR", "leaf_sr"), ("Tool SR", "tool_sr")):
        compared = (rate(before[key]), _difference(summary[key], before[key], 1)) if before else None
        yield _row(name, rate(summary[key]), compared)
    for name, of in (("Cost", _cost), ("Time", lambda one: duration(one.get("wall_s")))):
        yield _row(name, of(summary), (of(before), "") if before else None)
    yield ""


def _row(name: str, value: str, compared: tuple[str, str] | None) -> str:
    cells = [name, value, *(compared or ())]
    return f"| {' | '.join(cells)} |"


def _cost(summary: dict[str, Any]) -> str:
    cost = summary["cost_usd"]
    whole = total((cost["agent"], cost["judge"]))
    if whole is not None:
        return f"{money(whole)} (judge {money(cost['judge'])})"
    return ", ".join(f"{who} {'unknown' if amount is None else money(amount)}" for who, amount in cost.items())


def _difference(now: float | None, before: float | None, digits: int) -> str:
    if now is None or before is None:
        return "-"
    return f"{now - before:+.{digits}f}".replace("-", "\u2212")


def _change(result: RunResult, baseline: RunResult | None) -> Iterator[str]:
    """Yield what became better and worse over the tasks that both runs measured."""
    change = _comparison(result, baseline)
    if change is None and baseline is None:
        return
    yield "### Change against the baseline\n"
    if baseline and (different := unlike(baseline.run, result.run)):
        yield f"**The runs are not like for like**: {plain('; '.join(different), 400)}.\n"
    if change is None:
        yield "No task was measured in both.\n"
        return
    yield "| | Baseline | This run | Change | 95 % |"
    yield "|---|--:|--:|--:|--:|"
    for name, key, digits in (("Root SR, %", "root_sr", 1), ("Root Score", "root_score", 2)):
        one = change[key]
        values = (f"{one[when]:.{digits}f}" for when in ("before", "after"))
        yield (
            f"| {name} | {' | '.join(values)} | {_difference(one['after'], one['before'], digits)} | "
            f"{interval(one['interval'], digits)} |"
        )
    lost, won = list(change["lost"]), list(change["won"])
    yield f"\nOver {count(change['tasks'], 'task')} measured in both.\n"
    for what, names in (("lost", lost), ("won", won)):
        if names:
            more = f" and {len(names) - CHANGED} more" if len(names) > CHANGED else ""
            yield f"- {len(names)} {what}: {', '.join(plain(name) for name in names[:CHANGED])}{more}"
    yield ""
    moved = sorted(
        (one for one in change.get("by_task", ()) if one["after"] != one["before"]),
        key=lambda one: -abs(one["after"] - one["before"]),
    )
    if moved:
        yield f"| {'Task' if len(moved) <= CHANGED else 'Task (largest changes)'} | Baseline | This run | Change |"
        yield "|---|--:|--:|--:|"
        for one in moved[:CHANGED]:
            cells = (points(one["before"]), points(one["after"]), _difference(one["after"], one["before"], 2))
            yield f"| {plain(one['task'])} | {' | '.join(cells)} |"
        yield ""


def _comparison(result: RunResult, baseline: RunResult | None) -> Mapping[str, Any] | None:
    if baseline is None:
        return result.gate.baseline
    try:
        return compare(baseline.tasks, result.tasks, result.run["threshold"]).as_json()
    except NothingInCommon:
        return None


def _repeats(summary: dict[str, Any]) -> Iterator[str]:
    repeats = summary.get("repeats")
    if not repeats:
        return
    ks = list(repeats["at_k"].items())[:5]
    yield f"| k |{''.join(f' {k} |' for k, _ in ks)}"
    yield f"|---|{'--:|' * len(ks)}"
    for name, key in (("pass@k, one of k succeeds", "pass_at"), ("pass^k, all k succeed", "pass_all")):
        yield f"| {plain(name)} |{''.join(f' {rate(at[key])} |' for _, at in ks)}"
    rows = least_steady(repeats, CHANGED)
    if rows:
        named = (f"{plain(row['task'])} ({points(row['lowest'])} to {points(row['highest'])})" for row in rows)
        yield f"\nLeast steady: {', '.join(named)}"
    yield ""


def _feedback(summary: dict[str, Any]) -> Iterator[str]:
    feedback = summary.get("feedback")
    if not feedback:
        return
    yield "### After feedback\n"
    rows = gain_rows(feedback)
    if rows:
        yield f"| {plain(feedback['mode'])} feedback | First attempt | Second | Gain | 95 % |"
        yield "|---|--:|--:|--:|--:|"
        for row in rows:
            gain = row.gain.replace("-", "\u2212")
            yield f"| {row.name} | {row.first} | {row.second} | {gain} | {row.interval} |"
    missing = "".join(f" {clause}." for clause in without_gain(feedback))
    yield f"\nOver {basis(feedback)}; {FIRST_COUNTS}.{missing}\n"


def _groups(head: str, table: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    if not table:
        return
    yield f"| {head} | Tasks | Root SR | Root Score | Leaf SR |"
    yield "|---|--:|--:|--:|--:|"
    for name, row in table.items():
        note = inferred(row)
        cells = (
            plain(name) + (f" ({note})" if note else ""), row["tasks"], rate(row["root_sr"]), points(row["root_score"]),
            rate(row["leaf_sr"]),
        )  # fmt: skip
        yield f"| {' | '.join(map(str, cells))} |"
    yield ""


def _first(tasks: Sequence[TaskResult]) -> Iterator[str]:
    found = look_at_first(tasks, LOOK_AT_FIRST)
    if not found:
        return
    yield "### Look at first\n"
    yield "| Task | Score | What lost most |"
    yield "|---|--:|---|"
    for task in found:
        yield f"| {plain(task.run_key)} | {points(task.root_score)} | {_why(task)} |"
    yield ""


def _why(task: TaskResult) -> str:
    if task.root_score is None:
        return plain(task.error or task.status.value)
    node = heaviest_loss(task)
    if node is None:
        return ""
    reason = node.checkpoint.analysis or node.checkpoint.requirements
    return f"{plain(node.checkpoint.id, 40)}, \u2212{node.lost:.2f} points: {plain(reason)}"


def _measured(result: RunResult) -> Iterable[str]:
    run = result.run
    dataset, judge = run["dataset"], run["judge"]
    yield (
        f"<sub>{plain(str(dataset['name']))} (sha256 {plain(str(dataset.get('sha256'))[:12])}), judged by "
        f"{plain(str(judge['model']))} (prompt {plain(str(judge.get('prompt_version')))}), "
        f"pytest-gta {plain(str(run.get('pytest_gta_version')))}. Intervals are 95 %.</sub>\n"
    )


def _all_tasks(result: RunResult, room: int) -> list[str]:
    """Return the table of all tasks, folded, as far as there is room."""
    threshold = result.run["threshold"]
    opening = (
        f"<details><summary>All {count(len(result.tasks), 'task')}</summary>\n\n"
        "| Task | Status | Score | Leaves reached | Cost |\n|---|---|--:|--:|--:|\n"
    )
    closing = "\n</details>\n"
    left = room - len(opening) - len(closing) - 40
    lines: list[str] = []
    for task in by_need(result.tasks):
        leaves = task.leaves()
        reached = sum(leaf.score is not None and leaf.score >= threshold for leaf in leaves)
        cost = spent(task)
        state = task.status.value if task.success is None else "success" if task.success else "below"
        line = (
            f"| {plain(task.run_key)} | {state.replace('_', ' ')} | {points(task.root_score)} | "
            f"{reached} / {len(leaves)} | {'-' if cost is None else money(cost)} |\n"
        )
        left -= len(line)
        if left < 0:
            break
        lines.append(line)
    if not lines:
        return []
    more = len(result.tasks) - len(lines)
    return [opening, *lines, f"\nand {more} more\n" if more else "", closing]
