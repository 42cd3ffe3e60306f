"""Hooks of pytest-html: registered only when a run is active and pytest-html is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_gta.benchmark.results import TaskResult
from pytest_gta.checkpoint_reports import result_of
from pytest_gta.reporters.pytest_html import HEADER_CELLS, harness_block, row_cells, score_sheet_block, summary_block

if TYPE_CHECKING:
    from pytest_gta.controller import Controller

COLUMN = 2
"""Ours stand after Result and Test."""


class HtmlRows:
    """Adds the run's summary, our columns and the score sheets to the page.

    Args:
        controller: Knows the run's result when the page is written.
        threshold: Points from which a leaf or task succeeds.
    """

    def __init__(self, controller: Controller, threshold: float) -> None:
        self._controller, self._threshold = controller, threshold

    def pytest_html_results_summary(self, prefix: list[str]) -> None:
        """Put the run's summary above the table."""
        measured, outcome = self._controller.measured, self._controller.outcome
        if outcome is not None:
            alone = len(measured) == 1 and not measured[0].label
            prefix.append(summary_block(measured[0].result, outcome) if alone else harness_block(measured, outcome))

    def pytest_html_results_table_header(self, cells: list[str]) -> None:
        """Add our columns."""
        cells[COLUMN:COLUMN] = HEADER_CELLS

    def pytest_html_results_table_row(self, report: Any, cells: list[str]) -> None:
        """Fill our columns."""
        cells[COLUMN:COLUMN] = row_cells(_result(report), self._threshold)

    def pytest_html_results_table_html(self, report: Any, data: list[str]) -> None:
        """Show the score sheet in place of its plain text, before what the test printed."""
        result = _result(report)
        if result is not None:
            captured = [(title, text) for title, text in report.sections if title != "checkpoints"]
            data[:] = [score_sheet_block(result, self._threshold, captured)]


def _result(report: Any) -> TaskResult | None:
    carried = result_of(report)
    return TaskResult.model_validate_json(carried) if carried else None
