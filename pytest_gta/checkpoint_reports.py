"""Verdicts and results on their way through pytest: as one ASCII JSON string on a report.

A judged leaf is a plain `pytest.TestReport` of its own with ``when="checkpoint"`` and ``outcome="passed"``: it crosses
processes as it is, is seen with ``-v``, and changes no count, colour or exit code. The task's result rides on the
report of its call (or of its setup, when it could not be measured).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import pytest

from pytest_gta.benchmark.results import TaskResult, Verdict

WHEN = "checkpoint"

VERDICT = "gta_verdict"
RESULT = "gta_result"
WAIT = "gta_wait"
GOING_ON = "gta_going_on"
KEY = "gta_key"
"""Tells the task and the agent that a report is about: the id of the item."""


def ascii_json(value: TaskResult | Verdict) -> str:
    """Return `value` as JSON in ASCII: the one form that every transport, encoding and worker takes."""
    return json.dumps(value.model_dump(mode="json"), ensure_ascii=True)


def safe_text(text: str) -> str:
    """Return `text` without lone surrogates, which would end the whole session on their way out of a worker."""
    return text.encode("utf-8", "backslashreplace").decode()


def emit_verdict(item: pytest.Item, key: str, verdict: Verdict) -> None:
    """Report one judged leaf at once. Call it from the thread that runs the test."""
    _emit(item, key, VERDICT, ascii_json(verdict))


def emit_wait(item: pytest.Item, key: str, remark: str) -> None:
    """Report that the judge is waited for, and why. Call it from the thread that runs the test."""
    _emit(item, key, WAIT, safe_text(remark))


def emit_going_on(item: pytest.Item, key: str, score: str) -> None:
    """Report that the agent goes on with work that was judged so. Call it from the thread that runs the test."""
    _emit(item, key, GOING_ON, score)


def _emit(item: pytest.Item, key: str, name: str, value: str) -> None:
    report = pytest.TestReport(
        nodeid=item.nodeid, location=item.location, keywords={}, outcome="passed", longrepr=None, when=WHEN,  # type: ignore[arg-type]
        duration=0,
    )  # fmt: skip
    setattr(report, name, value)
    setattr(report, KEY, key)
    try:
        with _capture_suspended(item.config):
            item.ihook.pytest_runtest_logreport(report=report)
    except OSError as gone:
        # The controlling process was killed, or the terminal went away: the task has not failed, it waits to go on.
        pytest.exit(f"reports find nobody any more: {gone}", returncode=pytest.ExitCode.INTERRUPTED)


def attach_result(report: pytest.TestReport, result: TaskResult) -> None:
    """Put a task's result on the report that ends it."""
    setattr(report, RESULT, ascii_json(result))


def verdict_of(report: Any) -> str | None:
    """Return the verdict a report carries, as JSON."""
    return getattr(report, VERDICT, None)


def result_of(report: Any) -> str | None:
    """Return the task result a report carries, as JSON."""
    return getattr(report, RESULT, None)


def wait_of(report: Any) -> str | None:
    """Return why the judge is waited for, when that is what a report says."""
    return getattr(report, WAIT, None)


def going_on_of(report: Any) -> str | None:
    """Return the score of the first attempt, when what a report says is that the agent goes on with its work."""
    return getattr(report, GOING_ON, None)


def key_of(report: Any) -> str | None:
    """Return the key of the task and agent a report belongs to, None for a report of something else."""
    return getattr(report, KEY, None)


@contextmanager
def _capture_suspended(config: pytest.Config) -> Iterator[None]:
    """Let a live line reach the terminal while the test's own output stays captured."""
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    suspended: Callable[[], AbstractContextManager[None]] = getattr(capture, "global_and_fixture_disabled", nullcontext)
    with suspended():
        yield
