"""Hides from a command agent what is none of its business: the dataset with its rubrics, other tasks, your home.

Under bubblewrap it sees the machine's programs, read-only, and may write in its workspace, an empty home and an empty
``/tmp``. The network stays: it has a model to talk to.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_EMPTIED = ("/tmp", "/var/tmp", "/run/user")  # noqa: S108 - named to be hidden


@dataclass(frozen=True, slots=True)
class Seclusion:
    """What a command agent is kept from.

    Attributes:
        program: Bubblewrap's path; "" when the command sees what its user sees.
        note: One line that says so, for the header.
        hidden: Folders and files that it must not see: dataset, run directory, cache of verdicts.
        kept: Folders of the user's that stay visible, read-only: the project.
    """

    program: str
    note: str
    hidden: tuple[Path, ...] = ()
    kept: tuple[Path, ...] = ()

    def wrap(
        self,
        command: Sequence[str],
        *,
        workspace: Path,
        inputs: Sequence[Path],
        private: Path,
        home_files: Sequence[str] = (),
        path: str = "",
    ) -> list[str]:
        """Return the words that run a command secluded; the command itself when that is not possible here.

        Args:
            command: Its words, the first an absolute path; files that they name stay visible.
            workspace: What it may write in; also its current folder.
            inputs: What of the workspace it may not change.
            private: A further folder that it may write in.
            home_files: Files of the home, relative to it, that it may read, where they are.
            path: Its ``PATH``.
        """
        if not self.program:
            return list(command)
        home = Path.home()
        words = [*_base(self.program)]
        emptied = _unique([home, *(Path(folder) for folder in _EMPTIED if Path(folder).is_dir())])
        for folder in emptied:
            words += ["--tmpfs", str(folder)]
        shown = []
        for folder in _unique((*self.kept, *_programs(command[0], path, home))):
            if _below(folder, emptied) and folder.is_dir() and folder not in (home, *home.parents):
                words += ["--ro-bind", str(folder), str(folder)]
                shown.append(folder)
        named = [Path(word) for word in command if word.startswith("/")]
        for file in _unique((*(home / name for name in home_files), *named)):
            if _below(file, emptied) and not _below(file, shown) and file.is_file():
                words += ["--ro-bind", str(file), str(file)]
        for hidden in _unique(self.hidden):
            if hidden.is_dir():
                words += ["--tmpfs", str(hidden)]
            elif hidden.is_file():
                words += ["--ro-bind", os.devnull, str(hidden)]
        for writable in (workspace, private):
            words += ["--bind", str(writable), str(writable)]
        for protected in inputs:
            words += ["--ro-bind", str(protected), str(protected)]
        return [*words, "--chdir", str(workspace), "--", *command]


def choose_seclusion(requested: str, hidden: Sequence[Path], kept: Sequence[Path]) -> Seclusion:
    """Return how a command agent is secluded on this machine.

    Args:
        requested: What ``--gta-sandbox`` asks for; ``off`` and ``process`` hide nothing.
        hidden: What must not be seen.
        kept: What of the user's stays visible.
    """
    if requested in ("off", "process"):
        return Seclusion("", f"WARNING not secluded (--gta-sandbox={requested}): it can read all that you can")
    fault = _fault()
    if fault:
        return Seclusion("", f"WARNING not secluded, it can read all that you can: {fault}")
    note = "secluded by bwrap: no home, no dataset, no other tasks; it has the network"
    resolved = [tuple(path.resolve() for path in paths) for paths in (hidden, kept)]
    # A project that is the home itself, or holds it, would bring the home back.
    home = Path.home().resolve()
    return Seclusion(
        shutil.which("bwrap") or "", note, resolved[0], tuple(p for p in resolved[1] if p not in (home, *home.parents))
    )


@cache
def _fault() -> str:
    """Return why commands cannot be secluded here, "" when they can."""
    program = shutil.which("bwrap")
    if not sys.platform.startswith("linux") or program is None:
        return "bubblewrap is not installed (for example: apt install bubblewrap)"
    try:
        ended = subprocess.run(  # noqa: S603 - a fixed command
            [*_base(program), "--tmpfs", "/tmp", "--", shutil.which("true") or "/bin/true"],  # noqa: S108
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not start: {error}"
    if ended.returncode and "bwrap:" in ended.stderr:
        return f"bubblewrap does not work: {ended.stderr.strip().splitlines()[-1][:120]}"
    return ""


def _base(program: str) -> list[str]:
    return [
        program, "--die-with-parent", "--unshare-pid", "--unshare-ipc",
        "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
    ]  # fmt: skip


def _programs(program: str, path: str, home: Path) -> Iterator[Path]:
    """Yield the folders that programs on the path need, of those that would be hidden: ``x`` for ``x/bin``."""
    real = Path(program).resolve().parent
    interpreter = Path(sys.executable)
    for text in (*path.split(os.pathsep), str(real), str(interpreter.parent), str(interpreter.resolve().parent)):
        folder = Path(text)
        if not folder.is_absolute() or not folder.is_dir():
            continue
        above = folder.parent
        narrow = above in (home, home / ".local", *home.parents, *(Path(entry) for entry in _EMPTIED))
        if "node_modules" in folder.parts:
            # A program of npm's needs the packages beside its own.
            yield Path(*folder.parts[: folder.parts.index("node_modules") + 1])
        else:
            yield above if folder.name == "bin" and not narrow else folder


def _below(folder: Path, emptied: Sequence[Path]) -> bool:
    return any(top in folder.parents for top in emptied)


def _unique(paths: Iterable[Path]) -> list[Path]:
    """Return paths once each, a folder before what lies in it."""
    return sorted(dict.fromkeys(paths), key=lambda path: len(path.parts))
