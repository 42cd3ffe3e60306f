"""The confined process as its users see it: values pass, errors are told apart, it starts anew, and ends with them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pytest_gta.workspace import bytecode
from pytest_gta.workspace.confined_process import ConfinedError, ConfinedProcess, Limits
from pytest_gta.workspace.confinement import Confinement, ConfinementUnavailable
from tests.waiting import eventually, runs
from tests.workspace.conftest import Ground, confinement, make_ground

RUN = "pytest_gta.tools.python_code:solve"


def test_values_pass_both_ways(ground: Ground) -> None:
    rows = [["Ü", "资料", "🙂", 'x"\\\n'], [1, -2.5, None, True]]
    assert ground.process.call("json:loads", {"s": '{"a": [1, 2.5, null, "é"]}'}, 5) == {"a": [1, 2.5, None, "é"]}
    assert ground.process.call("json:dumps", {"obj": rows, "ensure_ascii": False}, 5) == json.dumps(
        rows, ensure_ascii=False
    )


def test_large_values_pass_both_ways(ground: Ground) -> None:
    large = "x" * (20 << 20)
    assert ground.process.call("textwrap:dedent", {"text": large}, 20) == large


def test_an_exception_is_told_without_host_paths(ground: Ground) -> None:
    with pytest.raises(ConfinedError) as raised:
        ground.process.call("shutil:copyfile", {"src": f"{ground.work}/no.txt", "dst": "x"}, 5)
    assert (raised.value.kind, raised.value.error_type) == ("raised", "FileNotFoundError")
    assert "no.txt" in str(raised.value)
    assert str(ground.work) not in str(raised.value)


def test_an_unknown_function_is_an_error_of_its_call(ground: Ground) -> None:
    with pytest.raises(ConfinedError, match="No module named 'nowhere'"):
        ground.process.call("nowhere:f", {}, 5)
    with pytest.raises(ConfinedError, match="nothing"):
        ground.process.call("json:nothing", {}, 5)
    assert ground.run("def solution(): return 1") == "1"


def test_a_value_that_is_no_json_is_an_error(ground: Ground) -> None:
    with pytest.raises(ConfinedError, match="not JSON serializable"):
        ground.process.call("pathlib:Path", {}, 5)


def test_calls_start_in_the_workspace_with_nothing_left_of_the_last(ground: Ground) -> None:
    code = """
import os, tempfile
def solution():
    os.environ['LEFT'] = '1'
    import json; json.left = 1
    with tempfile.NamedTemporaryFile(delete=False) as f: f.write(b'x')
    home = os.environ['HOME']
    return os.getcwd(), os.path.dirname(f.name) == home, os.listdir(home) == [os.path.basename(f.name)]
"""
    for _ in range(2):
        assert ground.run(code) == str((str(ground.work), True, True))
    assert ground.run("import os, json\ndef solution(): return 'LEFT' in os.environ, hasattr(json, 'left')") == str(
        (False, False)
    )


def test_a_reader_may_read_and_not_write(tmp_path: Path) -> None:
    (tmp_path / "read").mkdir()
    (tmp_path / "read" / "a.txt").write_text("content")
    (tmp_path / "read" / "b.txt").write_text("kept")
    for backend in ("sandlock", "bwrap"):
        with ConfinedProcess(confinement(backend), readable=[tmp_path / "read"]) as process:
            path = str(tmp_path / "read" / "a.txt")
            assert process.call("linecache:getline", {"filename": path, "lineno": 1}, 5) == "content\n"
            for target in (f"{tmp_path}/read/b.txt", f"{tmp_path}/read/new.txt"):
                with pytest.raises(ConfinedError, match=r"Permission denied|Read-only file system"):
                    process.call("shutil:copyfile", {"src": path, "dst": target}, 5)


def _below(pid: int) -> list[int]:
    from pytest_gta.workspace.process_tree import descendants

    return descendants(pid)


_HOLDER = """
import sys, threading
from pathlib import Path
from pytest_gta.workspace.confined_process import ConfinedProcess
from pytest_gta.workspace.confinement import Confinement
process = ConfinedProcess(Confinement(sys.argv[1], ""), readable=[Path(sys.argv[2])], writable=Path(sys.argv[2]))
process.call("os:getpid", {}, 30)
print("ready", flush=True)
process.call("pytest_gta.tools.python_code:solve", {"command": "while True: pass"}, 300)
"""


@pytest.mark.parametrize("backend", ["sandlock", "bwrap", "process", "off"])
def test_everything_ends_with_the_program_that_started_it(backend: str, tmp_path: Path) -> None:
    confinement(backend)
    (tmp_path / "work").mkdir()
    (tmp_path / "temporary").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    command = [sys.executable, "-c", _HOLDER, backend, str(tmp_path / "work")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        assert eventually(lambda: len(_below(holder.pid)) >= 3)
        started = _below(holder.pid)
        holder.send_signal(signal.SIGKILL)
    assert eventually(lambda: not any(runs(pid) for pid in started))
    assert eventually(lambda: not list((tmp_path / "temporary").iterdir()))


def test_closing_leaves_no_process_and_no_file(ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = set(_below(os.getpid()))
    made = make_ground(ground.backend, tmp_path / "own")
    assert made.run("def solution(): return 1") == "1"
    assert set(_below(os.getpid())) - before
    made.process.close()
    made.process.close()
    assert eventually(lambda: not set(_below(os.getpid())) - before)
    assert [path.name for path in tmp_path.iterdir()] == ["own"]


def test_an_interrupted_call_leaves_a_process_that_works(ground: Ground) -> None:
    def interrupt() -> None:
        if eventually((ground.work / "began").exists):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        ground.run("import time\nopen('began', 'w').close()\ntime.sleep(120)", 120)
    thread.join()
    (ground.work / "began").unlink()
    assert ground.run("def solution(): return 'next'") == "next"


def test_a_confinement_that_cannot_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    process = ConfinedProcess(Confinement("off", ""), readable=[], writable=tmp_path)
    with pytest.raises(ConfinementUnavailable, match="a process confined by off cannot be started: it ended at once"):
        process.call("os:getpid", {}, 5)


def test_a_call_costs_little(ground: Ground) -> None:
    ground.process.call("os:getpid", {}, 5)
    took: list[float] = []
    for _ in range(20):
        started = time.perf_counter()
        ground.process.call("os:getpid", {}, 30)
        took.append(time.perf_counter() - started)
    assert min(took) < 0.1  # 2 to 7 ms; the bound is for a busy machine


def test_inputs_are_put_back_where_nothing_can_shield_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_gta.workspace.protected_copies import ProtectedCopies

    folder = tmp_path / "resources" / "files"
    folder.mkdir(parents=True)
    for name in ("a", "b", "c", "d", "e"):
        (folder / name).write_text(name)
    (folder / "e").chmod(0o444)
    folder.chmod(0o555)
    copies = ProtectedCopies([str(tmp_path / "resources")])
    assert copies.put_back() == []
    folder.chmod(0o755)
    (folder / "a").write_text("changed")
    (folder / "b").unlink()
    (folder / "c").unlink()
    (folder / "c").symlink_to("/etc/hostname")
    (folder / "d").unlink()
    (folder / "d").mkdir()
    (folder / "new").write_text("new")
    assert copies.put_back() == ["a", "b", "c", "d", "new"]
    assert {path.name: path.read_text() for path in folder.iterdir()} == {name: name for name in "abcde"}
    assert not (folder / "c").is_symlink()
    (tmp_path / "resources").rename(tmp_path / "elsewhere")
    (tmp_path / "resources").symlink_to("/etc")
    assert copies.put_back() == ["a", "b", "c", "d", "e"]
    assert (folder / "e").read_text() == "e"
    copies.close()


@pytest.mark.parametrize("backend", ["sandlock", "bwrap", "process"])
def test_in_a_folder_that_others_write_in_too_nothing_is_removed(backend: str, tmp_path: Path) -> None:
    ground = make_ground(backend, tmp_path, Limits(disk_bytes=64 << 20, shared=True))
    code = """
import time
for n in range(10_000):
    with open(f'big{n}', 'wb') as f:
        for _ in range(20): f.write(b'x' * (1 << 20))
        if n > 5: time.sleep(0.05)
"""
    try:
        with pytest.raises(ConfinedError, match="more than a call may; the files it made were left") as ended:
            ground.run(code, 60)
        assert ground.run("def solution(): return 42") == "42"
    finally:
        ground.process.close()
    assert ended.value.kind == "disk"
    assert (ground.work / "big0").stat().st_size == 20 << 20
    for path in ground.work.glob("big*"):
        path.unlink()


def test_libraries_are_compiled_once_for_all_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # An environment whose packages lie uncompiled, as some installers leave them.
    packages = tmp_path / "site-packages"
    (packages / "large_library").mkdir(parents=True)
    names = [f"part{number}" for number in range(60)]
    for name in names:
        (packages / "large_library" / f"{name}.py").write_text("x = 1\n")
    (packages / "large_library" / "part0.py").write_text("raise SystemExit('compiling runs nothing')")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert bytecode.folder() is not None
    started = bytecode.start_compiling(
        [*(str(packages / "large_library" / f"{name}.py") for name in names), "/etc/passwd", str(tmp_path / "x.py")],
        [str(packages)],
    )
    assert started is not None
    assert started.wait(30) == 0
    kept = bytecode.folder()
    assert kept is not None
    compiled = sorted(path.name.partition(".")[0] for path in kept.rglob("large_library/*.pyc"))
    assert compiled == sorted(names)
    assert kept.stat().st_mode & 0o777 == 0o700
