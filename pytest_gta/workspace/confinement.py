"""Which confinement is in force: the strongest that works on this machine, really tried, or the one asked for."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

BACKENDS = ("sandlock", "bwrap", "process", "off")
"""From the strongest to none."""

CHOICES = ("auto", *BACKENDS)
"""What ``--gta-sandbox`` takes."""

_NOTES = {
    "sandlock": "sandlock: no network, only the task's folder, inputs read-only",
    "bwrap": "bwrap: no network, only the task's folder, inputs read-only",
    "process": "WARNING process limits only: they can read your files and use the network",
    "off": "WARNING off: they have your rights, and no limit but time",
}
_PROBE = "pytest_gta.workspace.confinement:probe"


@dataclass(frozen=True, slots=True)
class Confinement:
    """How tool processes are confined.

    Attributes:
        backend: One of `BACKENDS`.
        note: One line that says what this holds back, for the header and the report.
    """

    backend: str
    note: str


class ConfinementUnavailable(Exception):
    """A confinement that does not work on this machine; the message says why and what to do."""


def choose_confinement(requested: str = "auto") -> Confinement:
    """Return the confinement to use. Trying one takes about 0.2 s and is done once in a process.

    Args:
        requested: ``auto`` for the strongest that works, or one of `BACKENDS`.

    Raises:
        ConfinementUnavailable: When the one asked for does not work here.
        ValueError: When there is no such confinement.
    """
    if requested not in CHOICES:
        raise ValueError(f"there is no confinement {requested!r}; there are {', '.join(CHOICES)}")
    if requested != "auto":
        if fault := _fault_of(requested):
            raise ConfinementUnavailable(f"--gta-sandbox={requested} does not work here: {fault}; auto takes what does")
        return Confinement(requested, _NOTES[requested])
    faults = []
    for backend in ("sandlock", "bwrap"):
        fault = _fault_of(backend)
        if not fault:
            return Confinement(backend, _NOTES[backend])
        faults.append(f"{backend}: {fault}")
    if fault := _fault_of("process"):
        raise ConfinementUnavailable(f"no process can be confined here: {fault}")
    return Confinement("process", f"{_NOTES['process']} ({'; '.join(faults)})")


@cache
def _fault_of(backend: str) -> str:
    """Return why a confinement does not work on this machine, "" when it does."""
    if not sys.platform.startswith("linux"):
        return "tools need Linux (on Windows: in WSL)"
    if backend == "off":
        return ""
    if backend == "sandlock" and importlib.util.find_spec("sandlock") is None:
        return "the package is not installed (pip install sandlock)"
    if backend == "bwrap" and shutil.which("bwrap") is None:
        return "bubblewrap is not installed (for example: apt install bubblewrap)"
    from pytest_gta.workspace.confined_process import ConfinedError, ConfinedProcess

    with tempfile.TemporaryDirectory(prefix="pytest-gta-") as folder:
        work, secret = Path(folder, "work"), Path(folder, "secret")
        work.mkdir()
        secret.write_text("secret")
        with ConfinedProcess(Confinement(backend, ""), readable=(work,), writable=work) as process:
            try:
                found = process.call(_PROBE, {"secret": str(secret)}, 10)
            except ConfinementUnavailable as unavailable:
                return str(unavailable).partition(": ")[2].rpartition("; ")[0] or str(unavailable)
            except ConfinedError as error:
                return str(error)
    if not found["wrote"]:
        return "the workspace cannot be written to in it"
    if backend != "process" and found["read"]:
        return "files outside the workspace can be read in it"
    if backend != "process" and found["network"]:
        return "the network can be used in it"
    return ""


def probe(secret: str) -> dict[str, Any]:
    """Say what code in here can do. Runs in the confined process.

    Args:
        secret: A file that must not be readable.
    """
    import socket

    found = {"wrote": False, "read": False, "network": False}
    try:
        Path("probe").write_text("probe")
        found["wrote"] = Path("probe").read_text() == "probe"
        found["read"] = bool(Path(secret).read_text())
    except OSError:
        pass
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            out.connect(("192.0.2.1", 9))  # sends nothing, but needs a route
            found["network"] = True
    except OSError:
        pass
    return found
