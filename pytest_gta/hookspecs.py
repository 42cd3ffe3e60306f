"""Hooks a suite or another plugin can implement to extend a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_gta.benchmark.results import RunResult
    from pytest_gta.tools.tool import Tool


@pytest.hookspec
def pytest_gta_tools(config: pytest.Config) -> list[Tool]:  # type: ignore[empty-body]
    """Contribute tools of your own to every agent, beside the benchmark's.

    Called in each process for each task. The tools run in pytest's own process, unconfined.

    Args:
        config: pytest's configuration.

    Example, in a ``conftest.py``::

        from pytest_gta.tools.specification import ToolParameter, ToolSpec
        from pytest_gta.tools.tool import Tool, ToolResult

        def pytest_gta_tools(config):
            spec = ToolSpec("Today", "perception", "Returns today's date.", ())
            return [Tool(spec, lambda: ToolResult("2026-01-31"))]
    """


@pytest.hookspec(firstresult=True)
def pytest_gta_dataset(config: pytest.Config, name: str) -> Path | str | None:
    """Find the tasks of a ``--gta-dataset`` other than ``mini``, ``workflow`` and ``atomic``: a source of your own.

    Called once in the controlling process, for each name, before the name is taken for a path. A name such as
    ``tracker:web`` reaches the hook as it is, a path is absolute.

    Args:
        config: pytest's configuration.
        name: What the option names.

    Returns:
        The path of a folder of YAML tasks, or of a folder or zip in the release's shape, that stays there as long as
        the run's results are of interest; None when the name is not yours.

    Example, in a ``conftest.py``::

        def pytest_gta_dataset(config, name):
            if name.startswith("tracker:"):
                return export_tasks(name.removeprefix("tracker:"), to=config.rootpath / ".tasks")
    """


@pytest.hookspec
def pytest_gta_run_finished(config: pytest.Config, result: RunResult) -> None:
    """Receive the run's result in the controlling process, after all reports are written.

    Called once, or with several agents once for each: ``result.run["agent"]["label"]`` says which.

    Args:
        config: pytest's configuration.
        result: The same as in ``results.json``.

    Example, in a ``conftest.py``::

        def pytest_gta_run_finished(config, result):
            print(result.summary["root_sr"])
    """
