"""A task's folder: fresh, with the inputs where the request names them; the one place that decides what a path means.

Every path a model or an agent writes goes through `Workspace.resolve`. Forms that models really write for a file of
the workspace are understood: ``./x``, ``x`` in quotes or back-ticks, ``sandbox:/x``, ``/mnt/data/x``, ``/workspace/x``
(the customary names of such a folder elsewhere), the workspace's own absolute path, back-slashes, and the bare name of
an input that lies in a folder. Everything else that is not inside the workspace is refused, with a reason to hand back.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_gta.benchmark.dataset import Dataset
from pytest_gta.benchmark.task import Task
from pytest_gta.benchmark.task_record import safe_relative

if TYPE_CHECKING:
    from pytest_gta.workspace.deliverables import Deliverables

_HOMES = ("/mnt/data", "/workspace")
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*):")
_LISTED = 20
_LOOKED_AT = 2_000


class PathRefused(ValueError):
    """A path that is not a usable one of this workspace; the message is fit for a model and names no host path."""


class MissingInputs(Exception):
    """Input files that the dataset should ship and does not.

    Attributes:
        paths: What is missing, as the request names it.
    """

    def __init__(self, task_id: str, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        super().__init__(f"task {task_id}: the dataset does not hold its input {', '.join(self.paths)}")


@dataclass(frozen=True)
class Workspace:
    """The folder of one task.

    Attributes:
        root: The folder, absolute and free of links.
        inputs: The inputs that were staged, by the paths the request names, e.g. ``resources/files/2-1.pdf``.
        missing: Inputs that were named and are not there (only when they were not required).
        digests: SHA-256 of each input as staged, so that a change is noticed; empty for an opened workspace.
        request: The user's words; a file they name is a deliverable whatever it is called.
    """

    root: Path
    inputs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    request: str = ""

    @classmethod
    def stage(cls, root: Path, task: Task, dataset: Dataset, *, inputs_required: bool = True) -> Workspace:
        """Make the folder of a task, with its inputs in it, read-only.

        A bare file name that the dataset only mentions is left out.

        Args:
            root: Where; must not exist or be empty.
            task: The task.
            dataset: The dataset to take the inputs from.
            inputs_required: Whether an absent input is an error (an agent is to work on it) or only noted.

        Raises:
            MissingInputs: When inputs are required and some are not in the dataset. Nothing is made then.
            FileExistsError: When the folder exists and is not empty.
        """
        wanted = [resource for resource in task.resources if resource.bundled]
        missing = tuple(resource.path for resource in wanted if not dataset.has_resource(task, resource))
        if missing and inputs_required:
            raise MissingInputs(task.id, missing)
        root.mkdir(parents=True, exist_ok=True)
        if any(root.iterdir()):
            raise FileExistsError(f"{root} is not empty; a task starts in a fresh folder")
        root = root.resolve()
        digests = {}
        for resource in wanted:
            if resource.path in missing:
                continue
            pure = safe_relative(resource.path)
            if pure is None:  # a dataset refuses such a path on loading; this holds for a task made in code
                raise PathRefused(f"the input {resource.path!r} would lie outside the workspace")
            target = root / pure
            dataset.copy_resource(task, resource, target)
            target.chmod(0o444)
            digests[str(pure)] = _digest(target)
        for name in _folders(digests):
            (root / name).chmod(0o555)
        return cls(root, tuple(digests), missing, digests, task.request)

    @classmethod
    def open(cls, root: Path, inputs: Sequence[str], *, request: str = "") -> Workspace:
        """Open a folder an agent has finished with.

        Args:
            root: The folder.
            inputs: The paths of the inputs, which are not deliverables. One that is absent is only noted.
            request: The user's words, as for `stage`.

        Raises:
            NotADirectoryError: When there is no such folder.
        """
        if not root.is_dir():
            raise NotADirectoryError(f"{root} is not a folder")
        root = root.resolve()
        known = tuple(str(pure) for path in inputs if (pure := safe_relative(path)) is not None)
        missing = tuple(path for path in known if not os.path.lexists(root / path))
        return cls(root, known, missing, {}, request)

    @property
    def protected(self) -> tuple[str, ...]:
        """What must not be written to: top folders that hold inputs, and inputs that lie in the root itself."""
        return tuple(sorted({PurePosixPath(path).parts[0] for path in self.inputs}))

    def resolve(self, path: str | os.PathLike[str], writing: bool = False) -> Path:
        """Return the absolute path of a file of this workspace.

        Args:
            path: As a model wrote it.
            writing: False for a file to read: it must be there, a regular file. True for one to write: it may not be
                there yet, its folders are made, and it must not be an input or lie among the inputs.

        Raises:
            PathRefused: With the reason, for the model.
        """
        text = os.fspath(path)
        relative = self._relative(text)
        if not relative.parts:
            raise PathRefused(f"{_shown(text)} is the workspace folder itself; name a file in it")
        real = self._inside(relative, text)
        if writing:
            return self._writable(real, relative, text)
        if not real.exists():
            real = self._by_bare_name(relative) or real
        self._check_readable(real, text)
        return real

    def resolve_folder(self, path: str | os.PathLike[str], writing: bool = False) -> Path:
        """Return the absolute path of a folder of this workspace; "" and "." are the workspace itself.

        With `writing` it need not be there yet (and is not made).

        Raises:
            PathRefused: With the reason, for the model.
        """
        text = os.fspath(path)
        relative = self._relative(text) if text.strip() else PurePosixPath()
        real = self._inside(relative, text)
        if real.exists() and not real.is_dir():
            raise PathRefused(f"{_shown(text)} is a file, a folder is wanted here")
        if writing:
            self._check_unprotected(real, text)
        elif not real.exists():
            raise PathRefused(f"there is no folder {_shown(text)} in the workspace")
        return real

    def relative(self, path: Path) -> str:
        """Return a path of this workspace as a model knows it: relative to the root, with forward slashes."""
        return path.relative_to(self.root).as_posix()

    def files(self) -> Iterator[str]:
        """Yield the visible files of the workspace, at most 2,000, inputs first."""
        yield from (path for path in self.inputs if (self.root / path).is_file())
        seen = 0
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                seen += 1
                if seen > _LOOKED_AT:
                    return
                relative = (Path(folder) / name).relative_to(self.root).as_posix()
                if not name.startswith(".") and relative not in self.inputs:
                    yield relative

    def changed_inputs(self) -> tuple[tuple[str, str], ...]:
        """Return the inputs that are not as they were staged, each with what happened to it."""
        found = []
        for path in self.inputs:
            if path in self.missing:
                continue
            try:
                status = os.lstat(self.root / path)
                same = stat.S_ISREG(status.st_mode) and (
                    path not in self.digests or _digest(self.root / path) == self.digests[path]
                )
            except OSError:
                found.append((path, "an input that the agent removed"))
                continue
            if not same:
                found.append((path, "an input that the agent changed"))
        return tuple(found)

    def deliverables(self) -> Deliverables:
        """Return every file the agent left that is not an input, and what was there but is not taken, with reasons."""
        from pytest_gta.workspace.deliverables import collect

        self._be_a_folder()
        return collect(self)

    def _be_a_folder(self) -> None:
        """An agent that took away or replaced the folder it worked in has delivered nothing: no error of ours."""
        if self.root.is_symlink() or not self.root.is_dir():
            self.root.unlink(missing_ok=True)
            self.root.mkdir(parents=True)
        elif not os.access(self.root, os.R_OK | os.X_OK):
            self.root.chmod(0o755)

    # -- what a path means -------------------------------------------------------------------------------------------

    def _relative(self, text: str) -> PurePosixPath:
        """Read a path as a model wrote it, without looking at the disk."""
        if "\0" in text:
            raise PathRefused("the path holds a NUL character")
        name = text.strip().strip("`\"'").strip()
        if not name:
            raise PathRefused("the path is empty; name a file of the workspace")
        if any(ord(character) < 32 for character in name):
            raise PathRefused(f"{_shown(text)} holds control characters")
        if name.startswith(("\\\\", "//")):
            raise PathRefused(f"{_shown(text)} is a network path; use a path inside the workspace")
        if name.startswith("~"):
            raise PathRefused(f"{_shown(text)} is in a home folder; use a path inside the workspace")
        if re.match(r"^[A-Za-z]:", name):
            raise PathRefused(f"{_shown(text)} has a drive letter; use a path inside the workspace")
        name = name.replace("\\", "/")
        sandbox = name.lower().startswith("sandbox:")
        if sandbox:
            name = "/" + name[len("sandbox:") :].lstrip("/")
        elif scheme := _SCHEME.match(name):
            kind = "a file address" if scheme[1].lower() == "file" else f"a {scheme[1]}: address"
            raise PathRefused(f"{_shown(text)} is {kind}; use a plain path inside the workspace")
        if name.startswith("/"):
            for home in (str(self.root), *_HOMES):
                if name == home or name.startswith(home + "/"):
                    name = name[len(home) :]
                    break
            else:
                if not sandbox:
                    raise PathRefused(f"{_shown(text)} is outside the workspace; use a path relative to it")
        relative = PurePosixPath(name.lstrip("/"))
        if ".." in relative.parts:
            raise PathRefused(f"{_shown(text)} goes up with '..'; use a path inside the workspace")
        if any(len(os.fsencode(part)) > 255 for part in relative.parts) or len(os.fsencode(name)) > 2_000:
            raise PathRefused(f"{_shown(text)} is too long for a file name")
        return relative

    def _inside(self, relative: PurePosixPath, text: str) -> Path:
        """Follow the links in a path and make sure that it ends inside the workspace."""
        real = Path(os.path.realpath(self.root / relative))
        if real != self.root and self.root not in real.parents:
            raise PathRefused(f"{_shown(text)} is a link that leaves the workspace")
        return real

    def _by_bare_name(self, relative: PurePosixPath) -> Path | None:
        """Find the one input of this name: models often leave out the folder."""
        if len(relative.parts) != 1:
            return None
        matches = [path for path in self.inputs if PurePosixPath(path).name == relative.name]
        return self._inside(PurePosixPath(matches[0]), matches[0]) if len(matches) == 1 else None

    def _check_readable(self, real: Path, text: str) -> None:
        try:
            mode = real.stat().st_mode
        except OSError:
            raise PathRefused(self._absent(text)) from None
        if stat.S_ISDIR(mode):
            raise PathRefused(f"{_shown(text)} is a folder; name a file in it")
        if not stat.S_ISREG(mode):
            raise PathRefused(f"{_shown(text)} is not a regular file")

    def _writable(self, real: Path, relative: PurePosixPath, text: str) -> Path:
        if any(part.startswith(".") for part in relative.parts):
            raise PathRefused(f"{_shown(text)} is a hidden name, which would not be delivered; leave out the dot")
        self._check_unprotected(real, text)
        if real.is_dir():
            raise PathRefused(f"{_shown(text)} is a folder; name a file in it")
        if real.exists() and not real.is_file():
            raise PathRefused(f"{_shown(text)} is not a regular file")
        try:
            real.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise PathRefused(f"{_shown(text)} lies in a folder that cannot be made: a file is in the way") from None
        return real

    def _check_unprotected(self, real: Path, text: str) -> None:
        top = real.relative_to(self.root).parts[:1]
        if top and top[0] in self.protected:
            what = "an input" if self.relative(real) in self.inputs else f"in the read-only input folder {top[0]!r}"
            raise PathRefused(f"{_shown(text)} is {what}; write under another name")

    def _absent(self, text: str) -> str:
        names = list(self.files())
        wanted = text.strip().strip("`\"'").rsplit("/", 1)[-1].lower()
        close = difflib.get_close_matches(wanted, [name.rsplit("/", 1)[-1].lower() for name in names], n=1, cutoff=0.6)
        hint = next((f"; did you mean {name!r}?" for name in names if close and name.lower().endswith(close[0])), "")
        if hint:
            return f"there is no file {_shown(text)} in the workspace{hint}"
        held = ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
        return f"there is no file {_shown(text)} in the workspace; it holds {held or 'no files'}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 120 else text[:117] + "...")


def _digest(path: Path) -> str:
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _folders(paths: Mapping[str, str]) -> list[str]:
    """The folders that hold inputs, and theirs, without the root; deepest first."""
    found = {str(parent) for path in paths for parent in PurePosixPath(path).parents if parent.parts}
    return sorted(found, key=lambda name: -name.count("/"))
