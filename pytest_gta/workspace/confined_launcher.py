"""The launcher of a confined process: starts the server inside the confinement, watches over it, ends all of it.

It runs outside the confinement with a clean environment, so that nothing worth reading is in it, and as a process of
its own, so that the program it serves has no threads, handlers or children that it did not ask for. It ends when the
program does: the pipe that requests come through is then closed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from pytest_gta.workspace import process_tree
from pytest_gta.workspace.confined_job import PACKAGE, Job, Limits

_NEW_MOUNTS = 0x00020000
_NEW_USER = 0x10000000
_MS_RDONLY, _MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x1, 0x20, 0x1000, 0x4000, 0x40000

SERVER = (
    "import importlib.util as u,sys;"
    "p=sys.argv[1];s=u.spec_from_file_location('pytest_gta',p+'/__init__.py',submodule_search_locations=[p]);"
    "m=u.module_from_spec(s);sys.modules['pytest_gta']=m;s.loader.exec_module(m);"
    "from pytest_gta.workspace.confined_server import main;main(sys.argv[2],sys.argv[3])"
)
"""Starts the server when only this package's own folder, not the one above it, can be read."""

Ended = Callable[[], bool]


def main(line: str) -> None:
    """Start the server of a job and stay until it or the program that asked for it ends.

    Args:
        line: The `Job` as JSON.
    """
    job = Job.from_json(line)
    process_tree.adopt_orphans()
    if job.backend != "off":
        _limit(job.limits)
    # bubblewrap makes the mounts it needs itself.
    shielded = job.backend == "bwrap" or _shield(job.protected)
    options = ["-I", "-B", *(["-X", f"pycache_prefix={job.bytecode}"] if job.bytecode else [])]
    command = [job.python, *options, "-c", SERVER, str(PACKAGE), line, "shielded" if shielded else "open"]
    server, ended = _start(job, command)
    # The program learns from the closing of this pipe that the server is gone: only the server may hold it.
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        _watch(job, server, ended)
    finally:
        process_tree.end_descendants()
        shutil.rmtree(job.scratch, ignore_errors=True)


def _start(job: Job, command: list[str]) -> tuple[int, Ended]:
    """Start the server; return its process, or the one that keeps it, and how to ask whether it has ended."""
    if job.backend == "sandlock":
        from sandlock.sandbox import Sandbox

        devices = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/proc")
        sandbox = Sandbox(
            fs_readable=[*job.readable, *(path for path in devices if Path(path).exists())],
            fs_writable=[path for path in (job.writable, job.scratch, "/dev/null") if path],
            fs_denied=list(job.hidden),
            extra_deny_syscalls=["fallocate"],  # fills a disk at once, before anything can be measured
            max_processes=job.limits.processes,
            cwd=job.cwd,
        )
        process = sandbox.popen(command)
        handle = os.pidfd_open(process.pid)
        # The child lives as long as these objects do, so the answer to "has it ended" keeps them.
        return process.pid, lambda: not process.pid or bool(select.select([handle], [], [], 0)[0])
    if job.backend == "bwrap":
        command = [*_bubblewrap(job), *command]
    child = subprocess.Popen(command, cwd=job.cwd)  # noqa: S603 - our own words and paths
    return child.pid, lambda: child.poll() is not None


def _bubblewrap(job: Job) -> list[str]:
    arguments = [
        job.bwrap,
        "--unshare-all",
        "--unshare-user",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
    ]
    arguments += ["--disable-userns"] if _knows(job.bwrap, "--disable-userns") else []
    arguments += ["--hostname", "workspace", "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    for path in job.readable:
        arguments += ["--ro-bind", path, path]
    for link, target in job.links:
        arguments += ["--symlink", target, link]
    for path in job.hidden:
        arguments += ["--tmpfs", path, "--remount-ro", path]
    arguments += ["--bind", job.scratch, job.scratch]
    if job.writable:
        arguments += ["--bind", job.writable, job.writable]
    for path in job.protected:
        arguments += ["--ro-bind", path, path]
    return [*arguments, "--remount-ro", "/", "--chdir", job.cwd, "--"]


def _knows(program: str, option: str) -> bool:
    """Whether a program's help names an option; older ones of bubblewrap lack some."""
    shown = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    return option in shown.stdout + shown.stderr


def _limit(limits: Limits) -> None:
    for kind, value in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def _shield(paths: tuple[str, ...]) -> bool:
    """Make paths read-only for this process and all below it, whatever their owner and modes; False when it cannot."""
    if not paths:
        return True
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(_NEW_MOUNTS) != 0:
        if libc.unshare(_NEW_MOUNTS | _NEW_USER) != 0:
            return False
        try:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        except OSError:
            return False
    if libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        return False
    for path in paths:
        target = os.fsencode(path)
        if libc.mount(target, target, None, _MS_BIND | _MS_REC, None) != 0:
            return False
        # Flags the mount below has (no devices, no set-user-id, ...) may not be taken away, so they are given again.
        kept = os.statvfs(path).f_flag & (0x2 | 0x4 | 0x8 | 0x400 | 0x800 | 0x200000)
        if libc.mount(b"none", target, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | kept, None) != 0:
            return False
    return True


def _watch(job: Job, server: int, ended: Ended) -> None:
    """Stay until the server ends or the pipe of requests is closed; end the call that outgrows the limits."""
    pipe = select.poll()
    pipe.register(0, 0)  # only its closing is reported; the requests in it are the server's
    busy = False
    while not ended():
        if any(event & (select.POLLHUP | select.POLLERR) for _, event in pipe.poll(100 if busy else 400)):
            return
        while _reaped():
            pass
        calls = _calls_below(job, server)
        busy = bool(calls)
        if busy and job.backend != "off":
            _hold_back(job.limits, server, calls)


def _calls_below(job: Job, server: int) -> list[int]:
    """The processes of the running call. Under bubblewrap the server is a grandchild of the one that was started."""
    below = process_tree.descendants(server)
    if job.backend != "bwrap":
        return below
    keepers = [server, *process_tree.children(server)]
    below = [pid for pid in below if pid not in keepers]
    return below[1:]


def _hold_back(limits: Limits, server: int, calls: list[int]) -> None:
    if len(calls) > limits.processes:
        reason = "processes"
    else:
        # What the server itself holds is shared with each fork of it, and counted in none.
        base = process_tree.resident_bytes(server)
        if sum(max(0, process_tree.resident_bytes(pid) - base) for pid in calls) <= limits.memory_bytes:
            return
        reason = "memory"
    print(f"ended a call: {reason}", file=sys.stderr, flush=True)
    for _ in range(50):
        process_tree.end(calls)
        calls = [pid for pid in process_tree.descendants(server) if pid in calls]
        if not calls:
            return


def _reaped() -> bool:
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    return False
