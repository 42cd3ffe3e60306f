from __future__ import annotations

import json
import re
import shutil
import threading
from pathlib import Path

import pytest

from pytest_gta.agents.transcript import Counts, Step, StepKind, Transcript, read_transcript
from pytest_gta.benchmark.run_directory import NotWritten
from pytest_gta.benchmark.usage import Tokens, Usage


def test_steps_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    transcript = Transcript(path)
    usage = Usage(calls=1, tokens=Tokens(input=5, output=2), cost_usd=None)
    added = [
        transcript.add("assistant", "hé\ud800\x00\n", turn=1, usage=usage),
        transcript.add("tool_call", '{"a": 1}', name="Plot", call_id="c1", turn=1),
        transcript.add("tool_result", "ok", name="Plot", call_id="c1", turn=1, files=["a.png"], wall_s=0.12345),
        transcript.add("end", "answer", name="finished", detail="why", turn=1),
    ]
    assert list(read_transcript(path)) == added
    assert added[2] == Step(StepKind.TOOL_RESULT, added[2].at, "ok", "Plot", "c1", 1, files=("a.png",), wall_s=0.123)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", added[0].at)
    lines = path.read_bytes().split(b"\n")
    assert len(lines) == 5 and all(line.isascii() for line in lines)
    assert set(json.loads(lines[1])) == {"kind", "at", "text", "name", "call_id", "turn"}


def test_each_line_is_there_at_once_and_torn_ones_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "transcript.jsonl"
    transcript = Transcript(path)
    transcript.add("user", "one")
    assert [step.text for step in read_transcript(path)] == ["one"]
    with path.open("a") as file:
        file.write('{"kind": "user", "te')
    transcript.add("user", "two")
    with path.open("a") as file:
        file.write('{"kind": "unheard of"}\n[1]\n')
    assert [step.text for step in read_transcript(path)] == ["one", "two"]
    assert read_transcript(tmp_path / "none.jsonl") == ()


def test_big_texts_are_cut_with_the_size_said(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "t.jsonl")
    step = transcript.add("tool_result", "a" * 4_999_999 + "z")
    assert step.full_length == 5_000_000 and len(step.text) < 51_000
    assert "4,950,000 of 5,000,000 characters left out" in step.text and step.text.endswith("z")


def test_secrets_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "held-token-value")
    transcript = Transcript(tmp_path / "t.jsonl", secrets=["my own secret"])
    transcript.add(
        "note",
        "my own secret held-token-value Authorization: Bearer abc.def.ghi123 https://u:pw@host/ sk-abcdefghijklmnop",
        detail="held-token-value",
    )
    written = (tmp_path / "t.jsonl").read_text()
    for secret in ("my own", "held-token", "abc.def", "pw@", "sk-abc"):
        assert secret not in written


def test_counts(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "t.jsonl")
    transcript.add("tool_call", name="A", turn=1)
    transcript.add("tool_result", name="A", turn=1)
    transcript.add("tool_call", name="B", turn=2)
    transcript.add("tool_result", name="B", turn=2, is_error=True)
    transcript.add("tool_call", name="C", turn=3)
    transcript.add("tool_result", name="C", turn=3, is_error=True, not_run=True)
    transcript.add("tool_call", name="D", turn=4)
    assert transcript.counts == Counts(turns=4, tool_calls=3, tool_errors=2, not_run=1)


def test_many_threads_write_whole_lines(tmp_path: Path) -> None:
    seen: list[Step] = []
    transcript = Transcript(tmp_path / "t.jsonl", on_step=seen.append)
    threads = [
        threading.Thread(target=lambda: [transcript.add("note", "x" * 9_000) for _ in range(20)]) for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_transcript(tmp_path / "t.jsonl")) == 100 == len(seen)


def test_steps_whose_beginning_was_removed_are_not_written_on(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "task" / "transcript.jsonl")
    transcript.add("user", "Make a report.")
    shutil.rmtree(tmp_path / "task")
    with pytest.raises(NotWritten, match=r"transcript\.jsonl cannot be written: its folder was removed"):
        transcript.add("end")
    assert not (tmp_path / "task").exists()


def test_nothing_is_kept_without_a_path() -> None:
    assert Transcript(None).add("note", "x").text == "x"
