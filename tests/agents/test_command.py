"""Any command-line program as an agent: real programs, in a folder of their own."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.agents import command_process
from pytest_gta.agents.building import EXPOSED
from pytest_gta.agents.command import CommandAgent, read_command
from pytest_gta.agents.command_presets import PRESETS, settings_of
from pytest_gta.agents.limits import Limits
from pytest_gta.agents.protocol import AgentUnavailable
from pytest_gta.agents.seclusion import Seclusion, choose_seclusion
from pytest_gta.agents.specification import AgentSpecError
from pytest_gta.benchmark.results import AgentRecord, StopReason
from pytest_gta.llm.endpoint import NO_KEY
from tests.agents.conftest import Bench, brief
from tests.waiting import JumpingClock, eventually, runs

Write = Callable[[str], str]


@pytest.fixture
def program(tmp_path: Path) -> Write:
    """Write a Python program; gives the command that runs it."""
    folder = tmp_path / "project"
    folder.mkdir()

    def write(source: str) -> str:
        (folder / "agent.py").write_text(textwrap.dedent(source))
        return f"{sys.executable} agent.py"

    return write


@pytest.fixture
def run(bench: Bench, tmp_path: Path) -> Callable[..., AgentRecord]:
    def run(
        command: str, *, timeout_s: float = 30.0, seclusion: Seclusion = EXPOSED, deadline_s: float = 60.0, **more: Any
    ) -> AgentRecord:
        limits = Limits(task_timeout_s=timeout_s)
        agent = CommandAgent(command, "cmd", limits, seclusion, bases=[tmp_path / "project"], **more)
        return bench.run(agent, brief("Add it up.", inputs=bench.workspace.inputs), deadline_s=deadline_s)

    return run


def gone(pid: int) -> bool:
    return eventually(lambda: not runs(pid))


@pytest.fixture
def over_when(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have the time of a command be over when a file of the workspace is there."""

    def over_when(name: str) -> None:
        file = bench.workspace.root / name
        JumpingClock(file.exists).stand_in(monkeypatch, "pytest_gta.agents.command_process")

    return over_when


def test_request_inputs_deliverables_and_answer(bench: Bench, run: Callable[..., AgentRecord], program: Write) -> None:
    record = run(
        program("""
        import os, sys
        asked = sys.stdin.read()
        assert asked == open(os.environ["GTA_REQUEST"]).read()
        assert "Add it up." in asked and "resources/notes.txt" in asked and len(sys.argv) == 1
        open("sum.txt", "w").write(open("resources/notes.txt").read() + "!")
        print("\\x1b[1mworking\\x1b[0m", file=sys.stderr)
        print("\\x1b[32mDone\\x1b[0m: sum.txt\\n")
        """)
    )
    assert (record.stop_reason, record.stop_detail, record.final_answer) == (StopReason.FINISHED, "", "Done: sum.txt")
    assert (record.label, record.usage.cost_usd, record.turns) == ("cmd", None, 0)
    assert [d.path for d in bench.workspace.deliverables().files] == ["sum.txt"]
    assert (bench.workspace.root / "sum.txt").read_text() == "42 apples!"
    folder = bench.transcript.parent
    assert "working" in (folder / "agent_errors.txt").read_text()
    assert "Done" in (folder / "agent_output.txt").read_text()


def test_a_final_answer_by_file(run: Callable[..., AgentRecord], program: Write) -> None:
    source = 'import os; print("chatter"); open(os.environ["GTA_FINAL_ANSWER"], "w").write(" The answer. ")'
    assert run(program(source)).final_answer == "The answer."


def test_a_link_as_the_final_answer_is_not_followed(
    run: Callable[..., AgentRecord], program: Write, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    source = f'import os; os.symlink("{tmp_path}/secret", os.environ["GTA_FINAL_ANSWER"]); print("plain")'
    assert run(program(source)).final_answer == "plain"


def test_non_zero_after_good_work_is_judged(bench: Bench, run: Callable[..., AgentRecord], program: Write) -> None:
    record = run(program('import sys; open("a.txt", "w").write("x"); print("made a.txt"); sys.exit("it broke: bad")'))
    assert (record.stop_reason, record.final_answer) == (StopReason.AGENT_ERROR, "made a.txt")
    assert record.stop_detail == "the command exited with status 1: it broke: bad"
    assert [d.path for d in bench.workspace.deliverables().files] == ["a.txt"]


def test_a_signal(run: Callable[..., AgentRecord], program: Write) -> None:
    record = run(program("import os; os.kill(os.getpid(), 9)"))
    assert (record.stop_reason, record.stop_detail) == (StopReason.AGENT_ERROR, "the command was ended by signal 9")


def test_an_outage_of_its_model_is_not_its_fault(run: Callable[..., AgentRecord], program: Write) -> None:
    with pytest.raises(AgentUnavailable, match="does not serve: API Error: 503 Service Unavailable"):
        run(program('import sys; sys.exit("API Error: 503 Service Unavailable")'))
    with pytest.raises(AgentUnavailable, match=r"it has no key or login here .*: Not logged in · Please run /login"):
        run(program('print("Not logged in · Please run /login"); raise SystemExit(1)'))
    done = 'import sys; open("a.txt", "w").write("x"); sys.exit("API Error: 503 Service Unavailable")'
    assert run(program(done)).stop_reason is StopReason.AGENT_ERROR


def test_neither_answer_nor_file(run: Callable[..., AgentRecord]) -> None:
    assert run("true").stop_reason is StopReason.NO_ANSWER


def test_a_missing_program_is_a_usage_error(run: Callable[..., AgentRecord], tmp_path: Path) -> None:
    with pytest.raises(AgentSpecError, match="cmd:no-such-program -x: there is no program 'no-such-program'"):
        read_command("no-such-program -x", [tmp_path])
    with pytest.raises(AgentSpecError, match="cannot be split into words"):
        read_command("echo 'open", [tmp_path])
    with pytest.raises(AgentUnavailable, match="there is no program"):
        run("no-such-program")
    (tmp_path / "project").mkdir(exist_ok=True)
    (tmp_path / "project" / "plain.txt").write_text("not executable")
    with pytest.raises(AgentSpecError, match="is it installed and executable"):
        read_command("./plain.txt", [tmp_path / "project"])


def test_files_of_the_project_are_made_absolute(tmp_path: Path) -> None:
    (tmp_path / "agent.sh").write_text("#!/bin/sh\n")
    (tmp_path / "agent.sh").chmod(0o755)
    preset, program = read_command("./agent.sh --config agent.sh other.sh --x=agent.sh", [tmp_path])
    assert program == str(tmp_path / "agent.sh")
    assert preset.command[1:] == ("--config", str(tmp_path / "agent.sh"), "other.sh", "--x=agent.sh")
    preset, _ = read_command("sh agent.sh", [tmp_path / "elsewhere", tmp_path])
    assert preset.command == ("sh", str(tmp_path / "agent.sh"))


def test_places_are_filled_in(run: Callable[..., AgentRecord], program: Write, bench: Bench) -> None:
    command = program("import sys; print(open(sys.argv[1]).read()[-11:-1] + '|' + '|'.join(sys.argv[2:]))")
    record = run(f"{command} {{request}} {{workspace}} {{model}} {{other}}", environment={"GTA_MODEL": "m-1"})
    assert record.final_answer == f"Add it up.|{bench.workspace.root}|m-1|{{other}}"


def test_printing_100_mb(bench: Bench, run: Callable[..., AgentRecord], program: Write) -> None:
    record = run(
        program("""
        import sys
        line = b"x" * 999 + b"\\n"
        for _ in range(100):
            sys.stdout.buffer.write(line * 1000)
            sys.stderr.buffer.write(b"y" * 10_000)
        sys.stdout.buffer.write(b"The end.\\n")
        """)
    )
    assert record.stop_reason is StopReason.FINISHED
    assert record.final_answer.endswith("x\nThe end.") and len(record.final_answer) <= 20_000
    kept = (bench.transcript.parent / "agent_output.txt").read_bytes()
    assert 5_000_000 <= len(kept) < 6_200_000
    assert b"100,000,009 bytes were printed, this is their end" in kept and kept.endswith(b"The end.\n")
    assert (bench.transcript.parent / "agent_errors.txt").stat().st_size == 1_000_000


def test_secrets_do_not_reach_the_disk(
    bench: Bench, run: Callable[..., AgentRecord], program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "held-key-value-123456")
    record = run(program('import os; print("key", os.environ["SERVICE_API_KEY"])'))
    assert "held-key-value" not in record.final_answer
    assert "held-key-value" not in (bench.transcript.parent / "agent_output.txt").read_text()


def test_the_judges_variables_are_withheld(
    run: Callable[..., AgentRecord], program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_OPENAI_API_KEY", "judge-key")
    monkeypatch.setenv("GTA_DATASET", "/data")
    record = run(program("import os; print(sorted(n for n in os.environ if n.startswith(('EVAL', 'GTA'))))"))
    names = set(json.loads(record.final_answer.replace("'", '"')))
    assert {"GTA_REQUEST", "GTA_FINAL_ANSWER"} <= names and not names & {"EVAL_OPENAI_API_KEY", "GTA_DATASET"}


# -- the deadline -----------------------------------------------------------------------------------------------------


def test_asked_to_end_at_the_deadline(
    bench: Bench, run: Callable[..., AgentRecord], program: Write, over_when: Callable[[str], None]
) -> None:
    over_when("early.txt")
    record = run(
        program("""
        import signal, sys, time
        def end(*_):
            open("late.txt", "w").write("saved")
            print("saved late.txt", flush=True)
            sys.exit(0)
        signal.signal(signal.SIGTERM, end)
        open("early.txt", "w").write("x")
        time.sleep(60)
        """),
        timeout_s=600,
        deadline_s=600,
    )
    assert (record.stop_reason, record.final_answer) == (StopReason.TIMEOUT, "saved late.txt")
    assert record.stop_detail == "still at work after 600 s"
    assert [d.path for d in bench.workspace.deliverables().files] == ["early.txt", "late.txt"]


STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
ignore = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)"
child = subprocess.Popen([sys.executable, "-c", ignore])
escaped = subprocess.Popen([sys.executable, "-c", ignore], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("orphan.pid", "w").write(str(os.getpid()))
        time.sleep(3600)
    os._exit(0)
open("pids.txt", "w").write(f"{os.getpid()} {child.pid} {escaped.pid}")
while not os.path.exists("orphan.pid") or not open("orphan.pid").read():
    time.sleep(0.01)
"""


def pids_in(workspace: Path) -> list[int]:
    return [int(p) for name in ("pids.txt", "orphan.pid") for p in (workspace / name).read_text().split()]


def test_nothing_that_ignores_the_deadline_is_left(
    bench: Bench,
    run: Callable[..., AgentRecord],
    program: Write,
    monkeypatch: pytest.MonkeyPatch,
    over_when: Callable[[str], None],
) -> None:
    monkeypatch.setattr(command_process, "GRACE_S", 0.3)
    over_when("ready")
    record = run(program(STUBBORN + "open('ready', 'w').close()\ntime.sleep(3600)"), timeout_s=600, deadline_s=600)
    assert record.stop_reason is StopReason.TIMEOUT
    pids = pids_in(bench.workspace.root)
    assert len(pids) == 4 and all(gone(pid) for pid in pids)


def test_what_a_finished_command_left_running_is_ended(
    bench: Bench, run: Callable[..., AgentRecord], program: Write
) -> None:
    record = run(program(STUBBORN + "print('done', flush=True)"))
    assert (record.stop_reason, record.final_answer) == (StopReason.FINISHED, "done")
    assert all(gone(pid) for pid in pids_in(bench.workspace.root))


SLEEPS = "import time; open('began', 'w').close(); time.sleep(3600)"


def test_told_to_stop(program: Write, bench: Bench, tmp_path: Path) -> None:
    limits = Limits(task_timeout_s=300)
    agent = CommandAgent(program(SLEEPS), "cmd", limits, EXPOSED, bases=[tmp_path / "project"])

    def stop_once_begun() -> None:
        eventually((bench.workspace.root / "began").exists)
        agent.stop()

    stopper = threading.Thread(target=stop_once_begun)
    stopper.start()
    record = bench.run(agent)
    stopper.join()
    assert (bench.workspace.root / "began").exists()
    assert (record.stop_reason, record.stop_detail) == (StopReason.TIMEOUT, "it was told to stop")
    assert record.wall_s < limits.task_timeout_s


def test_told_to_stop_before_its_command_has_started(program: Write, bench: Bench, tmp_path: Path) -> None:
    class StopsMeanwhile(Seclusion):
        def wrap(self, command: Sequence[str], **_: Any) -> list[str]:
            agent.stop()
            return list(command)

    limits = Limits(task_timeout_s=120)
    seclusion = StopsMeanwhile(EXPOSED.program, EXPOSED.note, EXPOSED.hidden, EXPOSED.kept)
    agent = CommandAgent(program(SLEEPS), "cmd", limits, seclusion, bases=[tmp_path / "project"])
    record = bench.run(agent)
    assert (record.stop_reason, record.stop_detail) == (StopReason.TIMEOUT, "it was told to stop")
    assert record.wall_s < limits.task_timeout_s


def test_links_and_special_files_are_not_taken(bench: Bench, run: Callable[..., AgentRecord], program: Write) -> None:
    run(
        program("""
        import os
        os.symlink("/etc/hostname", "link.txt")
        os.symlink("/etc", "folder")
        os.mkfifo("pipe")
        open("real.txt", "w").write("x")
        """)
    )
    found = bench.workspace.deliverables()
    assert [d.path for d in found.files] == ["real.txt"]
    assert {n.path: n.reason for n in found.not_taken} == {
        "folder": "a link, not a file of its own",
        "link.txt": "a link, not a file of its own",
        "pipe": "a named pipe, not a file of its own",
    }


# -- the tools --------------------------------------------------------------------------------------------------------

CLIENT = """
import asyncio, json, os
import httpx
server = json.load(open(os.environ["GTA_MCP_CONFIG"]))["mcpServers"]["gta"]
assert server["type"] == "http" and server["url"] == os.environ["GTA_MCP_URL"]
http = httpx.Client(headers={**server["headers"], "Accept": "application/json, text/event-stream"}, timeout=30)
def post(body, **headers):
    response = http.post(server["url"], json={"jsonrpc": "2.0", **body}, headers=headers)
    assert response.status_code < 300, response.text
    lines = [line[5:] for line in response.text.splitlines() if line.startswith("data:")] or [response.text]
    return response, json.loads(lines[-1]) if lines[-1].strip() else None
hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
response, _ = post({"id": 1, "method": "initialize", "params": hello})
session = {"Mcp-Session-Id": response.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-06-18"}
post({"method": "notifications/initialized"}, **session)
_, listed = post({"id": 2, "method": "tools/list"}, **session)
def call(number, name, **arguments):
    params = {"name": name, "arguments": arguments}
    _, answer = post({"id": number, "method": "tools/call", "params": params}, **session)
    return answer["result"]["content"][0]["text"]
names = sorted(tool["name"] for tool in listed["result"]["tools"])
print(names, call(3, "Write", filename="made.txt", text="by a tool"), "|", call(4, "Echo"))
unauthorized = httpx.post(server["url"], json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
assert unauthorized.status_code == 401
"""


def test_the_tools_are_served_and_calls_are_counted(
    bench: Bench, run: Callable[..., AgentRecord], program: Write
) -> None:
    pytest.importorskip("mcp")
    record = run(program(CLIENT))
    assert record.stop_reason is StopReason.FINISHED, record.stop_detail
    assert record.final_answer.startswith(
        "['Broken', 'Echo', 'Faulty', 'Long', 'Write'] wrote made.txt | Echo was not run"
    )
    assert (record.tool_calls, record.tool_errors, bench.seen) == (2, 1, [("Write", "made.txt")])
    assert [s.name for s in bench.steps_of("tool_call")] == ["Write", "Echo"]
    assert not (bench.transcript.parent / "command" / "mcp.json").exists()


def test_without_the_mcp_package_the_command_runs_without_tools(
    bench: Bench, run: Callable[..., AgentRecord], program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pytest_gta.tools.mcp_server", None)
    record = run(program('import os, sys; print("GTA_MCP_CONFIG" in os.environ, "MCP" in sys.stdin.read())'))
    assert record.final_answer == "False False"
    assert any("pip install 'pytest-gta[mcp]'" in step.text for step in bench.steps_of("note"))


# -- what it cannot see -----------------------------------------------------------------------------------------------


@pytest.fixture
def hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Seclusion:
    """A home with a key, a dataset and another task, hidden with bubblewrap; the project stays."""
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "key").write_text("secret")
    (tmp_path / "home" / ".tool").mkdir()
    (tmp_path / "home" / ".tool" / "login.json").write_text("login")
    (tmp_path / "project" / "dataset").mkdir(parents=True, exist_ok=True)
    (tmp_path / "project" / "dataset" / "end.json").write_text("rubric")
    (tmp_path / "project" / "dataset.zip").write_text("rubric")
    (tmp_path / "task" / "verdicts.jsonl").write_text("verdict")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    seclusion = choose_seclusion("auto", [project / "dataset", project / "dataset.zip", tmp_path / "task"], [project])
    if not seclusion.program:
        pytest.skip(seclusion.note)
    return seclusion


def test_home_dataset_and_other_tasks_are_hidden(
    bench: Bench, run: Callable[..., AgentRecord], program: Write, hidden: Seclusion, tmp_path: Path
) -> None:
    record = run(
        program(f"""
        import json, os
        from pathlib import Path
        top = Path("{tmp_path}")
        def read(path):
            try:
                return Path(path).read_text()
            except OSError as error:
                return type(error).__name__
        seen = {{name: read(top / name) for name in (
            "home/.ssh/key", "project/dataset/end.json", "project/dataset.zip", "task/verdicts.jsonl")}}
        processes = [p for p in os.listdir("/proc") if p.isdigit()]
        seen["others"] = [p for p in processes if "EVAL_OPENAI_API_KEY" in read(f"/proc/{{p}}/environ")]
        request = os.environ["GTA_REQUEST"]
        for path in ("resources/notes.txt", "/etc/probe", "{tmp_path}/project/probe", request + ".probe"):
            try:
                Path(path).write_text("changed")
                seen[path.replace(str(top), "")] = "written"
            except OSError as error:
                seen[path.replace(str(top), "")] = "refused"
        Path(os.environ["HOME"], "note").write_text("mine")
        Path("made.txt").write_text(Path("resources/notes.txt").read_text())
        print(json.dumps(seen))
        """),
        seclusion=hidden,
    )
    assert record.stop_reason is StopReason.FINISHED, record.stop_detail
    seen = json.loads(record.final_answer)
    assert seen.pop("project/dataset.zip") in ("", "PermissionError")
    assert seen == {
        "home/.ssh/key": "FileNotFoundError",
        "project/dataset/end.json": "FileNotFoundError",
        "task/verdicts.jsonl": "FileNotFoundError",
        "others": [],
        "resources/notes.txt": "refused",
        "/etc/probe": "refused",
        "/project/probe": "refused",
        "/task/command/request.txt.probe": "written",
    }
    assert (bench.workspace.root / "made.txt").read_text() == "42 apples"
    assert not (tmp_path / "home" / "note").exists()


def test_a_secluded_command_is_asked_to_end_and_has_the_tools(
    bench: Bench,
    run: Callable[..., AgentRecord],
    program: Write,
    hidden: Seclusion,
    over_when: Callable[[str], None],
) -> None:
    pytest.importorskip("mcp")
    record = run(program(CLIENT), seclusion=hidden)
    assert record.stop_reason is StopReason.FINISHED, record.stop_detail
    assert (record.tool_calls, record.tool_errors) == (2, 1)
    waiting = """
    import signal, sys, time
    signal.signal(signal.SIGTERM, lambda *_: (print("saved", flush=True), sys.exit(0)))
    open("ready", "w").close()
    time.sleep(60)
    """
    over_when("ready")
    record = run(program(waiting), seclusion=hidden, timeout_s=600, deadline_s=600)
    assert (record.stop_reason, record.final_answer) == (StopReason.TIMEOUT, "saved")


@pytest.mark.parametrize("requested", ["off", "process"])
def test_what_is_not_secluded_says_so(requested: str, tmp_path: Path) -> None:
    seclusion = choose_seclusion(requested, [tmp_path], [])
    assert seclusion.program == "" and seclusion.note.startswith("WARNING not secluded")
    words = seclusion.wrap(["x"], workspace=tmp_path, inputs=[], private=tmp_path)
    assert words == ["x"]


def test_a_project_that_is_the_home_does_not_bring_it_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "me"
    (home / "proj").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("pytest_gta.agents.seclusion._fault", lambda: "")
    assert choose_seclusion("auto", [], [home, tmp_path, home / "proj"]).kept == (home / "proj",)


def test_packages_beside_a_program_of_npm_stay_visible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "me"
    program = home / "node_modules" / "@a" / "b" / "bin" / "tool.js"
    program.parent.mkdir(parents=True)
    program.write_text("")
    linked = home / "node_modules" / ".bin" / "tool"
    linked.parent.mkdir()
    linked.symlink_to(program)
    monkeypatch.setenv("HOME", str(home))
    seclusion = Seclusion("/usr/bin/bwrap", "", (), ())
    words = seclusion.wrap([str(linked)], workspace=tmp_path / "w", inputs=[], private=tmp_path / "p", path="/usr/bin")
    shown = [words[index + 1] for index, word in enumerate(words) if word == "--ro-bind"]
    assert str(home / "node_modules") in shown and str(home) not in shown


# -- presets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_presets_run_their_program_with_their_words(
    name: str, bench: Bench, run: Callable[..., AgentRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for the program says how it was started."""
    stand_in = tmp_path / "bin" / PRESETS[name].command[0]
    stand_in.parent.mkdir()
    stand_in.write_text(
        f"#!{sys.executable}\nimport json, os, sys\nvariable = {PRESETS[name].settings_variable!r}\n"
        "settings = json.load(open(os.environ[variable])) if variable else None\n"
        "print(json.dumps([sys.argv[1:], settings, 'Add it up.' in sys.stdin.read()]))\n"
    )
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}")
    record = run(name, environment={"GTA_MODEL": "some-model"})
    words, settings, at_stdin = json.loads(record.final_answer)
    assert at_stdin and not any("Add it up" in word or "{" in word.replace("{}", "") for word in words)
    assert "some-model" in words
    if PRESETS[name].settings:
        servers = settings.get("mcpServers") or settings["mcp"].get("servers") or settings["mcp"]
        served = servers["gta"]
        assert str(served.get("url") or served.get("httpUrl")).startswith("http://127.0.0.1:")
        # A tool of ours may take longer than a program waits by itself.
        assert served.get("timeout", served.get("requestTimeoutMs")) >= 3_600_000
    with pytest.raises(AgentSpecError, match="install it"):
        monkeypatch.setenv("PATH", "/nowhere")
        read_command(name, [tmp_path])


def test_settings_without_tools_name_none() -> None:
    nowhere = {"mcp_url": "", "model": "m", "base_url": ""}
    assert settings_of("gemini", nowhere, "") == {}
    assert settings_of("opencode", nowhere, "") == {"autoupdate": False, "share": "disabled"}
    assert settings_of("openclaw", nowhere, "") == {}


def test_settings_of_the_users_own_are_included(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    own = tmp_path / ".openclaw" / "openclaw.json"
    own.parent.mkdir()
    own.write_text("{agents: {}}  // JSON5")
    assert settings_of("openclaw", {"mcp_url": "", "model": "", "base_url": ""}, "") == {"$include": str(own)}


def test_a_server_of_the_users_own_is_told_to_those_that_can_use_one(
    run: Callable[..., AgentRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "http://127.0.0.1:9/v1"
    told = {"GTA_MODEL": "some-model", "GTA_BASE_URL": url}
    for name in ("codex", "opencode", "openclaw"):
        stand_in = tmp_path / "bin" / name
        stand_in.parent.mkdir(exist_ok=True)
        stand_in.write_text(
            f"#!{sys.executable}\nimport json, os, sys\nfile = os.environ.get({PRESETS[name].settings_variable!r})\n"
            "told = json.load(open(file)) if file else os.environ['OPENAI_API_KEY']\n"
            "print(json.dumps([sys.argv[1:], told]))\n"
        )
        stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    words, key = json.loads(run("codex", environment=told).final_answer)
    assert key == NO_KEY  # without one it would not begin
    assert words.count("--model") == 1 and words[words.index("--model") + 1] == "some-model"
    assert f'model_providers.gta.base_url="{url}"' in words and 'model_provider="gta"' in words
    words, settings = json.loads(run("opencode", environment=told).final_answer)
    assert words[words.index("--model") + 1] == "gta/some-model"
    provider = settings["provider"]["gta"]
    assert provider["options"] == {"baseURL": url, "apiKey": "{env:OPENAI_API_KEY}"}
    assert provider["models"] == {"some-model": {}}
    words, settings = json.loads(run("openclaw", environment=told).final_answer)
    assert words[words.index("--model") + 1] == "gta/some-model"
    provider = settings["models"]["providers"]["gta"]
    assert (provider["baseUrl"], provider["apiKey"]) == (url, "${OPENAI_API_KEY}")
    assert [model["id"] for model in provider["models"]] == ["some-model"]
