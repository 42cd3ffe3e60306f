from __future__ import annotations

import json
from pathlib import Path

from pytest_gta.tools.call_log import CallCounts, CallLog
from pytest_gta.tools.tool import ToolResult


def test_calls_are_counted_and_written_down(tmp_path: Path) -> None:
    log = CallLog(tmp_path / "sub" / "calls.jsonl")
    log.add("Plot", {"command": "x" * 5_000, "n": 3}, ToolResult("Saved \u00e9.png.", ("\u00e9.png",)), 0.25)
    log.add("OCR", {}, ToolResult("no such file", is_error=True), 0.0)
    assert log.counts == CallCounts(2, 1)
    assert log.counts.success_rate == 50.0
    first, second = map(json.loads, (tmp_path / "sub" / "calls.jsonl").read_text("utf-8").splitlines())
    assert (first["tool"], first["ok"], first["seconds"], first["bytes"]) == ("Plot", True, 0.25, 13)
    assert first["files"] == ["\u00e9.png"]
    assert first["arguments"] == {"command": "x" * 2_000 + " [cut: 5,000 characters]", "n": 3}
    assert (second["ok"], second["error"]) == (False, "no such file")


def test_without_a_file_calls_are_counted_only() -> None:
    log = CallLog()
    assert log.counts.success_rate is None
    log.add("OCR", {}, ToolResult("text"), 0)
    assert log.counts == CallCounts(1, 0)
