"""The controlling process of a run: feeds the scoreboard from reports, shows progress, writes the reports at the end.

Registered only when a run is active, and never in an xdist worker.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.benchmark.metrics import summarize
from pytest_gta.benchmark.rebuilding import agent_that_ran, left_out, with_earlier
from pytest_gta.benchmark.results import RunResult, TaskStatus
from pytest_gta.benchmark.run_directory import NotWritten
from pytest_gta.checkpoint_reports import (
    KEY,
    WHEN,
    attach_result,
    going_on_of,
    key_of,
    result_of,
    verdict_of,
    wait_of,
)
from pytest_gta.collection import key_of_node
from pytest_gta.keys import CONTENDER, TASK
from pytest_gta.live_lines import LiveLines
from pytest_gta.reporters.junit import run_properties
from pytest_gta.reporters.outcome import Measured, Outcome, ended_early, judge_run, over_agents
from pytest_gta.reporters.scoreboard import Scoreboard
from pytest_gta.reporters.terminal import header_lines, write_summary
from pytest_gta.run.estimate import Estimate, estimate_lines, estimate_of
from pytest_gta.run.finished_run import compared
from pytest_gta.run.lineup import Contender, Lineup
from pytest_gta.run.run_report import OF_THE_RUN, limits_of
from pytest_gta.run.spending_limit import remarks, why_stopped
from pytest_gta.run.task_times import task_times
from pytest_gta.run.written_reports import write_reports
from pytest_gta.settings import SettingsError
from pytest_gta.workspace.memory_killer import MemoryWatch

CRASH_RESCHEDULED = ("loadscope", "loadfile", "loadgroup")
"""Distribution modes of pytest-xdist that hand a crashed task to the next worker again and again (xdist 3.8)."""


class Controller:
    """pytest hooks of the controlling process.

    Args:
        config: pytest's configuration.
        lineup: The agents of the run.

    Attributes:
        scoreboards: What has arrived of each agent's part, by label.
        measured: Each agent's part, once the run has ended.
        outcome: What the run means, once it has ended.
    """

    def __init__(self, config: pytest.Config, lineup: Lineup) -> None:
        self._config, self._lineup, settings = config, lineup, lineup.settings
        self._keys = lineup.tasks_by_key
        self.scoreboards = {
            one.label: Scoreboard(
                one.bench.tasks,
                one.bench.run,
                threshold=settings.threshold,
                feedback=settings.feedback,
                keeps=one.bench.keeps_scores,
            )
            for one in lineup.contenders
        }
        self._live = LiveLines(config, list(self.scoreboards.values()), self._keys)
        self._limits = limits_of(settings)
        self._started = time.monotonic()
        self._crashed: str | None = None
        self._memory = MemoryWatch()
        self._other_failures = 0
        self._written: list[Path] = []
        self._remarks: list[str] = []
        self._estimates: dict[str, Estimate] = {}
        self.outcome: Outcome | None = None
        self.measured: tuple[Measured, ...] = ()
        if config.pluginmanager.hasplugin("html"):
            from pytest_gta.html_rows import HtmlRows

            config.pluginmanager.register(HtmlRows(self, settings.threshold), "gta-html-rows")

    # -- before -------------------------------------------------------------------------------------------------------

    def pytest_report_header(self) -> list[str]:
        """Say what is about to run, on what, judged by whom, confined how."""
        benches = [one.bench for one in self._lineup.contenders]
        counted = all(bench.agent_spec.runs_the_model or bench.agent_under_test.is_recorded for bench in benches)
        further = remarks(self._lineup.settings, counted=counted)
        return [*header_lines(self._lineup), *(f"gta: {remark}" for remark in further)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Make the run directory, and serve the bundled model for all workers."""
        option = self._config.option
        if getattr(option, "dist", "no") in CRASH_RESCHEDULED:
            raise pytest.UsageError(
                f"pytest-gta: --dist={option.dist} runs a task that crashes its worker again and again; "
                "use -n N with the default --dist=load, or --dist=worksteal"
            )
        if self._lineup.settings.estimate:
            return
        if getattr(option, "dist", "no") == "load" and option.maxschedchunk is None:
            option.maxschedchunk = 1  # tasks take minutes: none should wait for another while a worker is free
        if (reporter := self._config.pluginmanager.getplugin("terminalreporter")) is not None:
            self._lineup.workshop.on_progress = lambda line: reporter.write_line(f"gta: {line}")
        try:
            self._lineup.begin()
            self._lineup.workshop.start_local_model()
        except SettingsError as error:
            raise pytest.UsageError(f"pytest-gta: {error}") from None
        except OSError as fault:
            raise pytest.UsageError(
                f"pytest-gta: the run directory {self._lineup.run.root} cannot be written ({fault.strerror}); "
                "keep the run elsewhere with --gta-run-dir=DIR"
            ) from None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker which run it joins."""
        node.workerinput["gta_run_dir"] = str(self._lineup.run.root)
        node.workerinput["gta_local_url"] = self._lineup.workshop.start_local_model()
        node.workerinput["gta_task_times"] = self._task_times
        node.workerinput["gta_found_datasets"] = dict(self._lineup.workshop.found_datasets)
        node.workerinput["gta_confinement"] = asdict(self._lineup.workshop.confinement)

    @cached_property
    def _task_times(self) -> dict[str, float]:
        return task_times(self._lineup)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Learn which tasks are to run (without xdist)."""
        self._expect([item.stash[CONTENDER].key(item.stash[TASK].slug) for item in session.items if TASK in item.stash])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Learn which tasks are to run (with xdist, from each worker)."""
        self._expect([key for nodeid in ids if (key := key_of_node(nodeid, self._keys))])

    def _expect(self, keys: list[str]) -> None:
        for contender in self._lineup.contenders:
            run_keys = [run_key for key in keys for one, run_key in (self._keys[key],) if one is contender]
            board = self.scoreboards[contender.label]
            if (
                (run_keys or self._lineup.is_several)
                and not board.tasks_expected
                and not self._lineup.settings.estimate
            ):
                with contextlib.suppress(NotWritten):  # the manifest that is there names all tasks
                    contender.bench.select(run_keys)
            board.expect(run_keys)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """With ``--gta-estimate``, look at the selected tasks instead of running them."""
        if not self._lineup.settings.estimate:
            return None
        try:
            for contender in self._lineup.contenders:
                mine = [item for item in session.items if item.stash.get(CONTENDER, None) is contender]
                selected = {item.stash[TASK].slug: item.stash[TASK] for item in mine}
                if selected or not self._lineup.is_several:
                    self._estimates[contender.label] = estimate_of(contender.bench, selected.values())
        except SettingsError as error:
            raise pytest.UsageError(f"pytest-gta: {error}") from None
        return True

    # -- while it runs ------------------------------------------------------------------------------------------------

    def _board(self, key: str) -> tuple[Scoreboard, str]:
        """Return where a task's reports go: the scoreboard of its agent, and its run key there."""
        contender, run_key = self._keys[key]
        return self.scoreboards[contender.label], run_key

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Begin a task."""
        key = key_of_node(nodeid, self._keys)
        if key is None:
            return
        board, run_key = self._board(key)
        if not board.has_result(run_key):
            board.restart(run_key, nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a report carries, and show how far the run is."""
        key = key_of(report)
        if key is None or key not in self._keys:
            self._other_failures += report.failed
        elif (remark := wait_of(report)) is not None:
            self._live.judge_waits(remark)
        elif (first := going_on_of(report)) is not None:
            self._live.goes_on(key, first)
        else:
            board, run_key = self._board(key)
            if report.when == WHEN:
                board.add_verdict(run_key, verdict_of(report) or "")
                self._live.leaf_judged()
            elif str(report.outcome) == "rerun":
                board.restart(run_key, report.nodeid)
            else:
                self._task_report(key, report)
        if key is not None and key == self._crashed:
            self._crashed = None
            self._close_crashed(report)

    def _task_report(self, key: str, report: pytest.TestReport) -> None:
        carried = result_of(report)
        board, run_key = self._board(key)
        if carried is not None:
            result = board.add_result(run_key, carried)
            self._live.task_ended(key, result)
            unmeasured = report.when == "setup" and result.status is not TaskStatus.GRADED
            own = unmeasured or (result.success is False and not self._lineup.settings.gated)
            self._other_failures += report.failed and not own
        elif report.when == "call" or report.skipped:
            board.forget(run_key)
            self._other_failures += report.failed
        elif report.when == "teardown":
            self._other_failures += report.failed

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Make the task of a dead worker an error, unless its result had already arrived."""
        key = key_of_node(crashitem, self._keys)
        if key is None:
            return
        setattr(report, KEY, key)
        board, run_key = self._board(key)
        if board.has_result(run_key):
            report.when = "teardown"
            return
        report.when = "setup"
        self._crashed = key
        # The watch goes on: one shortage may end several workers.
        why = "; the machine ran out of memory in this run: run fewer at once (-n)" if self._memory.has_killed() else ""
        go_on = f"go on with --gta-resume={self._lineup.run.root}"
        result = board.add_crash(run_key, f"{report.longrepr}{why}; {go_on}")
        attach_result(report, result)

    def _close_crashed(self, report: pytest.TestReport) -> None:
        """Send the teardown report that a dead worker owes: without it pytest-html leaves the task out."""
        closing = pytest.TestReport(
            nodeid=report.nodeid, location=report.location, keywords={}, outcome="passed", longrepr=None,
            when="teardown", duration=0,
        )  # fmt: skip
        self._config.hook.pytest_runtest_logreport(report=closing)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count files that could not be collected."""
        self._other_failures += report.failed

    # -- after --------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the results and decide what the run means."""
        boards = self.scoreboards
        if self._lineup.settings.estimate or not (any(b.tasks_expected for b in boards.values()) or self._limits.gated):
            return
        wall_s = time.monotonic() - self._started
        for contender in self._lineup.contenders:
            measured = self._measured(contender, wall_s)
            if measured.result.tasks or not self._lineup.is_several:
                self.measured += (measured,)
        if self._lineup.is_several:
            outcomes = {one.label: one.outcome for one in self.measured}
            self.outcome = over_agents(outcomes, self._other_failures, gated=self._limits.gated)
        else:
            self.outcome = self.measured[0].outcome
        self._write(wall_s)
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = self.outcome.exit_code
        else:
            summaries = [one.result.summary for one in self.measured]
            self.outcome = ended_early(self.outcome, int(exitstatus), summaries, str(self._lineup.run.root))
        for one in self.measured:
            self._config.hook.pytest_gta_run_finished(config=self._config, result=one.result)

    def _measured(self, contender: Contender, wall_s: float) -> Measured:
        """Return what came of one agent; how long a run took is not told of its agents, who shared the time."""
        bench, alone = contender.bench, not self._lineup.is_several
        threshold = bench.settings.threshold
        tasks = self.scoreboards[contender.label].task_results()
        if bench.settings.resume:
            tasks = with_earlier(bench.run, tasks, threshold)
            if remark := left_out(bench.run, tasks):
                self._remarks.append(remark if alone else f"agent {contender.label}: {remark}")
        summary = summarize(tasks, threshold) | {"wall_s": wall_s if alone else None}
        comparison = compared(bench.baseline, tasks, threshold)
        stopped = why_stopped(bench.run, bench.settings)
        others = self._other_failures if alone else 0
        outcome = judge_run(summary, self._limits, others, comparison=comparison, stopped=stopped)
        manifest = {key: value for key, value in bench.manifest().items() if key not in OF_THE_RUN}
        manifest["agent"] = agent_that_ran(manifest["agent"], tasks)
        manifest["finished_at"] = datetime.now(UTC).isoformat(timespec="seconds")
        return Measured(
            contender.label, RunResult(run=manifest, summary=summary, gate=outcome.gate, tasks=tasks), outcome
        )

    def _write(self, wall_s: float) -> None:
        assert self.outcome is not None  # the caller has just made it
        self._written, unwritten = write_reports(self.measured, self.outcome, self._lineup, wall_s)
        self._remarks += unwritten
        for one in self.measured:
            for name, value in run_properties(one.result, one.label):
                for writer in self._config.pluginmanager.get_plugins():
                    # The JUnit writer is found by what it can do: pytest has no public name for it.
                    with contextlib.suppress(AttributeError):
                        writer.add_global_property(name, value)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the summary; its last line and the exit code say the same."""
        if self._estimates:
            terminalreporter.write_sep("=", "GTA estimate", bold=True)
            for line in estimate_lines(self._estimates):
                terminalreporter.write_line(line)
        if self.outcome is None:
            return
        options = self._config.option
        also = [path for path in (getattr(options, "htmlpath", None), getattr(options, "xmlpath", None)) if path]
        # As pytest and pytest-html read them.
        theirs = [Path(os.path.expandvars(path)).expanduser() for path in also]
        write_summary(terminalreporter, self.measured, self.outcome, [*self._written, *theirs])
        for remark in self._remarks:
            terminalreporter.write_line(f"gta: {remark}", yellow=True)
