"""The pytest plugin: hook implementations, nothing else. Importing it imports no model, document or image library."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from pytest_gta import collection
from pytest_gta.benchmark.run_directory import is_run_directory
from pytest_gta.fixtures import (
    _gta_directory,
    gta_agent,
    gta_judge,
    gta_result,
    gta_run,
    gta_settings,
    gta_task,
    gta_tools,
    gta_workspace,
)
from pytest_gta.keys import LINEUP, TASK
from pytest_gta.options import OPTIONS
from pytest_gta.settings import NothingSelected, SettingsError, resolve

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_gta.run.lineup import Lineup

__all__ = [
    "_gta_directory",
    "gta_agent",
    "gta_judge",
    "gta_result",
    "gta_run",
    "gta_settings",
    "gta_task",
    "gta_tools",
    "gta_workspace",
]

LISTING = ("collectonly", "markers", "showfixtures", "show_fixtures_per_test", "setupplan", "cacheshow")
"""pytest's options that only show what there is: nothing runs, nothing is needed, nothing is reported."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Offer the ``pytest_gta_*`` hooks."""
    from pytest_gta import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register every row of the options table, as an option and as an ini value."""
    group = parser.getgroup("gta", "GTA-Workflow benchmark (docs/options.md)")
    for option in OPTIONS:
        default = option.shown_default or option.default
        text = f"{option.help} [{default}]" if default else option.help
        text = text.replace("%", "%%")
        form: dict[str, Any] = {"action": "append" if option.joined_by else "store", "metavar": option.metavar}
        if not option.metavar:
            form = {"action": "store_const", "const": "on"}
        group.addoption(option.flag, dest=option.ini, default=None, help=text, **form)
        if option.joined_by == "\n":
            parser.addini(option.ini, help=f"twin of {option.flag}, one a line", type="linelist", default="")
        else:
            parser.addini(option.ini, help=f"twin of {option.flag}", default="")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Keep an estimate in this process: it needs the selected tasks and no workers."""
    with suppress(SettingsError):  # said by `pytest_configure`
        settings = resolve(config.getoption, config.getini, folder=config.rootpath)
        if settings is not None and settings.estimate:
            vars(config.option).update(numprocesses=0, dist="no", tx=[])


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Resolve the options; when a run is active, open its dataset and join or make it."""
    try:
        settings = resolve(config.getoption, config.getini, folder=config.rootpath)
        lineup = _open_lineup(config, settings) if settings and not config.option.help else None
    except SettingsError as error:
        raise pytest.UsageError(f"pytest-gta: {error}") from None
    except NothingSelected as nothing:
        pytest.exit(f"pytest-gta: NOTHING MEASURED (exit 5): {nothing}", returncode=pytest.ExitCode.NO_TESTS_COLLECTED)
    for line in collection.marker_lines(lineup.tasks if lineup else ()):
        config.addinivalue_line("markers", line)


def _open_lineup(config: pytest.Config, settings: Any) -> Lineup:
    from pytest_gta.run.lineup import Lineup

    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:
        from pathlib import Path

        from pytest_gta.workspace.confinement import Confinement

        lineup = Lineup(
            settings,
            config.rootpath,
            run_dir=Path(worker["gta_run_dir"]),
            local_url=worker["gta_local_url"],
            find_dataset=worker["gta_found_datasets"].get,
        )
        # Trying it takes a process; the controller has, on this same machine.
        lineup.workshop.confinement = Confinement(**worker["gta_confinement"])
    else:
        lineup = Lineup(settings, config.rootpath, find_dataset=collection.dataset_finder(config))
        listing = any(getattr(config.option, name, None) for name in LISTING)
        if not (listing or settings.estimate):
            lineup.check()
        if settings.estimate or not listing:
            from pytest_gta.controller import Controller

            config.pluginmanager.register(Controller(config, lineup), "gta-controller")
    config.stash[LINEUP] = lineup
    config.add_cleanup(lineup.close)
    return lineup


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave run directories alone: tests and a ``conftest.py`` that an agent left there are none of the project's."""
    return True if is_run_directory(collection_path) else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one item a task."""
    collection.parametrize(metafunc)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let ``-k`` find items by file kind."""
    collection.add_keywords(item)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With workers, begin with the tasks that take longest."""
    collection.put_longest_first(config, items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the task's result on the report that ends it, and say what went wrong in words rather than a traceback."""
    report = yield
    if TASK in item.stash:
        from pytest_gta.task_reports import complete

        complete(report, item, call)
    return report


def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> Any:
    """Show a judged leaf with ``-v`` only, and a low score under a gate as ``UNMET``."""
    if not hasattr(report, "gta_key"):
        return None
    from pytest_gta.task_reports import status

    return status(report, config)
