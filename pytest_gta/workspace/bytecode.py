"""Compiled modules for confined processes, where an environment has none.

Some installers leave compiling to the first import, and a confined process can write nothing where packages lie: each
task would compile its libraries anew (sympy: 2 s). So what a server had to compile is compiled once more outside, from
the installed sources and without running them, into a folder of the user's cache that confined processes can only read.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

WORTHWHILE = 40
"""Modules that had to be compiled, from which on keeping them pays."""

_COMPILE = """
import fcntl, json, os, py_compile, sys
os.nice(10)
with open(sys.argv[1] + "/.lock", "w") as lock:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit()
    for path in json.load(sys.stdin):
        try:
            py_compile.compile(path, quiet=2)
        except OSError:
            pass
"""


def folder() -> Path | None:
    """Return where this environment's compiled modules are kept (there or not), None when the user has no cache."""
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        packages = Path(sysconfig.get_path("purelib"))
        # The folder's time changes with every package that is added, removed or replaced.
        changed = packages.stat().st_mtime_ns
    except (OSError, RuntimeError):
        return None
    place = hashlib.sha256(str(packages).encode()).hexdigest()[:12]
    return home / "pytest-gta" / "bytecode" / f"{sys.implementation.cache_tag}-{place}-{changed}"


def uncompiled(names: Sequence[str]) -> list[str]:
    """Return the source files of loaded modules that were not found compiled."""
    found = []
    for name in names:
        spec = getattr(sys.modules.get(name), "__spec__", None)
        origin, cached = getattr(spec, "origin", None), getattr(spec, "cached", None)
        if origin and cached and origin.endswith(".py") and not Path(cached).exists():
            found.append(origin)
    return found


def start_compiling(sources: Sequence[str], allowed: Sequence[str]) -> subprocess.Popen[bytes] | None:
    """Start compiling source files into `folder`, beside other work; None when that cannot be done.

    Args:
        sources: Source files, as a server told them.
        allowed: The folders they must lie in.
    """
    target = folder()
    inside = [path for path in sources if any(path.startswith(place.rstrip("/") + "/") for place in allowed)]
    if target is None or not inside:
        return None
    with contextlib.suppress(OSError):
        target.mkdir(parents=True, mode=0o700, exist_ok=True)
        for other in target.parent.glob(f"{target.name.rpartition('-')[0]}-*"):
            if other != target:
                shutil.rmtree(other, ignore_errors=True)
        process = subprocess.Popen(  # noqa: S603 - our own words and paths
            [sys.executable, "-I", "-X", f"pycache_prefix={target}", "-c", _COMPILE, str(target)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin is not None
        with contextlib.suppress(OSError), process.stdin as pipe:
            pipe.write(json.dumps(inside).encode())
        return process
    return None
