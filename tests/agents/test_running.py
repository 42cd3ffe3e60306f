"""Running any agent in this process, with a deadline."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.agents.imported import ImportedAgent
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import Agent, AgentRun, AgentUnavailable, StopReason, Usage, as_agent
from pytest_gta.agents.running import run_agent
from pytest_gta.agents.tool_calling import ToolCallingAgent
from pytest_gta.benchmark.run_directory import NotWritten
from pytest_gta.llm.endpoint import Endpoint
from tests.agents.conftest import QUICK, Bench, brief


def test_a_function_a_class_and_an_object(bench: Bench) -> None:
    class Mine:
        label = "mine v1"

        def run(self, task: Any, tools: Any, workspace: Any) -> AgentRun:
            tools.transcript.add("note", "looking")
            return AgentRun(StopReason.FINISHED, tools.call("Echo", {"text": task.request}).text, turns=2)

    for agent in (Mine, Mine()):
        record = bench.run(agent)
        assert (record.label, record.final_answer, record.turns, record.tool_calls) == ("mine v1", "echo Do it.", 2, 1)
    assert isinstance(Mine(), Agent)
    assert bench.run(lambda task: "short").final_answer == "short"
    assert bench.steps_of("note")[0].text == "looking"


def test_what_is_not_an_agent_is_said_in_one_line(bench: Bench) -> None:
    with pytest.raises(TypeError, match="is an int; expected a class or object with run"):
        bench.run(7)
    with pytest.raises(TypeError, match="takes prompt"):
        as_agent(lambda prompt: "x")


def test_an_exception_is_an_agent_error_and_a_call_in_flight_counts(bench: Bench) -> None:
    def run(tools: Any) -> str:
        tools.call("Write", {"filename": "a.txt", "text": "1"})
        raise ValueError("oops\nBearer abcdef1234567890")

    record = bench.run(run)
    assert (record.stop_reason, record.tool_calls) == (StopReason.AGENT_ERROR, 1)
    assert record.stop_detail == "ValueError: oops Bearer [secret]"
    assert record.usage.cost_usd is None
    assert "Traceback" in bench.steps_of("note")[0].text


def test_unavailable_and_interrupts_go_on_up(bench: Bench) -> None:
    def unavailable(task: Any) -> str:
        raise AgentUnavailable("no credit", usage=Usage(calls=3))

    def interrupted(task: Any) -> str:
        raise KeyboardInterrupt

    with pytest.raises(AgentUnavailable, match="no credit") as raised:
        bench.run(unavailable)
    assert bench.steps_of("end")[0].usage == Usage(calls=3).model_dump(mode="json")
    record = raised.value.record
    assert record is not None
    assert (record.stop_reason, record.stop_detail) == (StopReason.UNAVAILABLE, "no credit")
    assert record.usage == Usage(calls=3)
    with pytest.raises(KeyboardInterrupt):
        bench.run(interrupted)


def test_the_deadline_ends_the_wait_and_what_was_delivered_counts(bench: Bench) -> None:
    ended = threading.Event()

    def run(tools: Any) -> str:
        try:
            for n in range(1_000):
                tools.call("Write", {"filename": f"{n}.txt", "text": "1"})
                if n:
                    time.sleep(0.1)
        finally:
            ended.set()
        return "never"

    record = bench.run(run, deadline_s=1.5)
    assert (record.stop_reason, record.stop_detail) == (StopReason.TIMEOUT, "still at work after 1.5 s")
    assert ended.wait(60)
    delivered = len(bench.workspace.deliverables().files)
    assert delivered == record.tool_calls >= 2
    time.sleep(0.3)
    assert len(bench.workspace.deliverables().files) == delivered


def test_an_agent_that_cannot_be_ended_is_left_behind(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_gta.agents.running.STOP_GRACE_S", 0.2)
    release = threading.Event()

    def run(task: Any) -> str:
        release.wait(30)
        return "late"

    record = bench.run(run, deadline_s=0.2)
    release.set()
    assert (record.stop_reason, record.final_answer) == (StopReason.TIMEOUT, "")


def test_the_toolbox_is_closed_whatever_happens(bench: Bench) -> None:
    closed: list[bool] = []
    tools = bench.toolbox()
    monkey = tools.close

    def close() -> None:
        closed.append(True)
        monkey()

    tools.close = close  # type: ignore[method-assign]

    def fails(task: Any) -> str:
        raise RuntimeError

    for agent in (lambda task: "x", fails):
        run_agent(agent, brief(), tools, bench.workspace, deadline_s=5, transcript=bench.transcript)  # type: ignore[arg-type]
    assert closed == [True, True]


def test_a_users_own_stop_reason_must_be_one(bench: Bench) -> None:
    record = bench.run(lambda task: AgentRun("finished", "x"))  # type: ignore[arg-type]
    assert record.stop_reason is StopReason.FINISHED
    record = bench.run(lambda task: AgentRun("bored", "x"))  # type: ignore[arg-type]
    assert (record.stop_reason, record.stop_detail) == (
        StopReason.AGENT_ERROR, "ValueError: 'bored' is not a valid StopReason",
    )  # fmt: skip
    record = bench.run(lambda task: AgentRun(StopReason.FINISHED, None))  # type: ignore[arg-type]
    assert record.stop_detail == "TypeError: AgentRun.final_answer is a NoneType, expected text"


def test_an_agent_that_was_stopped_can_be_given_the_next_task(bench: Bench) -> None:
    endpoint_agent = ToolCallingAgent(Endpoint("m", "http://127.0.0.1:9/v1", ""), "m", Limits(), retry=QUICK)
    endpoint_agent.stop()
    with pytest.raises(AgentUnavailable):
        bench.run(endpoint_agent)


def test_an_interrupt_ends_an_imported_agent(bench: Bench, modules: Callable[..., Path], tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    folder = modules(
        agent=f"""
import os, time
def run(task):
    open({str(pid_file)!r}, "w").write(str(os.getpid()))
    time.sleep(600)
"""
    )
    agent = ImportedAgent("agent:run", "mine", Limits(task_timeout_s=60), import_paths=[folder])
    main = threading.main_thread().ident
    assert main is not None

    def interrupt() -> None:
        while not (pid_file.exists() and pid_file.read_text()):
            time.sleep(0.02)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        bench.run(agent)
    pid = int(pid_file.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_full_disk_is_not_the_agents_fault(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "report.md")

    with pytest.raises(AgentUnavailable, match=r"the disk is full: OSError: .*No space left on device: 'report\.md'"):
        bench.run(lambda task: full())

    def wrapped(task: Any) -> str:
        try:
            return full()
        except OSError as error:
            raise RuntimeError("could not save") from error

    with pytest.raises(AgentUnavailable, match="the disk is full: RuntimeError: could not save"):
        bench.run(wrapped)


def test_steps_that_cannot_be_recorded_end_the_run_as_they_are(bench: Bench) -> None:
    def run(tools: Any) -> str:
        raise NotWritten(errno.EROFS, os.strerror(errno.EROFS), "transcript.jsonl")

    with pytest.raises(NotWritten, match=r"transcript\.jsonl cannot be written: Read-only file system"):
        bench.run(run)
