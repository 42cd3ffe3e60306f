"""What hostile code can reach from inside, tried for real: each attempt costs its own call, and the next call works."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from pytest_gta.workspace.confined_job import PACKAGE, interpreter_paths
from pytest_gta.workspace.confined_process import ConfinedError
from tests.workspace.conftest import Ground, make_ground

SAID = """
def attempt(function, *arguments):
    try:
        return 'did: ' + repr(function(*arguments))
    except BaseException as error:
        return 'refused: ' + type(error).__name__
"""


def answer(ground: Ground, code: str, timeout_s: float = 20) -> str:
    """Run hostile code; its call may be answered with an error, and the next one must work."""
    try:
        said = ground.run(SAID + code, timeout_s)
    except ConfinedError as error:
        said = f"{error.kind}: {error}"
    assert ground.run("def solution(): return 6 * 7") == "42"
    return said


# -- looking outside --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["secret.txt", "end.json", "tasks/two/answer.txt"])
@pytest.mark.parametrize("way", ["{path}", "link", "/proc/self/root{path}", "/proc/self/cwd/../../../{name}"])
def test_files_outside_are_out_of_reach(strong: Ground, name: str, way: str) -> None:
    path = str(strong.outside / name)
    if way == "link":
        (strong.work / "link").unlink(missing_ok=True)
        (strong.work / "link").symlink_to(path)
        way = "link"
    said = answer(strong, f"def solution(): return attempt(lambda: open({way.format(path=path, name=name)!r}).read())")
    assert said.startswith("refused: ")


def test_a_link_made_inside_leads_nowhere(strong: Ground) -> None:
    code = f"""
import os
def solution():
    os.symlink({str(strong.outside / "secret.txt")!r}, 'made')
    return attempt(lambda: open('made').read()), attempt(os.link, {str(strong.outside / "secret.txt")!r}, 'hard')
"""
    assert "planted" not in answer(strong, code)
    assert not (strong.work / "hard").exists()


def test_folders_outside_cannot_be_listed(strong: Ground) -> None:
    code = f"import os\ndef solution(): return attempt(os.listdir, {str(strong.outside)!r})"
    said = answer(strong, code)
    assert "secret.txt" not in said
    assert "end.json" not in said


def test_keys_are_in_no_environment_that_can_be_read(strong: Ground) -> None:
    code = f"""
import os
def solution():
    found = [str(dict(os.environ))]
    for pid in ['self', 1, 2, os.getppid(), {os.getpid()}, *[p for p in os.listdir('/proc') if p.isdigit()][:300]]:
        try:
            found.append(open(f'/proc/{{pid}}/environ').read())
        except OSError:
            pass
    return 'sk-planted' in ''.join(found)
"""
    assert answer(strong, code) == "False"


def test_the_environment_itself_is_clean(ground: Ground) -> None:
    said = answer(ground, "import os\ndef solution(): return sorted(os.environ)")
    assert "OPENAI_API_KEY" not in said
    assert "PYTEST_CURRENT_TEST" not in said
    assert "HOME" in said


def test_a_project_in_a_system_folder_or_in_the_interpreters_prefix_is_not_readable() -> None:
    readable = interpreter_paths()
    for folder in ("/", "/usr", "/usr/src", "/usr/local", "/root", "/home", sys.prefix, sys.base_prefix):
        assert folder not in readable
    assert str(PACKAGE.parent) not in readable


def test_what_lies_beside_this_package_is_out_of_reach(strong: Ground) -> None:
    project = PACKAGE.parent
    # A virtual environment in the project is what the confined interpreter runs from.
    environment = {path.name for path in project.iterdir() if Path(sys.prefix).is_relative_to(path)}
    beside = {path.name for path in project.iterdir()} - {PACKAGE.name} - environment
    code = f"""
import os
def solution():
    tried = [attempt(lambda: open(f'{project}/{{name}}').read()) for name in {beside!r}]
    return attempt(os.listdir, {str(project)!r}), tried
"""
    said = answer(strong, code)
    assert not [name for name in beside if repr(name) in said]
    assert said.count("refused: ") >= len(beside)


@pytest.mark.parametrize("backend", ["sandlock", "bwrap"])
def test_rubrics_among_installed_packages_are_hidden(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "site-packages"
    (packages / "benchmark_tasks" / "mini").mkdir(parents=True)
    (packages / "benchmark_tasks" / "mini" / "end.json").write_text("planted rubric")
    (packages / "other.py").write_text("x = 1")
    monkeypatch.syspath_prepend(str(packages))
    made = make_ground(backend, tmp_path / "own")
    try:
        code = f"""
import os
def solution():
    folder = {str(packages)!r}
    return (open(folder + '/other.py').read(), attempt(lambda: open(folder + '/benchmark_tasks/mini/end.json').read()),
            'end.json' in attempt(os.listdir, folder + '/benchmark_tasks/mini'))
"""
        said = answer(made, code)
    finally:
        made.process.close()
    assert said.startswith("('x = 1', 'refused: ")
    assert said.endswith("False)")


def test_memory_of_other_processes_cannot_be_read(strong: Ground) -> None:
    code = f"""
import os
def solution():
    return [attempt(lambda pid=pid: open(f'/proc/{{pid}}/mem', 'rb').read(1)) for pid in ({os.getpid()}, os.getppid())]
"""
    assert "did" not in answer(strong, code)


# -- changing what is outside -----------------------------------------------------------------------------------------


def test_nothing_outside_can_be_written(strong: Ground) -> None:
    new, secret = str(strong.outside / "new.txt"), str(strong.outside / "secret.txt")
    code = f"""
import os
def solution():
    return [attempt(lambda: open({new!r}, 'w')), attempt(os.unlink, {secret!r}),
            attempt(os.rename, {secret!r}, 'stolen.txt'),
            attempt(lambda: open({str(Path(os.__file__))!r}, 'a')), attempt(os.mkdir, '/gta-made')]
"""
    assert "did" not in answer(strong, code)
    assert (strong.outside / "secret.txt").read_text() == "planted secret"
    assert not (strong.outside / "new.txt").exists()


@pytest.mark.parametrize(
    "attack",
    [
        "open('resources/in.txt', 'w').write('changed')",
        "(os.chmod('resources/in.txt', 0o666), open('resources/in.txt', 'w').write('changed'))",
        "os.unlink('resources/in.txt')",
        "(os.chmod('resources', 0o777), os.unlink('resources/in.txt'))",
        "os.rename('resources', 'elsewhere')",
        "os.truncate('resources/in.txt', 0)",
        "os.replace('mine.txt', 'resources/in.txt')",
        "shutil.rmtree('resources')",
        "open('resources/new.txt', 'w').write('new')",
    ],
)
def test_inputs_stay_as_they_were(ground: Ground, attack: str) -> None:
    if ground.backend == "off":
        pytest.skip("nothing is promised without confinement")
    code = f"import os, shutil\nopen('mine.txt', 'w').write('mine')\ndef solution(): return attempt(lambda: {attack})"
    answer(ground, code)
    assert (ground.work / "resources" / "in.txt").read_text() == "input"
    assert [path.name for path in (ground.work / "resources").iterdir()] == ["in.txt"]


# -- the network ------------------------------------------------------------------------------------------------------


def test_no_network_of_any_kind(strong: Ground) -> None:
    unix = str(strong.outside / "service.sock")
    Path(unix).unlink(missing_ok=True)
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as local,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
    ):
        local.bind(unix)
        local.listen()
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(0.2)
        tcp.settimeout(0.2)
        local.settimeout(0.2)
        code = f"""
import socket
def unix():
    s = socket.socket(socket.AF_UNIX); s.connect({unix!r}); return s
def udp():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', {udp.getsockname()!r})
def solution():
    return [attempt(socket.create_connection, {tcp.getsockname()!r}, 1), attempt(unix), attempt(udp)]
"""
        answer(strong, code)
        for listener in (tcp, local):
            with pytest.raises(TimeoutError):
                listener.accept()
        with pytest.raises(TimeoutError):
            udp.recv(1)


# -- eating what there is ---------------------------------------------------------------------------------------------


def test_spinning_costs_one_call(ground: Ground) -> None:
    assert answer(ground, "while True: pass", timeout_s=1).startswith("timeout: ")


def test_sleeping_behind_ignored_signals_costs_one_call(ground: Ground) -> None:
    code = """
import signal, time
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except OSError: pass
time.sleep(99)
"""
    assert answer(ground, code, timeout_s=1).startswith("timeout: ")


def test_eating_memory_costs_one_call(ground: Ground) -> None:
    if ground.backend == "off":
        pytest.skip("nothing is promised without confinement")
    said = answer(ground, "held = []\nwhile True: held.append(bytearray(1 << 26))")
    assert said.startswith("memory: ")
    assert "GiB" in said


def test_eating_memory_in_many_processes_costs_one_call(ground: Ground) -> None:
    if ground.backend == "off":
        pytest.skip("nothing is promised without confinement")
    code = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        held = bytearray(400 << 20)
        for at in range(0, len(held), 4096): held[at] = 1
        time.sleep(99)
time.sleep(99)
"""
    said = answer(ground, code, timeout_s=60)
    assert said.startswith("memory: ")


def test_filling_the_disk_with_one_file_costs_one_call(ground: Ground) -> None:
    if ground.backend == "off":
        pytest.skip("nothing is promised without confinement")
    said = answer(ground, "with open('big', 'wb') as f:\n    while True: f.write(b'x' * (1 << 20))")
    assert "OSError" in said or said.startswith("disk")
    assert (ground.work / "big").stat().st_size <= 32 << 20
    (ground.work / "big").unlink()


def test_filling_the_disk_with_many_files_costs_one_call(ground: Ground) -> None:
    code = """
import time
open('kept', 'w').write('x')
for n in range(10_000):
    with open(f'big{n}', 'wb') as f:
        for _ in range(20): f.write(b'x' * (1 << 20))
        if n > 5: time.sleep(0.05)
"""
    (ground.work / "before").write_text("before")
    assert answer(ground, code, timeout_s=60).startswith("disk: ")
    assert (ground.work / "before").exists()
    assert not list(ground.work.glob("big*"))


def test_making_files_without_end_costs_one_call(ground: Ground) -> None:
    code = """
import os, time
os.mkdir('many')
for number in range(10**9):
    open(f'many/{number}', 'w').close()
    if number % 20 == 0: time.sleep(0.001)
"""
    assert answer(ground, code, timeout_s=60).startswith("disk: ")
    assert not (ground.work / "many").exists()


def test_a_fork_bomb_costs_one_call(ground: Ground) -> None:
    if ground.backend == "off":
        pytest.skip("nothing is promised without confinement")
    code = """
import os, time
end = time.monotonic() + 1.5
while time.monotonic() < end:
    try: os.fork()
    except OSError: time.sleep(0.01)
time.sleep(99)
"""
    said = answer(ground, code, timeout_s=2)
    assert said.startswith(("timeout: ", "crashed: "))


def test_daemons_do_not_outlive_their_call(ground: Ground) -> None:
    code = """
import os, time
def solution():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                open('alive', 'a').write('x'); time.sleep(0.01)
        os._exit(0)
    while not os.path.exists('alive'): time.sleep(0.01)
    return 'left a daemon'
"""
    assert answer(ground, code) == "left a daemon"
    size = (ground.work / "alive").stat().st_size
    assert answer(ground, "import time\ndef solution(): time.sleep(0.2)") == "None"
    assert (ground.work / "alive").stat().st_size == size


def test_a_flood_of_output_reaches_nobody(ground: Ground, capfd: pytest.CaptureFixture[str]) -> None:
    code = """
import os
for _ in range(2000):
    print('x' * 1000)
    os.write(1, b'y' * 1000)
    os.write(2, b'z' * 1000)
def solution(): return 'done'
"""
    said = answer(ground, code)
    assert said.startswith("done")
    assert "more characters were printed" in said
    assert capfd.readouterr() == ("", "")


def test_an_endless_answer_costs_one_call(ground: Ground) -> None:
    assert answer(ground, "def solution(): return 'x' * (80 << 20)").startswith("memory: ")


# -- other processes --------------------------------------------------------------------------------------------------


def test_others_cannot_be_killed_or_traced(strong: Ground) -> None:
    code = f"""
import ctypes, os, signal
def traced(pid): return ctypes.CDLL(None).ptrace(16, pid, 0, 0)
def solution():
    for pid in (1, {os.getpid()}, {os.getppid()}): attempt(os.kill, pid, signal.SIGKILL)
    return [traced(pid) for pid in ({os.getpid()}, {os.getppid()})]
"""
    assert answer(strong, code) == "[-1, -1]"


def test_killing_the_server_costs_one_call(ground: Ground) -> None:
    code = "import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(99)"
    said = answer(ground, code, timeout_s=5)
    assert said.startswith(("crashed: ", "timeout: "))


def test_stopping_the_server_costs_one_call(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_gta.workspace.confined_process._GRACE_S", 0.5)
    code = "import os, signal, time\nos.kill(os.getppid(), signal.SIGSTOP)\ntime.sleep(99)"
    assert answer(ground, code, timeout_s=0.5).startswith(("crashed: ", "timeout: "))


def test_privileges_cannot_be_had(strong: Ground) -> None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None)
def solution():
    return [libc.mount(b'none', b'/mnt', b'tmpfs', 0, None), libc.umount2(b'resources', 2), libc.unshare(0x10000000),
            libc.chroot(b'.'), attempt(os.setuid, 12345)[:7], attempt(os.chown, 'resources/in.txt', 1, 1)[:7]]
"""
    assert answer(strong, code) == "[-1, -1, -1, -1, 'refused', 'refused']"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os; os._exit(0)", "crashed: it ended without a result"),
        ("import os; os._exit(7)", "crashed: the process crashed: exit status 7"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "crashed: the process crashed: SIGSEGV"),
        ("import ctypes; ctypes.string_at(0)", "crashed: the process crashed: SIGSEGV"),
        ("def f(): return f()\nf()", "raised: RecursionError in line 7 of the code"),
        (
            "import os\nfor fd in range(256):\n    try: os.write(fd, b'{}\\n')\n    except OSError: pass\nos._exit(0)",
            "crashed: ",
        ),
    ],
)
def test_crashes_cost_one_call(ground: Ground, code: str, said: str) -> None:
    assert answer(ground, code).startswith(said)
