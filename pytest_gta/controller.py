"""The controlling process of a run: feeds the scoreboard from reports, shows progress, writes the reports at the end.

Registered only when a run is active, and never in an xdist worker.
"""

from __future__ import annotations

import contextlib
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.bench import Bench
from pytest_gta.benchmark.metrics import summarize
from pytest_gta.benchmark.results import RunResult
from pytest_gta.benchmark.run_directory import NotWritten
from pytest_gta.checkpoint_reports import (
    RUN_KEY,
    WHEN,
    attach_result,
    going_on_of,
    result_of,
    run_key_of,
    verdict_of,
    wait_of,
)
from pytest_gta.collection import run_key_of_node
from pytest_gta.estimate import Estimate, estimate_lines, estimate_of
from pytest_gta.finished_run import compared
from pytest_gta.keys import TASK
from pytest_gta.live_lines import LiveLines
from pytest_gta.reporters.junit import run_properties
from pytest_gta.reporters.outcome import Outcome, ended_early, judge_run
from pytest_gta.reporters.scoreboard import Scoreboard
from pytest_gta.reporters.terminal import header_lines, write_summary
from pytest_gta.run_report import limits_of
from pytest_gta.settings import SettingsError
from pytest_gta.spending_limit import remarks, why_stopped
from pytest_gta.workspace.memory_killer import MemoryWatch
from pytest_gta.written_reports import write_reports

CRASH_RESCHEDULED = ("loadscope", "loadfile", "loadgroup")
"""Distribution modes of pytest-xdist that hand a crashed task to the next worker again and again (xdist 3.8)."""


class Controller:
    """pytest hooks of the controlling process.

    Args:
        config: pytest's configuration.
        bench: The run.
    """

    def __init__(self, config: pytest.Config, bench: Bench) -> None:
        self._config, self._bench = config, bench
        self._run_keys = {task.slug for task in bench.tasks}
        self.scoreboard = Scoreboard(bench.tasks, bench.run)
        self._live = LiveLines(config, self.scoreboard, bench.settings.threshold)
        settings = bench.settings
        self._limits = limits_of(settings)
        self._started = time.monotonic()
        self._crashed: str | None = None
        self._memory = MemoryWatch()
        self._other_failures = 0
        self._written: list[Path] = []
        self._unwritten: list[str] = []
        self._estimate: Estimate | None = None
        self.outcome: Outcome | None = None
        self.result: RunResult | None = None
        if config.pluginmanager.hasplugin("html"):
            from pytest_gta.html_rows import HtmlRows

            config.pluginmanager.register(HtmlRows(self, bench.settings.threshold), "gta-html-rows")

    # -- before -------------------------------------------------------------------------------------------------------

    def pytest_report_header(self) -> list[str]:
        """Say what is about to run, on what, judged by whom, confined how."""
        runs_the_model = self._bench.agent_spec.runs_the_model
        further = remarks(self._bench.settings, model_runs=runs_the_model)
        return [*header_lines(self._bench), *(f"gta: {remark}" for remark in further)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Make the run directory, and serve the bundled model for all workers."""
        option = self._config.option
        if getattr(option, "dist", "no") in CRASH_RESCHEDULED:
            raise pytest.UsageError(
                f"pytest-gta: --dist={option.dist} runs a task that crashes its worker again and again; "
                "use -n N with the default --dist=load, or --dist=worksteal"
            )
        if self._runs_nothing:
            return
        if (reporter := self._config.pluginmanager.getplugin("terminalreporter")) is not None:
            self._bench.workshop.on_progress = lambda line: reporter.write_line(f"gta: {line}")
        try:
            self._bench.begin()
            self._bench.workshop.start_local_model()
        except SettingsError as error:
            raise pytest.UsageError(f"pytest-gta: {error}") from None
        except OSError as fault:
            raise pytest.UsageError(
                f"pytest-gta: the run directory {self._bench.run.root} cannot be written ({fault.strerror}); "
                "keep the run elsewhere with --gta-run-dir=DIR"
            ) from None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker which run it joins."""
        node.workerinput["gta_run_dir"] = str(self._bench.run.root)
        node.workerinput["gta_local_url"] = self._bench.workshop.start_local_model()
        node.workerinput["gta_found_datasets"] = dict(self._bench.workshop.found_datasets)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Learn which tasks are to run (without xdist)."""
        self._expect([item.stash[TASK].slug for item in session.items if TASK in item.stash])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Learn which tasks are to run (with xdist, from each worker)."""
        self._expect([key for nodeid in ids if (key := run_key_of_node(nodeid, self._run_keys))])

    def _expect(self, run_keys: list[str]) -> None:
        """Note on disk, too, what is to run: a killed run's report counts the tasks that never began."""
        if run_keys and not self.scoreboard.tasks_expected and not self._runs_nothing:
            with contextlib.suppress(NotWritten):  # the manifest that is there names all tasks
                self._bench.run.write_manifest({**self._bench.manifest(), "selected": sorted(set(run_keys))})
        self.scoreboard.expect(run_keys)

    @property
    def _runs_nothing(self) -> bool:
        return bool(self._config.option.collectonly) or self._bench.settings.estimate

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """With ``--gta-estimate``, look at the selected tasks instead of running them."""
        if not self._bench.settings.estimate:
            return None
        selected = {item.stash[TASK].slug: item.stash[TASK] for item in session.items if TASK in item.stash}
        try:
            self._estimate = estimate_of(self._bench, selected.values())
        except SettingsError as error:
            raise pytest.UsageError(f"pytest-gta: {error}") from None
        return True

    # -- while it runs ------------------------------------------------------------------------------------------------

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Begin a task."""
        key = run_key_of_node(nodeid, self._run_keys)
        if key and not self.scoreboard.has_result(key):
            self.scoreboard.restart(key, nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a report carries, and show how far the run is."""
        key = run_key_of(report)
        if key not in self._run_keys:
            self._other_failures += report.failed
        elif (remark := wait_of(report)) is not None:
            self._live.judge_waits(remark)
        elif (first := going_on_of(report)) is not None:
            self._live.goes_on(key, first)
        elif report.when == WHEN:
            self.scoreboard.add_verdict(key, verdict_of(report) or "")
            self._live.leaf_judged()
        elif str(report.outcome) == "rerun":
            self.scoreboard.restart(key, report.nodeid)
        else:
            self._task_report(key, report)
        if key is not None and key == self._crashed:
            self._crashed = None
            self._close_crashed(report)

    def _task_report(self, key: str, report: pytest.TestReport) -> None:
        carried = result_of(report)
        if carried is not None:
            result = self.scoreboard.add_result(key, carried)
            self._live.task_ended(result)
            own = report.when == "setup" or (result.success is False and not self._bench.settings.gated)
            self._other_failures += report.failed and not own
        elif report.when == "call" or report.skipped:
            self.scoreboard.forget(key)
            self._other_failures += report.failed
        elif report.when == "teardown":
            self._other_failures += report.failed

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Make the task of a dead worker an error, unless its result had already arrived."""
        key = run_key_of_node(crashitem, self._run_keys)
        if key is None:
            return
        setattr(report, RUN_KEY, key)
        if self.scoreboard.has_result(key):
            report.when = "teardown"
            return
        report.when = "setup"
        self._crashed = key
        why = "; the machine ran out of memory meanwhile: run fewer at once (-n)" if self._memory.has_killed() else ""
        self._memory = MemoryWatch()
        go_on = f"go on with --gta-resume={self._bench.run.root}"
        result = self.scoreboard.add_crash(key, f"{report.longrepr}{why}; {go_on}")
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
        if self._runs_nothing or not (self.scoreboard.tasks_expected or self._limits.gated):
            return
        tasks = self.scoreboard.task_results()
        summary = summarize(tasks, self._bench.settings.threshold)
        summary["wall_s"] = time.monotonic() - self._started
        comparison = compared(self._bench.baseline, tasks, self._bench.settings.threshold)
        stopped = why_stopped(self._bench.run.root, self._bench.settings)
        self.outcome = judge_run(summary, self._limits, self._other_failures, comparison=comparison, stopped=stopped)
        manifest = self._bench.manifest()
        manifest.pop("options")
        manifest.pop("selected")
        manifest["finished_at"] = datetime.now(UTC).isoformat(timespec="seconds")
        self.result = RunResult(run=manifest, summary=summary, gate=self.outcome.gate, tasks=tasks)
        self._write(self.result)
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = self.outcome.exit_code
        else:
            self.outcome = ended_early(self.outcome, int(exitstatus), summary, str(self._bench.run.root))
        self._config.hook.pytest_gta_run_finished(config=self._config, result=self.result)

    def _write(self, result: RunResult) -> None:
        self._written, self._unwritten = write_reports(result, self._bench)
        for name, value in run_properties(result):
            for writer in self._config.pluginmanager.get_plugins():
                # The JUnit writer is found by what it can do: pytest has no public name for it.
                with contextlib.suppress(AttributeError):
                    writer.add_global_property(name, value)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the summary; its last line and the exit code say the same."""
        if self._estimate is not None:
            terminalreporter.write_sep("=", "GTA estimate", bold=True)
            for line in estimate_lines(self._estimate):
                terminalreporter.write_line(line)
        if self.result is None or self.outcome is None:
            return
        options = self._config.option
        also = [path for path in (getattr(options, "htmlpath", None), getattr(options, "xmlpath", None)) if path]
        write_summary(
            terminalreporter, self.result, self.outcome, [*map(str, self._written), *also], self._bench.folder
        )
        for fault in self._unwritten:
            terminalreporter.write_line(f"gta: {fault}", yellow=True)
