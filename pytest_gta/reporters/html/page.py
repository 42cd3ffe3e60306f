"""Writes the report: one HTML page that holds all it shows, and asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.benchmark.capability import CAPABILITIES
from pytest_gta.benchmark.diagnosis import read_diagnosis
from pytest_gta.benchmark.results import RunResult, TaskResult
from pytest_gta.benchmark.run_directory import RunDirectory, write_atomic
from pytest_gta.reporters.attention import least_steady, measured
from pytest_gta.reporters.feedback import FIRST_COUNTS, basis, cost_on_top, gain_rows, without_gain
from pytest_gta.reporters.html import charts, overview
from pytest_gta.reporters.html.failures import Failures
from pytest_gta.reporters.html.opinions import disagreement
from pytest_gta.reporters.html.previews import Previews, read_previews
from pytest_gta.reporters.html.task_page import Place, task_view
from pytest_gta.reporters.visible_text import visible
from pytest_gta.reporters.wording import (
    agent_name,
    benchmark_name,
    caution,
    count,
    duration,
    interval,
    money,
    points,
    rate,
)

if TYPE_CHECKING:
    from jinja2 import Environment, Template

PAGE_BYTES = 4_600_000
"""What a page may take, about; what does not fit is cut, and says so."""
TASK_BYTES = 400_000
PREVIEW_SHARE = 0.45
LEAST_STEADY = 5
PREVIEW_SECONDS = 4.0


def write_report(
    result: RunResult,
    run: RunDirectory,
    target: Path,
    *,
    requests: Mapping[str, str] | None = None,
    preview_seconds: float = PREVIEW_SECONDS,
) -> Path:
    """Write the report of a run and return where it is.

    Deliverables are opened in confined processes only; pictures and texts of them are shown, nothing is run.

    Args:
        result: The run.
        run: Its directory, for transcripts and deliverables; what is not there is not shown.
        target: The file to write. Players and links work when the run directory lies below its folder.
        requests: What the user asked for, by run key; read from the transcripts where it is not given.
        preview_seconds: Time for looking into deliverables; 0 for no previews.

    Raises:
        OSError: When the file cannot be written.
    """
    templates = _environment()
    threshold = float(result.run["threshold"])
    places = overview.anchors(result.tasks)
    previews = read_previews(
        run, result.tasks, room=int(PAGE_BYTES * PREVIEW_SHARE), seconds=preview_seconds
    )  # fmt: skip
    failures = Failures(read_diagnosis(run.root))
    table = overview.rows(result, threshold, places, failures)
    shell = templates.get_template("page.html").render(
        **_assets(templates), **_overview(result, threshold, places, table, failures), rows=table
    )
    before, after = shell.split(_TASKS_HERE)
    template = templates.get_template("task.html")
    place = Place(run, target.absolute().parent, failures)
    by_name = {row.name: row for row in table}
    left = PAGE_BYTES - len(shell.encode())
    pieces = [before]
    for number, task in enumerate(result.tasks):
        room = min(TASK_BYTES, max(0, left) // (len(result.tasks) - number))
        request = (requests or {}).get(task.run_key, "")
        pieces.append(_task(template, task, by_name[task.run_key], threshold, place, previews, room, request))
        left -= len(pieces[-1].encode())
    write_atomic(target, "".join([*pieces, after]))
    return target


_TASKS_HERE = "<!--tasks-->"
_SQUEEZES = (1.0, 0.7, 0.4, 0.15)


def _task(
    template: Template,
    task: TaskResult,
    row: overview.Row,
    threshold: float,
    place: Place,
    previews: Previews,
    room: int,
    request: str,
) -> str:
    """Return one task's part of the page; made smaller until it fits, or cannot be any smaller."""
    text = ""
    for squeeze in _SQUEEZES:
        view = task_view(task, threshold, place, previews, int(room * squeeze), request)
        text = template.render(task=task, row=row, view=view, threshold=threshold)
        if len(text.encode()) <= room:
            break
    return text


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("pytest_gta.reporters.html"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    templates.filters |= {
        "points": points,
        "short": _short,
        "rate": rate,
        "money": money,
        "signed": _signed,
        "duration": duration,
        "bytes": _bytes,
    }
    return templates


def _assets(templates: Environment) -> dict[str, Any]:
    from markupsafe import Markup

    def source(name: str) -> str:
        loader = templates.loader
        return loader.get_source(templates, name)[0].strip() if loader else ""

    script = source("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # Styles are inline in previewed pages too, so they are allowed; they cannot load anything.
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "media-src 'self' file:; form-action 'none'; base-uri 'none'; frame-src 'none'"
    )
    return {"policy": policy, "styles": Markup(source("page.css")), "script": Markup(script)}  # noqa: S704 - our own files


def _overview(
    result: RunResult, threshold: float, places: Mapping[str, str], table: list[overview.Row], failures: Failures
) -> dict[str, Any]:
    summary, agent = result.summary, result.run["agent"]
    drawn = (
        charts.root_sr_chart(summary["root_sr_at"], threshold),
        charts.leaf_chart(result.tasks, threshold),
        charts.spending_chart(result.tasks, places),
    )
    tables = [("Categories", "Category", "category", overview.groups(summary["by_category"], named=True))]
    tables += [
        (title, head, key, overview.groups(summary[name]))
        for title, head, key, name in (
            ("File kinds asked for or given", "Kind", "kind", "by_deliverable"),
            ("Capabilities asked for", "Capability", "capability", "by_capability"),
        )
        if summary.get(name)
    ]
    return {
        "title": agent_name(agent) or "agent",
        "benchmark": benchmark_name(result.run["dataset"]),
        "subtitle": overview.subtitle(result),
        "summary": summary,
        "threshold": threshold,
        "gate": result.gate,
        "root_sr_interval": interval(summary["root_sr_ci"]),
        "graded": measured(summary),
        "missing": overview.missing_line(summary),
        "caution": caution(result.run),
        "tiles": overview.tiles(result),
        "charts": [chart for chart in drawn if chart is not None],
        "groups": tables,
        "needy": overview.needy(result.tasks, table),
        "facts": overview.facts(result),
        "failures": failures.shares(),
        "stages": sorted({stage for row in table for stage in row.stages}),
        "apart": disagreement(result.tasks, threshold, places),
        **_change(result, places),
        **_repeats(result, places),
        "gain": _gain(result, places),
        "states": [(key, name) for key, name in overview.STATES.items() if any(row.state == key for row in table)],
        "categories": sorted({(row.category_name, row.category) for row in table}),
        "capabilities": [name for name in CAPABILITIES if any(name in row.capabilities for row in table)],
        "kinds": sorted({kind for row in table for kind in row.kinds}),
        "tasks_here": _tasks_here(),
    }


def _change(result: RunResult, places: Mapping[str, str]) -> dict[str, Any]:
    baseline = result.gate.baseline
    if baseline is None:
        return {"changes": [], "flips": [], "common": ""}
    flips = [(word, overview.flipped(result.tasks, baseline[word], places)) for word in ("lost", "won")]
    return {
        "changes": overview.changes(baseline),
        "flips": [(word, tasks) for word, tasks in flips if tasks],
        "common": count(baseline["tasks"], "common task"),
    }


def _repeats(result: RunResult, places: Mapping[str, str]) -> dict[str, Any]:
    repeats = result.summary.get("repeats")
    if not repeats:
        return {"at_k": [], "unsteady": []}
    rows = least_steady(repeats, LEAST_STEADY)
    linked = overview.flipped(result.tasks, [row["task"] for row in rows], places)
    return {
        "at_k": [(k, at["pass_at"], at["pass_all"]) for k, at in list(repeats["at_k"].items())[:5]],
        "unsteady": [(row, anchor) for row, (_, anchor) in zip(rows, linked, strict=True)],
    }


def _gain(result: RunResult, places: Mapping[str, str]) -> dict[str, Any] | None:
    feedback = result.summary.get("feedback")
    if not feedback:
        return None
    flips = [(word, overview.flipped(result.tasks, feedback[word], places)) for word in ("won", "lost")]
    return {
        "mode": feedback["mode"],
        "basis": basis(feedback),
        "rows": gain_rows(feedback),
        "missing": without_gain(feedback),
        "first_counts": FIRST_COUNTS,
        "cost": cost_on_top(feedback),
        "flips": [(word, tasks) for word, tasks in flips if tasks],
    }


def _tasks_here() -> Any:
    from markupsafe import Markup

    return Markup(_TASKS_HERE)  # noqa: S704 - a constant


def _short(score: float | None) -> str:
    """Return a score without zeros at its end: ``10``, ``6.5``; a dash for None."""
    return points(score) if score is None else points(score).rstrip("0").rstrip(".")


def _signed(change: float) -> str:
    """Return a change of points with its sign: ``+1.25``, ``\u22120.50``."""
    return f"{change:+.2f}".replace("-", "\u2212")


def _bytes(number: int) -> str:
    """Return a size as people write it: ``812 B``, ``3.4 kB``, ``12 MB``."""
    if number < 1000:
        return f"{number} B"
    size, unit = (number / 1000, "kB") if number < 999_500 else (number / 1_000_000, "MB")
    return f"{size:.1f} {unit}" if size < 10 else f"{size:,.0f} {unit}"
