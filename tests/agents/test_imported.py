"""Agents given by `import:`, each in a process of its own."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.agents.imported import ImportedAgent, agent_environment, check_import
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import AgentUnavailable
from pytest_gta.agents.specification import AgentSpecError
from pytest_gta.benchmark.results import AgentRecord, StopReason
from tests.agents.conftest import Bench, brief
from tests.waiting import JumpingClock, eventually, runs

Write = Callable[..., Path]


def run(bench: Bench, folder: Path, target: str, *, timeout_s: float = 30.0, **settings: Any) -> AgentRecord:
    limits = Limits(task_timeout_s=timeout_s)
    agent = ImportedAgent(target, "mine", limits, import_paths=[folder], **settings)
    return bench.run(agent, brief("Add 1 and 2.", inputs=bench.workspace.inputs), deadline_s=timeout_s)


def over_when(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    """Have the agent's time be over when a file is there and has its content."""
    clock = JumpingClock(lambda: file.exists() and file.stat().st_size)
    clock.stand_in(monkeypatch, "pytest_gta.agents.imported", "pytest_gta.agents.child_process")


WAYS = """
from pytest_gta.agents.protocol import AgentRun, StopReason, Usage

def whole(task, tools, workspace):
    result = tools.call("Echo", {"text": task.request})
    return f"{result.text} {len(tools.specs)} {workspace.inputs[0]} {tools.specs[0].function_schema()['type']}"

class Agent:
    async def run(self, task):
        used = Usage(calls=9, cost_usd=0.5)
        return AgentRun(StopReason.MAX_TURNS, "so far", "gave up", turns=9, usage=used, notes=("a", "b"))

def factory():
    return Agent()

def nothing(task):
    return None

def files_only(workspace):
    global kept_open
    kept_open = open("made.txt", "w")
    kept_open.write("closed by the interpreter")
"""


def test_a_function_of_all_three(bench: Bench, modules: Write) -> None:
    folder = modules(ways=WAYS)
    check_import("ways:whole", [folder])
    record = run(bench, folder, "ways:whole")
    assert (record.stop_reason, record.stop_detail, record.label) == (StopReason.FINISHED, "", "mine")
    assert record.final_answer == "echo Add 1 and 2. 5 resources/notes.txt function"
    assert record.usage.cost_usd is None


def test_an_agent_run_comes_back_whole(bench: Bench, modules: Write) -> None:
    folder = modules(ways=WAYS)
    check_import("ways:factory", [folder])
    record = run(bench, folder, "ways:factory")
    assert (record.stop_reason, record.final_answer, record.stop_detail) == (
        StopReason.MAX_TURNS, "so far", "gave up",
    )  # fmt: skip
    assert (record.turns, record.usage.calls, record.usage.cost_usd) == (9, 9, 0.5)
    assert record.notes == ("a", "b")


def test_calls_are_counted_and_recorded(bench: Bench, modules: Write) -> None:
    folder = modules(
        counted="""
def run(tools):
    tools.call("Echo", {"text": "a"})
    assert tools.call("Nothing", {}).is_error
    assert tools.call("Echo", '{"text"').is_error
    result = tools.call("Write", {"filename": "a.txt", "text": "1"})
    return str(result.files)
"""
    )
    record = run(bench, folder, "counted:run")
    assert (record.tool_calls, record.tool_errors, record.final_answer) == (4, 2, "('a.txt',)")
    assert [s.name for s in bench.steps_of("tool_call")] == ["Echo", "Nothing", "Echo", "Write"]
    assert bench.steps_of("user")[0].text == "Add 1 and 2."
    assert not bench.transcript.with_name("agent_output.txt").exists()


def test_threads_may_call_tools_at_once(bench: Bench, modules: Write) -> None:
    folder = modules(
        threads="""
from concurrent.futures import ThreadPoolExecutor
def run(tools):
    with ThreadPoolExecutor(4) as pool:
        return " ".join(pool.map(lambda n: tools.call("Echo", {"text": str(n)}).text, range(8)))
"""
    )
    assert run(bench, folder, "threads:run").final_answer == " ".join(f"echo {n}" for n in range(8))


def test_none_with_files_is_finished_and_nothing_at_all_is_no_answer(bench: Bench, modules: Write) -> None:
    folder = modules(ways=WAYS)
    record = run(bench, folder, "ways:nothing")
    assert (record.stop_reason, record.stop_detail) == (
        StopReason.NO_ANSWER, "ended with neither a final answer nor a file",
    )  # fmt: skip
    record = run(bench, folder, "ways:files_only")
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "")
    assert (bench.workspace.root / "made.txt").read_text() == "closed by the interpreter"


def test_the_working_directory_is_the_workspace(bench: Bench, modules: Write) -> None:
    folder = modules(
        here="import os, pathlib\ndef run(task):\n    return pathlib.Path('resources/notes.txt').read_text()"
    )
    assert run(bench, folder, "here:run").final_answer == "42 apples"


def test_a_module_beside_it_is_found_and_the_workspace_is_not_imported_from(bench: Bench, modules: Write) -> None:
    (bench.workspace.root / "colorsys.py").write_text("raise RuntimeError('imported from the workspace')")
    folder = modules(
        main="import sibling\ndef run(task):\n    import colorsys\n    return sibling.NAME", sibling="NAME = 'found'"
    )
    assert run(bench, folder, "main:run").final_answer == "found"


# -- out of reach ----------------------------------------------------------------------------------------------------


def test_what_belongs_to_the_judge_and_the_run_is_not_in_its_environment() -> None:
    environment = {
        "EVAL_OPENAI_API_KEY": "k", "EVAL_OPENAI_MODEL": "m", "GTA_DATASET": "d", "GTA_MODEL": "gpt",
        "PYTEST_XDIST_WORKER": "gw0",
        "OPENAI_API_KEY": "own", "PATH": "/bin", "OTHER": "x",
    }  # fmt: skip
    kept = agent_environment({"GTA_BASE_URL": "u"}, withheld=["OTHER"], environment=environment)
    assert kept == {"GTA_MODEL": "gpt", "OPENAI_API_KEY": "own", "PATH": "/bin", "GTA_BASE_URL": "u"}


def test_the_process_sees_neither_judge_keys_nor_rubric(
    bench: Bench, modules: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_OPENAI_API_KEY", "judge-key-1234567890")
    monkeypatch.setenv("GTA_DATASET", "/data/release")
    folder = modules(
        look="""
import json, os, sys
def run(task, tools, workspace):
    own = [open(f"/proc/self/{name}", "rb").read().decode("latin-1") for name in ("environ", "cmdline")]
    fields = sorted(name for name in dir(task) if not name.startswith("_"))
    return json.dumps([dict(os.environ), own, fields, sys.argv])
"""
    )
    answer = run(bench, folder, "look:run").final_answer
    assert "judge-key" not in answer and "/data/release" not in answer and "PYTEST_CURRENT_TEST" not in answer
    told = ["category", "earlier_answer", "going_on", "id", "inputs", "request", "turns", "unanswered"]
    assert json.loads(answer)[2] == told


# -- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("", "missing_module:run", "there is no module 'missing_module'"),
        ("", "agent.missing:run", "there is no module 'agent.missing'"),
        (
            "import not_installed_lib",
            "agent:run",
            "importing agent failed: ModuleNotFoundError: No module named 'not_inst",
        ),
        ("def runner(task): pass", "agent:runer", "agent has no 'runer'; did you mean 'runner'?"),
        ("x = 1 / 0", "agent:run", "importing agent failed: ZeroDivisionError: division by zero"),
        ("import sys; sys.exit(3)", "agent:run", "importing agent failed: SystemExit: 3"),
        ("import os; os._exit(3)", "agent:run", "importing it ended the process (exited with status 3"),
        ("run = 7", "agent:run", "run"),
        ("def run(prompt): pass", "agent:run", "run takes prompt; expected a class or object with run(task, tools"),
        ("def run(task)\n  pass", "agent:run", "importing agent failed: SyntaxError"),
    ],
)
def test_what_cannot_be_imported_is_one_clear_line(modules: Write, source: str, target: str, said: str) -> None:
    folder = modules(agent=source)
    with pytest.raises(AgentSpecError) as fault:
        check_import(target, [folder])
    assert said in str(fault.value)
    assert str(fault.value).startswith(f"--gta-agent=import:{target}: ")
    assert "\n" not in str(fault.value) and len(str(fault.value)) < 500


def test_checking_calls_nothing(modules: Write, tmp_path: Path) -> None:
    mark = tmp_path / "called"
    folder = modules(agent=f"class Agent:\n    def __init__(self): open({str(mark)!r}, 'w')\n    def run(self): pass")
    check_import("agent:Agent", [folder])
    assert not mark.exists()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def make(): raise RuntimeError('no weights')", "mine cannot be built: RuntimeError: no weights"),
        ("def make(): return 7", "mine gave an int"),
        ("def make(): return None", "mine gave None"),
        ("class make:\n  def __init__(self): raise ValueError('no key sk-abcdefghij1234567890')\n  def run(self): ...",
         "mine cannot be built: ValueError: no key [secret]"),
        ("def make(): return make", "mine gave another factory, make"),
    ],
)  # fmt: skip
def test_an_agent_that_cannot_be_built_is_an_error_not_a_zero(
    bench: Bench, modules: Write, source: str, said: str
) -> None:
    with pytest.raises(AgentUnavailable) as fault:
        run(bench, modules(agent=source), "agent:make")
    assert str(fault.value).startswith(said)


def test_a_run_that_raises_is_the_agents_error_and_its_files_count(bench: Bench, modules: Write) -> None:
    folder = modules(
        agent="""
def run(task, tools, workspace):
    tools.call("Write", {"filename": "a.txt", "text": "1"})
    raise KeyError("api_key=abc-secret-value-123")
"""
    )
    record = run(bench, folder, "agent:run")
    assert (record.stop_reason, record.final_answer) == (StopReason.AGENT_ERROR, "")
    assert record.stop_detail.startswith("KeyError: ") and "abc-secret" not in record.stop_detail
    assert (record.tool_calls, record.tool_errors) == (1, 0)
    assert [d.path for d in bench.workspace.deliverables().files] == ["a.txt"]
    note = bench.steps_of("note")[0].text
    assert "Traceback" in note and "agent.py" in note and "abc-secret" not in note


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("os._exit(3)", "its process exited with status 3 before it answered"),
        ("sys.exit(4)", "SystemExit: 4"),
        ("os.kill(os.getpid(), 11)", "its process was ended by SIGSEGV before it answered"),
        ("os.kill(os.getpid(), 9)", "its process was ended by SIGKILL before it answered"),
        ("return 7", "NotAnAgent: mine returned an int, expected AgentRun, str or None"),
        ("return object()", "NotAnAgent: mine returned an object, expected AgentRun, str or None"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise RuntimeError('x' * 100000)", "RuntimeError: xxx"),
        ("raise RuntimeError('line\\nbreak\\x1b[31m')", "RuntimeError: line break [31m"),
    ],
)
def test_the_worker_survives_what_an_agent_does(bench: Bench, modules: Write, body: str, said: str) -> None:
    folder = modules(
        agent=f"""
import os, sys
def run(task, tools):
    tools.call("Write", {{"filename": "a.txt", "text": "1"}})
    {body}
"""
    )
    record = run(bench, folder, "agent:run")
    assert record.stop_reason is StopReason.AGENT_ERROR
    assert record.stop_detail.startswith(said) and len(record.stop_detail) <= 500
    assert record.tool_calls == 1
    assert [d.path for d in bench.workspace.deliverables().files] == ["a.txt"]


def test_a_crash_leaves_its_trace_in_the_output(bench: Bench, modules: Write) -> None:
    folder = modules(agent="import ctypes\ndef run(task):\n    print('before', flush=True)\n    ctypes.string_at(0)")
    record = run(bench, folder, "agent:run")
    assert "SIGSEGV" in record.stop_detail
    output = bench.transcript.with_name("agent_output.txt").read_text()
    assert "before" in output and "Segmentation fault" in output and "agent.py" in output


def test_the_deadline_ends_it_with_all_it_started(
    bench: Bench, modules: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    over_when(monkeypatch, pids)
    folder = modules(
        agent=f"""
import os, signal, subprocess, sys, time
def run(task, tools):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tools.call("Write", {{"filename": "a.txt", "text": "1"}})
    tools.call("Write", {{"filename": "b.txt", "text": "2"}})
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    open({str(pids)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
    while True:
        try:
            time.sleep(600)
        except BaseException:
            pass
"""
    )
    record = run(bench, folder, "agent:run", timeout_s=600)
    assert (record.stop_reason, record.stop_detail) == (StopReason.TIMEOUT, "still at work after 600 s")
    assert (record.tool_calls, record.tool_errors) == (2, 0)
    assert [d.path for d in bench.workspace.deliverables().files] == ["a.txt", "b.txt"]
    for pid in map(int, pids.read_text().split()):
        assert eventually(lambda pid=pid: not runs(pid))


def test_a_finished_agent_leaves_no_process_behind(bench: Bench, modules: Write, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    folder = modules(
        agent=f"""
import subprocess, sys, threading, time
def run(task):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    threading.Thread(target=time.sleep, args=(600,)).start()
    open({str(pids)!r}, "w").write(str(child.pid))
    return "done"
"""
    )
    assert run(bench, folder, "agent:run", timeout_s=120).final_answer == "done"
    assert eventually(lambda: not runs(int(pids.read_text())))


def test_what_it_prints_is_kept_bounded_without_secrets(bench: Bench, modules: Write) -> None:
    folder = modules(
        agent="""
import sys
def run(task):
    print("key sk-abcdefghij1234567890")
    sys.stderr.write("to stderr\\n")
    for _ in range(300):
        sys.stdout.write("y" * 65536)
    return "printed"
"""
    )
    assert run(bench, folder, "agent:run").final_answer == "printed"
    output = bench.transcript.with_name("agent_output.txt")
    assert output.stat().st_size < 5_200_000
    text = output.read_text()
    assert text.startswith("key [secret]\nto stderr\n") and "the rest is left out" in text[-100:]


def test_an_outage_of_its_model_is_not_its_fault(bench: Bench, modules: Write) -> None:
    folder = modules(
        agent="""
import httpx, openai
from pytest_gta.agents.protocol import AgentUnavailable, Usage
response = httpx.Response(503, request=httpx.Request("POST", "http://model/v1"))
def outage(task):
    raise openai.InternalServerError("overloaded", response=response, body=None)
def said(task):
    raise AgentUnavailable("my server is down", usage=Usage(calls=4))
"""
    )
    with pytest.raises(AgentUnavailable, match="its model endpoint does not serve: InternalServerError: overloaded"):
        run(bench, folder, "agent:outage")
    assert "Traceback" in bench.steps_of("note")[0].text
    with pytest.raises(AgentUnavailable, match="my server is down") as fault:
        run(bench, folder, "agent:said")
    assert fault.value.usage.calls == 4


def test_broken_unicode_and_huge_answers(bench: Bench, modules: Write) -> None:
    folder = modules(agent="def run(task):\n    return 'a\\ud800b' + 'z' * 3_000_000")
    answer = run(bench, folder, "agent:run").final_answer
    assert answer.startswith("a\\ud800bzz") and len(answer) < 1_001_000 and "characters left out" in answer


def test_it_ends_when_its_parent_dies(modules: Write, tmp_path: Path) -> None:
    import subprocess
    import sys

    pid_file = tmp_path / "pid"
    folder = modules(
        agent=f"""
import os, time
def run(task):
    open({str(pid_file)!r}, "w").write(str(os.getpid()))
    time.sleep(600)
""",
        parent="""
import dataclasses, sys, pathlib
from pytest_gta.agents.child_process import ChildProcess
from pytest_gta.benchmark.task import Brief
folder = pathlib.Path(__file__).parent
work = folder / "work"; work.mkdir()
import os
child = ChildProcess([str(folder), *sys.path], os.environ, output=None)
child.send({"target": "agent:run", "label": "x", "root": str(work), "inputs": [], "tools": [],
            "brief": dataclasses.asdict(Brief("1", "c", ("x",), ()))})
import time; time.sleep(600)
""",
    )
    root = Path(__file__).resolve().parents[2]
    parent = subprocess.Popen([sys.executable, str(folder / "parent.py")], env={**os.environ, "PYTHONPATH": str(root)})
    try:
        assert eventually(lambda: pid_file.exists() and bool(pid_file.read_text()))
        pid = int(pid_file.read_text())
        assert runs(pid)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert eventually(lambda: not runs(pid))


STARTS = """
import os, subprocess, time

def run(task):
    started = subprocess.Popen(["setsid", "sleep", "3600"])
    if not (child := os.fork()):
        os.setsid()
        if not (grandchild := os.fork()):
            open("daemon.txt", "w").write(str(os.getpid()))
            time.sleep(3600)
        os._exit(0)
    os.waitpid(child, 0)
    open("own.txt", "w").write(str(os.getpid()))
    while not os.path.exists("daemon.txt") or not open("daemon.txt").read():
        time.sleep(0.01)
    open("started.txt", "w").write(str(started.pid))
    THEN
"""


@pytest.mark.parametrize(
    "then",
    [
        "return 'done'",
        "time.sleep(3600)",
        "os._exit(3)",
        "os.kill(os.getpid(), 9)",
        "os.kill(os.getppid(), 9); time.sleep(3600)",
    ],
)
def test_what_it_started_ends_with_it_even_in_sessions_of_their_own(
    bench: Bench, modules: Write, then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = modules(starts=STARTS.replace("THEN", then))
    if then == "time.sleep(3600)":
        over_when(monkeypatch, bench.workspace.root / "started.txt")
    record = run(bench, folder, "starts:run", timeout_s=600)
    started = [int((bench.workspace.root / name).read_text()) for name in ("own.txt", "daemon.txt", "started.txt")]
    if "getppid" in then:
        # Without its launcher only the agent itself is sure to end.
        assert (record.stop_reason, record.stop_detail) == (
            StopReason.AGENT_ERROR, "its process lost its launcher before it answered",
        )  # fmt: skip
        for pid in started[1:]:
            os.kill(pid, signal.SIGKILL)
    for pid in started:
        assert eventually(lambda pid=pid: not runs(pid))


def test_an_agent_may_add_to_the_transcript_and_knows_its_turns(bench: Bench, modules: Write) -> None:
    folder = modules(
        telling="""
import os
from pytest_gta.benchmark.usage import Tokens, Usage

def run(tools):
    tools.transcript.add("assistant", "thinking", turn=1, usage=Usage(calls=1, tokens=Tokens(input=9)))
    tools.transcript.add("tool_call", "made up")
    tools.call("Echo", {"text": "a"})
    tools.transcript.add("note", "done", turn="x")
    return os.environ["GTA_MAX_TURNS"]
"""
    )
    record = run(bench, folder, "telling:run")
    assert (record.final_answer, record.turns, record.tool_calls) == ("50", 1, 1)
    steps = [(step.kind, step.text) for step in bench.steps]
    assert steps[1:] == [
        ("assistant", "thinking"), ("tool_call", '{"text": "a"}'), ("tool_result", "echo a"),
        ("note", "done"), ("end", "50"),
    ]  # fmt: skip
    assert bench.steps[1].usage == {"calls": 1, "tokens": {"input": 9, "cached": 0, "output": 0}, "cost_usd": 0.0}


def test_it_is_started_from_a_process_with_very_many_open_files(bench: Bench, modules: Write) -> None:
    folder = modules(answers="def run(task):\n    return 'here'\n")
    try:
        held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1_100)]
    except OSError:
        pytest.skip("the machine allows too few open files")
    try:
        assert run(bench, folder, "answers:run").final_answer == "here"
    finally:
        for number in held:
            os.close(number)
