"""A large program of the machine (an office suite, a browser): run confined and bounded, ended with all it started.

Such programs need more of the system than a `ConfinedProcess` grants and start anew for each file. Under bubblewrap
they have no network and see the system's programs, what they are given, and their own folder. Where bubblewrap does not
work they have the user's own rights, a private folder, and the limits on time, memory and file size.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_gta.workspace import process_tree
from pytest_gta.workspace.confined_job import SYSTEM, SYSTEM_FILES, clean_environment

MEMORY_BYTES = 3 * 1024**3
"""Memory that all processes of a program may hold together; pages they share are counted in each."""

_FILE_BLOCKS = 1024**3 // 512
_OF_PROGRAMS = (
    *("/etc/libreoffice", "/etc/chromium", "/etc/chromium.d", "/etc/opt/chrome", "/etc/passwd", "/etc/group"),
    *("/opt", "/var/lib/libreoffice", "/usr/local/share/fonts"),
)
_POLL_S = 0.05
_TEMPORARY = "/tmp"  # noqa: S108 - inside, where nobody else is
_NOWHERE = "http://127.0.0.1:9"
# The program talks over two pipes, numbered 3 and 4, that are given as its standard input and output.
_PIPED = 'exec "$@" 3<&0 4>&1 0</dev/null 1>/dev/null'
_QUIET = 'exec "$@" 0</dev/null 1>/dev/null'


class ProgramFailed(Exception):
    """A program that did not do its work; the message is one plain clause, without paths of this machine."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run.

    Attributes:
        name: What it is called in messages.
        command: Its file and arguments.
        folder: Its private folder, the only one it may write in: home, temporary files and results.
        readable: What else it may read.
        confined: Whether to run it under bubblewrap.
        memory_bytes: Memory that it may hold.
    """

    name: str
    command: tuple[str, ...]
    folder: Path
    readable: tuple[Path, ...] = ()
    confined: bool = True
    memory_bytes: int = MEMORY_BYTES


def run_program(program: Program, timeout_s: float) -> None:
    """Run a program to its end.

    Raises:
        ProgramFailed: When it cannot be started, fails, or outgrows its time or memory. It is not running then.
    """
    with running(program) as process:
        watch = Watch(program, process, timeout_s)
        while process.poll() is None:
            watch.look()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_S)
        if process.returncode != 0:
            raise ProgramFailed(f"{program.name} ended with code {process.returncode}")


@contextlib.contextmanager
def running(program: Program, *, piped: bool = False) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program, and end it and all it started when the block is left.

    Args:
        program: What to run.
        piped: Whether it talks over pipes: what is written to the process's `stdin` it reads as file 3, what it
            writes to file 4 is read from `stdout`.

    Raises:
        ProgramFailed: When it cannot be started.
    """
    script = f"ulimit -f {_FILE_BLOCKS}; ulimit -c 0; {_PIPED if piped else _QUIET}"
    command = ["/bin/sh", "-c", script, "sh", *(_bubblewrap(program) if program.confined else ()), *program.command]
    pipe = subprocess.PIPE if piped else subprocess.DEVNULL
    environment = clean_environment(str(program.folder)) | dict.fromkeys(("http_proxy", "https_proxy"), _NOWHERE)
    try:
        process = subprocess.Popen(  # noqa: S603 - a program of the user's own search path, our own words
            command,
            cwd=program.folder,
            env=environment,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise ProgramFailed(f"{program.name} cannot be started ({error.strerror})") from None
    try:
        yield process
    finally:
        _end(process)


class Watch:
    """Bounds on a program while it runs.

    Args:
        program: The program.
        process: It, running.
        timeout_s: Seconds from now until it must be done.
    """

    def __init__(self, program: Program, process: subprocess.Popen[bytes], timeout_s: float) -> None:
        self._program, self._process = program, process
        self._timeout_s = timeout_s
        self._deadline = time.monotonic() + timeout_s
        self._next_look = 0.0

    @property
    def left_s(self) -> float:
        """Seconds that are left; below zero when the time is over."""
        return self._deadline - time.monotonic()

    def look(self) -> None:
        """Check time and memory.

        Raises:
            ProgramFailed: When it has had more than its share.
        """
        now = time.monotonic()
        if now > self._deadline:
            raise ProgramFailed(f"{self._program.name} took longer than {self._timeout_s:.0f} s")
        if now < self._next_look:
            return
        self._next_look = now + 0.25
        held = sum(process_tree.resident_bytes(pid) for pid in process_tree.descendants(self._process.pid))
        if held > self._program.memory_bytes:
            raise ProgramFailed(f"{self._program.name} took more than {self._program.memory_bytes // 1024**2:,} MB")


def _bubblewrap(program: Program) -> list[str]:
    arguments = [shutil.which("bwrap") or "bwrap", "--unshare-all", "--unshare-user", "--die-with-parent"]
    arguments += ["--new-session", "--cap-drop", "ALL", "--hostname", "workspace"]
    # A short path: names of sockets may have 107 bytes. On disk, where it takes no memory.
    temporary = program.folder / "tmp"
    temporary.mkdir(exist_ok=True)
    arguments += ["--proc", "/proc", "--dev", "/dev", "--bind", str(temporary), _TEMPORARY]
    arguments += ["--setenv", "TMPDIR", _TEMPORARY]
    for path in (*SYSTEM, *SYSTEM_FILES, *_OF_PROGRAMS):
        arguments += ["--ro-bind-try", path, path]
    for place in program.readable:
        arguments += ["--ro-bind", str(place), str(place)]
    folder = str(program.folder)
    return [*arguments, "--bind", folder, folder, "--remount-ro", "/", "--chdir", folder, "--"]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program with its whole group; under bubblewrap its namespace, and all in it, ends as well."""
    process_tree.end(process_tree.descendants(process.pid))
    with contextlib.suppress(OSError):
        os.killpg(process.pid, 9)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
