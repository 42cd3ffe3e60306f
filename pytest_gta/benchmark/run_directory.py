"""The run directory: every finished leaf, transcript and result on disk the moment it exists.

    <run>/run.json                       how the run was made
    <run>/run.lock                       locked while a run is at work here
    <run>/tasks/<run key>/workspace/     what the agent saw and left
    <run>/tasks/<run key>/transcript.jsonl
    <run>/tasks/<run key>/agent_run.json how the agent ended, written once it has
    <run>/tasks/<run key>/verdicts.jsonl one line a judged leaf, appended
    <run>/tasks/<run key>/result.json    written when the task is judged
    <run>/tasks/<run key>/after_feedback/ the same of the second attempt, with ``--gta-feedback``
    <run>/attempts/<run key>.<n>/        the same of earlier attempts, when a task was run again
    <run>/results.json                   written when the run ends, rebuilt at will

A run of several agents has all this for each of them, and beside it only what they share:

    <run>/run.json                       how the run was made, with its ``agents``
    <run>/agents/<label>/                a run directory as above

Whole files are written beside their name and moved into place, so a reader never meets half a file; a torn last line
of a ``.jsonl`` (a killed writer) is skipped.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Imported where they are used: pydantic would take a fifth of the time that collecting a release takes.
    from pytest_gta.benchmark.results import AgentRecord, RunResult, TaskResult, Verdict
    from pytest_gta.benchmark.usage import Usage

MANIFEST = "run.json"
RESULTS = "results.json"
AGENTS = "agents"
"""The folder of a run of several agents that holds a run directory for each of them."""
LOCK = "run.lock"
"""The file that a run locks while it is at work in its directory."""
OWN_FOLDER = Path(".gta")
"""What pytest-gta keeps in a project, below pytest's root or the current folder: runs, tasks in the making."""
AUTHORING = OWN_FOLDER / "author"
"""Where tasks in the making are kept, below the folder that ``pytest-gta author`` is called in; they hold rubrics."""
CONTROL = "control"
"""The folder of a run directory that the processes of the run share while it runs."""


class NotWritten(OSError):
    """What belongs on disk could not be written: it is full, read-only, not there. Never the fault of an agent."""

    def __str__(self) -> str:
        return f"{self.filename} cannot be written: {self.strerror}"


class InUse(Exception):
    """Another run is at work in a run directory."""


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Name the file in whatever goes wrong while it is written."""
    try:
        yield
    except NotWritten:
        raise
    except OSError as error:
        raise NotWritten(error.errno or errno.EIO, error.strerror or str(error), str(path)) from error


def write_atomic(path: Path, text: str) -> None:
    """Write `text` to `path` so that the file is either the old or the new one, whole.

    Raises:
        NotWritten: When it cannot be; the old file, if there was one, is still there.
    """
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
        try:
            with os.fdopen(fd, "w", encoding="utf-8") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def append_line(path: Path, line: str) -> None:
    """Append one line in a single write, after ending a line that a killed writer left torn.

    Raises:
        NotWritten: When not all of it could be written.
    """
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            size = os.fstat(fd).st_size
            torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            rest = (b"\n" if torn else b"") + line.encode("utf-8", "backslashreplace") + b"\n"
            while rest:  # a disk that fills up takes a part without an error, and says so the next time
                rest = rest[os.write(fd, rest) :]
        finally:
            os.close(fd)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a ``.jsonl`` file, skipping lines that are not whole; nothing when there is no file."""
    if not path.is_file():
        return
    with path.open("rb") as lines:
        for line in lines:
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


class TaskDirectory:
    """The part of a run directory that belongs to one task (or one repeat of it).

    Args:
        root: The directory; created when something is written.
        judge: Who judges the run, as its manifest says.
    """

    def __init__(self, root: Path, judge: str = "") -> None:
        self.root, self.judge = root, judge
        self.workspace = root / "workspace"
        self.transcript = root / "transcript.jsonl"
        self._agent_run = root / "agent_run.json"
        self._verdicts = root / "verdicts.jsonl"
        self._result = root / "result.json"

    def restart(self) -> None:
        """Make it empty for a new attempt of the agent."""
        with _writing(self.root):
            if self.root.exists():
                make_removable(self.root)
                shutil.rmtree(self.root)
            self.root.mkdir(parents=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the directory for this thread: another process or test that wants it waits."""
        lock_file = self.root.parent.parent / "locks" / self.root.name
        with _writing(lock_file):
            lock_file.parent.mkdir(parents=True, exist_ok=True)
            lock = lock_file.open("a")
        with lock as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield

    @property
    def after_feedback(self) -> TaskDirectory:
        """The part that belongs to the second attempt, the one after feedback; it may not be there."""
        return TaskDirectory(self.root / "after_feedback", self.judge)

    def archive(self, attempt: int) -> None:
        """Set what an earlier attempt left aside, as ``<run>/attempts/<run key>.<attempt>``, to start anew."""
        target = self.root.parent.parent / "attempts" / f"{self.root.name}.{attempt}"
        if self.root.exists() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            self.root.rename(target)

    def add_verdict(self, verdict: Verdict) -> None:
        """Append one verdict; it is on disk when this returns."""
        append_line(self._verdicts, verdict.model_copy(update={"judge": self.judge}).model_dump_json())

    def verdicts(self) -> dict[str, Verdict]:
        """Return the last verdict of each leaf by the judge of the run, keyed by leaf id."""
        return {verdict.leaf_id: verdict for verdict in self._recorded_verdicts() if verdict.judge == self.judge}

    def known_verdicts(self) -> dict[str, Verdict]:
        """Return the same, and for leaves that only another judge has seen what that said: a panel may take it."""
        return {verdict.leaf_id: verdict for verdict in self._recorded_verdicts()} | self.verdicts()

    def judge_usage(self) -> Usage:
        """Return what all judging of this task took, over every attempt and resumed run."""
        from pytest_gta.benchmark.usage import Usage

        return sum((verdict.usage for verdict in self._recorded_verdicts()), Usage())

    def _recorded_verdicts(self) -> Iterator[Verdict]:
        from pytest_gta.benchmark.results import Verdict

        for entry in read_lines(self._verdicts):
            with suppress(ValueError):  # of an earlier version, or damaged
                yield Verdict.model_validate(entry)

    def write_agent(self, record: AgentRecord) -> None:
        """Record that the agent has ended: from here on a resumed run only judges."""
        write_atomic(self._agent_run, record.model_dump_json())

    def agent(self) -> AgentRecord | None:
        """Return how the agent ended, None when it has not (or the record is not readable)."""
        from pytest_gta.benchmark.results import AgentRecord

        try:
            return AgentRecord.model_validate_json(self._agent_run.read_bytes())
        except (OSError, ValueError):
            return None

    def write_result(self, result: TaskResult) -> None:
        """Write the task's result."""
        write_atomic(self._result, result.model_dump_json(indent=1))

    def result(self) -> TaskResult | None:
        """Return the task's result, None when there is none (or it is not readable)."""
        from pytest_gta.benchmark.results import TaskResult

        try:
            return TaskResult.model_validate_json(self._result.read_bytes())
        except (OSError, ValueError):
            return None


class RunDirectory:
    """A run on disk.

    Args:
        root: The directory; created when something is written.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._judge: str | None = None

    @property
    def judge(self) -> str:
        """Who judges the run: a name that is the same as long as the judge is; "" when the manifest has none."""
        if self._judge is None:
            try:
                self._judge = str(self.manifest()["judge"]["name"])
            except (OSError, ValueError, TypeError, KeyError):
                return ""
        return self._judge

    @property
    def whole(self) -> Path:
        """The directory of the run of several agents that this is one agent's part of; else its own."""
        above = self.root.parent.parent
        return above if self.root.parent.name == AGENTS and (above / MANIFEST).is_file() else self.root

    @property
    def id(self) -> str:
        """What the run is called: the name of its directory, for a part with that of the whole before it."""
        return self.root.name if self.whole == self.root else f"{self.whole.name}/{self.root.name}"

    @property
    def control(self) -> Path:
        """What the processes of the whole run share while it runs."""
        return self.whole / CONTROL

    def agents(self) -> tuple[str, ...]:
        """Return the labels of the agents of a run of several, in their order; none for a run of one agent."""
        try:
            labels = [str(agent["label"]) for agent in self.manifest().get("agents", ())]
        except (OSError, ValueError, TypeError, KeyError):
            return ()
        return tuple(labels)

    def of_agent(self, label: str) -> RunDirectory:
        """Return one agent's part of a run of several: a run directory like any other."""
        return RunDirectory(self.root / AGENTS / label)

    def task(self, run_key: str) -> TaskDirectory:
        """Return the directory of one task, by its slug (with the repeat's suffix)."""
        return TaskDirectory(self.root / "tasks" / run_key, self.judge)

    def hold(self) -> IO[str]:
        """Keep every other run out of this directory until the file returned is closed, or this process is gone.

        Raises:
            InUse: When another run holds it.
            NotWritten: When it cannot be written.
        """
        path = self.root / LOCK
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = path.open("a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise InUse(str(self.root)) from None
        except OSError as error:
            lock.close()
            raise NotWritten(error.errno or errno.EIO, error.strerror or str(error), str(path)) from error
        return lock

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Write how the run was made."""
        write_atomic(self.root / MANIFEST, json.dumps(manifest, indent=1))
        self._judge = None

    def manifest(self) -> dict[str, Any]:
        """Return how the run was made.

        Raises:
            FileNotFoundError: When this is not a run directory.
            ValueError: When the manifest is not readable.
        """
        manifest = json.loads((self.root / MANIFEST).read_text("utf-8"))
        if not isinstance(manifest, dict):
            raise ValueError(f"{self.root / MANIFEST} does not hold an object")
        return manifest

    def run_keys(self) -> list[str]:
        """Return the run key of every task that has begun, sorted."""
        tasks = self.root / "tasks"
        return sorted(folder.name for folder in tasks.iterdir() if folder.is_dir()) if tasks.is_dir() else []

    def results(self) -> RunResult | None:
        """Return the run's result, None when the run did not end (or the file is not readable)."""
        from pytest_gta.benchmark.results import RunResult

        try:
            return RunResult.model_validate_json((self.root / RESULTS).read_bytes())
        except (OSError, ValueError):
            return None

    def write_results(self, result: RunResult, path: Path | None = None) -> Path:
        """Write the run's result to `path`, or to its place in the run directory, and return where."""
        target = path or self.root / RESULTS
        write_atomic(target, result.model_dump_json(indent=1) + "\n")
        return target


def is_run_directory(folder: Path) -> bool:
    """Whether a run keeps its files in a folder: what agents left there is nobody's code."""
    try:
        return "pytest_gta_version" in RunDirectory(folder).manifest()
    except (OSError, ValueError):
        return False


def make_removable(root: Path) -> None:
    """Give back the write permission that staging took from folders, so that the tree can be removed."""
    for folder, _, _ in os.walk(root):
        Path(folder).chmod(0o755)
