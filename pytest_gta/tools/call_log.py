"""The record of calls that came from outside this program: one JSON line each, from which Tool SR can be read later."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_gta.benchmark.run_directory import append_line
from pytest_gta.tools.tool import ToolResult

_MOST_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class CallCounts:
    """How many calls there were.

    Attributes:
        calls: All of them.
        errors: Those that were answered with an error.
    """

    calls: int = 0
    errors: int = 0

    @property
    def success_rate(self) -> float | None:
        """Tool SR, in percent; None when there were no calls."""
        return 100 * (self.calls - self.errors) / self.calls if self.calls else None


class CallLog:
    """Counts calls, and writes them down when there is a file to write to.

    Args:
        file: A JSON-lines file that is added to; None to count only.

    Attributes:
        counts: The calls since this was made.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self.counts = CallCounts()

    def add(self, name: str, arguments: Mapping[str, Any], result: ToolResult, seconds: float) -> None:
        """Add one call and its answer.

        Raises:
            OSError: When the file cannot be written to.
        """
        self.counts = CallCounts(self.counts.calls + 1, self.counts.errors + result.is_error)
        if self._file is None:
            return
        line: dict[str, Any] = {
            "at": round(time.time(), 3),
            "tool": name,
            "ok": not result.is_error,
            "seconds": round(seconds, 3),
            "bytes": len(result.text.encode("utf-8", "replace")),
            "arguments": {key: _shortened(value) for key, value in arguments.items()},
        }
        if result.files:
            line["files"] = list(result.files)
        if result.is_error:
            line["error"] = _shortened(result.text)
        append_line(self._file, json.dumps(line, ensure_ascii=False, default=str))


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _MOST_TEXT:
        return f"{value[:_MOST_TEXT]} [cut: {len(value):,} characters]"
    return value
