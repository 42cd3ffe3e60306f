"""What we add to pytest-html's page: a summary of the run, three columns, and the score sheet of each task.

Pure renderings to HTML; whatever a model, a judge or a file name says is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from pytest_gta.benchmark.results import CheckpointResult, DeliverableRecord, RunResult, TaskResult
from pytest_gta.reporters.leaderboard import entries_of, markdown_lines
from pytest_gta.reporters.outcome import Measured, Outcome
from pytest_gta.reporters.score_sheet import FILES_SHOWN, headline
from pytest_gta.reporters.wording import (
    benchmark_name,
    caution,
    count,
    duration,
    interval,
    money,
    points,
    rate,
    shown_to_judge,
)

HEADER_CELLS = (
    '<th class="sortable" data-column-type="rootScore">Root Score</th>',
    '<th class="sortable" data-column-type="leaves">Leaves reached</th>',
    '<th class="sortable" data-column-type="cost">Cost</th>',
)

STYLE = """<style>
.gta { font: 14px/1.45 system-ui, sans-serif; margin: 0 0 1.5em; }
.gta table { border-collapse: collapse; margin: .6em 0; color: inherit; }
.gta td, .gta th { padding: .25em .7em; text-align: left; vertical-align: top; border: 0; }
.gta td, .gta th { border-bottom: 1px solid #ddd; }
.gta td.n, .gta th.n { font-variant-numeric: tabular-nums; white-space: nowrap; }
.gta td.n, .gta th.n, #results-table .gta td.n, #results-table .gta th.n { text-align: right; }
.gta td:first-child { min-width: 6em; }
.gta p, .gta td:last-child { overflow-wrap: anywhere; }
.gta pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.gta .big { font-size: 1.9em; font-weight: 600; }
.gta .pass { color: #1a6b33; } .gta .fail { color: #a61b1b; } .gta .open { color: #8a5a00; }
.gta .why { color: #444; } .gta .note { color: #8a5a00; }
.logwrapper .log:has(.gta) { top: 0; height: auto; overflow: visible; white-space: normal; }
.logwrapper:has(.gta) { max-height: none; height: auto; overflow: visible; }
.logwrapper:has(.gta) .logexpander { display: none; }
</style>"""


def summary_block(result: RunResult, outcome: Outcome) -> str:
    """Return the block above the table: headline, categories, what was measured on what, and the verdict."""
    summary, run = result.summary, result.run
    state = {0: "pass", 1: "fail"}.get(outcome.exit_code, "open")
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td class=n>{row['tasks']}</td><td class=n>{rate(row['root_sr'])}</td>"
        f"<td class=n>{points(row['root_score'])}</td><td class=n>{rate(row['leaf_sr'])}</td></tr>"
        for name, row in summary["by_category"].items()
    )
    missing = summary["tasks"] - summary["graded"]
    bounds = summary["root_sr_bounds"]
    missing_line = (
        f"<p class=note>{count(missing, 'task')} without a score: {summary['unscored']} unscored, "
        f"{summary['errors']} in error, {summary['not_run']} not run"
        + (f"; Root SR between {bounds[0]:.1f} and {bounds[1]:.1f} %" if bounds else "")
        + "</p>"
        if missing
        else ""
    )
    kind, label, model = (run["agent"][key] for key in ("kind", "label", "model"))
    agent = " on ".join(filter(None, (kind if label == model else f"{kind} {label}", model)))
    facts = (
        f"{run['dataset']['name']} (sha256 {run['dataset']['sha256'][:12]}), agent {agent}, judge "
        f"{run['judge']['model']} (prompt {run['judge']['prompt_version']}), tools confined by {run['sandbox']}, "
        f"pytest-gta {run['pytest_gta_version']}; agent {money(summary['cost_usd']['agent'])}, "
        f"judge {money(summary['cost_usd']['judge'])}, {duration(summary['wall_s'])}"
    )
    return (
        f"{STYLE}<div class=gta><h2>{benchmark_name(run['dataset'])}</h2>"
        f"<p><span class=big>Root SR@{run['threshold']:g} {rate(summary['root_sr'])}</span> "
        f"{interval(summary['root_sr_ci'])} &middot; {summary['succeeded']} of "
        f"{count(summary['graded'], 'graded task')}<br>"
        f"Root Score {points(summary['root_score'])} / 10 {interval(summary['root_score_ci'], 2)} &middot; "
        f"Leaf SR {rate(summary['leaf_sr'])} &middot; Tool SR {rate(summary['tool_sr'])}</p>{missing_line}"
        f"{_caution([run])}"
        f"<p class={state}><b>{escape(outcome.line)}</b></p>"
        f"<table><tr><th>Category</th><th class=n>Tasks</th><th class=n>Root SR</th><th class=n>Root Score</th>"
        f"<th class=n>Leaf SR</th></tr>{rows}</table><p class=why>{escape(facts)}</p></div>"
    )


def harness_block(measured: Sequence[Measured], outcome: Outcome) -> str:
    """Return the block above the table for a run of several agents: the table of them, and the verdict."""
    from markdown_it import MarkdownIt

    lines = markdown_lines(entries_of(measured), float(measured[0].result.run["threshold"]), published=False)
    table = MarkdownIt("commonmark", {"html": False}).enable("table").render("\n".join(lines))
    state = {0: "pass", 1: "fail"}.get(outcome.exit_code, "open")
    name = benchmark_name(measured[0].result.run["dataset"])
    cautions = _caution([one.result.run for one in measured])
    return (
        f"{STYLE}<div class=gta><h2>{name}: {count(len(measured), 'agent')}</h2>"
        f"<p class={state}><b>{escape(outcome.line)}</b></p>{cautions}{table}</div>"
    )


def _caution(runs: Sequence[Mapping[str, Any]]) -> str:
    return "".join(f"<p class=note>{text}</p>" for text in dict.fromkeys(map(caution, runs)) if text)


def row_cells(result: TaskResult | None, threshold: float) -> tuple[str, str, str]:
    """Return a row's cells for our columns: dashes for a row that is not a task's.

    Figure spaces keep the columns in numeric order when the page sorts them as text.
    """
    if result is None:
        return (_cell("rootScore", "-"), _cell("leaves", "-"), _cell("cost", "-"))
    leaves = result.leaves()
    reached = sum(leaf.score is not None and leaf.score >= threshold for leaf in leaves)
    agent = result.agent.usage.cost_usd if result.agent else 0.0
    judge = result.judge.usage.cost_usd
    cost = "unknown" if agent is None or judge is None else f"{agent + judge:8.4f}"
    score = "-" if result.root_score is None else f"{points(result.root_score):>5}"
    return (_cell("rootScore", score), _cell("leaves", f"{reached:2d} / {len(leaves)}"), _cell("cost", cost))


def _cell(column: str, text: str) -> str:
    return f'<td class="col-{column}">{text.replace(" ", "&#8199;", len(text) - len(text.lstrip()))}</td>'


def score_sheet_block(result: TaskResult, threshold: float, captured: Sequence[tuple[str, str]]) -> str:
    """Return a task's score sheet: rubric with scores and reasons, deliverables, how the agent ended."""
    rows = "".join(_rows(result.checkpoints, 0, threshold))
    rubric = (
        f"<table><tr><th>Checkpoint</th><th class=n>Weight</th><th class=n>Score</th>"
        f"<th>Requirement and reason</th></tr>{rows}</table>"
        if rows
        else ""
    )
    files = "".join(
        f"<tr><td>{escape(file.path)}</td>{_state_of(file)}<td class=note>{escape(file.note)}</td></tr>"
        for file in result.deliverables[:FILES_SHOWN]
    )
    more = len(result.deliverables) - FILES_SHOWN
    if more > 0:
        files += f"<tr><td colspan=4>and {count(more, 'more file')}</td></tr>"
    delivered = (
        f"<table><tr><th colspan=4>Deliverables</th></tr>{files}</table>" if files else "<p>No files delivered.</p>"
    )
    notes = "".join(f"<p class=note>{escape(note)}</p>" for note in result.notes)
    output = "".join(f"<h4>{escape(title)}</h4><pre>{escape(text)}</pre>" for title, text in captured)
    return (
        f"<div class=gta><p class={_state(result.success)}><b>{escape(headline(result, threshold))}</b></p>"
        f"{rubric}{delivered}{notes}{_agent_line(result)}{output}</div>"
    )


def _state_of(file: DeliverableRecord) -> str:
    if file.evidence == "not_taken":
        return "<td></td><td>not taken</td>"
    return f"<td class=n>{file.bytes:,} B</td><td>evidence {escape(file.evidence)}</td>"


def _rows(nodes: Sequence[CheckpointResult], depth: int, threshold: float) -> list[str]:
    found: list[str] = []
    for node in nodes:
        state = _state(None if node.score is None else node.score >= threshold)
        score = points(node.score) if node.score is not None else escape(node.status)
        reason = f"<br><span class=why>{escape(node.analysis)}</span>" if node.analysis else ""
        note = f"<br><span class=note>{escape(node.evidence_note)}</span>" if node.evidence_note else ""
        shown = shown_to_judge(node.coverage)
        note += f"<br><span class=note>Shown to the judge: {shown}</span>" if shown else ""
        indent = f"{0.7 + 1.4 * depth:.1f}em"
        found.append(
            f'<tr><td style="padding-left:{indent}">{escape(node.id)}</td><td class=n>{node.weight:g}</td>'
            f'<td class="n {state}">{score}</td><td>{escape(node.requirements)}{reason}{note}</td></tr>'
        )
        found.extend(_rows(node.checkpoints, depth + 1, threshold))
    return found


def _agent_line(result: TaskResult) -> str:
    if result.agent is None:
        return ""
    agent: Any = result.agent
    detail = f" ({escape(agent.stop_detail)})" if agent.stop_detail else ""
    answer = f"<details><summary>Final answer</summary><pre>{escape(agent.final_answer)}</pre></details>"
    return (
        f"<p>Agent {escape(agent.label)}: {agent.stop_reason.value}{detail}, {count(agent.turns, 'turn')}, "
        f"{count(agent.tool_calls, 'tool call')} ({count(agent.tool_errors, 'error')}), {duration(agent.wall_s)}, "
        f"{money(agent.usage.cost_usd)}</p>{answer if agent.final_answer else ''}"
    )


def _state(success: bool | None) -> str:
    return "open" if success is None else "pass" if success else "fail"
