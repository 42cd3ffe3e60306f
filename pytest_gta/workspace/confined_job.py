"""What a confined process is started with, and where an interpreter lives: plain values shared by its three parts.

The parts: `ConfinedProcess` in this program, a launcher it starts (outside the confinement, with a clean environment),
and the server the launcher starts inside the confinement, which forks once for each call.
"""

from __future__ import annotations

import json
import os
import site
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
"""The folder of this package; the only part of a checkout that a confined process can see."""

SYSTEM = (
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/home/linuxbrew/.linuxbrew"),
    *(f"/usr/{name}" for name in ("bin", "sbin", "lib", "lib32", "lib64", "libexec", "share")),
    *(f"/usr/local/{name}" for name in ("bin", "lib", "lib64", "share")),
)
"""Programs and libraries. Never ``/usr`` as a whole: projects are often kept in ``/usr/src`` of an image."""
OF_A_PREFIX = ("bin", "lib", "lib64", "share", "ssl", "pyvenv.cfg")
"""What is an interpreter's own in its prefix, which may be a project's folder as well."""
SYSTEM_FILES = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/fonts",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/alternatives",
    "/var/cache/fontconfig",
)
HIDDEN_PACKAGES = ("benchmark_tasks",)
"""Packages that hold rubrics: hidden wherever packages are installed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on a confined process and each call in it.

    Attributes:
        memory_bytes: Address space of one process, and memory that all processes of a call hold together.
        file_bytes: Largest file it may write.
        disk_bytes: How much one call may add to the workspace.
        disk_entries: How many files and folders one call may add to the workspace.
        processes: Processes at one time.
        open_files: Open files of one process.
        reply_bytes: Largest value a call may return, as JSON.
        shared: Whether others write in the workspace as well, so that what a call made cannot be told from theirs: what
            it adds is then measured on the whole file system, and nothing is removed when it was too much.
    """

    memory_bytes: int = 4 * 1024**3
    file_bytes: int = 1024**3
    disk_bytes: int = 2 * 1024**3
    disk_entries: int = 20_000
    processes: int = 64
    open_files: int = 512
    reply_bytes: int = 256 * 1024**2
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """How a confined process is to be started.

    Attributes:
        backend: ``sandlock``, ``bwrap``, ``process`` or ``off``.
        readable: Folders and files to read.
        writable: The one folder to write in, or "".
        protected: What inside `writable` is read-only nevertheless.
        scratch: Private folder for temporary files, writable.
        hidden: What must not be seen although it lies in something readable.
        python: The interpreter.
        links: Links on the way to the interpreter that lie in nothing readable, each with where it leads.
        bwrap: The bubblewrap program, as the user's own search path finds it; or "".
        bytecode: Where compiled modules are, when not beside their sources; or "".
        limits: Bounds.
    """

    backend: str
    readable: tuple[str, ...]
    writable: str
    protected: tuple[str, ...]
    scratch: str
    hidden: tuple[str, ...]
    python: str
    links: tuple[tuple[str, str], ...]
    bwrap: str
    bytecode: str
    limits: Limits

    def to_json(self) -> str:
        """Return it as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Job:
        """Read what `to_json` wrote."""
        value = json.loads(line)
        limits = Limits(**value.pop("limits"))
        lists = {name: tuple(value.pop(name)) for name in ("readable", "protected", "hidden")}
        links = tuple((link, target) for link, target in value.pop("links"))
        return cls(limits=limits, links=links, **(lists | value))

    @property
    def cwd(self) -> str:
        """The folder calls start in."""
        return self.writable or self.scratch


def interpreter_paths() -> tuple[str, ...]:
    """Return what this interpreter and its installed packages need to be readable, no other folder of `sys.path`."""
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix)
    found = [str(PACKAGE), *(f"{prefix.rstrip('/')}/{name}" for prefix in prefixes for name in OF_A_PREFIX)]
    found += [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
    found += _package_folders()
    found.append(str(Path(sys.executable).resolve()))
    existing = [path for path in dict.fromkeys((*SYSTEM, *SYSTEM_FILES, *found)) if Path(path).exists()]
    return tuple(path for path in existing if not _lies_in(path, existing))


def interpreter_links() -> tuple[tuple[str, str], ...]:
    """Return the links from the interpreter's name to its file that lie in none of `interpreter_paths`."""
    found: list[tuple[str, str]] = []
    readable, at = interpreter_paths(), Path(sys.executable)
    while at.is_symlink() and len(found) < 10:
        if not _lies_in(str(at), readable):
            found.append((str(at), str(at.readlink())))
        at = at.parent / at.readlink()
    return tuple(found)


def hidden_paths() -> tuple[str, ...]:
    """Return the folders with rubrics that lie where packages are installed."""
    places = [Path(folder) / name for folder in _package_folders() for name in HIDDEN_PACKAGES]
    return tuple(str(path) for path in places if path.exists())


def clean_environment(scratch: str) -> dict[str, str]:
    """Return the whole environment of a confined process: nothing of ours but where shared libraries are."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "TZ", "TZDIR") if name in os.environ}
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "HOME": scratch,
        "TMPDIR": scratch,
        "XDG_CACHE_HOME": scratch,
        "XDG_CONFIG_HOME": scratch,
        "MPLCONFIGDIR": scratch,
        "MPLBACKEND": "Agg",
        **threads,
        **kept,
    }


def _package_folders() -> list[str]:
    """Where packages are installed, also by a ``.pth`` file; never a project's own folder."""
    found = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    found += [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    return list(dict.fromkeys(found))


def _lies_in(path: str, folders: Sequence[str]) -> bool:
    return any(path.startswith(folder.rstrip("/") + "/") for folder in folders)
