"""What pytest shows of a task: its reports completed with the result, its letter and word."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from pytest_gta.benchmark.rebuilding import unfinished
from pytest_gta.benchmark.results import TaskStatus
from pytest_gta.benchmark.run_directory import NotWritten
from pytest_gta.benchmark.task import TaskFault
from pytest_gta.checkpoint_reports import (
    KEY,
    WHEN,
    attach_result,
    going_on_of,
    result_of,
    safe_text,
    verdict_of,
    wait_of,
)
from pytest_gta.keys import CONTENDER, LINEUP, RESULT, TASK
from pytest_gta.reporters.feedback import GOES_ON
from pytest_gta.reporters.junit import task_properties
from pytest_gta.reporters.score_sheet import score_sheet
from pytest_gta.reporters.wording import points
from pytest_gta.run.bench import Bench
from pytest_gta.run.judged_task import BelowThreshold
from pytest_gta.run.road import NotMeasured

PLAIN_FAULTS = (BelowThreshold, NotMeasured, NotWritten, TaskFault)
"""Exceptions that say all there is to say: shown as their text, without a traceback."""


def complete(report: pytest.TestReport, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Complete one report of a task's item before it leaves the process."""
    contender = item.stash[CONTENDER]
    bench = contender.bench
    setattr(report, KEY, contender.key(item.stash[TASK].slug))
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, PLAIN_FAULTS):
        report.longrepr = _in_words(error, bench)
    if report.when == "setup" and report.failed:
        _attach_failure(report, item, bench, error)
    elif RESULT in item.stash and (report.when == "call" or report.skipped):
        attach_result(report, item.stash[RESULT])
        if report.passed:
            report.sections.append(("checkpoints", score_sheet(item.stash[RESULT], bench.settings.threshold)))
    _make_safe(report)


def _attach_failure(report: pytest.TestReport, item: pytest.Item, bench: Bench, error: BaseException | None) -> None:
    """A task that failed in a fixture has no score: an error."""
    result = item.stash.get(RESULT, None)
    if result is None:
        task = item.stash[TASK]
        directory = bench.run.task(task.slug)
        result = unfinished(task, item.nodeid, TaskStatus.ERROR, _in_words(error, bench), directory)
        if isinstance(error, NotMeasured) and result.agent is None:
            result = result.model_copy(update={"agent": error.agent})
        with suppress(NotWritten):  # the report carries it all the same, and a resumed run begins the task anew
            directory.write_result(result)
        report.user_properties.extend(task_properties(result))
    attach_result(report, result)


def _in_words(error: BaseException | None, bench: Bench) -> str:
    """Return what went wrong and, where there is one, the next step."""
    if isinstance(error, NotWritten):
        return f"{error}; put that right, then go on with --gta-resume={bench.run.whole}"
    return safe_text(str(error) if isinstance(error, PLAIN_FAULTS) else f"{type(error).__name__}: {error}")


def _make_safe(report: pytest.TestReport) -> None:
    """Leave nothing on the report that a worker could not send."""
    if isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        report.longrepr = (path, line, safe_text(reason))
    elif report.longrepr is not None:
        shown = str(report.longrepr)
        if (safe := safe_text(shown)) != shown:
            report.longrepr = safe  # its colours are lost, the run is not
    report.sections = [(safe_text(title), safe_text(text)) for title, text in report.sections]
    report.user_properties = [
        (name, safe_text(value) if isinstance(value, str) else value) for name, value in report.user_properties
    ]


def status(report: pytest.TestReport, config: pytest.Config) -> Any:
    """Return category, letter and word of a task's report; None leaves them to pytest.

    Without ``-v`` a task has a line of its own (`pytest_gta.controller`), so its letter is left out.
    """
    verbose = config.get_verbosity() > 0
    if report.when == WHEN:
        return _leaf_status(report, config) if verbose else ("", "", "")
    unmet = report.when == "call" and report.passed and _is_unmet(report)
    if unmet:
        return "unmet", "u" if config.get_verbosity() < 0 else "", ("UNMET", {"yellow": True})
    if config.get_verbosity() == 0 and not report.skipped and str(report.outcome) != "rerun":
        if report.when == "call":
            return report.outcome, "", report.outcome.upper()
        if report.failed:
            return "error", "", "ERROR"
    return None


def _is_unmet(report: pytest.TestReport) -> bool:
    result = result_of(report)
    return result is not None and json.loads(result)["success"] is False


def _leaf_status(report: pytest.TestReport, config: pytest.Config) -> Any:
    remark = wait_of(report)
    if remark is not None:
        return "", "", (f"judge: {remark}", {"yellow": True})
    if (first := going_on_of(report)) is not None:
        return "", "", (f"{first} {GOES_ON}", {"yellow": True})
    verdict = json.loads(verdict_of(report) or "{}")
    score = verdict.get("score")
    if score is None:
        return "", "", (f"{verdict.get('status', '?')} [{verdict.get('leaf_id')}]", {"yellow": True})
    colour = "green" if score >= config.stash[LINEUP].settings.threshold else "red"
    return "", "", (f"{points(score, 1):>4}/10 [{verdict['leaf_id']}]", {colour: True})
